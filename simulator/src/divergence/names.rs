//! Names, attributes, arguments and returned values that should have been something else: who bound them last.

use ruff_python_ast::Stmt;

use super::{BRANCH, Belief, Bound, Part, SOME_OBJECT, Walk, Want, places};
use crate::literal::{self, Literal};
use crate::recording::{ActivationId, EventId};
use crate::state::EventKind;

impl Walk<'_> {
    /// An attribute should have held something else: so should what was assigned to it last. Which object's it
    /// was is not looked at.
    pub(super) fn attribute(&mut self, name: &str, at: EventId, belief: &Belief) -> bool {
        let recording = self.recording();
        let mut earlier = at.0;
        while earlier > 0 {
            earlier -= 1;
            let event = EventId(earlier);
            if recording.kind(event) != EventKind::Line {
                continue;
            }
            let Some(statement) = self.statement(event) else {
                continue;
            };
            let Some((target, value)) = places::assigned_attribute(statement) else {
                continue;
            };
            if target != name {
                continue;
            }
            let belief = belief.with(belief.needed.clone(), SOME_OBJECT, false);
            let recorded = self
                .known(value, event)
                .map_or_else(|| "?".to_owned(), |held| held.to_string());
            let part = Part::Variable(format!(".{name}"));
            if let Some(number) = self.point(event, part, recorded, &belief) {
                let plain = !matches!(statement, Stmt::AugAssign(_));
                let further = plain && self.wanted(value, event, &belief);
                self.points[number].is_leaf = !further;
                self.branch(event, &belief);
            }
            return true;
        }
        false
    }

    /// A call should have returned something else.
    pub(super) fn returned(&mut self, activation: ActivationId, belief: &Belief) -> bool {
        let recording = self.recording();
        let last = recording.activation(activation).last;
        let event = recording.event(last);
        let Some(value) = event.value else {
            return false;
        };
        if event.kind != EventKind::Return || recording.is_lossy(value) {
            return false;
        }
        let recorded = recording.text(value).to_owned();
        if literal::parse(&recorded).is_ok_and(|held| held.equals(&belief.needed)) {
            return false;
        }
        let Some(before) = recording.previous_in_activation(last) else {
            return false;
        };
        if !self.ground.programs.contains_key(&self.file(before)) {
            return false;
        }
        let Some(number) = self.point(before, Part::Returned, recorded, belief) else {
            return false;
        };
        let mut further = false;
        if let Some(Stmt::Return(inner)) = self.statement(before)
            && let Some(value) = &inner.value
        {
            further = self.wanted(value, before, belief);
        }
        self.branch(before, belief);
        self.points[number].is_leaf = !further;
        true
    }

    /// The condition that let a statement run might have been the other way round.
    pub(super) fn branch(&mut self, at: EventId, belief: &Belief) {
        let recording = self.recording();
        let Some(places) = self.places.get(&self.file(at)) else {
            return;
        };
        let Some((condition, line, taken)) = places.condition_above(recording.event(at).line)
        else {
            return;
        };
        let mut earlier = recording.previous_in_activation(at);
        while let Some(event) = earlier {
            if recording.event(event).line == line && recording.kind(event) == EventKind::Line {
                break;
            }
            earlier = recording.previous_in_activation(event);
        }
        let Some(event) = earlier else { return };
        let flipped = belief.with(Literal::Bool(!taken), BRANCH, belief.predicted);
        let recorded = if taken { "True" } else { "False" };
        if let Some(number) = self.point(event, Part::Branch, recorded.into(), &flipped) {
            let further = self.wanted(condition, event, &flipped);
            self.points[number].is_leaf = !further;
        }
    }

    /// The last event up to `at` before which a name was bound or changed.
    pub(super) fn binding(&self, at: EventId, name: &str) -> Option<EventId> {
        let recording = self.recording();
        let is_it = |event: &EventId| {
            let mut changes = recording.event(*event).changes.iter();
            changes.any(|change| recording.text(change.name) == name)
        };
        std::iter::successors(Some(at), |&event| recording.previous_in_activation(event))
            .find(is_it)
    }

    /// Whether a loop bound the name: what it walks through is what it was given.
    pub(super) fn is_given(&self, at: EventId, name: &str) -> bool {
        let before = self
            .binding(at, name)
            .and_then(|after| self.recording().previous_in_activation(after));
        before.is_some_and(|before| matches!(self.statement(before), Some(Stmt::For(_))))
    }

    /// A name should have held something else.
    pub(super) fn name(&mut self, want: &Want) {
        let recording = self.recording();
        let Some(after) = self.binding(want.at, &want.name) else {
            return;
        };
        let recorded = self.held(after, &want.name).map(|held| held.to_string());
        let Some(recorded) = recorded else { return };
        let Some(before) = recording.previous_in_activation(after) else {
            self.argument(after, want, recorded);
            return;
        };
        if recording.kind(before) == EventKind::Call {
            // Bound together with the arguments.
            self.argument(before, want, recorded);
            return;
        }
        let part = Part::Variable(want.name.clone());
        let bound = match self.statement(before) {
            Some(statement) => self.bound(statement, before, want),
            None => Bound::Here(false),
        };
        match bound {
            Bound::Earlier => {
                self.want(&want.name, before, want.belief.clone());
            }
            Bound::Here(further) => {
                if let Some(number) = self.point(before, part, recorded, &want.belief) {
                    self.points[number].is_leaf = !further;
                    self.branch(before, &want.belief);
                }
            }
        }
    }

    /// An argument should have been something else: so should what the caller gave.
    pub(super) fn argument(&mut self, first: EventId, want: &Want, recorded: String) {
        let recording = self.recording();
        let part = Part::Argument(want.name.clone());
        let Some(number) = self.point(first, part, recorded, &want.belief) else {
            return;
        };
        let event = recording.event(first);
        let activation = recording.activation(event.activation);
        let Some(caller) = activation.parent_event else {
            return;
        };
        let function = recording.function(event.activation).to_owned();
        let (Some(statement), Some(places)) =
            (self.statement(caller), self.places.get(&self.file(first)))
        else {
            return;
        };
        let position = places.position_of(event.line, &want.name);
        let Some(call) = places::call_in(statement, &function) else {
            return;
        };
        if let Some(given) = places::argument_of(call, &want.name, position) {
            let further = self.wanted(given, caller, &want.belief);
            self.points[number].is_leaf = !further;
        }
    }
}
