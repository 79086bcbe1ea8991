//! The search planner: edit operators over the syntax tree, ordered by suspiciousness, prior and
//! type fit. Needs no key and no network.

use super::{Candidate, Facts, Feedback, PlanError, Planner};

/// How far the search goes.
#[derive(Debug, Default, Clone)]
pub struct SearchOptions {
    /// Suspicious functions searched.
    pub max_functions: usize,
    /// Whether pairs of edits follow single ones.
    pub pairs: bool,
}

/// The search planner.
#[derive(Debug, Default)]
pub struct SearchPlanner {}

impl SearchPlanner {
    /// A planner.
    pub fn new(_options: SearchOptions) -> Self {
        Self {}
    }
}

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
