//! Names and returned values that should have been something else: who bound them last.

use ruff_python_ast::{Expr, Stmt};

use super::belief::{Belief, Want};
use super::{Part, Walk, blame, objects, same};
use crate::literal::Literal;
use crate::recording::{ActivationId, EventId, Leave};
use crate::state::EventKind;

/// What the first walk through an iterator is worth when a later one finds it empty.
const CONSUMED: f64 = 0.6;

impl Walk<'_> {
    /// Remembers that a name should have held something else; false when it did hold that, or is not known.
    pub(super) fn want(&mut self, name: &str, at: EventId, belief: Belief) -> bool {
        if self.local(at, name).is_none() {
            return self.global(name, at, &belief);
        }
        if self.is_as_needed(at, name, &belief) {
            return false;
        }
        self.todo.push(Want {
            name: name.to_owned(),
            at,
            belief,
        });
        true
    }

    /// A call should have returned something else.
    pub(super) fn returned(&mut self, activation: ActivationId, belief: &Belief) -> bool {
        let recording = self.recording();
        let last = recording.activation(activation).last;
        let event = recording.event(last);
        let Some(value) = event.value else {
            return false;
        };
        if event.kind != EventKind::Return || event.leave == Some(Leave::Unwind) {
            return false;
        }
        let held = self.returned_value(activation);
        if let (Some(held), Some(needed)) = (&held, &belief.needed)
            && same(held, needed)
        {
            return false;
        }
        let Some(before) = recording.previous_in_activation(last) else {
            return false;
        };
        let Some(places) = self.places.get(&self.file(before)) else {
            return false;
        };
        let statement = places.statement(recording.event(before).line);
        // Without its value a description of an object says nothing of what it should have been.
        let belief = match held {
            None if belief.needed.is_some() => &belief.another(1.0, None),
            _ => belief,
        };
        let kept = statement.map_or(0.0, blame::of_statement);
        let kept = match (statement, &belief.attribute) {
            (Some(Stmt::Return(inner)), Some((name, _))) => {
                let call = inner.value.as_deref().and_then(Expr::as_call_expr);
                let given = call.and_then(|call| self.argument_for(call, name));
                given.map_or(kept, blame::of_expression)
            }
            _ => kept,
        };
        let recorded = recording.text(value).to_owned();
        self.point(
            before,
            Part::Returned,
            recorded,
            belief,
            kept,
            |walk, belief| match statement {
                Some(Stmt::Return(inner)) => match &inner.value {
                    Some(value) => walk.wanted(value, before, belief),
                    None => false,
                },
                Some(Stmt::Expr(inner)) => match inner.value.as_yield_expr() {
                    Some(given) => match &given.value {
                        Some(value) => walk.wanted(value, before, belief),
                        None => false,
                    },
                    None => false,
                },
                _ => false,
            },
        )
    }

    /// The last event up to `at` before which a name was bound or changed.
    pub(super) fn binding(&self, at: EventId, name: &str) -> Option<EventId> {
        let recording = self.recording();
        let is_it = |event: &EventId| {
            let mut changes = recording.event(*event).changes.iter();
            changes.any(|change| recording.text(change.name) == name)
        };
        std::iter::successors(Some(at), |&event| {
            let before = recording.previous_in_activation(event);
            before.filter(|_| self.pay())
        })
        .find(is_it)
    }

    /// A name should have held something else.
    pub(super) fn name(&mut self, want: &Want) {
        let recording = self.recording();
        let Some(after) = self.binding(want.at, &want.name) else {
            return;
        };
        let Some(recorded) = self.text_of(after, &want.name).map(str::to_owned) else {
            return;
        };
        if objects::is_iterator(&recorded) {
            self.consumed(want, after);
        }
        // A generator goes on with all that it had.
        let mut resumed = after;
        while recording.kind(resumed) == EventKind::Call
            && let Some(earlier) = recording.previous_in_frame(resumed)
        {
            let Some(bound) = self.binding(earlier, &want.name) else {
                return;
            };
            resumed = bound;
        }
        let after = resumed;
        let Some(before) = recording.previous_in_activation(after) else {
            self.argument(after, want, recorded);
            return;
        };
        self.skipped(&want.name, before, want.at, &want.belief);
        if recording.kind(before) == EventKind::Call {
            // Bound together with the arguments.
            self.argument(before, want, recorded);
            return;
        }
        let Some(statement) = self.statement(before) else {
            return;
        };
        if self.carries_on(statement, before, want) {
            self.want(&want.name, before, want.belief.clone());
            return;
        }
        let kept = blame::of_statement(statement);
        let want = want.clone();
        let part = Part::Variable(want.name.clone());
        let belief = match self.held(after, &want.name) {
            None if want.belief.needed.is_some() => want.belief.another(1.0, None),
            _ => want.belief.clone(),
        };
        self.point(before, part, recorded, &belief, kept, |walk, belief| {
            let want = Want {
                belief: belief.clone(),
                ..want
            };
            walk.bound(statement, before, &want)
        });
    }

    /// Something else went through an iterator first, and left nothing.
    fn consumed(&mut self, want: &Want, since: EventId) {
        let recording = self.recording();
        let Some(file) = self.places.get(&self.file(since)) else {
            return;
        };
        let mut first = None;
        let mut event = recording.previous_in_activation(want.at);
        while let Some(here) = event.filter(|here| *here >= since && self.pay()) {
            let statement = file.statement(recording.event(here).line);
            if statement.is_some_and(|statement| super::syntax::mentions(statement, &want.name)) {
                first = Some(here);
            }
            event = recording.previous_in_activation(here);
        }
        // A loop goes through one iterator, however often its header runs.
        let line = |event: EventId| recording.event(event).line;
        if let Some(first) = first.filter(|first| line(*first) != line(want.at)) {
            let belief = want.belief.another(CONSUMED, None);
            let part = Part::Variable(want.name.clone());
            let recorded = self.text_of(first, &want.name).unwrap_or("").to_owned();
            self.evident(first, part, recorded, &belief);
        }
    }

    /// The part that differs between a name's items, as a belief in another value of the name.
    pub(super) fn before(&mut self, want: &Want, at: EventId, share: f64) -> bool {
        let was: Option<Literal> = self.held(at, &want.name);
        let belief = want.belief.another(share, was.as_ref());
        self.want(&want.name, at, belief)
    }
}
