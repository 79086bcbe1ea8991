//! Conditions that let a statement run, or kept one from running.

use std::collections::HashSet;

use super::places::Condition;
use super::{ANOTHER, Belief, Part, Walk, blame, same};
use crate::literal::Literal;
use crate::recording::EventId;
use crate::state::EventKind;

/// What the next condition outwards is worth against the one before.
const OUTWARDS: f64 = 0.6;
/// Conditions looked at.
const CONDITIONS: usize = 5;
/// What statements that did not run are worth for a name that they would have bound.
const SKIPPED: f64 = 0.25;
/// What they are worth in a test, which is right.
const SKIPPED_IN_TEST: f64 = 0.05;
/// Events looked through for conditions that kept a statement from running.
const WINDOW: usize = 400;

/// A condition that was evaluated at a state, and whether it held.
pub(super) type Branch<'a> = (EventId, Condition<'a>, bool);

impl<'a> Walk<'a> {
    /// The conditions because of which a statement ran, the nearest first.
    pub(super) fn branches_of(&self, at: EventId, part: &Part, belief: &Belief) -> Vec<Branch<'a>> {
        let recording = self.recording();
        let Some(places) = self.places.get(&self.file(at)) else {
            return Vec::new();
        };
        let conditions = places.conditions_above(recording.event(at).line);
        let mut found = Vec::new();
        for condition in conditions.iter().take(CONDITIONS) {
            let Some(event) = self.last_at(at, condition.line) else {
                continue;
            };
            // Leaving by another `return` would have given what that gives.
            if *part == Part::Returned
                && let (Some(given), Some(needed)) = (condition.gives, &belief.needed)
                && let Some(given) = self.known(given, event)
                && !same(&given, needed)
            {
                continue;
            }
            found.push((event, *condition, condition.taken));
        }
        found
    }

    /// The last event of the same activation before `at` at a line.
    pub(super) fn last_at(&self, at: EventId, line: u32) -> Option<EventId> {
        let recording = self.recording();
        let mut earlier = recording.previous_in_activation(at);
        while let Some(event) = earlier {
            if !self.pay() {
                return None;
            }
            if recording.event(event).line == line && recording.kind(event) == EventKind::Line {
                return Some(event);
            }
            earlier = recording.previous_in_activation(event);
        }
        None
    }

    /// Any of these conditions might have been the other way round.
    pub(super) fn branch(&mut self, branches: Vec<Branch<'a>>, belief: &Belief) {
        let total: f64 = (0..branches.len())
            .map(|rank| OUTWARDS.powi(rank as i32))
            .sum();
        for (rank, (event, condition, held)) in branches.into_iter().enumerate() {
            let share = OUTWARDS.powi(rank as i32) / total;
            self.turned(event, condition, held, &belief.share(share));
        }
    }

    /// A condition that held, or did not, should have come out the other way.
    pub(super) fn turned(
        &mut self,
        event: EventId,
        condition: Condition<'a>,
        held: bool,
        belief: &Belief,
    ) {
        let flipped = belief.with(Literal::Bool(!held), 1.0, belief.predicted);
        let recorded = if held { "True" } else { "False" };
        let Some(test) = condition.test else {
            // A handler that did not take the exception.
            let belief = belief.another(1.0, None);
            self.point(
                event,
                Part::Branch,
                recorded.into(),
                &belief,
                0.6,
                |_, _| false,
            );
            return;
        };
        let kept = blame::of_expression(test);
        self.point(
            event,
            Part::Branch,
            recorded.into(),
            &flipped,
            kept,
            |walk, belief| walk.wanted(test, event, belief),
        );
    }

    /// A name might have been bound by statements that did not run between `since` and `at`.
    pub(super) fn skipped(&mut self, name: &str, since: EventId, at: EventId, belief: &Belief) {
        let recording = self.recording();
        let Some(places) = self.places.get(&self.file(at)) else {
            return;
        };
        let conditions = places.conditional_writes(recording.event(at).line, name);
        if conditions.is_empty() {
            return;
        }
        let mut lines = HashSet::new();
        let mut found = Vec::new();
        let mut event = Some(at);
        for _ in 0..WINDOW {
            let Some(here) = event.filter(|here| *here >= since && self.pay()) else {
                break;
            };
            let line = recording.event(here).line;
            if here != at
                && recording.kind(here) == EventKind::Line
                && let Some(condition) = conditions.iter().find(|one| one.line == line)
                && !self.let_run(here, condition)
                && lines.insert(line)
            {
                found.push((here, *condition, !condition.taken));
            }
            event = recording.previous_in_activation(here);
        }
        found.truncate(CONDITIONS);
        let is_trusted = self.ground.trusted.contains(&self.file(at));
        let share = if is_trusted { SKIPPED_IN_TEST } else { SKIPPED };
        self.branch(found, &belief.share(share));
    }

    /// Whether what stands below a condition ran after a state.
    fn let_run(&self, at: EventId, condition: &Condition<'_>) -> bool {
        let recording = self.recording();
        let next = recording.next_in_activation(at);
        let places = self.places.get(&self.file(at));
        next.zip(places).is_some_and(|(next, places)| {
            let above = places.conditions_above(recording.event(next).line);
            recording.kind(next) == EventKind::Line
                && above
                    .iter()
                    .any(|one| one.line == condition.line && one.taken == condition.taken)
        })
    }
}

/// What is told of an effect that is not recorded.
pub(super) fn unrecorded() -> String {
    ANOTHER.replace("another", "some")
}
