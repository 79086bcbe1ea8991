//! What a failed assertion was about.

use ruff_python_ast::{Expr, Stmt, UnaryOp};

use super::{Walk, places};
use crate::literal::Literal;
use crate::recording::EventId;

impl<'a> Walk<'a> {
    /// What an assertion was about, and what that should have been.
    pub(super) fn asserted(
        &self,
        event: EventId,
        left: Option<&Literal>,
        right: Option<&Literal>,
    ) -> Option<(&'a Expr, Literal)> {
        let sides = |a: &'a Expr, b: &'a Expr| {
            // What is written down is what was expected.
            if places::constant(a).is_some() {
                Some((b, left?.clone()))
            } else {
                Some((a, right?.clone()))
            }
        };
        match self.statement(event)? {
            Stmt::Assert(held) => match &*held.test {
                Expr::Compare(comparison) => {
                    let ([operator], [right]) = (&*comparison.ops, &*comparison.comparators) else {
                        return None;
                    };
                    match operator.as_str() {
                        "==" | "is" => sides(&comparison.left, right),
                        _ => Some((&held.test, Literal::Bool(true))),
                    }
                }
                Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
                    Some((&operation.operand, Literal::Bool(false)))
                }
                other => Some((other, Literal::Bool(true))),
            },
            Stmt::Expr(inner) => {
                let Expr::Call(call) = &*inner.value else {
                    return None;
                };
                let [a, b, ..] = &*call.arguments.args else {
                    return None;
                };
                let name = places::callee(call)?;
                name.starts_with("assert").then(|| sides(a, b)).flatten()
            }
            _ => None,
        }
    }
}
