//! Counts, medians and totals of runs.

use ndbg_simulator::eval::{Interval, interval};
use serde::Serialize;

use super::super::table::median;
use super::entry::Entry;

/// How many of how many.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// How many.
    pub count: usize,
    /// Of how many; those of which it is not known are not among them.
    pub of: usize,
    /// 95 % interval of the share; none of nothing.
    pub interval: Option<Interval>,
}

impl Share {
    fn of(values: impl Iterator<Item = Option<bool>>) -> Self {
        let known: Vec<bool> = values.flatten().collect();
        let count = known.iter().filter(|&&value| value).count();
        Self {
            count,
            of: known.len(),
            interval: interval(count, known.len()),
        }
    }

    /// 0 to 1; none of nothing.
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }
}

/// A quantity over runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Runs of which it is known.
    pub known: usize,
    /// The median over them.
    pub median: Option<f64>,
    /// The sum over them.
    pub total: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = Option<f64>>) -> Self {
        let known: Vec<f64> = values.flatten().collect();
        Self {
            known: known.len(),
            median: median(known.iter().copied()),
            // An empty sum of floats is -0.
            total: known.iter().fold(0.0, |sum, value| sum + value),
        }
    }
}

/// How often a bug stands how far up in a ranking. Where no bug was found in it, it may be that nobody
/// knows where the bugs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ranks {
    /// In the first place.
    pub top_1: usize,
    /// In the first three.
    pub top_3: usize,
    /// In the first five.
    pub top_5: usize,
    /// Of so many runs.
    pub of: usize,
    /// In any place.
    pub ranked: usize,
}

impl Ranks {
    fn of(ranks: &[Option<usize>]) -> Self {
        let within = |limit: usize| {
            let near = ranks.iter().flatten().filter(|&&rank| rank <= limit);
            near.count()
        };
        Self {
            top_1: within(1),
            top_3: within(3),
            top_5: within(5),
            of: ranks.len(),
            ranked: ranks.iter().flatten().count(),
        }
    }
}

/// Everything that is counted over some runs. What infrastructure kept from being judged is in
/// `runs` and `infrastructure`, and nowhere else.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Runs: tasks, each under one setting.
    pub runs: usize,
    /// Runs whose result was judged.
    pub judged: usize,
    /// Runs that could not be tried or graded.
    pub infrastructure: usize,
    /// Passes the tests that `fix` saw, of those judged.
    pub plausible: Share,
    /// Passes tests that it has never seen, of those judged that have such tests.
    pub correct: Share,
    /// Resolved by the rule of SWE-bench, of those judged that have that rule.
    pub resolved: Share,
    /// Runs judged with a test of PASS_TO_PASS that fails here without any patch; unless the patch mends it, they stay
    /// unresolved.
    pub broken_here: usize,
    /// Candidates executed until the first plausible patch, of runs with a plausible patch.
    pub first_plausible_executions: Spread,
    /// Seconds until the first plausible patch, of runs with a plausible patch.
    pub first_plausible_seconds: Spread,
    /// Candidates executed.
    pub executions: Spread,
    /// Test processes and forks, verification included.
    pub test_runs: Spread,
    /// Seconds that `fix` took.
    pub seconds: Spread,
    /// Seconds beyond `fix`: environments, copies, grading.
    pub harness_seconds: Spread,
    /// Tokens of a language model, prompts and replies.
    pub tokens: Spread,
    /// US dollars.
    pub cost: Spread,
    /// Places of the bug's first line among the suspicious statements.
    pub statement_rank: Ranks,
    /// Places of the bug's function among the suspicious functions.
    pub function_rank: Ranks,
}

impl Figures {
    /// Counts over `entries`; their order decides how sums are rounded, so it has to be settled.
    pub fn of(entries: &[&Entry]) -> Self {
        let judged: Vec<&Entry> = entries
            .iter()
            .copied()
            .filter(|entry| entry.is_judged())
            .collect();
        let over = |value: fn(&Entry) -> Option<f64>| Spread::of(judged.iter().map(|e| value(e)));
        let share = |value: fn(&Entry) -> Option<bool>| Share::of(judged.iter().map(|e| value(e)));
        let ranks = |value: fn(&Entry) -> Option<usize>| {
            Ranks::of(&judged.iter().map(|e| value(e)).collect::<Vec<_>>())
        };
        Self {
            runs: entries.len(),
            judged: judged.len(),
            infrastructure: entries.len() - judged.len(),
            plausible: share(Entry::plausible),
            correct: share(Entry::correct),
            resolved: share(Entry::resolved),
            broken_here: judged.iter().filter(|entry| entry.broken_here > 0).count(),
            first_plausible_executions: over(first_executions),
            first_plausible_seconds: over(first_seconds),
            executions: over(|e| Some(e.executions as f64)),
            test_runs: over(|e| Some(e.test_runs as f64)),
            seconds: over(|e| Some(e.seconds)),
            harness_seconds: over(|e| Some(e.harness_seconds)),
            tokens: over(|e| Some(e.tokens as f64)),
            cost: over(|e| e.cost),
            statement_rank: ranks(|e| e.statement_rank),
            function_rank: ranks(|e| e.function_rank),
        }
    }
}

/// Candidates until the first plausible patch, where the patch that was handed back is plausible.
pub fn first_executions(entry: &Entry) -> Option<f64> {
    let first = entry.first_plausible_executions.map(|n| n as f64);
    first.filter(|_| entry.plausible() == Some(true))
}

/// Seconds until then.
pub fn first_seconds(entry: &Entry) -> Option<f64> {
    let first = entry.first_plausible_seconds;
    first.filter(|_| entry.plausible() == Some(true))
}

#[cfg(test)]
mod tests {
    use super::super::entry::tests::results;
    use super::*;

    #[test]
    fn what_was_never_judged_is_counted_apart() {
        let all = results();
        let search: Vec<&Entry> = all.iter().take(5).collect();
        let figures = Figures::of(&search);
        assert_eq!(
            (figures.runs, figures.judged, figures.infrastructure),
            (5, 4, 1)
        );
        let counts = |share: Share| (share.count, share.of);
        assert_eq!(counts(figures.plausible), (3, 4));
        // One has no hidden tests.
        assert_eq!(counts(figures.correct), (2, 3));
        assert_eq!(counts(figures.resolved), (2, 4));
        assert_eq!(figures.first_plausible_executions.median, Some(9.0));
        assert_eq!(figures.executions.known, 4);
        assert_eq!(figures.executions.total.to_string(), "6706");
        let found = figures.statement_rank;
        assert_eq!((found.top_1, found.top_3, found.of), (0, 4, 4));
    }

    #[test]
    fn nothing_has_no_shares_and_no_medians() {
        let figures = Figures::of(&[]);
        assert_eq!(figures.plausible.share(), None);
        assert_eq!(figures.seconds.median, None);
        assert_eq!(figures.seconds.total.to_string(), "0");
    }
}
