//! What bindings were before each change, and checkpoints of them, so that the locals at any event
//! cost no more than their number and a walk along a trajectory never starts from the call again.

use super::{ActivationId, Change, EventId, Locals, NONE, Recording, TextId};

/// Fewest events between two checkpoints of an activation.
const SPACING: usize = 32;

/// Bindings of a recording in the other direction of time.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Beside each change of the recording: the value the name had before.
    before: Vec<u32>,
    /// Number of names bound at each event.
    bound: Vec<u32>,
    /// In order of activation, then event.
    points: Vec<Point>,
    bindings: Vec<Change>,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    activation: ActivationId,
    event: EventId,
    start: u32,
    end: u32,
}

impl History {
    /// Goes once over all changes.
    pub fn of(recording: &Recording) -> Self {
        let mut history = Self {
            before: vec![NONE; recording.changes.len()],
            bound: vec![0; recording.len()],
            ..Self::default()
        };
        for index in 0..recording.activations.len() {
            history.follow(recording, ActivationId(index as u32));
        }
        history
    }

    fn follow(&mut self, recording: &Recording, activation: ActivationId) {
        let mut locals = Locals::default();
        let mut since = 0;
        let mut at = Some(recording.activation(activation).first);
        while let Some(event) = at {
            let start = recording.starts[event.index()] as usize;
            for (offset, &change) in recording.event(event).changes.iter().enumerate() {
                if let Some(TextId(value)) = locals.rebind(change) {
                    self.before[start + offset] = value;
                }
            }
            self.bound[event.index()] = locals.len() as u32;
            since += 1;
            // As many events as a checkpoint has bindings pay for it, so memory stays in proportion
            // to the events however many names a frame has.
            if since > SPACING.max(locals.len()) {
                since = 0;
                let start = self.bindings.len() as u32;
                self.bindings.extend_from_slice(locals.as_slice());
                self.points.push(Point {
                    activation,
                    event,
                    start,
                    end: self.bindings.len() as u32,
                });
            }
            at = recording.next_in_activation(event);
        }
    }

    /// Number of names that are bound at an event.
    pub fn bound(&self, id: EventId) -> usize {
        self.bound[id.index()] as usize
    }

    /// The changes of an event, each with the value that the name had before in this activation.
    pub fn undo<'r>(
        &'r self,
        recording: &'r Recording,
        id: EventId,
    ) -> impl Iterator<Item = (TextId, Option<TextId>)> + 'r {
        let changes = recording.event(id).changes;
        let start = recording.starts[id.index()] as usize;
        changes
            .iter()
            .zip(&self.before[start..start + changes.len()])
            .map(|(change, &before)| (change.name, (before != NONE).then_some(TextId(before))))
    }

    /// The locals at an event: [`Recording::locals`] in time bounded by their number.
    pub fn locals(&self, recording: &Recording, id: EventId) -> Locals {
        let activation = recording.event(id).activation;
        let after = self
            .points
            .partition_point(|p| (p.activation, p.event) <= (activation, id));
        let point = after
            .checked_sub(1)
            .map(|index| self.points[index])
            .filter(|point| point.activation == activation);
        let (mut locals, mut at) = if let Some(point) = point {
            let held = &self.bindings[point.start as usize..point.end as usize];
            (Locals::of(held), point.event)
        } else {
            let first = recording.activation(activation).first;
            let mut locals = Locals::default();
            locals.apply(recording.event(first).changes);
            (locals, first)
        };
        while at < id {
            let Some(next) = recording.next_in_activation(at) else {
                break;
            };
            locals.apply(recording.event(next).changes);
            at = next;
        }
        locals
    }
}
