//! What a failed assertion was about.

use std::collections::HashSet;

use ruff_python_ast::{Expr, Stmt, UnaryOp};

use super::belief::Belief;
use super::sources::{self, Source};
use super::{Walk, syntax};
use crate::literal::Literal;
use crate::recording::EventId;

/// What the other side of a comparison is worth where neither is known to be the expected one.
const OTHER_SIDE: f64 = 0.25;

/// A comparison, as it was written.
struct Compared<'a> {
    a: &'a Expr,
    b: &'a Expr,
}

impl<'a> Walk<'a> {
    /// An assertion should have held.
    pub(super) fn asserted(
        &mut self,
        event: EventId,
        left: Option<&Literal>,
        right: Option<&Literal>,
    ) {
        let Some(statement) = self.statement(event) else {
            return;
        };
        let all = Belief::another_value();
        let truth = |truth: bool| Belief::of(Literal::Bool(truth));
        match statement {
            Stmt::Assert(held) => match &*held.test {
                Expr::Compare(comparison) => {
                    if let ([operator], [other]) = (&*comparison.ops, &*comparison.comparators)
                        && matches!(operator.as_str(), "==" | "is")
                    {
                        let sides = Compared {
                            a: &comparison.left,
                            b: other,
                        };
                        self.compared(&sides, event, left, right);
                        return;
                    }
                    self.wanted(&held.test, event, &truth(true));
                }
                Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
                    self.wanted(&operation.operand, event, &truth(false));
                }
                // `assert all(…)`
                other => {
                    self.wanted(other, event, &truth(true));
                }
            },
            Stmt::Expr(inner) => {
                let Expr::Call(call) = &*inner.value else {
                    return;
                };
                let name = syntax::callee(call).unwrap_or("");
                match (name, &*call.arguments.args) {
                    ("assertTrue", [a, ..]) => {
                        self.wanted(a, event, &truth(true));
                    }
                    ("assertFalse", [a, ..]) => {
                        self.wanted(a, event, &truth(false));
                    }
                    (_, [a, b, ..]) if name.starts_with("assert") => {
                        self.compared(&Compared { a, b }, event, left, right);
                    }
                    (_, [a, ..]) => {
                        self.wanted(a, event, &all);
                    }
                    _ => {}
                }
            }
            // A helper, or a statement that fails by itself.
            other => {
                let expressions = syntax::expressions(other);
                let share = 1.0 / expressions.len().max(1) as f64;
                for expression in expressions {
                    self.wanted(expression, event, &all.share(share));
                }
            }
        }
    }

    /// Two sides should have been equal.
    fn compared(
        &mut self,
        sides: &Compared<'a>,
        event: EventId,
        left: Option<&Literal>,
        right: Option<&Literal>,
    ) {
        let Compared { a, b } = *sides;
        let left = left.cloned().or_else(|| self.known(a, event));
        let right = right.cloned().or_else(|| self.known(b, event));
        // What is written down is what was expected.
        let (actual, needed, was, expected) = if Self::is_given(a) && !Self::is_given(b) {
            (b, left, right, a)
        } else {
            (a, right, left, b)
        };
        match needed {
            Some(needed) => {
                let was = was.or_else(|| self.known(actual, event));
                let belief = Belief::in_place(&needed, was.as_ref());
                self.wanted(actual, event, &belief);
            }
            None => {
                let all = Belief::another_value();
                let other = if Self::is_given(expected) {
                    0.0
                } else {
                    OTHER_SIDE
                };
                self.wanted(actual, event, &all.share(1.0 - other));
                self.wanted(expected, event, &all.share(other));
            }
        }
    }

    /// Whether a side is written down in the test: constants, and constructors of them.
    fn is_given(side: &Expr) -> bool {
        syntax::constant(side).is_some()
            || {
                let used = sources::of(side, &HashSet::new());
                !side.is_name_expr()
                && !side.is_attribute_expr()
                && used.iter().all(|one| matches!(one, Source::Name(_, name) if name.starts_with(char::is_uppercase)))
            }
    }
}
