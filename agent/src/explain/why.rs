//! Why no place is known where a run parts from what was needed.

use ndbg_simulator::literal;
use ndbg_simulator::recording::{BoundaryKind, Recording};

use crate::plan::Failure;

/// Why there is no divergence, in a sentence without its capital and full stop.
pub fn not(failure: &Failure, run: Option<&Recording>, is_collection: bool) -> String {
    if is_collection {
        return "the tests cannot be collected, so nothing of them ran".to_owned();
    }
    let is_assertion = failure.exception.rsplit('.').next() == Some("AssertionError");
    if !is_assertion {
        let exception = match failure.exception.as_str() {
            "" => "an error",
            exception => exception,
        };
        return format!(
            "the test fails with `{exception}` and not with a comparison, so no needed value is known"
        );
    }
    let Some(run) = run else {
        return "the failing run could not be recorded".to_owned();
    };
    let is_recorded = run
        .boundaries()
        .iter()
        .any(|boundary| boundary.kind == BoundaryKind::Test && boundary.name == failure.test);
    if !is_recorded {
        return "this test is not in the recording, which holds the first failing tests".to_owned();
    }
    match &failure.sides {
        Some(sides) if !matches!(sides.op.as_str(), "==" | "is") => format!(
            "the assertion compares with `{}`, which many values would satisfy",
            sides.op
        ),
        Some(sides)
            if sides.lossy
                && [&sides.left, &sides.right]
                    .iter()
                    .any(|side| side.contains("...") || side.contains('…')) =>
        {
            "pytest shows the compared values abbreviated, so the needed one is not known"
                .to_owned()
        }
        Some(sides)
            if literal::parse(&sides.left).is_err() || literal::parse(&sides.right).is_err() =>
        {
            "the compared values cannot be written down as plain Python values".to_owned()
        }
        Some(_) => {
            "the walk back from the assertion found no statement of the project whose effect \
                    explains it (what other code computes, and objects, can end the walk)"
                .to_owned()
        }
        None => "the assertion is no comparison whose two sides are known".to_owned(),
    }
}
