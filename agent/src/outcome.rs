//! How a run ends, and the exit code that says so. This is the one place that knows exit codes.

use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A patch was found and verified.
    Fixed,
    /// Nothing left to try; a diagnosis was written.
    NotFixed,
    /// The command line does not make sense.
    Usage,
    /// The target passes already.
    NothingToFix,
    /// No interpreter, no pytest, nothing collected, no usable tree.
    Environment,
    /// The target passes in some baseline runs and fails in others.
    Flaky,
    /// Time or executions ran out; all artefacts were written.
    Budget,
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

impl Outcome {
    /// Every outcome, in the order of exit codes.
    pub const ALL: [Self; 8] = [
        Self::Fixed,
        Self::NotFixed,
        Self::Usage,
        Self::NothingToFix,
        Self::Environment,
        Self::Flaky,
        Self::Budget,
        Self::Interrupted,
    ];

    /// The process's exit code.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Fixed => 0,
            Self::NotFixed => 1,
            Self::Usage => 2,
            Self::NothingToFix => 3,
            Self::Environment => 4,
            Self::Flaky => 5,
            Self::Budget => 6,
            Self::Interrupted => 130,
        }
    }

    /// What the exit code means, for help texts.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Fixed => "fixed and verified",
            Self::NotFixed => "not fixed, diagnosis written",
            Self::Usage => "usage",
            Self::NothingToFix => "nothing to fix: the target passes",
            Self::Environment => {
                "environment: no interpreter, no pytest, nothing collected, no model to be reached"
            }
            Self::Flaky => "the target is flaky",
            Self::Budget => "budget reached",
            Self::Interrupted => "interrupted",
        }
    }
}
