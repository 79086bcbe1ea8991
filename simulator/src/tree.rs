//! The forward state tree of a scope: an activation and everything that it called.
//!
//! Nothing is copied: a node is an event, a tree is a range of the forest's order.

use crate::forest::CallForest;
use crate::recording::{ActivationId, EventId, ExitKind, Leave, Recording};
use crate::state::{Action, EventKind};
use crate::transition::{self, Destination, Exit, Inapplicable, Node};

/// The scope of one activation, the *root*.
#[derive(Debug, Clone, Copy)]
pub struct Tree<'f> {
    forest: &'f CallForest<'f>,
    root: ActivationId,
    start: usize,
    end: usize,
}

/// How a scope ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Its root was left.
    Left(Exit),
    /// Its root was still running when the program was given up as endless.
    Endless,
    /// The recording ends, or has a hole, before the root was left.
    Unrecorded,
}

impl<'f> Tree<'f> {
    pub(crate) fn new(forest: &'f CallForest<'f>, root: ActivationId) -> Self {
        Self {
            forest,
            root,
            start: forest.position(forest.recording().activation(root).first),
            end: forest.end_of(root),
        }
    }

    /// The forest that it is a part of.
    pub fn forest(&self) -> &'f CallForest<'f> {
        self.forest
    }

    /// The recording.
    pub fn recording(&self) -> &'f Recording {
        self.forest.recording()
    }

    /// The activation whose scope it is.
    pub fn root(&self) -> ActivationId {
        self.root
    }

    /// The root's call.
    pub fn entry(&self) -> EventId {
        self.recording().activation(self.root).first
    }

    /// The root's last event, its return unless the recording ends before.
    pub fn last(&self) -> EventId {
        self.recording().activation(self.root).last
    }

    /// First position in the forest's order.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Position behind the last.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether there is no state; never true, a root has its call.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// All states in order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = EventId> + 'f {
        let forest = self.forest;
        (self.start..self.end).filter_map(move |position| forest.at(position))
    }

    /// Whether an event belongs to the scope.
    pub fn contains(&self, id: EventId) -> bool {
        self.recording().find_event(id.index()).is_some()
            && (self.start..self.end).contains(&self.forest.position(id))
    }

    /// Number of calls between the root and an event.
    pub fn depth(&self, id: EventId) -> usize {
        let own = self.forest.depth(self.recording().event(id).activation);
        own.saturating_sub(self.forest.depth(self.root))
    }

    /// The next state in order: down at a call, up at the end of a level.
    pub fn next(&self, id: EventId) -> Option<EventId> {
        let position = self.forest.position(id) + 1;
        (position < self.end).then(|| self.forest.at(position))?
    }

    /// The next state of this level, or of the nearest level above that goes on.
    pub fn next_on_level(&self, id: EventId) -> Option<EventId> {
        let mut at = id;
        loop {
            if let Some(next) = self.recording().next_in_activation(at) {
                return Some(next);
            }
            at = self.caller(at)?;
        }
    }

    /// The event during which the level of an event was called; none at the root's.
    pub fn caller(&self, id: EventId) -> Option<EventId> {
        let activation = self.recording().event(id).activation;
        if activation == self.root {
            return None;
        }
        self.recording().activation(activation).parent_event
    }

    /// The call of an event's level.
    pub fn call_of(&self, id: EventId) -> EventId {
        self.recording().activation_of(id).first
    }

    /// The return of an event's level, where it was recorded.
    pub fn return_of(&self, id: EventId) -> Option<EventId> {
        let last = self.recording().activation_of(id).last;
        (self.recording().kind(last) == EventKind::Return).then_some(last)
    }

    /// Whether anything was called during an event.
    pub fn has_calls(&self, id: EventId) -> bool {
        self.forest.first_called(id).is_some()
    }

    /// Position behind everything that was called during an event.
    pub fn end_of_calls(&self, id: EventId) -> usize {
        self.forest.end_of_event(id)
    }

    /// How the scope ends.
    pub fn ending(&self) -> Ending {
        let last = self.recording().event(self.last());
        match last.leave {
            // A generator that waits or is closed left its level as it should.
            Some(Leave::Return | Leave::Yield | Leave::Close) => Ending::Left(Exit::Normal),
            Some(Leave::Unwind) => Ending::Left(Exit::Error),
            None if self.is_endless() => Ending::Endless,
            None => Ending::Unrecorded,
        }
    }

    /// Whether the program never ended and the root was running when it was given up.
    fn is_endless(&self) -> bool {
        let recording = self.recording();
        let boundaries = recording.boundaries();
        let entry = self.entry();
        let after = boundaries.partition_point(|b| b.at <= entry);
        let own = after.checked_sub(1).map(|index| &boundaries[index]);
        let until = boundaries
            .get(after)
            .map_or(recording.len(), |b| b.at.index());
        let said = own.and_then(|b| b.exit).or_else(|| {
            let end = recording.end().and_then(|end| end.exit);
            end.filter(|_| after == boundaries.len())
        });
        if said != Some(ExitKind::Never) {
            return false;
        }
        let newest = until.checked_sub(1).and_then(|at| recording.find_event(at));
        let running = newest.is_some_and(|event| self.contains(event));
        // Where the recorder stopped early, an inner call may have ended unseen; the outermost one
        // cannot, or the program would have ended.
        let outermost = recording.activation(self.root).parent.is_none();
        running && (outermost || !self.is_truncated())
    }

    /// Whether the recorder stopped before the program did.
    pub fn is_truncated(&self) -> bool {
        let end = self.recording().end();
        end.is_some_and(|end| end.truncated.is_some())
    }

    /// Where an action leads. See [`transition::step`].
    pub fn step(&self, node: Node, action: &Action) -> Result<Destination, Inapplicable> {
        transition::step(self, node, action)
    }
}
