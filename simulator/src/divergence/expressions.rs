//! Expressions that should have had another value: which of their parts would have given it.

use ruff_python_ast::{BoolOp, Expr, ExprBoolOp, ExprCall, ExprSubscript, Stmt, UnaryOp};

use super::{ASKED, Belief, DISTRUST, LEAST, Walk, are_numbers, exact, same, syntax};
use crate::grammar::step::{Effect, Operation};
use crate::literal::{self, Literal};
use crate::recording::EventId;

/// What goes on where no rule says which value was needed.
const VAGUE: f64 = 0.9;
/// What a part is worth whose value no rule gives, against one whose value is given.
const UNSAID: f64 = 0.5;

impl<'a> Walk<'a> {
    /// An expression should have had another value at a state. Whether that leads further back.
    pub(super) fn wanted(&mut self, expression: &'a Expr, at: EventId, belief: &Belief) -> bool {
        if belief.confidence < LEAST {
            return false;
        }
        let Some(needed) = &belief.needed else {
            return self.sliced_into(expression, at, belief);
        };
        match expression {
            Expr::Name(name) => self.want(name.id.as_str(), at, belief.clone()),
            Expr::List(list) => self.displayed(expression, &list.elts, at, belief),
            Expr::Tuple(tuple) => self.displayed(expression, &tuple.elts, at, belief),
            Expr::If(choice) => match self.known(&choice.test, at) {
                Some(test) if test.is_true() => self.wanted(&choice.body, at, belief),
                Some(_) => self.wanted(&choice.orelse, at, belief),
                None => self.vague(expression, at, belief),
            },
            Expr::BoolOp(operation) if !matches!(needed, Literal::Bool(_)) => {
                self.chosen_operand(expression, operation, at, belief)
            }
            Expr::BoolOp(operation) => {
                // One operand alone is to blame: the others are as they were.
                let truth = needed.is_true();
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
                    let flipped = Literal::Bool(!needed.is_true());
                    self.wanted(&operation.operand, at, &belief.with(flipped, 1.0, false))
                }
                UnaryOp::USub => self.operation("-v0", &[&operation.operand], at, belief),
                UnaryOp::UAdd => self.operation("+v0", &[&operation.operand], at, belief),
                UnaryOp::Invert => self.operation("~v0", &[&operation.operand], at, belief),
            },
            Expr::BinOp(operation) => {
                let text = format!("v0 {} v1", operation.op.as_str());
                let slots = [&*operation.left, &*operation.right];
                let whole = self.effect(expression, at);
                self.operation_of(whole.as_ref(), &text, &slots, at, belief)
            }
            Expr::Compare(comparison) => {
                let ([operator], [right]) = (&*comparison.ops, &*comparison.comparators) else {
                    return self.vague(expression, at, belief);
                };
                let text = format!("v0 {} v1", operator.as_str());
                self.operation(&text, &[&comparison.left, right], at, belief)
            }
            Expr::Subscript(subscript) if !subscript.slice.is_slice_expr() => {
                self.operation("v0[v1]", &[&subscript.value, &subscript.slice], at, belief)
            }
            Expr::Call(call) => self.call(expression, call, at, belief),
            Expr::Attribute(attribute) => self.attribute(attribute, at, belief),
            Expr::Subscript(subscript) => {
                self.sliced(subscript, at, belief) || self.vague(expression, at, belief)
            }
            _ if syntax::constant(expression).is_some() => false,
            _ => self.vague(expression, at, belief),
        }
    }

    /// An expression that no rule undoes: another value than the recorded one was needed of what it uses.
    fn vague(&mut self, expression: &'a Expr, at: EventId, belief: &Belief) -> bool {
        let was = self.known(expression, at);
        let was = was.or_else(|| self.effect(expression, at));
        self.sliced_into(expression, at, &belief.another(VAGUE, was.as_ref()))
    }

    /// The recorded effect of the statement at a state, where that is the value of an expression.
    fn effect(&self, expression: &Expr, at: EventId) -> Option<Literal> {
        let recording = self.recording();
        let is_whole = |value: &Expr| std::ptr::eq(value, expression);
        match self.statement(at)? {
            Stmt::Return(inner) if inner.value.as_deref().is_some_and(is_whole) => {
                self.returned_value(recording.event(at).activation)
            }
            Stmt::Assign(assign) if is_whole(&assign.value) => match assign.targets.as_slice() {
                [Expr::Name(name)] => self.held_after(at, name.id.as_str()),
                _ => None,
            },
            _ => None,
        }
    }

    /// `a or b`, of which another value than a truth was needed: that of the operand that was taken.
    fn chosen_operand(
        &mut self,
        expression: &'a Expr,
        operation: &'a ExprBoolOp,
        at: EventId,
        belief: &Belief,
    ) -> bool {
        let mut held = operation.values.iter().map(|one| self.known(one, at));
        if let Some(needed) = &belief.needed
            && held.any(|held| held.is_some_and(|held| same(&held, needed)))
        {
            // It was there and was not taken.
            return false;
        }
        self.vague(expression, at, belief)
    }

    /// `xs[:n]`: the beginning should have been another one, the rest is as it was.
    fn sliced(&mut self, subscript: &'a ExprSubscript, at: EventId, belief: &Belief) -> bool {
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
            (Literal::List(whole), Some(Literal::List(needed))) => {
                let rest = whole.iter().skip(end).cloned();
                Literal::List(needed.iter().cloned().chain(rest).collect())
            }
            _ => return false,
        };
        self.wanted(&subscript.value, at, &belief.with(needed, 1.0, false))
    }

    fn displayed(
        &mut self,
        expression: &'a Expr,
        elements: &'a [Expr],
        at: EventId,
        belief: &Belief,
    ) -> bool {
        let items = match &belief.needed {
            Some(Literal::List(items) | Literal::Tuple(items)) if items.len() == elements.len() => {
                items.clone()
            }
            _ => return self.vague(expression, at, belief),
        };
        // What is as it was needed is not to blame.
        let wrong: Vec<(&Expr, Literal)> = elements
            .iter()
            .zip(items)
            .filter(|(element, item)| {
                let held = self.known(element, at);
                !held.is_some_and(|held| same(&held, item))
            })
            .collect();
        let share = 1.0 / wrong.len().max(1) as f64;
        let mut further = false;
        for (element, item) in wrong {
            further |= self.wanted(element, at, &belief.with(item, share, false));
        }
        further
    }

    fn call(
        &mut self,
        expression: &'a Expr,
        call: &'a ExprCall,
        at: EventId,
        belief: &Belief,
    ) -> bool {
        if let Some(activation) = self.called(call, at) {
            return self.returned(activation, belief);
        }
        let (name, mut slots) = match &*call.func {
            Expr::Name(name) if crate::harness::expression::is_builtin(name.id.as_str()) => {
                (name.id.to_string(), Vec::new())
            }
            Expr::Attribute(method) => (format!("v0.{}", method.attr), vec![&*method.value]),
            _ => return self.vague(expression, at, belief),
        };
        if !call.arguments.keywords.is_empty() {
            return self.vague(expression, at, belief);
        }
        let mut parts = Vec::new();
        for argument in &call.arguments.args {
            if argument.is_starred_expr() || argument.is_lambda_expr() {
                return self.vague(expression, at, belief);
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
        self.operation_of(None, text, slots, at, belief)
    }

    /// The same where the recorded value of the whole is known: it may say what a slot held.
    fn operation_of(
        &mut self,
        whole: Option<&Literal>,
        text: &str,
        slots: &[&'a Expr],
        at: EventId,
        belief: &Belief,
    ) -> bool {
        let Some(needed) = &belief.needed else {
            return self.parts(slots, at, belief);
        };
        let mut known: Vec<Option<Literal>> =
            slots.iter().map(|slot| self.known(slot, at)).collect();
        if let (Some(whole), [a, b]) = (whole, known.as_mut_slice()) {
            let hole = usize::from(b.is_none());
            if let (Some(held), None) | (None, Some(held)) = (&*a, &*b)
                && let exact::Inverted::Value(value) =
                    exact::invert(text, &[held, held], whole, hole, None)
            {
                known[hole] = Some(value);
            }
        }
        let mut found = Vec::new();
        let mut unsaid = Vec::new();
        for hole in 0..slots.len() {
            if syntax::constant(slots[hole]).is_some() {
                continue;
            }
            let others = known
                .iter()
                .enumerate()
                .all(|(at, held)| at == hole || held.is_some());
            if !others {
                unsaid.push(hole);
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
            match exact::invert(text, &operands, needed, hole, was) {
                exact::Inverted::Value(value) => found.push((hole, value, false)),
                exact::Inverted::Nothing => {}
                exact::Inverted::Unknown => {
                    match self.believed(text, &operands, needed, hole, whole.zip(was)) {
                        Some(value) => found.push((hole, value, true)),
                        None => unsaid.push(hole),
                    }
                }
            }
        }
        // A number in place of a truth, or text in place of a list, is hardly what was meant.
        let fits = |hole: usize, value: &Literal| {
            let was = known[hole].as_ref();
            was.is_none_or(|was| was.type_name() == value.type_name() || are_numbers(was, value))
        };
        unsaid.extend(
            found
                .iter()
                .filter(|(hole, value, _)| !fits(*hole, value))
                .map(|(hole, _, _)| *hole),
        );
        found.retain(|(hole, value, _)| fits(*hole, value));
        let weight = found.len() as f64 + unsaid.len() as f64 * UNSAID;
        let mut further = false;
        for (hole, value, asked) in found {
            if known[hole].as_ref().is_some_and(|held| same(held, &value)) {
                continue;
            }
            let share = if asked { ASKED } else { 1.0 } / weight;
            further |= self.wanted(slots[hole], at, &belief.with(value, share, asked));
        }
        for hole in unsaid {
            let belief = belief.another(UNSAID / weight, None);
            further |= self.wanted(slots[hole], at, &belief);
        }
        further
    }

    /// Another value was needed of what has these parts.
    fn parts(&mut self, slots: &[&'a Expr], at: EventId, belief: &Belief) -> bool {
        let share = 1.0 / slots.len().max(1) as f64;
        let mut further = false;
        for slot in slots {
            if syntax::constant(slot).is_none() {
                further |= self.wanted(slot, at, &belief.share(share));
            }
        }
        further
    }

    /// What was asked for, where the answers so far were worth asking for. An answer is believed if the same
    /// question about what was recorded is answered by what was recorded, where both are known.
    fn believed(
        &self,
        text: &str,
        operands: &[&Literal],
        needed: &Literal,
        hole: usize,
        recorded: Option<(&Literal, &Literal)>,
    ) -> Option<Literal> {
        let (right, wrong) = self.answers.get();
        if wrong >= right + DISTRUST {
            return None;
        }
        let value = self.asked(text, operands, needed, hole);
        let is_good = value.is_some()
            && recorded.is_none_or(|(whole, was)| {
                let again = self.asked(text, operands, whole, hole);
                again.is_some_and(|again| same(&again, was))
            });
        self.answers.set(if is_good {
            (right + 1, wrong)
        } else {
            (right, wrong + 1)
        });
        value.filter(|_| is_good)
    }

    fn asked(
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
