//! What each state of a walk shows of values: everything, or only what changed.
//!
//! Forwards everything is shown at a call, where the walk comes from another level, and after a
//! breakpoint; otherwise what changed since locals were last shown. Backwards everything is shown at
//! a call only, otherwise what was different before: the names that the later events bind, with the
//! values they had. A step costs as much as there is to show.

use crate::recording::{ActivationId, EventId, TextId};
use crate::state::{Action, EventKind};
use crate::trajectory::Direction;
use crate::transition::Node;
use crate::tree::Tree;

/// What a state shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    /// The value that is returned or raised.
    Value(Option<TextId>),
    /// Local variables.
    Locals {
        /// Whether there are others.
        elided: bool,
        /// Name and value of those that are shown.
        shown: Vec<(TextId, TextId)>,
    },
}

/// Remembers what a walk has shown.
#[derive(Debug, Clone)]
pub struct Shown<'f> {
    tree: Tree<'f>,
    direction: Direction,
    /// Levels, outermost first, each with the event whose locals are known.
    levels: Vec<(ActivationId, EventId)>,
}

impl<'f> Shown<'f> {
    /// Nothing is shown yet.
    pub fn new(tree: Tree<'f>, direction: Direction) -> Self {
        Self {
            tree,
            direction,
            levels: Vec::new(),
        }
    }

    /// What the walk shows at the node to which `action` led; none at its entry.
    pub fn arrive(&mut self, node: Node, action: Option<&Action>) -> View {
        let event = self.tree.recording().event(node.event);
        let level = event.activation;
        match event.kind {
            EventKind::Return | EventKind::Exception if !node.calling => {
                // Behind a return the walk is on another level, where everything is shown again.
                if event.kind == EventKind::Return && self.direction == Direction::Forward {
                    self.levels.clear();
                }
                View::Value(event.value)
            }
            EventKind::Call if !node.calling => {
                self.know(level, node.event);
                let bound = |c: &crate::recording::Change| c.value.map(|value| (c.name, value));
                View::Locals {
                    elided: false,
                    shown: event.changes.iter().filter_map(bound).collect(),
                }
            }
            _ => match self.direction {
                Direction::Forward => self.forward(level, node.event, action),
                Direction::Inverse => self.backward(level, node.event),
            },
        }
    }

    fn forward(&mut self, level: ActivationId, at: EventId, action: Option<&Action>) -> View {
        let jumped = matches!(action, Some(Action::Breakpoint(_)));
        let known = self
            .levels
            .last()
            .filter(|known| known.0 == level && !jumped);
        let known = known.map(|known| known.1);
        self.levels.clear();
        self.know(level, at);
        let recording = self.tree.recording();
        let Some(mut since) = known else {
            let locals = self.tree.forest().locals(at);
            let bound = |c: &crate::recording::Change| c.value.map(|value| (c.name, value));
            return View::Locals {
                elided: false,
                shown: locals.iter().filter_map(bound).collect(),
            };
        };
        let mut shown = Vec::new();
        while since < at {
            let Some(next) = recording.next_in_activation(since) else {
                break;
            };
            for change in recording.event(next).changes {
                bind(&mut shown, change.name, change.value);
            }
            since = next;
        }
        self.locals(at, shown)
    }

    fn backward(&mut self, level: ActivationId, at: EventId) -> View {
        let recording = self.tree.recording();
        // What a level held at its end is where its changes are counted from.
        let known = self.levels.iter().rfind(|known| known.0 == level);
        let mut since = known.map_or(recording.activation(level).last, |known| known.1);
        self.know(level, at);
        let mut shown = Vec::new();
        while since > at {
            for (name, value) in self.tree.forest().history().undo(recording, since) {
                bind(&mut shown, name, value);
            }
            match recording.previous_in_activation(since) {
                Some(previous) => since = previous,
                None => break,
            }
        }
        self.locals(at, shown)
    }

    fn locals(&self, at: EventId, shown: Vec<(TextId, TextId)>) -> View {
        View::Locals {
            elided: self.tree.forest().history().bound(at) > shown.len(),
            shown,
        }
    }

    /// The locals of a level are known as they are at an event. Deeper levels are done with.
    fn know(&mut self, level: ActivationId, at: EventId) {
        match self.levels.iter().rposition(|known| known.0 == level) {
            Some(index) => {
                self.levels.truncate(index + 1);
                self.levels[index].1 = at;
            }
            None => self.levels.push((level, at)),
        }
    }
}

/// Later changes win over earlier ones; a name that is not bound any more is not shown.
fn bind(shown: &mut Vec<(TextId, TextId)>, name: TextId, value: Option<TextId>) {
    let held = shown.iter().position(|binding| binding.0 == name);
    match (held, value) {
        (Some(index), Some(value)) => shown[index].1 = value,
        (Some(index), None) => {
            shown.remove(index);
        }
        (None, Some(value)) => shown.push((name, value)),
        (None, None) => {}
    }
}
