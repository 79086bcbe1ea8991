//! What a set of trajectories consists of.

use serde::{Deserialize, Serialize};

use crate::policy::ActionKind;
use crate::trajectory::{Stop, Trajectory};
use crate::transition::Exit;

/// Counts over trajectories. Each transition is one prediction: a state after an action, or an exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// Trajectories.
    pub trajectories: u64,
    /// States, entries included.
    pub states: u64,
    transitions: [u64; ActionKind::ALL.len()],
    exits: [u64; 4],
    /// Trajectories that were cut at the cap.
    pub capped: u64,
    /// Trajectories that stop where the recording does.
    pub recording_ends: u64,
}

impl Statistics {
    /// Counts a trajectory.
    pub fn add(&mut self, trajectory: &Trajectory) {
        self.trajectories += 1;
        self.states += trajectory.nodes.len() as u64;
        for action in &trajectory.actions {
            self.transitions[action.kind() as usize] += 1;
        }
        match trajectory.stop {
            Stop::Exit(exit) => self.exits[exit as usize] += 1,
            Stop::Capped => self.capped += 1,
            Stop::RecordingEnds => self.recording_ends += 1,
        }
    }

    /// Counts what was counted elsewhere.
    pub fn merge(&mut self, other: &Self) {
        self.trajectories += other.trajectories;
        self.states += other.states;
        self.capped += other.capped;
        self.recording_ends += other.recording_ends;
        for (sum, count) in self.transitions.iter_mut().zip(other.transitions) {
            *sum += count;
        }
        for (sum, count) in self.exits.iter_mut().zip(other.exits) {
            *sum += count;
        }
    }

    /// Transitions by an action.
    pub fn of(&self, kind: ActionKind) -> u64 {
        self.transitions[kind as usize]
    }

    /// Trajectories that end in an exit.
    pub fn exits(&self, exit: Exit) -> u64 {
        self.exits[exit as usize]
    }

    /// All transitions.
    pub fn transitions(&self) -> u64 {
        self.transitions.iter().sum()
    }
}
