//! Expressions that should have had another value: which of their parts would have given it.

use ruff_python_ast::{BoolOp, Expr, ExprCall, ExprSubscript, UnaryOp};

use super::{ASKED, Belief, LEAST, Walk, are_numbers, exact, places, same};
use crate::grammar::step::{Effect, Operation};
use crate::literal::{self, Literal};
use crate::recording::EventId;

impl<'a> Walk<'a> {
    /// An expression should have had another value at a state. Whether that leads further back.
    pub(super) fn wanted(&mut self, expression: &'a Expr, at: EventId, belief: &Belief) -> bool {
        if belief.confidence < LEAST {
            return false;
        }
        match expression {
            Expr::Name(name) => self.want(name.id.as_str(), at, belief.clone()),
            Expr::List(list) => self.displayed(&list.elts, at, belief),
            Expr::Tuple(tuple) => self.displayed(&tuple.elts, at, belief),
            Expr::If(choice) => match self.known(&choice.test, at) {
                Some(test) if test.is_true() => self.wanted(&choice.body, at, belief),
                Some(_) => self.wanted(&choice.orelse, at, belief),
                None => false,
            },
            Expr::BoolOp(operation) => {
                // One operand alone is to blame: the others are as they were.
                let truth = belief.needed.is_true();
                let blamed: Vec<&Expr> = operation
                    .values
                    .iter()
                    .filter(|one| {
                        let held = self.known(one, at).map(|held| held.is_true());
                        match (operation.op, truth) {
                            (BoolOp::And, true) => held == Some(false),
                            (BoolOp::Or, false) => held == Some(true),
                            _ => true,
                        }
                    })
                    .collect();
                let share = 1.0 / blamed.len().max(1) as f64;
                let belief = belief.with(Literal::Bool(truth), share, false);
                let mut further = false;
                for one in blamed {
                    further |= self.wanted(one, at, &belief);
                }
                further
            }
            Expr::UnaryOp(operation) => match operation.op {
                UnaryOp::Not => {
                    let flipped = Literal::Bool(!belief.needed.is_true());
                    self.wanted(&operation.operand, at, &belief.with(flipped, 1.0, false))
                }
                UnaryOp::USub => self.operation("-v0", &[&operation.operand], at, belief),
                UnaryOp::UAdd => self.operation("+v0", &[&operation.operand], at, belief),
                UnaryOp::Invert => self.operation("~v0", &[&operation.operand], at, belief),
            },
            Expr::BinOp(operation) => {
                let text = format!("v0 {} v1", operation.op.as_str());
                self.operation(&text, &[&operation.left, &operation.right], at, belief)
            }
            Expr::Compare(comparison) => {
                let ([operator], [right]) = (&*comparison.ops, &*comparison.comparators) else {
                    return false;
                };
                let text = format!("v0 {} v1", operator.as_str());
                self.operation(&text, &[&comparison.left, right], at, belief)
            }
            Expr::Subscript(subscript) if !subscript.slice.is_slice_expr() => {
                self.operation("v0[v1]", &[&subscript.value, &subscript.slice], at, belief)
            }
            Expr::Call(call) => self.call(call, at, belief),
            Expr::Attribute(attribute) => self.attribute(attribute.attr.as_str(), at, belief),
            Expr::Subscript(subscript) => self.sliced(subscript, at, belief),
            _ => false,
        }
    }

    /// `xs[:n]`: the beginning should have been another one, the rest is as it was.
    pub(super) fn sliced(
        &mut self,
        subscript: &'a ExprSubscript,
        at: EventId,
        belief: &Belief,
    ) -> bool {
        let Expr::Slice(slice) = &*subscript.slice else {
            return false;
        };
        let (None, None, Some(upper)) = (&slice.lower, &slice.step, &slice.upper) else {
            return false;
        };
        let (Some(whole), Some(Literal::Int(end))) =
            (self.known(&subscript.value, at), self.known(upper, at))
        else {
            return false;
        };
        let Some(end) = usize::try_from(&end).ok() else {
            return false;
        };
        let needed = match (whole, &belief.needed) {
            (Literal::List(whole), Literal::List(needed)) => {
                let rest = whole.iter().skip(end).cloned();
                Literal::List(needed.iter().cloned().chain(rest).collect())
            }
            _ => return false,
        };
        self.wanted(&subscript.value, at, &belief.with(needed, 1.0, false))
    }

