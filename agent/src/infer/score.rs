//! How near an execution came to a goal; lower is nearer.

use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::python::executions::{Execution, Outcome};

use super::distance::distance;

/// What lies beyond every distance between values: another way to end.
const OTHER_VALUE: f64 = 1e4;
const OTHER_EXCEPTION: f64 = 2e4;
const WRONG_TYPES: f64 = 3e4;
const TOO_LONG: f64 = 4e4;
const NO_CALL: f64 = 5e4;
/// What not ending costs beside a reported distance.
const SLOW: f64 = 0.7;

/// What is to happen.
#[derive(Debug, Clone, PartialEq)]
pub enum Aim {
    /// A value is to be returned.
    Value(Literal),
    /// Something that an execution reports its distance from, or is new on the way to.
    Reported,
}

/// The score; 0 for what reached the goal.
pub fn score(aim: &Aim, execution: &Execution, lines: (u32, u32)) -> f64 {
    if execution.reached {
        return 0.0;
    }
    let ending = match &execution.outcome {
        Outcome::Returned { text, cut, .. } => match aim {
            Aim::Value(wanted) if !cut => match literal::parse(text) {
                Ok(found) => distance(&found, wanted).min(OTHER_VALUE),
                Err(_) => OTHER_VALUE,
            },
            Aim::Value(_) => OTHER_VALUE,
            Aim::Reported => 0.0,
        },
        Outcome::Raised { class, line, .. } => {
            // Of two that raise, the one that got further.
            let length = f64::from(lines.1.saturating_sub(lines.0).max(1));
            let got = line.map_or(0.0, |line| f64::from(line.saturating_sub(lines.0)) / length);
            let base = match class.as_str() {
                "TypeError" | "AttributeError" => WRONG_TYPES,
                _ => OTHER_EXCEPTION,
            };
            base - 5e3 * got.clamp(0.0, 1.0)
        }
        Outcome::TooLong | Outcome::Killed | Outcome::Refused(_) => TOO_LONG,
        Outcome::Unbuildable(_) => NO_CALL,
    };
    match (aim, execution.distance) {
        (Aim::Value(_), _) => ending.max(1e-9),
        // How it ended matters little beside how near it came.
        (Aim::Reported, Some(distance)) => {
            // Executions that do not end cost a hundred others.
            let slow = matches!(execution.outcome, Outcome::TooLong | Outcome::Killed);
            (distance + ending * 1e-7 + if slow { SLOW } else { 0.0 }).max(1e-9)
        }
        (Aim::Reported, None) => 1.0 + ending,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(outcome: Outcome, distance: Option<f64>) -> Execution {
        Execution {
            outcome,
            reached: false,
            distance,
            covered: Vec::new(),
            seconds: 0.0,
            other: None,
            raised: None,
        }
    }

    fn returned(text: &str) -> Execution {
        ended(
            Outcome::Returned {
                text: text.into(),
                cut: false,
                left: None,
            },
            None,
        )
    }

    fn raised(class: &str, line: u32) -> Execution {
        ended(
            Outcome::Raised {
                class: class.into(),
                message: String::new(),
                line: Some(line),
            },
            None,
        )
    }

    #[test]
    fn values_are_nearer_than_exceptions_and_exceptions_nearer_than_wrong_types() {
        let aim = Aim::Value(literal::parse("[1, 2]").unwrap());
        let order = [
            returned("[1, 3]"),
            returned("'x'"),
            returned("<object>"),
            raised("KeyError", 9),
            raised("KeyError", 2),
            raised("TypeError", 9),
            raised("TypeError", 2),
            ended(Outcome::TooLong, None),
            ended(Outcome::Unbuildable("x".into()), None),
        ];
        let scores: Vec<f64> = order.iter().map(|e| score(&aim, e, (1, 10))).collect();
        assert!(scores.is_sorted() && scores[0] > 0.0, "{scores:?}");
    }

    #[test]
    fn a_reported_distance_comes_first() {
        let near = raised("TypeError", 1);
        let near = Execution {
            distance: Some(0.5),
            ..near
        };
        let far = returned("1");
        let far = Execution {
            distance: Some(1.5),
            ..far
        };
        assert!(score(&Aim::Reported, &near, (1, 2)) < score(&Aim::Reported, &far, (1, 2)));
    }
}
