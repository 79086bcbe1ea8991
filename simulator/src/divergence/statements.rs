//! Statements that should have left a name with something else.

use ruff_python_ast::{Expr, ExprCall, Stmt};

use super::{Bound, Walk, Want, same};
use crate::literal::Literal;
use crate::recording::EventId;

impl<'a> Walk<'a> {
    /// A statement should have left a name with something else.
    pub(super) fn bound(&mut self, statement: &'a Stmt, at: EventId, want: &Want) -> Bound {
        match statement {
            Stmt::Assign(assign) => {
                let mut bound = Bound::Here(false);
                for target in &assign.targets {
                    bound = bound.or(self.assigned(target, &assign.value, at, want));
                }
                bound
            }
            Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => self.assigned(&assign.target, value, at, want),
                None => Bound::Here(false),
            },
            Stmt::AugAssign(assign) => {
                if assign.op == ruff_python_ast::Operator::Add
                    && let Some(bound) = self.extended(at, want)
                {
                    return bound;
                }
                let text = format!("v0 {} v1", assign.op.as_str());
                let slots = [&*assign.target, &*assign.value];
                Bound::Here(self.operation(&text, &slots, at, &want.belief))
            }
            Stmt::Expr(inner) => match &*inner.value {
                Expr::Call(call) if self.passed(call, at, want) => Bound::Here(true),
                Expr::Call(call) => self.changed(call, at, want),
                _ => Bound::Here(false),
            },
            _ => Bound::Here(false),
        }
    }

    /// A function that was given an object and changed it: there it should have become something else.
    pub(super) fn passed(&mut self, call: &'a ExprCall, at: EventId, want: &Want) -> bool {
        let Some(activation) = self.called(call, at) else {
            return false;
        };
        let recording = self.recording();
        let (first, last) = {
            let activation = recording.activation(activation);
            (activation.first, activation.last)
        };
        let Some(places) = self.places.get(&self.file(first)) else {
            return false;
        };
        let is_it =
            |given: &Expr| matches!(given, Expr::Name(name) if name.id.as_str() == want.name);
        let position = call.arguments.args.iter().position(is_it);
        let keyword = call
            .arguments
            .keywords
            .iter()
            .find(|keyword| is_it(&keyword.value))
            .and_then(|keyword| keyword.arg.as_ref());
        let parameter = match (position, keyword) {
            (Some(position), _) => places.parameter_at(recording.event(first).line, position),
            (None, Some(keyword)) => Some(keyword.as_str()),
            (None, None) => None,
        };
        let Some(parameter) = parameter.map(str::to_owned) else {
            return false;
        };
        let before = recording.previous_in_activation(last).unwrap_or(last);
        self.want(&parameter, last, want.belief.clone())
            || self.want(&parameter, before, want.belief.clone())
    }

    /// `text += more`, built up piece by piece: see [`Walk::changed`].
    pub(super) fn extended(&self, at: EventId, want: &Want) -> Option<Bound> {
        match (self.held(at, &want.name)?, &want.belief.needed) {
            (Literal::Str(before), Literal::Str(needed)) => Some(if needed.starts_with(&before) {
                Bound::Here(false)
            } else {
                Bound::Earlier
            }),
            _ => None,
        }
    }

    pub(super) fn assigned(
        &mut self,
        target: &'a Expr,
        value: &'a Expr,
        at: EventId,
        want: &Want,
    ) -> Bound {
        match target {
            Expr::Name(name) if name.id.as_str() == want.name => {
                Bound::Here(self.wanted(value, at, &want.belief))
            }
            Expr::Tuple(targets) => {
                let Expr::Tuple(values) = value else {
                    return Bound::Here(false);
                };
                let place = targets.elts.iter().position(
                    |target| matches!(target, Expr::Name(name) if name.id.as_str() == want.name),
                );
                match place.and_then(|place| values.elts.get(place)) {
                    Some(value) => Bound::Here(self.wanted(value, at, &want.belief)),
                    None => Bound::Here(false),
                }
            }
            Expr::Subscript(subscript) => {
                let Expr::Name(name) = &*subscript.value else {
                    return Bound::Here(false);
                };
                if name.id.as_str() != want.name {
                    return Bound::Here(false);
                }
                match self.known(&subscript.slice, at) {
                    Some(key) => self.item_assigned(value, &key, at, want),
                    None => Bound::Here(false),
                }
            }
            _ => Bound::Here(false),
        }
    }

    /// `name[key] = value`: the last assignment to an item that is not as needed is where it goes wrong.
    pub(super) fn item_assigned(
        &mut self,
        value: &'a Expr,
        key: &Literal,
        at: EventId,
        want: &Want,
    ) -> Bound {
        let Some(item) = want.belief.needed.item(key) else {
            return Bound::Here(false);
        };
        if self.known(value, at).is_some_and(|held| same(&held, &item)) {
            return Bound::Earlier;
        }
        Bound::Here(self.wanted(value, at, &want.belief.with(item, 1.0, false)))
    }

    /// A method that changes its object: `xs.append(x)`. What is built up goes wrong where it is first no
    /// beginning of what was needed; what is appended later only follows.
    pub(super) fn changed(&mut self, call: &'a ExprCall, at: EventId, want: &Want) -> Bound {
        let Expr::Attribute(method) = &*call.func else {
            return Bound::Here(false);
        };
        let (Expr::Name(name), [argument]) = (&*method.value, &*call.arguments.args) else {
            return Bound::Here(false);
        };
        if name.id.as_str() != want.name || method.attr.as_str() != "append" {
            return Bound::Here(false);
        }
        let (Some(Literal::List(before)), Literal::List(needed)) =
            (self.held(at, &want.name), &want.belief.needed)
        else {
            return Bound::Here(false);
        };
        let is_beginning = before.len() <= needed.len()
            && before
                .iter()
                .zip(needed)
                .all(|(held, needed)| held.equals(needed));
        if !is_beginning {
            return Bound::Earlier;
        }
        match needed.get(before.len()) {
            Some(item) => {
                let belief = want.belief.with(item.clone(), 1.0, false);
                Bound::Here(self.wanted(argument, at, &belief))
            }
            // It should not have run.
            None => Bound::Here(false),
        }
    }
}
