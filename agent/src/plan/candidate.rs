//! A candidate patch and what became of it.

use camino::Utf8PathBuf;
use ndbg_tools::source::Edit;
use serde::{Deserialize, Serialize};

/// A proposed patch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Candidate {
    /// Number, unique in a run, in the order of proposal.
    pub id: u64,
    /// Edits, all against the base contents.
    pub edits: Vec<Edit>,
    /// Name of the operator (two joined by `+` for a pair), or of the model.
    pub operator: String,
    /// What the candidate believes, in a few words: "`<` should be `<=`".
    pub claim: String,
    /// File of the first edit, relative to the project root.
    pub file: Utf8PathBuf,
    /// One-based line of the first edit.
    pub line: usize,
    /// Enclosing function, empty at module level.
    pub qualname: String,
    /// Ranking score: suspiciousness x operator prior x type fit. Comparable within a planner.
    pub score: f64,
    /// The same without what results of this run have added to it: which of several plausible patches is right
    /// does not depend on how many of its neighbours were near misses.
    pub base: f64,
}

/// What a screening run of a candidate showed. Only the verifier decides on "fixed".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Screened {
    /// Every failing test passes and no neighbour that passed fails.
    Plausible,
    /// Some failing tests pass now.
    NearMiss {
        /// Failing tests that pass now.
        fixed: Vec<String>,
        /// Failing tests that still fail.
        failing: Vec<String>,
        /// Tests that passed before and fail now.
        broken: Vec<String>,
    },
    /// No failing test passes, but they fail in another way than before.
    Changed {
        /// New symptom of the first failing test, in a line.
        symptom: String,
    },
    /// Same failures as before.
    Unchanged,
    /// Did not end within the deadline.
    TimedOut,
    /// Killed the interpreter, or the memory limit did.
    Crashed {
        /// Signal or exit code, in words.
        how: String,
    },
    /// Does not compile, or compiles to the same code.
    Invalid {
        /// What the compiler said.
        reason: String,
    },
}

/// A candidate's result, for the planner.
#[derive(Debug, Clone)]
pub struct Feedback {
    /// The candidate.
    pub candidate: Candidate,
    /// Its result.
    pub screened: Screened,
}
