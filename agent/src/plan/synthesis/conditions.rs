//! Conditions: turned around at some visits, then synthesised anew.

use super::Synthesis;
use super::oracle::{Force, Shape};
use crate::plan::Candidate;

/// Failing tests, and visits of one, at which a condition is turned around by itself.
const TESTS: usize = 3;
const VISITS: usize = 10;

impl Synthesis<'_> {
    /// Turns a condition around: at single visits, at all of them, or to one value for good.
    pub(super) fn flip(&mut self, at: usize, place: usize) -> Vec<Candidate> {
        let mut chosen: [Vec<Force>; 2] = [Vec::new(), Vec::new()];
        for (test, values) in self.visited(at, place) {
            let mut forces: Vec<Force> = Vec::new();
            let mut with = |visits: Option<Vec<usize>>, value: &str| {
                forces.push(Force {
                    place,
                    test: Some(test.clone()),
                    visits,
                    value: value.to_owned(),
                });
            };
            for visit in 0..values.len().min(VISITS) {
                with(Some(vec![visit]), "not __ndbg_recorded__");
            }
            if values.len() > 1 {
                with(None, "not __ndbg_recorded__");
                for (text, value) in [("True", "True"), ("False", "False")] {
                    if values.iter().any(|v| v == text) && values.iter().any(|v| v != text) {
                        with(None, value);
                    }
                }
            }
            let passing = self.pass(at, &test, &forces);
            let mut passing = forces
                .into_iter()
                .zip(passing)
                .filter_map(|(force, passes)| passes.then_some(force));
            if let Some(first) = passing.next() {
                let last = passing.next_back().unwrap_or_else(|| first.clone());
                chosen[0].push(first);
                chosen[1].push(last);
            }
        }
        let [first, last] = chosen;
        let Some(told) = first.first().cloned() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut specifications = vec![first.clone()];
        if last != first {
            specifications.push(last);
        }
        for (number, forces) in specifications.iter().enumerate() {
            let reply = self.solve(at, place, forces, Shape::Condition);
            let visit = reply
                .as_ref()
                .and_then(|r| r.found.examples.first().cloned());
            if number == 0 {
                let needed = match visit.as_ref().map(|v| v.needed.as_str()) {
                    Some("True") => "true",
                    Some("False") => "false",
                    _ => "the other way round",
                };
                self.tell(at, place, &told, needed.to_owned(), visit);
            }
            if let Some(reply) = reply {
                found.extend(self.replacing(at, place, &reply.found, "synthesis-condition", 0.6));
            }
        }
        found
    }

    /// The first failing tests that visit a place, with the values there.
    pub(super) fn visited(&self, at: usize, place: usize) -> Vec<(String, Vec<String>)> {
        let visits = self.scenes[at].visits.get(&place);
        visits
            .into_iter()
            .flatten()
            .take(TESTS)
            .map(|(test, values)| (test.clone(), values.clone()))
            .collect()
    }
}
