//! Near misses that complete each other: when several bugs make tests fail, each fix alone turns some
//! of them green. Together they may turn all of them green.

use std::collections::BTreeSet;

use ndbg_tools::source::Edit;

use crate::plan::{Candidate, Screened};

/// Most near misses remembered.
const REMEMBERED: usize = 400;
/// Most parts of a combination.
const PARTS: usize = 4;
/// Most partners tried with one near miss.
const PARTNERS: usize = 12;
/// Combinations are numbered from here on, so that they are told from what planners propose.
pub const FIRST_ID: u64 = 1 << 32;

/// Near misses so far.
#[derive(Debug, Default)]
pub struct Combiner {
    parts: Vec<(Candidate, BTreeSet<String>)>,
}

impl Combiner {
    /// Takes a near miss that breaks nothing, and returns combinations with earlier ones that should
    /// fix all of `must`, the likeliest first: with each of the best partners that complete it, or,
    /// where no single one does, with a greedy cover. `next_id` is raised by their number.
    pub fn add(
        &mut self,
        candidate: &Candidate,
        screened: &Screened,
        must: &[String],
        next_id: &mut u64,
    ) -> Vec<Candidate> {
        let Screened::NearMiss { fixed, broken, .. } = screened else {
            return Vec::new();
        };
        if !broken.is_empty() || candidate.id >= FIRST_ID || self.parts.len() >= REMEMBERED {
            return Vec::new();
        }
        let mine: BTreeSet<String> = fixed.iter().cloned().collect();
        let missing: BTreeSet<&String> = must.iter().filter(|id| !mine.contains(*id)).collect();
        let mut partners: Vec<&(Candidate, BTreeSet<String>)> = self
            .parts
            .iter()
            .filter(|(part, fixed)| {
                missing.iter().all(|id| fixed.contains(*id))
                    && !overlap(&candidate.edits, &part.edits)
            })
            .collect();
        partners.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
        let mut chosen: Vec<Vec<&Candidate>> = partners
            .into_iter()
            .take(PARTNERS)
            .map(|(part, _)| vec![candidate, part])
            .collect();
        if chosen.is_empty() {
            chosen.extend(self.cover(candidate, missing));
        }
        // The newest part is in all of them, so none was made before.
        let mut combined = Vec::new();
        for parts in chosen {
            combined.push(merge(&parts, *next_id));
            *next_id += 1;
        }
        self.parts.push((candidate.clone(), mine));
        combined
    }

    /// More than two parts: each adds as much as it can; earlier near misses are likelier, so ties go
    /// to them.
    fn cover<'a>(
        &'a self,
        candidate: &'a Candidate,
        mut missing: BTreeSet<&String>,
    ) -> Option<Vec<&'a Candidate>> {
        let mut chosen = vec![candidate];
        while !missing.is_empty() && chosen.len() < PARTS {
            let gains = self
                .parts
                .iter()
                .filter(|(part, _)| chosen.iter().all(|c| !overlap(&c.edits, &part.edits)))
                .map(|(part, fixed)| {
                    let gain = fixed.iter().filter(|id| missing.contains(id)).count();
                    (gain, part, fixed)
                });
            let (_, part, fixed) = gains
                .filter(|(gain, _, _)| *gain > 0)
                .reduce(|best, other| if other.0 > best.0 { other } else { best })?;
            chosen.push(part);
            missing.retain(|id| !fixed.contains(*id));
        }
        (missing.is_empty() && chosen.len() > 1).then_some(chosen)
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
        base: parts.iter().map(|c| c.base).fold(f64::INFINITY, f64::min),
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
            base: 1.0,
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

    fn add(combiner: &mut Combiner, candidate: &Candidate, screened: &Screened) -> Vec<Candidate> {
        let must = ["a".to_owned(), "b".to_owned()];
        combiner.add(candidate, screened, &must, &mut FIRST_ID.clone())
    }

    #[test]
    fn complementary_near_misses_are_combined() {
        let mut combiner = Combiner::default();
        assert!(add(&mut combiner, &candidate(1, 0), &near(&["a"], &[])).is_empty());
        assert!(add(&mut combiner, &candidate(2, 5), &near(&["b"], &["c"])).is_empty());
        assert!(add(&mut combiner, &candidate(3, 9), &near(&["a"], &[])).is_empty());
        let both = add(&mut combiner, &candidate(4, 5), &near(&["b"], &[]));
        assert_eq!(both.len(), 2);
        assert_eq!(
            (both[0].edits.len(), both[0].operator.as_str()),
            (2, "op+op")
        );
    }

    #[test]
    fn overlapping_edits_are_not_combined() {
        let mut combiner = Combiner::default();
        add(&mut combiner, &candidate(1, 0), &near(&["a"], &[]));
        assert!(add(&mut combiner, &candidate(2, 0), &near(&["b"], &[])).is_empty());
    }

    #[test]
    fn three_bugs_need_three_parts() {
        let must = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let mut combiner = Combiner::default();
        let mut id = FIRST_ID;
        combiner.add(&candidate(1, 0), &near(&["a"], &[]), &must, &mut id);
        combiner.add(&candidate(2, 5), &near(&["b"], &[]), &must, &mut id);
        let all = combiner.add(&candidate(3, 9), &near(&["c"], &[]), &must, &mut id);
        assert_eq!(all[0].edits.len(), 3);
    }
}
