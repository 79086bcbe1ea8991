//! What an inference says to people and to programs.

use std::fmt::Write as _;

use ndbg_tools::python::executions::{Goal, Outcome};
use serde_json::{Value as Json, json};

use super::run::{CALL_SECONDS, Explained, Inferred, Settings};
use super::search::Limit;
use super::short::{short, shortened};
use super::spell::COLLECTED;
use super::verify::Unsteady;

/// Characters of a value that are shown behind a call.
const SHOWN: usize = 200;
/// And in a remark.
const REMARKED: usize = 60;

/// The answer in words.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// For standard output: the calls.
    pub calls: String,
    /// For standard error: how they were found, or how near it came.
    pub remarks: String,
}

/// The answer for people.
pub fn answer(settings: &Settings, inferred: &Inferred) -> Answer {
    let within = settings.call_seconds;
    let mut calls = String::new();
    if inferred.description.is_async_generator && !inferred.found.is_empty() {
        calls.push_str(COLLECTED);
    }
    for found in &inferred.found {
        let _ = write!(calls, "{}", found.call);
        if let Some(probability) = found.probability {
            let alone = inferred.explained.as_ref().is_some_and(|e| e.calls == 1);
            let likely = if alone {
                "the only one found".into()
            } else {
                percent(probability)
            };
            let _ = writeln!(calls, "  # {likely}");
            continue;
        }
        let ending = |outcome| ended(outcome, within, SHOWN);
        // What a goal says already needs no second saying.
        match (&settings.goal, &found.outcome, &found.other) {
            (_, outcome, Some(other)) => {
                let _ = write!(
                    calls,
                    "  # {}; the other {}",
                    ending(outcome),
                    ending(other)
                );
            }
            (Goal::Returns(_), ..) => {}
            (_, outcome, None) => {
                let _ = write!(calls, "  # {}", ending(outcome));
            }
        }
        calls.push('\n');
    }
    Answer {
        calls,
        remarks: remarks(settings, inferred),
    }
}

/// How calls were found, or how near it came.
fn remarks(settings: &Settings, inferred: &Inferred) -> String {
    let mut remarks = String::new();
    let goal = short(&inferred.described);
    let within = settings.call_seconds;
    let effort = format!(
        "{} in {:.2} s",
        counted(inferred.executions, "execution"),
        inferred.seconds
    );
    if let Some(found) = inferred.found.first() {
        let _ = writeln!(
            remarks,
            "verified: {goal}, in {} runs in new processes",
            found.runs
        );
        let by = inferred
            .source
            .map(|by| format!(", by {by}"))
            .unwrap_or_default();
        let _ = writeln!(remarks, "found after {effort}{by}");
        if let Some(explained) = &inferred.explained {
            explain(&mut remarks, explained, inferred);
        }
    } else {
        let _ = writeln!(
            remarks,
            "not found within the budget: no call that {goal} in {effort}"
        );
        match inferred.limit {
            Some(Limit::Seconds) => {
                let _ = writeln!(remarks, "--seconds {} reached", settings.seconds);
            }
            Some(Limit::Executions) => {
                let _ = writeln!(remarks, "--executions {} reached", settings.executions);
            }
            None => {}
        }
        if let Some((call, execution)) = &inferred.nearest {
            let _ = writeln!(
                remarks,
                "nearest: {} {}",
                short(call),
                ended(&execution.outcome, within, REMARKED)
            );
            if let Some(distance) = execution.distance {
                let _ = writeln!(
                    remarks,
                    "         at a distance of {distance:.3} from the goal"
                );
            }
            if let Some(raised) = &execution.raised {
                let _ = writeln!(
                    remarks,
                    "         where the condition raised {}",
                    short(raised)
                );
            }
        }
    }
    if let Some(unsteady) = &inferred.unsteady {
        let _ = writeln!(remarks, "{}", unsteadiness(unsteady, within));
    }
    for what in &inferred.refused {
        let _ = writeln!(remarks, "refused to calls: {}", short(what));
    }
    remarks
}

/// What a call did that did not do it again.
fn unsteadiness(unsteady: &Unsteady, within: f64) -> String {
    let call = short(&unsteady.call);
    let mut endings: Vec<String> = Vec::new();
    for outcome in &unsteady.outcomes {
        let ending = ended(outcome, within, REMARKED);
        if !endings.contains(&ending) {
            endings.push(ending);
        }
    }
    if unsteady.is_same {
        format!(
            "depends on earlier calls: {call} did it only after other calls; in a new process it {}",
            endings.join("; ")
        )
    } else {
        format!(
            "not deterministic: {call} did not do the same in each new process: {}",
            endings.join("; ")
        )
    }
}

