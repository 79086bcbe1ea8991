//! The search planner: edit operators over the syntax tree, ordered by suspiciousness, prior and
//! type fit. Needs no key and no network.

use super::{Candidate, Facts, Feedback, PlanError, Planner};

/// The search planner.
#[derive(Debug, Default)]
pub struct SearchPlanner {}

impl Planner for SearchPlanner {
    fn name(&self) -> &'static str {
        "search"
    }

    fn propose(
        &mut self,
        _facts: &Facts,
        _feedback: &[Feedback],
        _limit: usize,
    ) -> Result<Vec<Candidate>, PlanError> {
        Ok(Vec::new())
    }

    fn remaining(&self) -> Option<usize> {
        None
    }
}
