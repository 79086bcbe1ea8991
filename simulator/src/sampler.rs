//! Draws trajectories: the same seed, recording and number give the same trajectory everywhere.

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::chance;
use crate::entries::Entries;
use crate::forest::CallForest;
use crate::policy::{ActionKind, Policy};
use crate::source_lines::LineId;
use crate::state::{Action, EventKind};
use crate::trajectory::{Direction, Stop, Trajectory};
use crate::transition::{Destination, Node, future};
use crate::tree::Tree;

/// How trajectories are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sampler {
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Most states of a trajectory. One that reaches it stops after that state, without an exit.
    pub cap: usize,
    /// The policies; one is drawn for each trajectory, each as likely as the others.
    pub policies: [Policy; 2],
}

impl Sampler {
    /// The paper's policies.
    pub fn new(seed: u64, cap: usize) -> Self {
        Self {
            seed,
            cap,
            policies: [Policy::JUMPS, Policy::STEPS],
        }
    }

    /// Draws an entry and a trajectory from it. None when there is no entry, or when it is to run
    /// backwards from a return that was not recorded.
    pub fn sample(
        &self,
        forest: &CallForest<'_>,
        entries: &Entries,
        direction: Direction,
        number: u64,
    ) -> Option<Trajectory> {
        let mut generator = chance::generator(self.seed, number);
        let entry = entries.draw(&mut generator)?;
        let root = entries.root_of(forest, entry, direction);
        let tree = forest.tree(root);
        let returns = tree.return_of(tree.entry()).is_some();
        (returns || direction == Direction::Forward)
            .then(|| self.walk(&tree, direction, &mut generator))
    }

    /// Draws a trajectory through a whole scope.
    pub fn sample_tree(&self, tree: &Tree<'_>, direction: Direction, number: u64) -> Trajectory {
        self.walk(tree, direction, &mut chance::generator(self.seed, number))
    }

    fn walk(
        &self,
        tree: &Tree<'_>,
        direction: Direction,
        generator: &mut ChaCha8Rng,
    ) -> Trajectory {
        let policy = &self.policies[chance::below(generator, self.policies.len())];
        let weights = policy.weights(direction);
        let mut lines = None;
        let mut node = Trajectory::entry(tree, direction);
        let mut walk = Trajectory {
            direction,
            root: tree.root(),
            nodes: vec![node],
            actions: Vec::new(),
            stop: Stop::Capped,
        };
        while walk.nodes.len() < self.cap {
            let Some((action, destination)) = draw(tree, node, &weights, &mut lines, generator)
            else {
                walk.stop = Stop::RecordingEnds;
                break;
            };
            let destination = if crosses_hole(tree, node, destination) {
                Destination::RecordingEnds
            } else {
                destination
            };
            match walk.take(action, destination) {
                Some(next) => node = next,
                None => break,
            }
        }
        walk
    }
}

/// An action that is available, by weight; the weights of the others are as if they were zero.
fn draw(
    tree: &Tree<'_>,
    node: Node,
    weights: &[(ActionKind, f64); 5],
    lines: &mut Option<FutureLines>,
    generator: &mut ChaCha8Rng,
) -> Option<(Action, Destination)> {
    let mut weights = *weights;
    loop {
        let total: f64 = weights.iter().map(|weight| weight.1).sum();
        let mut at = chance::unit(generator) * total;
        let index = weights.iter().position(|&(_, weight)| {
            at -= weight;
            weight > 0.0 && at < 0.0
        });
        let index = index.or_else(|| weights.iter().rposition(|weight| weight.1 > 0.0))?;
        let action = match weights[index].0 {
            ActionKind::StepInto => Some(Action::StepInto),
            ActionKind::StepOver => Some(Action::StepOver),
            ActionKind::StepReturn => Some(Action::StepReturn),
            ActionKind::Continue => Some(Action::Continue),
            ActionKind::InvStepInto => Some(Action::InvStepInto),
            ActionKind::InvStepOver => Some(Action::InvStepOver),
            ActionKind::InvStepCall => Some(Action::InvStepCall),
            ActionKind::Breakpoint => lines
                .get_or_insert_with(|| FutureLines::of(tree))
                .draw(future(tree, node), generator)
                .map(|line| Action::Breakpoint(tree.forest().lines().text(line).to_owned())),
        };
        if let Some(action) = action
            && let Ok(destination) = tree.step(node, &action)
        {
            return Some((action, destination));
        }
        weights[index].1 = 0.0;
    }
}

/// Whether a step leaves a level whose return was not recorded: what it leads to is a state of the
/// run, but not the next one.
fn crosses_hole(tree: &Tree<'_>, node: Node, destination: Destination) -> bool {
    let recording = tree.recording();
    let level = recording.event(node.event).activation;
    let last = recording.activation(level).last;
    let Destination::Node(reached) = destination else {
        return false;
    };
    let leaves = |event| tree.forest().position(event) >= tree.forest().end_of(level);
    recording.kind(last) != EventKind::Return && leaves(reached.event)
}

/// The lines of a scope with the last position of each, ascending: those ahead of a node are a tail.
struct FutureLines(Vec<(usize, LineId)>);

impl FutureLines {
    fn of(tree: &Tree<'_>) -> Self {
        let lines = tree.forest().lines();
        Self(lines.last_positions(tree.start(), tree.end()))
    }

    fn draw(&self, from: usize, generator: &mut ChaCha8Rng) -> Option<LineId> {
        let past = self.0.partition_point(|line| line.0 < from);
        let ahead = &self.0[past..];
        ahead
            .get(chance::below(generator, ahead.len()))
            .map(|line| line.1)
    }
}
