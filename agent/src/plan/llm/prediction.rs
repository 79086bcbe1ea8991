//! Whether the recorded run agrees with what a hypothesis predicts.

use camino::Utf8Path;
use ndbg_simulator::EventKind;
use ndbg_simulator::expression;
use ndbg_simulator::recording::Recording;
use serde::{Deserialize, Serialize};

use super::answer::Prediction;
use crate::debug::{StateNames, scan};

/// Visits that are told.
const TOLD: usize = 3;
/// Characters of a told value.
const VALUE: usize = 80;

/// What the recording says of a prediction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The condition held at the breakpoint.
    Confirmed {
        /// Visits at which it held, and all of them.
        held: usize,
        /// All of them.
        visits: usize,
    },
    /// The line ran, and the condition never held.
    Refuted {
        /// What was recorded instead, visit by visit.
        recorded: Vec<String>,
        /// Visits in all.
        visits: usize,
    },
    /// Nothing can be said.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// Checks a prediction against a recording of the failing tests.
pub fn check(recording: Option<&Recording>, prediction: &Prediction) -> Verdict {
    let unknown = |reason: String| Verdict::Unknown { reason };
    let Some(recording) = recording else {
        return unknown("nothing was recorded".into());
    };
    let condition = match expression::parse(&prediction.condition) {
        Ok(condition) => condition,
        Err(error) => {
            return unknown(format!(
                "`{}` is not a condition that can be looked up: {error}",
                prediction.condition
            ));
        }
    };
    let is_file = |name: &str| {
        name == prediction.file
            || Utf8Path::new(name).ends_with(&prediction.file)
            || Utf8Path::new(&prediction.file).ends_with(name)
    };
    let names = names_of(&prediction.condition);
    let (mut visits, mut held, mut told) = (0, 0, 0);
    let (mut missing, mut recorded) = (None, Vec::new());
    scan(recording, 0..recording.len() as u32, |id, locals| {
        let event = recording.event(id);
        if event.kind != EventKind::Line
            || event.line as usize != prediction.line
            || !is_file(&recording.file_of(id).name)
        {
            return true;
        }
        visits += 1;
        let outcome = condition.evaluate(&StateNames::with(recording, id, locals));
        if outcome.holds() {
            held += 1;
        } else if let Some(why) = outcome.missing() {
            missing.get_or_insert_with(|| why.to_owned());
        } else if told < TOLD {
            told += 1;
            let values: Vec<String> = names
                .iter()
                .filter_map(|name| {
                    let value = locals.get(recording, name)?.value?;
                    let text: String = recording.text(value).chars().take(VALUE).collect();
                    Some(format!("{name} = {text}"))
                })
                .collect();
            recorded.push(values.join(", "));
        }
        true
    });
    match (held, visits, missing) {
        (0, 0, _) => unknown(format!(
            "line {} of `{}` did not run in the failing tests",
            prediction.line, prediction.file
        )),
        (0, _, Some(why)) => unknown(why),
        (0, _, None) => Verdict::Refuted { recorded, visits },
        _ => Verdict::Confirmed { held, visits },
    }
}

/// Words of a condition that may be names.
fn names_of(condition: &str) -> Vec<&str> {
    let mut names: Vec<&str> = condition
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn counted(visits: usize) -> String {
    format!("{visits} visit{}", if visits == 1 { "" } else { "s" })
}

impl Verdict {
    /// In words, for people and for the model.
    pub fn text(&self) -> String {
        match self {
            Self::Confirmed { held, visits } => {
                format!("recorded states agree ({held} of {})", counted(*visits))
            }
            Self::Refuted { recorded, visits } if recorded.is_empty() => {
                format!("recorded states refute it ({})", counted(*visits))
            }
            Self::Refuted { recorded, visits } => format!(
                "recorded states refute it ({}): {}",
                counted(*visits),
                recorded.join("; ")
            ),
            Self::Unknown { reason } => format!("not checked: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use ndbg_simulator::recording::RecordingBuilder;
    use ndbg_tools::trace::RawReader;

    use super::*;

    /// `f` runs line 3 of `pkg/a.py` twice, with n = 1 and n = 2.
    fn recording() -> Recording {
        let raw = "H {\"format\":\"ndbg-raw\",\"version\":1}\n\
                   F {\"name\":\"pkg/a.py\",\"text\":\"x\"}\n\
                   K 0 0 2 -\nS \"f\"\nS \"n\"\nS \"1\"\nS \"2\"\nT \"main\"\n";
        let raw = raw.replace("K 0 0 2 -\nS \"f\"\n", "S \"f\"\nK 0 0 2 -\n");
        let raw = format!("{raw}c 0 0 - 0 0 2 c 1=2\nl 0 3\nl 0 3 1=3\nr 0 3 2 r\n");
        let mut reader = RawReader::start(raw.as_bytes()).unwrap();
        let mut builder = RecordingBuilder::new();
        let mut sources = |name: &str| (name.to_owned(), None);
        while let Some(record) = reader.next_record(&mut sources).unwrap() {
            builder.push(record).unwrap();
        }
        builder.finish()
    }

    fn verdict(file: &str, line: usize, condition: &str) -> Verdict {
        let prediction = Prediction {
            file: file.into(),
            line,
            condition: condition.into(),
        };
        check(Some(&recording()), &prediction)
    }

    #[test]
    fn conditions_are_looked_up_at_every_visit() {
        assert_eq!(
            verdict("pkg/a.py", 3, "n == 2"),
            Verdict::Confirmed { held: 1, visits: 2 }
        );
        assert_eq!(
            verdict("a.py", 3, "n > 5"),
            Verdict::Refuted {
                recorded: vec!["n = 1".into(), "n = 2".into()],
                visits: 2
            }
        );
    }

    #[test]
    fn what_was_not_recorded_is_unknown() {
        for (file, line, condition, why) in [
            ("a.py", 9, "n == 1", "did not run"),
            ("b.py", 3, "n == 1", "did not run"),
            ("a.py", 3, "m == 1", "m"),
            ("a.py", 3, "f(n) == 1", "not a condition"),
        ] {
            let Verdict::Unknown { reason } = verdict(file, line, condition) else {
                panic!("{condition}");
            };
            assert!(reason.contains(why), "{reason}");
        }
    }
}
