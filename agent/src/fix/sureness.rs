//! How sure a verified patch is to be right, and why.
//!
//! Passing tests prove little by themselves: of several patches that pass, one is right at most. What counts for
//! a patch is that tests look at the code that it changes, that nothing else passes, and that it mends what
//! looked wrong anyway; what counts against it is that another one does something else. The points are a
//! judgement, not a probability; docs/benchmarks.md says how often patches of each level were correct.

use super::baseline::Baseline;
use super::localize::Localization;
use super::search::Ended;
use crate::plan::Candidate;
use crate::plan::search::catalogue;
use crate::report::event::{Sureness, Surety};

/// Passing tests that run the changed function, from which on they count.
const WATCHED: usize = 3;
/// Candidates tried beside a patch, from which on it counts that none of them passes.
const TRIED: u64 = 20;
/// Candidates tried, from which on some fit by chance.
const MANY: u64 = 300;
/// Operators whose patches often fit the failing tests and nothing else.
const FITTING: [&str; 6] = [
    "synthesis-guard",
    "strengthen",
    "name-to-literal",
    "literal",
    "try-guard",
    "delete-statement",
];

/// What calls said about the other plausible patches: how many gave other results, how many the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compared {
    /// A call tells them apart.
    pub differ: usize,
    /// No call was found that does.
    pub agree: usize,
}

/// The judgement on a verified patch.
pub fn sureness(
    candidate: &Candidate,
    ended: &Ended,
    compared: Compared,
    executed: u64,
    baseline: &Baseline,
    found: &Localization,
) -> Sureness {
    let key = (candidate.file.clone(), candidate.qualname.clone());
    let watching = found.covering.get(&key).map_or(0, |tests| {
        tests
            .iter()
            .filter(|id| baseline.passing.contains(*id))
            .count()
    });
    let facts = Counts {
        failing: baseline.failing.len(),
        watching,
        others: ended.others.len(),
        compared,
        executed,
    };
    judged(&candidate.operator, facts)
}

/// What the judgement rests on.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    failing: usize,
    watching: usize,
    others: usize,
    compared: Compared,
    executed: u64,
}

fn judged(operator: &str, counts: Counts) -> Sureness {
    let mut points = 0;
    let mut reasons = Vec::new();
    let mut count = |by: i32, reason: String| {
        points += by;
        reasons.push(reason);
    };
    match counts.failing {
        0 | 1 => {}
        many => count(1, format!("{many} failing tests pass with it")),
    }
    match counts.watching {
        0 => count(-1, "no test that passed before runs the function".into()),
        few if few < WATCHED => {}
        many => count(
            1,
            format!("{many} tests that passed before run the function"),
        ),
    }
    let parts = || operator.split('+');
    if catalogue().any(|(name, _, prior)| prior > 1.0 && parts().all(|part| part == name)) {
        count(1, "the code looked wrong before anything was run".into());
    }
    if parts().any(|part| FITTING.contains(&part)) {
        count(
            -1,
            "patches of this kind often fit the failing tests and nothing else".into(),
        );
    }
    if operator.contains('+') {
        count(-1, "it changes two places at once".into());
    }
    let Compared { differ, agree } = counts.compared;
    if counts.executed > MANY {
        let text = format!(
            "{} edits were tried, of which some fit by chance",
            counts.executed
        );
        count(-1, text);
    } else if counts.others == 0 && counts.executed >= TRIED {
        count(
            1,
            format!("none of {} other edits tried passes", counts.executed - 1),
        );
    }
    if differ > 0 {
        let by = -(differ.min(2) as i32);
        count(
            by,
            match differ {
                1 => "another patch that passes gives other results".into(),
                _ => format!("{differ} of the other patches that pass give other results"),
            },
        );
    }
    if agree > 0 {
        count(
            0,
            match agree {
                1 => "no call was found that tells it from another one that passes".into(),
                _ => format!("no call was found that tells it from {agree} others that pass"),
            },
        );
    }
    let unknown = counts.others.saturating_sub(differ + agree);
    if unknown > 0 {
        let by = -i32::from(differ == 0);
        count(
            by,
            match unknown {
                1 => "another patch passes and was not compared by calls".into(),
                _ => format!("{unknown} other patches pass and were not compared by calls"),
            },
        );
    }
    let level = match points {
        i32::MIN..=-1 => Surety::Low,
        0 | 1 => Surety::Middle,
        _ => Surety::High,
    };
    Sureness { level, reasons }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_one_that_passes_where_tests_look_is_sure() {
        let counts = Counts {
            failing: 2,
            watching: 5,
            executed: 60,
            ..Counts::default()
        };
        let found = judged("comparison", counts);
        assert_eq!(found.level, Surety::High);
        assert_eq!(
            found.reasons,
            [
                "2 failing tests pass with it",
                "5 tests that passed before run the function",
                "none of 59 other edits tried passes"
            ]
        );
    }

    #[test]
    fn what_is_found_after_many_edits_may_fit_by_chance() {
        let counts = Counts {
            failing: 1,
            watching: 5,
            executed: 549,
            ..Counts::default()
        };
        assert_eq!(judged("replace-expression", counts).level, Surety::Middle);
    }

    #[test]
    fn another_patch_that_does_something_else_makes_it_doubtful() {
        let counts = Counts {
            failing: 1,
            watching: 0,
            others: 1,
            compared: Compared {
                differ: 1,
                agree: 0,
            },
            executed: 60,
        };
        assert_eq!(judged("synthesis-guard", counts).level, Surety::Low);
    }
}
