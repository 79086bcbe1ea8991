//! Trajectories as traces.

use std::borrow::Cow;

use super::{Event, Frame, Step, Trace, Values};
use crate::shown::{Shown, View};
use crate::state::Action;
use crate::trajectory::{Direction, Stop, Trajectory};
use crate::transition::Node;
use crate::tree::Tree;

/// A trajectory through `tree` as a trace over `context`, its CODE. Borrows the recording's texts.
pub fn trace<'f>(
    tree: &Tree<'f>,
    trajectory: &Trajectory,
    context: impl Into<Cow<'f, str>>,
) -> Trace<'f> {
    let mut shown = Shown::new(*tree, trajectory.direction);
    let mut before = None;
    let steps = trajectory.nodes.iter().enumerate().map(|(index, &node)| {
        let frame = frame(tree, trajectory.direction, node, &mut shown, before);
        before = trajectory.actions.get(index);
        Step {
            frame,
            action: before.cloned(),
        }
    });
    Trace {
        context: context.into(),
        steps: steps.collect(),
        exit: match trajectory.stop {
            Stop::Exit(exit) => Some(exit),
            Stop::RecordingEnds | Stop::Capped => None,
        },
    }
}

fn frame<'f>(
    tree: &Tree<'f>,
    direction: Direction,
    node: Node,
    shown: &mut Shown<'f>,
    action: Option<&Action>,
) -> Frame<'f> {
    let recording = tree.recording();
    let kind = recording.kind(node.event);
    let event = match direction {
        Direction::Forward => Event::Forward(kind),
        Direction::Inverse if node.calling => Event::InverseLineCall,
        Direction::Inverse => Event::Inverse(kind),
    };
    let values = match shown.arrive(node, action) {
        View::Value(value) => Values::Value(value.map_or("", |value| recording.text(value)).into()),
        View::Locals { elided, shown } => Values::Locals {
            elided,
            shown: shown
                .into_iter()
                .map(|(name, value)| (recording.text(name).into(), recording.text(value).into()))
                .collect(),
        },
    };
    Frame {
        event,
        source: recording.source_line(node.event).into(),
        values,
    }
}
