//! Statements that should not run at some visits.

use super::Synthesis;
use super::oracle::{Force, Shape};
use crate::plan::Candidate;

/// Visits that are left out one by one.
const VISITS: usize = 10;

impl Synthesis<'_> {
    /// Leaves a statement out at single visits, then at all of a test.
    pub(super) fn skip(&mut self, at: usize, place: usize) -> Vec<Candidate> {
        let mut chosen = Vec::new();
        for (test, values) in self.visited(at, place) {
            let force = |visits: Option<Vec<usize>>| Force {
                place,
                test: Some(test.clone()),
                visits,
                value: "False".into(),
            };
            let mut forces: Vec<Force> = Vec::new();
            for visit in 0..values.len().min(VISITS) {
                forces.push(force(Some(vec![visit])));
            }
            if values.len() > 1 {
                forces.push(force(None));
            }
            let passing = self.pass(at, &test, &forces);
            let first = forces
                .into_iter()
                .zip(passing)
                .find_map(|(force, passes)| passes.then_some(force));
            chosen.extend(first);
        }
        let Some(told) = chosen.first().cloned() else {
            return Vec::new();
        };
        let reply = self.solve(at, place, &chosen, Shape::Runs);
        let visit = reply
            .as_ref()
            .and_then(|r| r.found.examples.first().cloned());
        self.tell(at, place, &told, "skipped".into(), visit);
        let Some(reply) = reply else {
            return Vec::new();
        };
        self.running_if(at, place, &reply.found)
    }
}