    pub(super) fn displayed(&mut self, elements: &'a [Expr], at: EventId, belief: &Belief) -> bool {
        let (Literal::List(items) | Literal::Tuple(items)) = &belief.needed else {
            return false;
        };
        if items.len() != elements.len() {
            return false;
        }
        let items = items.clone();
        let mut further = false;
        for (element, item) in elements.iter().zip(items) {
            further |= self.wanted(element, at, &belief.with(item, 1.0, false));
        }
        further
    }

    pub(super) fn call(&mut self, call: &'a ExprCall, at: EventId, belief: &Belief) -> bool {
        if let Some(activation) = self.called(call, at) {
            return self.returned(activation, belief);
        }
        let (name, mut slots) = match &*call.func {
            Expr::Name(name) if crate::harness::expression::is_builtin(name.id.as_str()) => {
                (name.id.to_string(), Vec::new())
            }
            Expr::Attribute(method) => (format!("v0.{}", method.attr), vec![&*method.value]),
            _ => return false,
        };
        if !call.arguments.keywords.is_empty() {
            return false;
        }
        let mut parts = Vec::new();
        for argument in &call.arguments.args {
            if argument.is_starred_expr() || argument.is_lambda_expr() {
                return false;
            }
            parts.push(format!("v{}", slots.len()));
            slots.push(argument);
        }
        self.operation(&format!("{name}({})", parts.join(", ")), &slots, at, belief)
    }

    /// Undoes an operation for each of its slots, the others being as they were.
    pub(super) fn operation(
        &mut self,
        text: &str,
        slots: &[&'a Expr],
        at: EventId,
        belief: &Belief,
    ) -> bool {
        let known: Vec<Option<Literal>> = slots.iter().map(|slot| self.known(slot, at)).collect();
        let mut found = Vec::new();
        for hole in 0..slots.len() {
            if places::constant(slots[hole]).is_some() {
                continue;
            }
            let others = known
                .iter()
                .enumerate()
                .all(|(at, held)| at == hole || held.is_some());
            if !others {
                continue;
            }
            let operands: Vec<&Literal> = known
                .iter()
                .enumerate()
                .map(|(at, held)| {
                    held.as_ref()
                        .filter(|_| at != hole)
                        .unwrap_or(&Literal::None)
                })
                .collect();
            let was = known[hole].as_ref();
            match exact::invert(text, &operands, &belief.needed, hole, was) {
                exact::Inverted::Value(value) => found.push((hole, value, false)),
                exact::Inverted::Nothing => {}
                exact::Inverted::Unknown => {
                    if let Some(value) = self.asked(text, &operands, &belief.needed, hole) {
                        found.push((hole, value, true));
                    }
                }
            }
        }
        // A number in place of a truth, or text in place of a list, is hardly what was meant.
        let fits = |hole: usize, value: &Literal| {
            let was = known[hole].as_ref();
            was.is_none_or(|was| was.type_name() == value.type_name() || are_numbers(was, value))
        };
        if found.iter().any(|(hole, value, _)| fits(*hole, value)) {
            found.retain(|(hole, value, _)| fits(*hole, value));
        }
        let share = 1.0 / found.len().max(1) as f64;
        let mut further = false;
        for (hole, value, asked) in found {
            if known[hole].as_ref().is_some_and(|held| same(held, &value)) {
                continue;
            }
            let share = if asked { share * ASKED } else { share };
            further |= self.wanted(slots[hole], at, &belief.with(value, share, asked));
        }
        further
    }

    pub(super) fn asked(
        &self,
        text: &str,
        operands: &[&Literal],
        needed: &Literal,
        hole: usize,
    ) -> Option<Literal> {
        let operation = Operation {
            expression: text.to_owned(),
            operands: operands.iter().map(ToString::to_string).collect(),
        };
        let effect = Effect::Gives {
            result: needed.to_string(),
            after: None,
        };
        let said = self.ground.inverse?.invert(&operation, &effect, hole)?;
        literal::parse(&said).ok()
    }
}
