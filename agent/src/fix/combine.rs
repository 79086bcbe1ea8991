//! Near misses that complete each other: when several bugs make tests fail, each fix alone turns some
//! of them green. Together they may turn all of them green.

use std::collections::BTreeSet;

use ndbg_tools::source::Edit;

use crate::plan::{Candidate, Screened};

/// Most near misses remembered.
const REMEMBERED: usize = 400;
/// Most parts of a combination.
const PARTS: usize = 4;

/// Near misses so far.
#[derive(Debug, Default)]
pub struct Combiner {
    parts: Vec<(Candidate, BTreeSet<String>)>,
    made: BTreeSet<Vec<u64>>,
}

impl Combiner {
    /// Takes a near miss that breaks nothing, and returns a combination that should fix all of
    /// `must`, if there is one that was not made before.
    pub fn add(
        &mut self,
        candidate: &Candidate,
        screened: &Screened,
        must: &[String],
        next_id: u64,
    ) -> Option<Candidate> {
        let Screened::NearMiss { fixed, broken, .. } = screened else {
            return None;
        };
        if !broken.is_empty() || self.parts.len() >= REMEMBERED {
            return None;
        }
        let mine: BTreeSet<String> = fixed.iter().cloned().collect();
        let mut missing: BTreeSet<&String> = must.iter().filter(|id| !mine.contains(*id)).collect();
        let mut chosen: Vec<&Candidate> = vec![candidate];
        // Greedy cover; earlier near misses are likelier, so ties go to them.
        while !missing.is_empty() && chosen.len() < PARTS {
            let best = self
                .parts
                .iter()
                .filter(|(part, _)| chosen.iter().all(|c| !overlap(&c.edits, &part.edits)))
                .map(|(part, fixed)| {
                    (
                        fixed.iter().filter(|id| missing.contains(id)).count(),
                        part,
                        fixed,
                    )
                })
                .filter(|(gain, _, _)| *gain > 0)
                .reduce(|best, other| if other.0 > best.0 { other } else { best });
            let Some((_, part, fixed)) = best else { break };
            chosen.push(part);
            missing.retain(|id| !fixed.contains(*id));
        }
        let combination = (missing.is_empty() && chosen.len() > 1).then(|| {
            let mut ids: Vec<u64> = chosen.iter().map(|c| c.id).collect();
            ids.sort_unstable();
            (ids, merge(&chosen, next_id))
        });
        self.parts.push((candidate.clone(), mine));
        let (ids, merged) = combination?;
        self.made.insert(ids).then_some(merged)
    }
}

fn merge(parts: &[&Candidate], id: u64) -> Candidate {
    let first = parts[0];
    let join = |field: fn(&Candidate) -> &str, with: &str| {
        parts
            .iter()
            .map(|c| field(c))
            .collect::<Vec<_>>()
            .join(with)
    };
    Candidate {
        id,
        edits: parts.iter().flat_map(|c| c.edits.clone()).collect(),
        operator: join(|c| &c.operator, "+"),
        claim: join(|c| &c.claim, "; "),
        file: first.file.clone(),
        line: first.line,
        // Several functions: the runner must not assume that it is one.
        qualname: first.qualname.clone(),
        score: parts.iter().map(|c| c.score).fold(f64::INFINITY, f64::min),
    }
}

fn overlap(a: &[Edit], b: &[Edit]) -> bool {
    a.iter().any(|x| {
        b.iter()
            .any(|y| x.file == y.file && x.start <= y.end && y.start <= x.end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: u64, at: usize) -> Candidate {
        Candidate {
            id,
            edits: vec![Edit::replace("a.py", at..at + 1, "x")],
            operator: "op".into(),
            claim: format!("claim {id}"),
            file: "a.py".into(),
            line: 1,
            qualname: "f".into(),
            score: 1.0,
        }
    }

    fn near(fixed: &[&str], broken: &[&str]) -> Screened {
        let own = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        Screened::NearMiss {
            fixed: own(fixed),
            failing: Vec::new(),
            broken: own(broken),
        }
    }

    #[test]
    fn complementary_near_misses_are_combined_once() {
        let must = ["a".to_owned(), "b".to_owned()];
        let mut combiner = Combiner::default();
        assert!(
            combiner
                .add(&candidate(1, 0), &near(&["a"], &[]), &must, 9)
                .is_none()
        );
        assert!(
            combiner
                .add(&candidate(2, 5), &near(&["b"], &["c"]), &must, 9)
                .is_none()
        );
        let both = combiner
            .add(&candidate(3, 5), &near(&["b"], &[]), &must, 9)
            .unwrap();
        assert_eq!(
            (both.id, both.edits.len(), both.operator.as_str()),
            (9, 2, "op+op")
        );
    }

    #[test]
    fn overlapping_edits_are_not_combined() {
        let must = ["a".to_owned(), "b".to_owned()];
        let mut combiner = Combiner::default();
        combiner.add(&candidate(1, 0), &near(&["a"], &[]), &must, 9);
        assert!(
            combiner
                .add(&candidate(2, 0), &near(&["b"], &[]), &must, 9)
                .is_none()
        );
    }
}
