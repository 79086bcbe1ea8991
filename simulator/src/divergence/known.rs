//! What was recorded: values of names and expressions at a state, and the calls that were made there.

use ruff_python_ast::{Expr, ExprCall};

use super::{Walk, objects, syntax};
use crate::literal::{self, Literal};
use crate::recording::{ActivationId, Change, EventId};
use crate::state::EventKind;

/// How deep generator expressions and lambdas are looked through for the calls that they make.
const THROUGH: usize = 4;
/// Calls of one event looked at.
const CALLS: usize = 64;

impl Walk<'_> {
    /// What a name is bound to at a state.
    pub(super) fn local(&self, at: EventId, name: &str) -> Option<Change> {
        let recording = self.recording();
        let mut event = Some(at);
        while let Some(held) = event {
            if !self.pay() {
                return None;
            }
            let changes = recording.event(held).changes;
            let mut found = changes.iter().rev();
            if let Some(change) = found.find(|change| recording.text(change.name) == name) {
                return change.value.map(|_| *change);
            }
            // A call and a resume list everything.
            if recording.kind(held) == EventKind::Call {
                return None;
            }
            event = recording.previous_in_activation(held);
        }
        None
    }

    /// The recorded text of a name's value at a state.
    pub(super) fn text_of(&self, at: EventId, name: &str) -> Option<&str> {
        let value = self.local(at, name)?.value?;
        Some(self.recording().text(value))
    }

    /// A recorded value of a name at a state.
    pub(super) fn held(&self, at: EventId, name: &str) -> Option<Literal> {
        let text = self.local(at, name)?.value?;
        if self.recording().is_lossy(text) {
            return None;
        }
        literal::parse(self.recording().text(text)).ok()
    }

    /// The identity of the object that an expression names; none where it is not recorded.
    pub(super) fn identity(&self, expression: &Expr, at: EventId) -> Option<u32> {
        let Expr::Name(name) = expression else {
            return None;
        };
        let serial = self.local(at, name.id.as_str())?.serial;
        (serial != 0).then_some(serial)
    }

    /// The text of an object: a name's, an attribute's of a described object, a call's result.
    pub(super) fn described(&self, expression: &Expr, at: EventId) -> Option<&str> {
        match expression {
            Expr::Name(name) => self.text_of(at, name.id.as_str()),
            Expr::Attribute(attribute) => objects::attribute(
                self.described(&attribute.value, at)?,
                attribute.attr.as_str(),
            ),
            Expr::Call(call) => {
                let activation = self.called(call, at)?;
                let recording = self.recording();
                let last = recording.activation(activation).last;
                Some(recording.text(recording.event(last).value?))
            }
            _ => None,
        }
    }

    /// What an expression is at a state, as far as the recording and constants say.
    pub(super) fn known(&self, expression: &Expr, at: EventId) -> Option<Literal> {
        match expression {
            Expr::Name(name) => self.held(at, name.id.as_str()),
            Expr::Attribute(_) => literal::parse(self.described(expression, at)?).ok(),
            Expr::Subscript(subscript) => {
                let held = self.known(&subscript.value, at)?;
                held.item(&self.known(&subscript.slice, at)?)
            }
            Expr::Call(call) => self.result(call, at).or_else(|| self.looked_up(call, at)),
            _ => syntax::constant(expression),
        }
    }

    /// What a recorded call returned.
    fn result(&self, call: &ExprCall, at: EventId) -> Option<Literal> {
        let activation = self.called(call, at)?;
        self.returned_value(activation)
    }

    /// The value with which an activation was left.
    pub(super) fn returned_value(&self, activation: ActivationId) -> Option<Literal> {
        let recording = self.recording();
        let last = recording.activation(activation).last;
        if recording.kind(last) != EventKind::Return {
            return None;
        }
        let value = recording.event(last).value?;
        if recording.is_lossy(value) {
            return None;
        }
        literal::parse(recording.text(value)).ok()
    }

    /// `names.get(key)` of a known dictionary.
    fn looked_up(&self, call: &ExprCall, at: EventId) -> Option<Literal> {
        let Expr::Attribute(method) = &*call.func else {
            return None;
        };
        if method.attr.as_str() != "get" {
            return None;
        }
        let [key, rest @ ..] = &*call.arguments.args else {
            return None;
        };
        let held = self.known(&method.value, at)?;
        if !matches!(held, Literal::Dict(_)) {
            return None;
        }
        let item = held.item(&self.known(key, at)?);
        item.or_else(|| {
            rest.first()
                .map_or(Some(Literal::None), |other| self.known(other, at))
        })
    }

    /// Calls that were made during an event, those of its generator expressions and lambdas included.
    pub(super) fn calls_at(&self, at: EventId) -> Vec<ActivationId> {
        let mut found = Vec::new();
        self.calls_below(at, THROUGH, &mut found);
        found
    }

    fn calls_below(&self, at: EventId, deep: usize, found: &mut Vec<ActivationId>) {
        let recording = self.recording();
        for activation in recording.called_during(at) {
            if found.len() >= CALLS || !self.pay() {
                return;
            }
            let name = self.called_name(activation);
            let first = recording.activation(activation).first;
            let is_inner = name.starts_with('<') && name != "<module>";
            if is_inner && deep > 0 {
                let mut event = Some(first);
                while let Some(held) = event {
                    self.calls_below(held, deep - 1, found);
                    event = recording.next_in_activation(held);
                }
            } else if !is_inner {
                found.push(activation);
            }
        }
    }

    /// The last part of a function's qualified name.
    pub(super) fn called_name(&self, activation: ActivationId) -> &str {
        let name = self.recording().function(activation);
        name.rsplit('.').next().unwrap_or(name)
    }

    /// The recorded call that a call expression made, when there is one alone.
    pub(super) fn called(&self, call: &ExprCall, at: EventId) -> Option<ActivationId> {
        let name = syntax::callee(call)?;
        let mut calls = self
            .recording()
            .called_during(at)
            .filter(|activation| self.called_name(*activation) == name);
        let only = calls.next()?;
        calls.next().is_none().then_some(only)
    }
}
