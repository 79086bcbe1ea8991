//! Where an action leads in the tree of a scope: a total function of scope, node and action.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::recording::EventId;
use crate::state::{Action, EventKind};
use crate::tree::{Ending, Tree};

/// A place in a tree: an event, or the duplicate that the inverse tree has of an event that called.
///
/// In time, the event is the moment before its line runs, and the duplicate the moment after the
/// calls that the line made. Both directions start from either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node {
    /// The event.
    pub event: EventId,
    /// Whether it is the duplicate, `inv_line_call`.
    pub calling: bool,
}

impl Node {
    /// The node of an event.
    pub fn at(event: EventId) -> Self {
        Self {
            event,
            calling: false,
        }
    }

    /// The duplicate of an event that called.
    pub fn calling(event: EventId) -> Self {
        Self {
            event,
            calling: true,
        }
    }
}

/// Where a scope is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// At its end.
    Normal,
    /// By an exception.
    Error,
    /// Nowhere: it loops for ever.
    Never,
    /// Backwards, at its entry.
    Entry,
}

/// Where an action leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// To another node.
    Node(Node),
    /// Out of the scope.
    Exit(Exit),
    /// To a state that was not recorded: the recording ends here.
    RecordingEnds,
}

/// Why an action is not available at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Inapplicable {
    /// `step_return` needs a return ahead on this level.
    #[error("already at the return of this level")]
    AtReturn,
    /// The level's return is missing although the recording goes on after it.
    #[error("the return of this level was not recorded")]
    ReturnNotRecorded,
    /// `inv_step_call` needs a call behind on this level.
    #[error("already at the call of this level")]
    AtCall,
    /// A breakpoint is named by the text of a line.
    #[error("a breakpoint needs the text of a source line")]
    BlankBreakpoint,
    /// The node is not one of the tree's.
    #[error("the node does not belong to this scope")]
    OutsideScope,
}

/// Where `action` leads from `node`.
pub fn step(tree: &Tree<'_>, node: Node, action: &Action) -> Result<Destination, Inapplicable> {
    if !tree.contains(node.event) || (node.calling && !tree.has_calls(node.event)) {
        return Err(Inapplicable::OutsideScope);
    }
    match action {
        Action::StepInto => Ok(step_into(tree, node)),
        Action::StepOver => Ok(step_over(tree, node)),
        Action::StepReturn => step_return(tree, node),
        Action::Breakpoint(source) => breakpoint(tree, node, source),
        Action::Continue => Ok(match tree.ending() {
            Ending::Left(exit) => Destination::Exit(exit),
            Ending::Endless => Destination::Exit(Exit::Never),
            Ending::Unrecorded => Destination::RecordingEnds,
        }),
        Action::InvStepInto => Ok(backwards(tree.inverse_next(node))),
        Action::InvStepOver => Ok(backwards(tree.inverse_next_on_level(node))),
        Action::InvStepCall => {
            let call = Node::at(tree.call_of(node.event));
            if call == node {
                return Err(Inapplicable::AtCall);
            }
            Ok(Destination::Node(call))
        }
    }
}

/// First position that lies in the future of a node.
pub(crate) fn future(tree: &Tree<'_>, node: Node) -> usize {
    if node.calling {
        tree.forest().end_of_event(node.event)
    } else {
        tree.forest().position(node.event) + 1
    }
}

fn step_into(tree: &Tree<'_>, node: Node) -> Destination {
    let position = future(tree, node);
    let next = (position < tree.end()).then(|| tree.forest().at(position));
    match next.flatten() {
        Some(event) => Destination::Node(Node::at(event)),
        None => after_last(tree),
    }
}

fn step_over(tree: &Tree<'_>, node: Node) -> Destination {
    if let Some(event) = tree.next_on_level(node.event) {
        return Destination::Node(Node::at(event));
    }
    // A call made here that never came back: the next state of this level does not exist.
    let waits = !node.calling && tree.has_calls(node.event);
    if waits && tree.ending() == Ending::Endless && runs_at_end(tree, node) {
        return Destination::Exit(Exit::Never);
    }
    after_last(tree)
}

fn step_return(tree: &Tree<'_>, node: Node) -> Result<Destination, Inapplicable> {
    match tree.return_of(node.event) {
        Some(event) if event == node.event => Err(Inapplicable::AtReturn),
        Some(event) => Ok(Destination::Node(Node::at(event))),
        None if !runs_at_end(tree, node) => Err(Inapplicable::ReturnNotRecorded),
        None if tree.ending() == Ending::Endless => Ok(Destination::Exit(Exit::Never)),
        None => Ok(Destination::RecordingEnds),
    }
}

fn breakpoint(tree: &Tree<'_>, node: Node, source: &str) -> Result<Destination, Inapplicable> {
    if source.trim().is_empty() {
        return Err(Inapplicable::BlankBreakpoint);
    }
    let lines = tree.forest().lines();
    let hit = lines
        .find(source)
        .and_then(|line| lines.first_from(line, future(tree, node)))
        .filter(|&position| position < tree.end())
        .and_then(|position| tree.forest().at(position));
    Ok(match (hit, tree.ending()) {
        (Some(event), _) => Destination::Node(Node::at(event)),
        (None, Ending::Left(exit)) => Destination::Exit(exit),
        // The recorder may have stopped before the line was reached.
        (None, Ending::Endless) if !tree.is_truncated() => Destination::Exit(Exit::Never),
        (None, _) => Destination::RecordingEnds,
    })
}

fn backwards(node: Option<Node>) -> Destination {
    node.map_or(Destination::Exit(Exit::Entry), Destination::Node)
}

/// What follows the last state.
fn after_last(tree: &Tree<'_>) -> Destination {
    match tree.ending() {
        Ending::Left(exit) => Destination::Exit(exit),
        Ending::Endless | Ending::Unrecorded => Destination::RecordingEnds,
    }
}

/// Whether a node's level was running when the scope's recording ended.
fn runs_at_end(tree: &Tree<'_>, node: Node) -> bool {
    let recording = tree.recording();
    let activation = recording.event(node.event).activation;
    let left = recording.kind(recording.activation(activation).last) == EventKind::Return;
    !left && tree.forest().end_of(activation) == tree.end()
}
