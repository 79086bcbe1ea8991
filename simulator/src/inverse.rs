//! The inverse tree of a scope: the states in reversed order, where an event that called stands
//! twice. Backwards one meets the duplicate first, then what was called below it, then the event
//! itself; so one can go into the callee, from its return, or over it.

use crate::forest::CallForest;
use crate::recording::{ActivationId, EventId};
use crate::transition::Node;
use crate::tree::Tree;

impl Tree<'_> {
    /// Where the inverse order starts: the end of the root.
    pub fn inverse_start(&self) -> Node {
        arrive(self.forest(), self.last())
    }

    /// The node after this one in the inverse order; none at the root's call.
    pub fn inverse_next(&self, node: Node) -> Option<Node> {
        let recording = self.recording();
        if node.calling {
            let callee = self.forest().last_called(node.event)?;
            return Some(end_of(self.forest(), callee));
        }
        if let Some(previous) = recording.previous_in_activation(node.event) {
            return Some(arrive(self.forest(), previous));
        }
        let activation = recording.event(node.event).activation;
        let caller = self.caller(node.event)?;
        match self.forest().previous_called(activation) {
            Some(sibling) => Some(end_of(self.forest(), sibling)),
            None => Some(Node::at(caller)),
        }
    }

    /// The node before this one on its level, else the caller; none at the root's call.
    pub fn inverse_next_on_level(&self, node: Node) -> Option<Node> {
        if node.calling {
            return Some(Node::at(node.event));
        }
        match self.recording().previous_in_activation(node.event) {
            Some(previous) => Some(arrive(self.forest(), previous)),
            None => self.caller(node.event).map(Node::at),
        }
    }

    /// All nodes of the inverse tree in order.
    pub fn inverse_nodes(&self) -> impl Iterator<Item = Node> + '_ {
        std::iter::successors(Some(self.inverse_start()), |&node| self.inverse_next(node))
    }
}

/// How an event is met backwards: its duplicate first, where it called.
fn arrive(forest: &CallForest<'_>, event: EventId) -> Node {
    Node {
        event,
        calling: forest.first_called(event).is_some(),
    }
}

fn end_of(forest: &CallForest<'_>, activation: ActivationId) -> Node {
    arrive(forest, forest.recording().activation(activation).last)
}
