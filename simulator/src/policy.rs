//! With which probability each action is drawn.

use serde::{Deserialize, Serialize};

use crate::state::Action;
use crate::trajectory::Direction;

/// An action without its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// See [`Action::StepInto`].
    StepInto,
    /// See [`Action::StepOver`].
    StepOver,
    /// See [`Action::StepReturn`].
    StepReturn,
    /// See [`Action::Breakpoint`].
    Breakpoint,
    /// See [`Action::Continue`].
    Continue,
    /// See [`Action::InvStepInto`].
    InvStepInto,
    /// See [`Action::InvStepOver`].
    InvStepOver,
    /// See [`Action::InvStepCall`].
    InvStepCall,
}

impl ActionKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::StepInto,
        Self::StepOver,
        Self::StepReturn,
        Self::Breakpoint,
        Self::Continue,
        Self::InvStepInto,
        Self::InvStepOver,
        Self::InvStepCall,
    ];
}

impl ActionKind {
    /// Name in data sets and tables, as it is serialised.
    pub fn name(self) -> &'static str {
        match self {
            Self::StepInto => "step_into",
            Self::StepOver => "step_over",
            Self::StepReturn => "step_return",
            Self::Breakpoint => "breakpoint",
            Self::Continue => "continue",
            Self::InvStepInto => "inv_step_into",
            Self::InvStepOver => "inv_step_over",
            Self::InvStepCall => "inv_step_call",
        }
    }
}

impl Action {
    /// The action without its argument.
    pub fn kind(&self) -> ActionKind {
        match self {
            Self::StepInto => ActionKind::StepInto,
            Self::StepOver => ActionKind::StepOver,
            Self::StepReturn => ActionKind::StepReturn,
            Self::Breakpoint(_) => ActionKind::Breakpoint,
            Self::Continue => ActionKind::Continue,
            Self::InvStepInto => ActionKind::InvStepInto,
            Self::InvStepOver => ActionKind::InvStepOver,
            Self::InvStepCall => ActionKind::InvStepCall,
        }
    }
}

/// Weights of the actions; they need not add up to one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// `step_into`, `inv_step_into`.
    pub into: f64,
    /// `step_over`, `inv_step_over`.
    pub over: f64,
    /// `step_return`, `inv_step_call`: to the other end of the level.
    pub end: f64,
    /// `breakpoint`; nothing backwards.
    pub breakpoint: f64,
    /// `continue`; nothing backwards.
    pub exit: f64,
}

impl Policy {
    /// The paper's mixture of all actions. Its weights add up to 0.8.
    pub const JUMPS: Self = Self {
        into: 0.35,
        over: 0.1,
        end: 0.2,
        breakpoint: 0.1,
        exit: 0.05,
    };
    /// The paper's walk, which is what makes some trajectories long.
    pub const STEPS: Self = Self {
        into: 0.5,
        over: 0.5,
        end: 0.0,
        breakpoint: 0.0,
        exit: 0.0,
    };

    /// The actions of a direction with their weights.
    pub fn weights(&self, direction: Direction) -> [(ActionKind, f64); 5] {
        let [into, over, end, breakpoint, exit] = match direction {
            Direction::Forward => [
                ActionKind::StepInto,
                ActionKind::StepOver,
                ActionKind::StepReturn,
                ActionKind::Breakpoint,
                ActionKind::Continue,
            ],
            Direction::Inverse => [
                ActionKind::InvStepInto,
                ActionKind::InvStepOver,
                ActionKind::InvStepCall,
                ActionKind::Breakpoint,
                ActionKind::Continue,
            ],
        };
        let forward = f64::from(u8::from(direction == Direction::Forward));
        [
            (into, self.into),
            (over, self.over),
            (end, self.end),
            (breakpoint, self.breakpoint * forward),
            (exit, self.exit * forward),
        ]
    }
}
