//! The debugger that has seen the run: every answer is recorded.

use crate::debugger::{Arrival, Debugger, Stopped, Trust};
use crate::simulator::Unavailable;
use crate::state::{Action, EventKind, State};
use crate::trajectory::{Direction, Trajectory};
use crate::transition::{Destination, Node};
use crate::tree::Tree;

/// Answers from the tree of a recorded scope. Positions are nodes.
#[derive(Debug, Clone, Copy)]
pub struct Oracle<'f> {
    tree: Tree<'f>,
}

impl<'f> Oracle<'f> {
    /// Over a scope.
    pub fn new(tree: Tree<'f>) -> Self {
        Self { tree }
    }

    /// The scope.
    pub fn tree(&self) -> Tree<'f> {
        self.tree
    }

    /// The state at a node of the scope, in time bounded by its locals. None for another's node.
    pub fn at(&self, node: Node) -> Option<Stopped<Node>> {
        if !self.tree.contains(node.event) {
            return None;
        }
        let recording = self.tree.recording();
        let event = recording.event(node.event);
        let shows_value = matches!(event.kind, EventKind::Return | EventKind::Exception);
        let locals = if shows_value && !node.calling {
            let value = event.value.map(|value| recording.text(value).to_owned());
            value.into_iter().map(|v| (String::new(), v)).collect()
        } else {
            let locals = self.tree.forest().locals(node.event);
            let bindings = locals.iter().filter_map(|bound| {
                let value = recording.text(bound.value?);
                Some((recording.text(bound.name).to_owned(), value.to_owned()))
            });
            bindings.collect()
        };
        let state = State {
            event: if node.calling {
                EventKind::Line
            } else {
                event.kind
            },
            locals,
            source: recording.source_line(node.event).to_owned(),
        };
        Some(Stopped {
            position: node,
            state,
            calling: node.calling,
            trust: Trust::RECORDED,
        })
    }
}

impl Debugger for Oracle<'_> {
    type Position = Node;

    fn name(&self) -> &'static str {
        "oracle"
    }

    fn entry(&self, direction: Direction) -> Result<Stopped<Node>, Unavailable> {
        let node = Trajectory::entry(&self.tree, direction);
        self.at(node).ok_or_else(no_such_node)
    }

    fn step(&self, position: &Node, action: &Action) -> Result<Arrival<Node>, Unavailable> {
        Ok(match self.tree.step(*position, action)? {
            Destination::Node(node) => Arrival::Stopped(self.at(node).ok_or_else(no_such_node)?),
            Destination::Exit(exit) => Arrival::Exited {
                exit,
                trust: Trust::RECORDED,
            },
            Destination::RecordingEnds => Arrival::RecordingEnds,
        })
    }
}

fn no_such_node() -> Unavailable {
    Unavailable::Inapplicable(crate::transition::Inapplicable::OutsideScope)
}
