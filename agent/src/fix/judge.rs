//! What the results of a candidate's tests mean.

use std::collections::{BTreeMap, BTreeSet};

use ndbg_tools::python::pytest::TestOutcome;
use ndbg_tools::python::warm::Answered;

use crate::plan::Screened;

/// What results mean. `complete` = everything that was to run did run.
pub fn judge(
    must: &[String],
    symptoms: &BTreeMap<String, String>,
    results: &[Answered],
    complete: bool,
) -> Screened {
    let passed = |id: &String| {
        let mut of_id = results.iter().filter(|r| r.test == *id).peekable();
        of_id.peek().is_some() && of_id.all(|r| r.outcome == TestOutcome::Passed)
    };
    let (fixed, failing): (Vec<String>, Vec<String>) = must.iter().cloned().partition(passed);
    let broken: Vec<String> = results
        .iter()
        .filter(|r| r.outcome == TestOutcome::Failed && !must.contains(&r.test))
        .map(|r| r.test.clone())
        .collect();
    if failing.is_empty() && broken.is_empty() && complete {
        return Screened::Plausible;
    }
    if !fixed.is_empty() {
        return Screened::NearMiss {
            fixed,
            failing,
            broken,
        };
    }
    let changed = results.iter().find(|r| {
        must.contains(&r.test)
            && symptoms
                .get(&r.test)
                .is_some_and(|before| *before != symptom_of(r))
    });
    match changed {
        Some(result) => Screened::Changed {
            symptom: symptom_of(result),
        },
        None => Screened::Unchanged,
    }
}

/// Tests that failed.
pub fn failed_tests(results: &[Answered]) -> BTreeSet<String> {
    let failed = results.iter().filter(|r| r.outcome == TestOutcome::Failed);
    failed.map(|r| r.test.clone()).collect()
}

/// How a test failed, in a line.
pub fn symptom_of(result: &Answered) -> String {
    symptom(
        result.exception.as_deref(),
        result.message.as_deref(),
        result.sides.as_ref(),
    )
}

/// A failure in a line.
pub fn symptom(
    exception: Option<&str>,
    message: Option<&str>,
    sides: Option<&(String, String)>,
) -> String {
    if let Some((left, right)) = sides {
        return format!("{left} instead of {right}")
            .chars()
            .take(200)
            .collect();
    }
    let first = message.and_then(|m| m.lines().next()).unwrap_or_default();
    format!("{}: {first}", exception.unwrap_or("failed"))
        .chars()
        .take(200)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(test: &str, outcome: TestOutcome, message: &str) -> Answered {
        Answered {
            test: test.into(),
            outcome,
            exception: Some("ValueError".into()),
            message: Some(message.into()),
            sides: None,
        }
    }

    fn judged(results: &[Answered], complete: bool) -> Screened {
        let must = ["a".to_owned(), "b".to_owned()];
        let before = BTreeMap::from([("a".to_owned(), "ValueError: old".to_owned())]);
        judge(&must, &before, results, complete)
    }

    #[test]
    fn only_a_complete_run_in_which_everything_passes_is_plausible() {
        use TestOutcome::{Failed, Passed, Skipped};
        let pass = |t| answered(t, Passed, "");
        assert_eq!(
            judged(&[pass("a"), pass("b"), pass("k")], true),
            Screened::Plausible
        );
        assert!(matches!(
            judged(&[pass("a"), pass("b")], false),
            Screened::NearMiss { .. }
        ));
        assert!(matches!(
            judged(&[pass("a")], true),
            Screened::NearMiss { .. }
        ));
        let skipped = [answered("a", Skipped, ""), pass("b")];
        assert!(matches!(judged(&skipped, true), Screened::NearMiss { .. }));
        let broken = [pass("a"), pass("b"), answered("k", Failed, "new")];
        match judged(&broken, true) {
            Screened::NearMiss {
                broken, failing, ..
            } => {
                assert_eq!((broken, failing), (vec!["k".to_owned()], vec![]));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn another_failure_than_before_is_told_from_the_same() {
        use TestOutcome::Failed;
        assert_eq!(
            judged(&[answered("a", Failed, "old")], true),
            Screened::Unchanged
        );
        assert!(matches!(
            judged(&[answered("a", Failed, "new")], true),
            Screened::Changed { .. }
        ));
    }
}