/// What probabilities mean, and how the recorded call compares.
fn explain(remarks: &mut String, explained: &Explained, inferred: &Inferred) {
    let mut from = vec!["the sizes of arguments".to_owned()];
    if explained.recorded > 0 {
        from.push(counted(explained.recorded, "other recorded call"));
    }
    if explained.walks > 0 {
        from.push(format!("{} of the model", counted(explained.walks, "walk")));
    }
    if explained.calls > 1 {
        let _ = writeln!(
            remarks,
            "probabilities: among {} found, by {}",
            counted(explained.calls, "call"),
            from.join(", ")
        );
    }
    if !explained.left_out.is_empty() {
        let _ = writeln!(
            remarks,
            "not compared, because not recorded whole: {}",
            explained.left_out.join(", ")
        );
    }
    if let Some(recorded) = &explained.recorded_call {
        let at = inferred
            .found
            .iter()
            .position(|found| found.call == *recorded);
        let place = match at {
            Some(at) => format!("answer {}", at + 1),
            None => "not among the answers".into(),
        };
        let _ = writeln!(remarks, "recorded: {}, {place}", short(recorded));
    }
}

fn percent(share: f64) -> String {
    match share {
        share if share > 0.995 && share < 1.0 => "more than 99 %".into(),
        share if share < 0.005 => "less than 1 %".into(),
        share => format!("{:.0} %", 100.0 * share),
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How a call ended that had as long as calls have.
pub fn ending(outcome: &Outcome) -> String {
    ended(outcome, CALL_SECONDS, SHOWN)
}

/// How a call ended that had so many seconds; values in so many letters.
fn ended(outcome: &Outcome, within: f64, shown: usize) -> String {
    let short = |text: &str| shortened(text, shown);
    match outcome {
        Outcome::Returned { text, cut, left } => {
            let left = left
                .as_ref()
                .map(|left| format!(" and leaves its arguments as {}", short(left)));
            format!(
                "returns {}{}{}",
                short(text),
                if *cut { "…" } else { "" },
                left.unwrap_or_default()
            )
        }
        Outcome::Raised { class, message, .. } if message.is_empty() => format!("raises {class}"),
        Outcome::Raised { class, message, .. } => {
            format!(
                "raises {class}: {}",
                short(message.lines().next().unwrap_or(""))
            )
        }
        Outcome::TooLong => format!("does not end within {within} s"),
        Outcome::Killed => "ends its process, or takes too much memory".into(),
        Outcome::Unbuildable(why) => format!("has arguments that cannot be built: {}", short(why)),
        Outcome::Refused(what) => format!("is refused {what}"),
    }
}

/// The answer for programs.
pub fn json(function: &str, inferred: &Inferred) -> Json {
    json!({
        "format": 1,
        "function": function,
        "goal": inferred.described,
        "verified": !inferred.found.is_empty(),
        "found": inferred.found.iter().map(|found| json!({
            "call": found.call,
            "outcome": outcome(&found.outcome),
            "other": found.other.as_ref().map(outcome),
            "runs": found.runs,
            "probability": found.probability,
        })).collect::<Vec<_>>(),
        "source": inferred.source,
        "executions": inferred.executions,
        "seconds": inferred.seconds,
        "nearest": inferred.nearest.as_ref().map(|(call, execution)| json!({
            "call": call,
            "outcome": outcome(&execution.outcome),
            "distance": execution.distance,
        })),
        "unsteady": inferred.unsteady.as_ref().map(|unsteady| json!({
            "call": unsteady.call,
            "outcomes": unsteady.outcomes.iter().map(outcome).collect::<Vec<_>>(),
            "depends_on_earlier_calls": unsteady.is_same,
        })),
        "limit": inferred.limit.map(|limit| match limit {
            Limit::Seconds => "seconds",
            Limit::Executions => "executions",
        }),
        "refused": inferred.refused,
        "explained": inferred.explained.as_ref().map(|explained| json!({
            "calls": explained.calls,
            "recorded_calls": explained.recorded,
            "walks": explained.walks,
            "recorded_call": explained.recorded_call,
            "not_compared": explained.left_out,
        })),
    })
}

fn outcome(outcome: &Outcome) -> Json {
    match outcome {
        Outcome::Returned { text, cut, left } => {
            json!({ "returned": text, "cut": cut, "left": left })
        }
        Outcome::Raised {
            class,
            message,
            line,
        } => {
            json!({ "raised": class, "message": message, "line": line })
        }
        Outcome::TooLong => json!({ "ended": "too long" }),
        Outcome::Killed => json!({ "ended": "killed" }),
        Outcome::Unbuildable(why) => json!({ "ended": "arguments cannot be built", "why": why }),
        Outcome::Refused(what) => json!({ "ended": "refused", "what": what }),
    }
}
