//! Exceptions that should not have been raised, and some that should have been.

use std::collections::HashSet;

use ruff_python_ast::{Expr, Stmt};

use super::places::Condition;
use super::{Belief, Part, Walk, syntax};
use crate::recording::{ActivationId, EventId, Leave};
use crate::state::EventKind;

/// What the frame that raised is worth; the rest goes to those that it passed through.
const ORIGIN: f64 = 0.8;
/// What a handler is worth that did not take the exception.
const HANDLER: f64 = 0.5;
/// What a `raise` keeps: it is right to complain.
const COMPLAINS: f64 = 0.05;
/// What a statement keeps in which something went wrong without a `raise`.
const BREAKS: f64 = 0.4;
/// What a statement keeps in which a call went wrong: what it was given is likelier wrong.
const GIVEN: f64 = 0.12;
/// Calls that are looked through for a `raise` that did not run.
const CALLS: usize = 200;
/// What a condition above a `raise` of another exception is worth.
const OTHER: f64 = 0.2;
/// What a condition is worth that lies one call deeper.
const DEEPER: f64 = 0.8;

impl<'a> Walk<'a> {
    /// The last exception of a type among some events should not have been raised.
    pub(super) fn raised(&mut self, start: u32, end: u32, exception: &str) {
        let recording = self.recording();
        let is_it = |event: &EventId| {
            recording.kind(*event) == EventKind::Exception
                && recording
                    .event(*event)
                    .exception
                    .is_some_and(|held| is_type(recording.text(held), exception))
        };
        let Some(mut at) = (start..end).rev().map(EventId).find(is_it) else {
            return;
        };
        // The frames that it passed through, outermost first.
        let mut chain = vec![at];
        while let Some(inner) = self.raised_below(at, start, &is_it) {
            chain.push(inner);
            at = inner;
        }
        let belief = Belief::another_value();
        let mut left = 1.0;
        for (rank, event) in chain.iter().rev().enumerate() {
            let share = if rank == 0 { ORIGIN } else { left * 0.3 };
            left -= share;
            let mut belief = belief.share(share);
            if let Some((handler, condition)) = self.handler_after(*event) {
                self.turned(handler, condition, false, &belief.share(HANDLER));
                belief = belief.share(1.0 - HANDLER);
            }
            let text = recording.event(*event).value;
            let text = text.map_or_else(String::new, |value| recording.text(value).to_owned());
            self.broke(*event, text, &belief, rank == 0);
        }
    }

    /// The exception event of the call from which an exception came.
    fn raised_below(
        &self,
        at: EventId,
        start: u32,
        is_it: &impl Fn(&EventId) -> bool,
    ) -> Option<EventId> {
        let recording = self.recording();
        let owner = recording.event(at).activation;
        let since = recording.previous_in_activation(at)?;
        let from = since.0.max(start);
        (from..at.0).rev().map(EventId).find(|event| {
            self.pay()
                && is_it(event)
                && recording.activation_of(*event).parent == Some(owner)
                && recording.activation_of(*event).first > since
        })
    }

    /// The clause of a handler that an exception was compared with and that did not take it.
    fn handler_after(&self, at: EventId) -> Option<(EventId, Condition<'a>)> {
        let recording = self.recording();
        let places = self.places.get(&self.file(at))?;
        let next = recording.next_in_activation(at)?;
        let line = recording.event(next).line;
        if recording.kind(next) != EventKind::Line || !places.is_handler(line) {
            return None;
        }
        // The body of a handler that took it lies behind its clause.
        let after = recording.next_in_activation(next)?;
        let is_body = recording.kind(after) == EventKind::Line
            && places.is_handling(recording.event(after).line);
        let condition = Condition {
            test: None,
            line,
            taken: true,
            gives: None,
        };
        (!is_body).then_some((next, condition))
    }

    /// A statement raised an exception, or let one through.
    fn broke(&mut self, exception: EventId, text: String, belief: &Belief, is_origin: bool) {
        let recording = self.recording();
        let mut at = recording.previous_in_activation(exception);
        while let Some(event) = at.filter(|_| self.pay()) {
            if recording.kind(event) == EventKind::Line {
                break;
            }
            at = recording.previous_in_activation(event);
        }
        let Some(at) = at else { return };
        let Some(statement) = self.statement(at) else {
            return;
        };
        let raises = matches!(statement, Stmt::Raise(_) | Stmt::Assert(_));
        let kept = match (is_origin, raises) {
            (true, true) => COMPLAINS,
            (true, false) if syntax::has_call(statement) => GIVEN,
            (true, false) => BREAKS,
            (false, _) => 0.15,
        };
        let is_guarded = !self.branches_of(at, &Part::Raised, belief).is_empty();
        self.point(at, Part::Raised, text, belief, kept, |walk, belief| {
            if raises && is_origin {
                return walk.handled_before(at, belief) || is_guarded;
            }
            let mut further = false;
            let expressions = syntax::expressions(statement);
            let share = 1.0 / expressions.len().max(1) as f64;
            for expression in expressions {
                further |= walk.used_by(expression, at, &belief.share(share), is_origin);
            }
            further
        });
    }

