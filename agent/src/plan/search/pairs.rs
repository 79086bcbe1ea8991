//! Pairs of single edits within one function, the most promising first.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::proposals::{Draft, sort};
use crate::plan::Screened;

/// What screening said about an edit, as far as pairs care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No result yet.
    Unseen,
    /// Some failing tests passed.
    Near,
    /// The failure changed.
    Changed,
    /// Nothing changed.
    Unchanged,
    /// Timed out, crashed or did not compile: no part of a pair.
    Hopeless,
}

impl Verdict {
    /// The verdict of a screening run.
    pub fn of(screened: &Screened) -> Self {
        match screened {
            Screened::Plausible | Screened::NearMiss { .. } => Self::Near,
            Screened::Changed { .. } => Self::Changed,
            Screened::Unchanged => Self::Unchanged,
            Screened::TimedOut | Screened::Crashed { .. } | Screened::Invalid { .. } => {
                Self::Hopeless
            }
        }
    }

    fn weight(self) -> f64 {
        match self {
            Self::Near => 6.0,
            Self::Changed => 1.6,
            Self::Unseen => 0.8,
            Self::Unchanged => 0.6,
            Self::Hopeless => 0.0,
        }
    }
}

/// Edits of one function taken into account.
const SINGLES: usize = 300;

/// Best-first enumeration of pairs.
#[derive(Debug)]
pub struct Pairs {
    functions: Vec<Vec<Draft>>,
    heap: BinaryHeap<Entry>,
    left: usize,
}

#[derive(Debug)]
struct Entry {
    score: f64,
    function: usize,
    first: usize,
    second: usize,
}

impl Pairs {
    /// Prepares the pairs of `proposed`, at most `limit` of them.
    pub fn new(proposed: &HashMap<u64, (Draft, Verdict)>, limit: usize) -> Self {
        let mut by_function: BTreeMap<(usize, usize), Vec<Draft>> = BTreeMap::new();
        for (draft, verdict) in proposed.values() {
            let weight = verdict.weight();
            if weight > 0.0 {
                let mut draft = draft.clone();
                draft.score *= weight;
                by_function
                    .entry((draft.file, draft.function))
                    .or_default()
                    .push(draft);
            }
        }
        let functions: Vec<Vec<Draft>> = by_function
            .into_values()
            .map(|mut drafts| {
                sort(&mut drafts);
                drafts.truncate(SINGLES);
                drafts
            })
            .collect();
        let mut pairs = Self {
            functions,
            heap: BinaryHeap::new(),
            left: limit,
        };
        for function in 0..pairs.functions.len() {
            pairs.push(function, 0, 1);
        }
        pairs
    }

    /// How many pairs are still to come at most.
    pub fn remaining(&self) -> usize {
        let all: usize = self
            .functions
            .iter()
            .map(|f| f.len() * f.len().saturating_sub(1) / 2)
            .sum();
        if self.heap.is_empty() {
            0
        } else {
            self.left.min(all)
        }
    }

    /// The next pair whose edits do not touch each other.
    pub fn next(&mut self) -> Option<(&Draft, &Draft, f64)> {
        while self.left > 0 {
            let Entry {
                score,
                function,
                first,
                second,
            } = self.heap.pop()?;
            self.push(function, first, second + 1);
            if second == first + 1 {
                self.push(function, first + 1, first + 2);
            }
            let drafts = &self.functions[function];
            if apart(&drafts[first], &drafts[second]) {
                self.left -= 1;
                let drafts = &self.functions[function];
                return Some((&drafts[first], &drafts[second], score));
            }
        }
        None
    }

    fn push(&mut self, function: usize, first: usize, second: usize) {
        let drafts = &self.functions[function];
        if let (Some(a), Some(b)) = (drafts.get(first), drafts.get(second)) {
            self.heap.push(Entry {
                score: a.score * b.score,
                function,
                first,
                second,
            });
        }
    }
}

/// Whether two edits neither overlap nor touch.
pub fn apart(a: &Draft, b: &Draft) -> bool {
    a.changes.iter().all(|x| {
        b.changes
            .iter()
            .all(|y| x.range.end < y.range.start || y.range.end < x.range.start)
    })
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| other.function.cmp(&self.function))
            .then_with(|| other.first.cmp(&self.first))
            .then_with(|| other.second.cmp(&self.second))
    }
}
