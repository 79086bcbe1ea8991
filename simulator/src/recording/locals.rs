//! Local variables of a frame, put together from the changes since its call.

use super::{Change, Entry, EventId, Recording, TextId};
use crate::state::EventKind;

/// Bindings in the order in which the names were bound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Locals(Vec<Change>);

impl Locals {
    /// The locals at an event. Takes time in proportion to the frame's events before it.
    pub(super) fn at(recording: &Recording, id: EventId) -> Self {
        // A call and a resume list everything, so no event before one matters.
        let mut path = vec![id];
        let mut at = id;
        while recording.kind(at) != EventKind::Call {
            let Some(previous) = recording.previous_in_frame(at) else {
                break;
            };
            path.push(previous);
            at = previous;
        }
        let mut locals = Self::default();
        for &event in path.iter().rev() {
            locals.apply(recording.event(event).changes);
        }
        locals
    }

    /// These bindings, no name twice.
    pub(super) fn of(bindings: &[Change]) -> Self {
        Self(bindings.to_vec())
    }

    /// The bindings, in order.
    pub(super) fn as_slice(&self) -> &[Change] {
        &self.0
    }

    /// Takes over what changed at the next event.
    pub fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            self.rebind(*change);
        }
    }

    /// Takes over one change; what the name was bound to before.
    pub(super) fn rebind(&mut self, change: Change) -> Option<TextId> {
        let at = self.0.iter().position(|held| held.name == change.name);
        let before = at.and_then(|at| self.0[at].value);
        match (at, change.value) {
            (Some(at), Some(_)) => self.0[at] = change,
            (None, Some(_)) => self.0.push(change),
            (Some(at), None) => {
                self.0.remove(at);
            }
            (None, None) => {}
        }
        before
    }

    /// Bindings; every one has a value.
    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    /// Number of bindings.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is bound.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The binding of a name.
    pub fn get(&self, recording: &Recording, name: &str) -> Option<Change> {
        self.0
            .iter()
            .copied()
            .find(|held| recording.text(held.name) == name)
    }
}

impl<'a> IntoIterator for &'a Locals {
    type Item = &'a Change;
    type IntoIter = std::slice::Iter<'a, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Recording {
    /// Whether an event starts a frame rather than resuming one.
    pub fn is_first_of_frame(&self, id: EventId) -> bool {
        self.kind(id) == EventKind::Call && self.activation_of(id).entry == Entry::Call
    }
}
