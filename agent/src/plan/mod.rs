//! Planners: facts about a failure in, candidate patches out.

mod candidate;
mod facts;
mod interleaved;
pub mod llm;
pub mod local;
pub mod search;
mod sequence;
pub mod synthesis;

pub use candidate::{Candidate, Feedback, Screened};
pub use facts::{
    Attribute, Facts, Failure, Frame, Needed, Observation, Observations, Sides, SuspectFunction,
    SuspectStatement, Value,
};

pub use interleaved::{Interleaved, Stage};
pub use search::Looks;
pub use sequence::Sequence;

use camino::Utf8Path;
use serde_json::Value as Json;
use thiserror::Error;

/// Why a planner cannot go on.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The planner's own resources failed.
    #[error("{0}")]
    Failed(String),
    /// A limit that the user set for it is reached.
    #[error("{message}")]
    Budget {
        /// Which.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// What it asks does not answer.
    #[error("{message}")]
    Unreachable {
        /// Why.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Cancelled,
}

/// How a search goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Candidates that ran.
    pub executed: u64,
    /// Seconds that one takes.
    pub seconds: f64,
}

/// Proposes patches. It sees facts and results, never a shell (design, invariant 7).
pub trait Planner {
    /// Short name for events and reports.
    fn name(&self) -> &'static str;

    /// The next candidates, best first and at most `limit`; an empty answer means that the planner
    /// has nothing more to propose. `feedback` holds the results that arrived since the last call.
    fn propose(
        &mut self,
        facts: &Facts,
        feedback: &[Feedback],
        limit: usize,
    ) -> Result<Vec<Candidate>, PlanError>;

    /// How many candidates are still to come, as far as it is known.
    fn remaining(&self) -> Option<usize>;

    /// Whether it wants to know what became of all that it proposed before it proposes more.
    fn waits(&self) -> bool {
        false
    }

    /// Whether it goes on after an empty answer, when nothing is being screened any more.
    fn goes_on(&self) -> bool {
        false
    }

    /// Test runs of its own since this was asked last; they count like candidates.
    fn executed(&mut self) -> u64 {
        0
    }

    /// What it wants to see in a run of the failing tests before it proposes more: a probe for the warm
    /// runner, with files relative to the project root.
    fn look(&mut self, _facts: &Facts, _pace: Pace) -> Option<Json> {
        None
    }

    /// What was seen, and the seconds that it took; no answer where none could be had.
    fn looked(&mut self, _facts: &Facts, _answer: Option<&Json>, _seconds: f64) {}

    /// Another value at a statement has made failing tests pass: a repair may be there.
    fn favour(&mut self, _facts: &Facts, _file: &Utf8Path, _line: usize) {}

    /// How looks did so far.
    fn looks(&self) -> Looks {
        Looks::default()
    }

    /// Why it has nothing more, where there is more to say than that all was tried.
    fn ended(&self) -> Option<&str> {
        None
    }
}
