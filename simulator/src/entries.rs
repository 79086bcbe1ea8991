//! Which calls trajectories start at.

use crate::chance;
use crate::forest::CallForest;
use crate::recording::ActivationId;
use crate::state::EventKind;
use crate::trajectory::Direction;
use rand_chacha::ChaCha8Rng;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// A call without a recorded caller: the function that was recorded, or its `main`.
    Function,
    /// Any call, with what it called itself: a piece of a larger run.
    Repository,
}

/// The entries of a recording with their weights.
#[derive(Debug, Clone)]
pub struct Entries {
    level: Level,
    roots: Vec<ActivationId>,
    /// Sums of the weights up to each root.
    sums: Vec<usize>,
}

/// Fewest states of an entry: call, line, return.
const SMALLEST: usize = 3;

impl Entries {
    /// The entries of a level.
    ///
    /// Calls without a recorded line have nothing to step through and are left out. Function level:
    /// all weigh the same. Repository level: the logarithm to base two of the number of states,
    /// rounded down, so that the many tiny calls do not crowd out the few that call others, nor the
    /// outermost ones everything else; a call that was not seen to end weighs nothing.
    pub fn new(forest: &CallForest<'_>, level: Level) -> Self {
        let recording = forest.recording();
        let mut entries = Self {
            level,
            roots: Vec::new(),
            sums: Vec::new(),
        };
        let mut sum = 0;
        for (index, activation) in recording.activations().iter().enumerate() {
            let id = ActivationId(index as u32);
            let size = forest.size(id);
            let ended = recording.kind(activation.last) == EventKind::Return;
            let weight = match level {
                Level::Function if activation.parent.is_none() => 1,
                // Whole numbers are the same on every machine, logarithms need not be.
                Level::Repository if ended => size.max(1).ilog2() as usize,
                Level::Function | Level::Repository => 0,
            };
            if size >= SMALLEST && weight > 0 {
                sum += weight;
                entries.roots.push(id);
                entries.sums.push(sum);
            }
        }
        entries
    }

    /// The level.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The entries, in order of their calls.
    pub fn roots(&self) -> &[ActivationId] {
        &self.roots
    }

    /// One of them; none when there is none.
    pub(crate) fn draw(&self, generator: &mut ChaCha8Rng) -> Option<ActivationId> {
        let at = chance::below(generator, *self.sums.last()?);
        let index = self.sums.partition_point(|&sum| sum <= at);
        self.roots.get(index).copied()
    }

    /// The root of the trajectory of a direction: backwards a program's `main`, which holds nothing
    /// but the call, gives way to the function it calls.
    pub fn root_of(
        &self,
        forest: &CallForest<'_>,
        entry: ActivationId,
        direction: Direction,
    ) -> ActivationId {
        if self.level == Level::Repository || direction == Direction::Forward {
            return entry;
        }
        let recording = forest.recording();
        if recording.function(entry) != "main" {
            return entry;
        }
        let tree = forest.tree(entry);
        tree.events()
            .find_map(|event| forest.first_called(event))
            .unwrap_or(entry)
    }
}
