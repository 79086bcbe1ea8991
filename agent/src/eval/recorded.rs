//! Whether the harness with a real interpreter does what Python does: event by event against a
//! recording.

use std::collections::HashMap;

use ndbg_simulator::EventKind;
use ndbg_simulator::harness::{Ended, Event};
use ndbg_simulator::literal::{self, Literal};
use ndbg_simulator::recording::{EventId, Recording};

use super::programs::Source;
use super::truth::{Truth, limits};
use crate::dataset::{Program, Runner};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Programs that are recorded in one go.
const AT_ONCE: usize = 100;

/// How a run of the harness compares with the recording of the same program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// Every event is the same.
    Same,
    /// The harness stops at what it does not simulate.
    Unsupported(String),
    /// What depends on the order of a set, which no text of a value tells.
    SetOrder,
    /// At a limit of events or time, on either side.
    Limit,
    /// Something else: what, and where.
    Other(String),
}

impl Agreement {
    /// A word for counting.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Unsupported(_) => "not simulated",
            Self::SetOrder => "order of a set",
            Self::Limit => "a limit",
            Self::Other(_) => "other",
        }
    }
}

/// Records programs and compares. `runs` are their harness runs, in the same order.
///
/// # Errors
/// Python does not run, or an interruption.
pub fn compared(
    sources: &[&Source],
    runs: &[&Truth],
    runner: &Runner,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Agreement>, Stop> {
    let mut found = Vec::with_capacity(sources.len());
    for (sources, runs) in sources.chunks(AT_ONCE).zip(runs.chunks(AT_ONCE)) {
        if runner.cancel.is_set() {
            return Err(Stop::interrupted());
        }
        let programs: Vec<Program> = sources
            .iter()
            .enumerate()
            .map(|(at, source)| Program {
                id: format!("p{at}"),
                source: source.code.clone(),
                entry: source.call.trim_end_matches("()").to_owned(),
                max_events: limits().events as u64,
            })
            .collect();
        let recorded = runner.record(&programs).map_err(|error| {
            if runner.cancel.is_set() {
                Stop::interrupted()
            } else {
                Stop::new(Outcome::Environment, error.to_string())
            }
        })?;
        let mut real: HashMap<&str, (&Recording, Vec<EventId>)> = HashMap::new();
        for recording in &recorded.recordings {
            let ends = recording.boundaries().iter().skip(1).map(|next| next.at.0);
            let ends = ends.chain([recording.len() as u32]);
            for (boundary, end) in recording.boundaries().iter().zip(ends) {
                let events = (boundary.at.0..end).map(EventId).collect();
                real.insert(&boundary.name, (recording, events));
            }
        }
        for (program, run) in programs.iter().zip(runs) {
            found.push(match real.get(program.id.as_str()) {
                Some((recording, events)) => agreement(run, recording, events),
                None => Agreement::Limit,
            });
        }
        progress(found.len(), found.len());
    }
    Ok(found)
}

fn agreement(truth: &Truth, recording: &Recording, events: &[EventId]) -> Agreement {
    let run = &truth.run;
    match &run.ended {
        Ended::Unknown(why) if why.contains("order of a set") => return Agreement::SetOrder,
        Ended::Unknown(why) => return Agreement::Unsupported(why.clone()),
        Ended::Limit(_) => return Agreement::Limit,
        Ended::Returned(_) | Ended::Raised(..) => {}
    }
    // Comprehensions and lambdas have frames in some versions of Python; the harness shows none.
    let shown = events.iter().filter(|&&event| {
        let code = recording.code_of(event);
        !recording.text(code.qualname).ends_with('>')
    });
    let shown: Vec<EventId> = shown.copied().collect();
    if shown.len() >= limits().events {
        return Agreement::Limit;
    }
    for (at, &event) in shown.iter().enumerate() {
        let Some(ours) = run.events.get(at) else {
            return Agreement::Other(format!(
                "{} states instead of {}",
                run.events.len(),
                shown.len()
            ));
        };
        if let Some(problem) = difference(ours, recording, event) {
            return if problem.order {
                Agreement::SetOrder
            } else {
                Agreement::Other(format!("state {at}, line {}: {}", ours.line, problem.what))
            };
        }
    }
    if run.events.len() > shown.len() {
        return Agreement::Other(format!(
            "{} states instead of {}",
            run.events.len(),
            shown.len()
        ));
    }
    Agreement::Same
}

struct Problem {
    what: String,
    /// Whether the same characters stand there in another order, where a set may be behind it.
    order: bool,
}

fn difference(ours: &Event, recording: &Recording, event: EventId) -> Option<Problem> {
    let plain = |what: String| Some(Problem { what, order: false });
    let real = recording.event(event);
    if ours.kind != real.kind {
        return plain(format!("a {:?}, really a {:?}", ours.kind, real.kind));
    }
    if ours.line != real.line {
        return plain(format!("really line {}", real.line));
    }
    let locals = recording.locals(event);
    let mut names = 0;
    for bound in &locals {
        let Some(value) = bound.value else { continue };
        let name = recording.text(bound.name);
        names += 1;
        let held = ours.locals.iter().find(|(held, _)| held == name);
        let Some((_, held)) = held else {
            return plain(format!("`{name}` is not bound"));
        };
        if let Some(order) = differs(held, recording.text(value)) {
            let what = format!("`{name}` is {held}, really {}", recording.text(value));
            return Some(Problem { what, order });
        }
    }
    if names < ours.locals.len() {
        return plain("a variable is bound that really is not".into());
    }
    if real.kind == EventKind::Return
        && let (Some(held), Some(value)) = (&ours.value, real.value)
        && let Some(order) = differs(held, recording.text(value))
    {
        let what = format!("returns {held}, really {}", recording.text(value));
        return Some(Problem { what, order });
    }
    if real.kind == EventKind::Exception
        && let (Some(held), Some(kind)) = (&ours.value, real.exception)
    {
        let kind = recording.text(kind);
        let own = held.split([':', '(']).next().unwrap_or(held);
        let really = kind.rsplit('.').next().unwrap_or(kind);
        if own != really {
            return plain(format!("raises {held}, really {kind}"));
        }
    }
    None
}

/// Whether two texts are different values, and then whether they differ in an order alone. What is no
/// literal is not compared.
fn differs(ours: &str, real: &str) -> Option<bool> {
    let (Ok(one), Ok(other)) = (literal::parse(ours), literal::parse(real)) else {
        return None;
    };
    if same(&one, &other) {
        return None;
    }
    let sorted = |text: &str| {
        let mut characters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        characters.sort_unstable();
        characters
    };
    Some(sorted(ours) == sorted(real))
}

/// Equal as Python says, but that NaN is NaN here.
fn same(one: &Literal, other: &Literal) -> bool {
    one.equals(other) || one.to_string() == other.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_in_their_order_alone_are_told_apart() {
        assert_eq!(differs("{1, 2}", "{2, 1}"), None);
        assert_eq!(differs("['a', 'b']", "['b', 'a']"), Some(true));
        assert_eq!(differs("[1]", "[2]"), Some(false));
        assert_eq!(differs("nan", "nan"), None);
        assert_eq!(differs("<f>", "<function f>"), None);
    }
}
