//! The official rule of SWE-bench: what an expected test came to in a run.
//!
//! A test of `FAIL_TO_PASS` has to pass; one of `PASS_TO_PASS` has to pass or to be skipped. An expected failure counts
//! as passed. An id that was cut off in the middle of its parameters stands for the ids that begin with
//! it, if they agree; a file or a class stands for all of its tests.

use ndbg_tools::python::pytest::{RunResults, TestOutcome};

use crate::test_names::is_truncated;

/// Whether an id that was run or collected begins with this one.
pub fn is_prefix_of_any(id: &str, results: &RunResults) -> bool {
    results.tests.keys().any(|known| known.starts_with(id))
        || results.collected.iter().any(|known| known.starts_with(id))
}

/// Outcome of an expected id; a cut one stands for those that begin with it, when they agree. A file or a
/// class stands for all of its tests.
pub fn status(results: &RunResults, id: &str) -> Option<TestOutcome> {
    if let Some(test) = results.tests.get(id) {
        return Some(test.outcome);
    }
    let whole = format!("{id}::");
    let inside = |known: &str| {
        if is_truncated(id) {
            known.starts_with(id)
        } else {
            known.starts_with(&whole)
        }
    };
    let outcomes: Vec<TestOutcome> = results
        .tests
        .iter()
        .filter(|(known, _)| inside(known))
        .map(|(_, test)| test.outcome)
        .collect();
    let first = *outcomes.first()?;
    let good = |outcome: &TestOutcome| *outcome == TestOutcome::Passed;
    if outcomes.iter().all(|outcome| good(outcome) == good(&first)) {
        return Some(first);
    }
    // Of a class or a file one failure is a failure; of a cut id it says nothing.
    (!is_truncated(id)).then_some(TestOutcome::Failed)
}

/// The rule for `FAIL_TO_PASS`.
pub fn passes(results: &RunResults, id: &str) -> bool {
    status(results, id) == Some(TestOutcome::Passed)
}

/// The rule for `PASS_TO_PASS`: a skipped test is no regression.
pub fn maintained(results: &RunResults, id: &str) -> bool {
    matches!(
        status(results, id),
        Some(TestOutcome::Passed | TestOutcome::Skipped)
    )
}
