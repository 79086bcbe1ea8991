//! The walk where no value is known: another one was needed, and whatever gave it may be to blame.

use std::collections::HashSet;

use ruff_python_ast::{Expr, ExprAttribute, ExprCall};

use super::sources::{self, Source};
use super::{Belief, LEAST, Walk, same, syntax};
use crate::literal::Literal;
use crate::recording::{ActivationId, EventId};

/// What a source is worth that is known to hold the part that differs.
const TELLING: f64 = 5.0;
/// What a call is worth against a name: it decides more.
const CALL: f64 = 2.0;
/// What a function is worth that is handed on and called: it decides how the rest is taken.
const KEY: f64 = 3.0;
/// What a call is worth that the expression does not name: of an operator, a sort key, a property.
const HIDDEN: f64 = 1.0;
/// Activations of one call that are gone into.
const ACTIVATIONS: usize = 4;

impl<'a> Walk<'a> {
    /// Another value was needed than an expression had at a state. Whether that leads further back.
    pub(super) fn sliced_into(
        &mut self,
        expression: &'a Expr,
        at: EventId,
        belief: &Belief,
    ) -> bool {
        if belief.confidence < LEAST {
            return false;
        }
        match expression {
            Expr::Name(name) => return self.want(name.id.as_str(), at, belief.clone()),
            Expr::Attribute(attribute) => return self.attribute(attribute, at, belief),
            Expr::Call(call) => {
                if let Some(further) = self.constructed(call, at, belief) {
                    return further;
                }
            }
            Expr::If(choice) => {
                if let Some(test) = self.known(&choice.test, at) {
                    let taken = if test.is_true() {
                        &choice.body
                    } else {
                        &choice.orelse
                    };
                    let by_test = self.wanted(
                        &choice.test,
                        at,
                        &belief.with(Literal::Bool(!test.is_true()), 0.3, false),
                    );
                    return self.wanted(taken, at, &belief.share(0.7)) || by_test;
                }
            }
            _ => {}
        }
        let calls = self.calls_at(at);
        let recorded = self.names_of(&calls);
        let found = sources::of(expression, &recorded);
        let named = names_in(&found);
        // What is called without being named.
        let hidden: Vec<ActivationId> = calls
            .into_iter()
            .filter(|call| !named.contains(self.called_name(*call)))
            .filter(|call| !self.is_constructor(*call))
            .collect();
        let hidden = if matches!(
            expression,
            Expr::Subscript(_) | Expr::BinOp(_) | Expr::Compare(_) | Expr::Call(_)
        ) {
            self.chosen(hidden, belief)
        } else {
            Vec::new()
        };
        self.spread(found, hidden, at, belief)
    }

