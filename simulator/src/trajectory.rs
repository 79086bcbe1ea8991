//! A walk through the tree of a scope: nodes and the actions that lead from each to the next.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::recording::ActivationId;
use crate::state::Action;
use crate::transition::{Destination, Exit, Inapplicable, Node};
use crate::tree::Tree;

/// Which way a walk goes in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the call.
    Forward,
    /// From the return.
    Inverse,
}

/// Why a walk stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It left the scope.
    Exit(Exit),
    /// What comes next was not recorded.
    RecordingEnds,
    /// It is as long as it may be.
    Capped,
}

/// A walk. With an exit there is an action for each node, the last one leading out; otherwise one
/// fewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trajectory {
    /// Direction.
    pub direction: Direction,
    /// The root of the scope.
    pub root: ActivationId,
    /// The places, from the entry on.
    pub nodes: Vec<Node>,
    /// What was done at each.
    pub actions: Vec<Action>,
    /// Why it stops.
    pub stop: Stop,
}

/// An action of a walk that is not available where it is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("action {index}: {reason}")]
pub struct WrongStep {
    /// Which action.
    pub index: usize,
    /// Why.
    pub reason: Inapplicable,
}

impl Trajectory {
    /// Where a walk in a direction begins: the root's call, or its last event.
    ///
    /// What a return called when it freed its locals is not worth an entry of its own, so backwards
    /// it is the return itself and not its duplicate.
    pub fn entry(tree: &Tree<'_>, direction: Direction) -> Node {
        match direction {
            Direction::Forward => Node::at(tree.entry()),
            Direction::Inverse => Node::at(tree.last()),
        }
    }

    /// Does `actions` one after another, until one leads out of the scope or the recording.
    pub fn follow(
        tree: &Tree<'_>,
        direction: Direction,
        actions: impl IntoIterator<Item = Action>,
    ) -> Result<Self, WrongStep> {
        let mut walk = Self {
            direction,
            root: tree.root(),
            nodes: vec![Self::entry(tree, direction)],
            actions: Vec::new(),
            stop: Stop::Capped,
        };
        let mut node = walk.nodes[0];
        for (index, action) in actions.into_iter().enumerate() {
            match tree.step(node, &action) {
                Ok(destination) => match walk.take(action, destination) {
                    Some(next) => node = next,
                    None => break,
                },
                Err(reason) => return Err(WrongStep { index, reason }),
            }
        }
        Ok(walk)
    }

    /// Takes over a step; the node it leads to, none when the walk stops with it.
    pub(crate) fn take(&mut self, action: Action, destination: Destination) -> Option<Node> {
        match destination {
            Destination::Node(node) => {
                self.actions.push(action);
                self.nodes.push(node);
                Some(node)
            }
            Destination::Exit(exit) => {
                self.actions.push(action);
                self.stop = Stop::Exit(exit);
                None
            }
            // Nobody can say what the action leads to, so nobody is asked.
            Destination::RecordingEnds => {
                self.stop = Stop::RecordingEnds;
                None
            }
        }
    }

    /// Number of predictions that it asks for: states after the first, and the exit.
    pub fn transitions(&self) -> usize {
        self.actions.len()
    }
}