    /// All that an expression uses, apart from calls that raised.
    fn used_by(
        &mut self,
        expression: &'a Expr,
        at: EventId,
        belief: &Belief,
        is_origin: bool,
    ) -> bool {
        // What was raised in a call is looked into by its own frame: here only the objects and arguments count.
        let recorded = if is_origin {
            self.names_of(&self.calls_at(at))
        } else {
            HashSet::new()
        };
        let found = super::sources::of(expression, &recorded);
        self.spread(found, Vec::new(), at, belief)
    }

    /// A handler raised anew: what it handled should not have been raised.
    fn handled_before(&mut self, at: EventId, belief: &Belief) -> bool {
        let recording = self.recording();
        let Some(places) = self.places.get(&self.file(at)) else {
            return false;
        };
        if !places.is_handling(recording.event(at).line) {
            return false;
        }
        let mut event = recording.previous_in_activation(at);
        while let Some(here) = event.filter(|_| self.pay()) {
            if recording.kind(here) == EventKind::Exception {
                let text = recording.event(here).value;
                let text = text.map_or_else(String::new, |value| recording.text(value).to_owned());
                self.broke(here, text, belief, true);
                return true;
            }
            event = recording.previous_in_activation(here);
        }
        false
    }

    /// An exception was expected and not raised: conditions above a `raise` that did not run should have been the
    /// other way round.
    pub(super) fn not_raised(&mut self, event: EventId, exception: Option<&str>) {
        let recording = self.recording();
        let mut roots: Vec<ActivationId> = recording.called_during(event).collect();
        // `with pytest.raises(E):` comes first and its block after it.
        if let (Some(Stmt::With(managed)), Some(places)) =
            (self.statement(event), self.places.get(&self.file(event)))
        {
            let lines: Vec<u32> = managed.body.iter().map(|one| places.line_of(one)).collect();
            // The statement is met again when its block ends.
            let owner = recording.event(event).activation;
            let mut next = Some(recording.activation(owner).first);
            while let Some(here) = next.filter(|_| self.pay()) {
                if recording.kind(here) == EventKind::Line
                    && lines.contains(&recording.event(here).line)
                {
                    roots.extend(recording.called_during(here));
                }
                next = recording.next_in_activation(here);
            }
        }
        let mut found = Vec::new();
        let mut level: Vec<ActivationId> = roots;
        let mut weight = 1.0;
        let mut looked = 0;
        while !level.is_empty() && looked < CALLS {
            let mut deeper = Vec::new();
            for activation in level {
                looked += 1;
                self.guards_in(activation, exception, weight, &mut found);
                let mut at = Some(recording.activation(activation).first);
                while let Some(here) = at.filter(|_| self.pay()) {
                    deeper.extend(recording.called_during(here));
                    at = recording.next_in_activation(here);
                }
            }
            level = deeper;
            weight *= DEEPER;
        }
        let total: f64 = found.iter().map(|(_, _, weight)| weight).sum();
        for (event, condition, weight) in found {
            let belief = Belief::another_value().share(weight / total);
            self.turned(event, condition, !condition.taken, &belief);
        }
    }

    /// Conditions above statements of a call that would have raised, as they were evaluated last.
    fn guards_in(
        &self,
        activation: ActivationId,
        exception: Option<&str>,
        weight: f64,
        found: &mut Vec<(EventId, Condition<'a>, f64)>,
    ) {
        let recording = self.recording();
        let last = recording.activation(activation).last;
        if recording.event(last).leave == Some(Leave::Unwind) {
            return;
        }
        let Some(places) = self.places.get(&self.file(last)) else {
            return;
        };
        let line = recording.event(recording.activation(activation).first).line;
        let mut later = 1.0;
        let mut guards = places.raises_of(line);
        guards.reverse();
        for (condition, raised) in guards {
            let Some(event) = self.last_at(last, condition.line) else {
                continue;
            };
            let is_it = match (exception, raised) {
                (Some(expected), Some(raised)) => is_type(expected, raised),
                _ => true,
            };
            let share = if is_it { 1.0 } else { OTHER };
            found.push((event, condition, weight * later * share));
            later *= DEEPER;
        }
    }
}

/// Whether two names of a type are one, qualified or not.
fn is_type(a: &str, b: &str) -> bool {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    last(a) == last(b)
}