    /// Hands a belief on to sources and to calls, in shares.
    pub(super) fn spread(
        &mut self,
        found: Vec<Source<'a>>,
        hidden: Vec<ActivationId>,
        at: EventId,
        belief: &Belief,
    ) -> bool {
        let mut weighed: Vec<(Source<'a>, Option<Literal>, f64)> = Vec::new();
        let mut seen = HashSet::new();
        for source in found {
            let (held, weight) = match source {
                Source::Name(expression, name) => {
                    if !seen.insert(name) {
                        continue;
                    }
                    let called = self.is_called(name, at);
                    (self.known(expression, at), if called { KEY } else { 1.0 })
                }
                Source::Attribute(attribute) => (self.attribute_value(attribute, at), 1.0),
                Source::Call(call) => (
                    self.called(call, at)
                        .and_then(|activation| self.returned_value(activation)),
                    CALL,
                ),
            };
            let needed = held.as_ref().and_then(|held| belief.in_place_of(held));
            let weight = if needed.is_some() { TELLING } else { weight };
            weighed.push((source, needed.cloned(), weight));
        }
        let total =
            weighed.iter().map(|(_, _, weight)| weight).sum::<f64>() + hidden.len() as f64 * HIDDEN;
        let mut further = false;
        for (source, needed, weight) in weighed {
            let belief = match needed {
                Some(needed) => belief.with(needed, weight / total, false),
                None => belief.share(weight / total),
            };
            further |= match source {
                Source::Name(_, name) => {
                    self.passed_on(name, at, &belief) || self.want(name, at, belief)
                }
                Source::Attribute(attribute) => self.attribute(attribute, at, &belief),
                Source::Call(call) => self.entered(call, at, &belief),
            };
        }
        for activation in hidden {
            further |= self.returned(activation, &belief.share(HIDDEN / total));
        }
        further
    }

    fn attribute_value(&self, attribute: &ExprAttribute, at: EventId) -> Option<Literal> {
        let base = self.described(&attribute.value, at)?;
        let text = super::objects::attribute(base, attribute.attr.as_str())?;
        crate::literal::parse(text).ok()
    }

    /// A call, or several of one function, should have returned something else.
    fn entered(&mut self, call: &'a ExprCall, at: EventId, belief: &Belief) -> bool {
        syntax::callee(call).is_some_and(|name| self.passed_on(name, at, belief))
    }

    /// A function that is only named, such as a sort key, and was called at a state: what it returned there should
    /// have been something else.
    pub(super) fn passed_on(&mut self, name: &str, at: EventId, belief: &Belief) -> bool {
        let all = self.calls_at(at);
        let calls: Vec<ActivationId> = all
            .into_iter()
            .filter(|activation| self.called_name(*activation) == name)
            .collect();
        let calls = self.chosen(calls, belief);
        let share = 1.0 / calls.len().max(1) as f64;
        let mut further = false;
        for activation in calls {
            further |= self.returned(activation, &belief.share(share));
        }
        further
    }

    /// Whether a function is called at a state under its own name.
    fn is_called(&self, name: &str, at: EventId) -> bool {
        let calls = self.calls_at(at);
        calls.iter().any(|call| self.called_name(*call) == name)
    }

    /// The calls that are gone into: those that returned the part that differs, else the last ones.
    fn chosen(&self, mut calls: Vec<ActivationId>, belief: &Belief) -> Vec<ActivationId> {
        let telling: Vec<ActivationId> = calls
            .iter()
            .copied()
            .filter(|call| {
                let value = self.returned_value(*call);
                value.is_some_and(|value| belief.in_place_of(&value).is_some())
            })
            .collect();
        if !telling.is_empty() {
            calls = telling;
        }
        let more = calls.len().saturating_sub(ACTIVATIONS);
        calls.split_off(more)
    }

    /// Functions that were called, without those that make objects.
    pub(super) fn names_of(&self, calls: &[ActivationId]) -> HashSet<&'a str> {
        let recording = self.recording();
        calls
            .iter()
            .filter(|call| !self.is_constructor(**call))
            .map(|call| {
                let name = recording.function(*call);
                name.rsplit('.').next().unwrap_or(name)
            })
            .collect()
    }

    pub(super) fn is_constructor(&self, call: ActivationId) -> bool {
        matches!(
            self.called_name(call),
            "__init__" | "__new__" | "__post_init__" | "<module>"
        )
    }

    /// `Point(x=1)`, of which an attribute should have been another one: the argument that became it.
    fn constructed(&mut self, call: &'a ExprCall, at: EventId, belief: &Belief) -> Option<bool> {
        let name = belief.attribute.as_ref().map(|(name, _)| name.clone())?;
        let inner = belief.of_attribute(&name)?;
        let given = self.argument_for(call, &name)?;
        Some(self.wanted(given, at, &inner))
    }

    /// The argument of a constructor that becomes an attribute: by its name, or by the place of the field.
    pub(super) fn argument_for(&self, call: &'a ExprCall, name: &str) -> Option<&'a Expr> {
        let keyword = call
            .arguments
            .keywords
            .iter()
            .find(|keyword| keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == name));
        if let Some(keyword) = keyword {
            return Some(&keyword.value);
        }
        let class = syntax::callee(call)?;
        // The same one in every run, where several files have one of that name.
        let all = self.places.iter();
        let named = all.filter_map(|(file, places)| Some((file, places.class(class)?)));
        let (_, class) = named.min_by_key(|(file, _)| **file)?;
        let place = syntax::fields(class).position(|field| field == name)?;
        call.arguments.args.get(place)
    }

    /// Whether a name held what was needed already, so that nothing was wrong with it.
    pub(super) fn is_as_needed(&self, at: EventId, name: &str, belief: &Belief) -> bool {
        match (&belief.needed, self.held(at, name)) {
            (Some(needed), Some(held)) => same(&held, needed),
            _ => false,
        }
    }
}

fn names_in<'p>(found: &[Source<'p>]) -> HashSet<&'p str> {
    found
        .iter()
        .filter_map(|source| match source {
            Source::Name(_, name) => Some(*name),
            Source::Attribute(attribute) => Some(attribute.attr.as_str()),
            Source::Call(call) => syntax::callee(call),
        })
        .collect()
}
