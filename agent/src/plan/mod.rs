//! Planners: facts about a failure in, candidate patches out.

mod candidate;
mod facts;
pub mod search;

pub use candidate::{Candidate, Feedback, Screened};
pub use facts::{
    Attribute, Facts, Failure, Frame, Observation, Observations, Sides, SuspectFunction,
    SuspectStatement, Value,
};

use thiserror::Error;

/// Why a planner cannot go on.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The planner's own resources failed.
    #[error("{0}")]
    Failed(String),
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
}
