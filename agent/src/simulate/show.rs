//! A predicted run as text and as JSON.

use std::fmt::Write as _;

use ndbg_simulator::EventKind;
use ndbg_simulator::harness::{Ended, Event, Program, Run};
use serde::Serialize;

/// Columns of a line.
const WIDTH: usize = 79;
/// Widest value.
const VALUE: usize = 64;

/// What a state is shown with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// The model said so.
    Predicted,
    /// It was computed, not predicted: the oracle's.
    Performed,
    /// The model said so and a real run agrees.
    Verified,
}

impl Shown {
    fn word(self) -> &'static str {
        match self {
            Self::Predicted => "predicted",
            Self::Performed => "performed",
            Self::Verified => "verified",
        }
    }
}

/// Text without control characters, cut at its end.
pub(super) fn short(text: &str, width: usize) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { '·' } else { c })
        .collect();
    if clean.chars().count() <= width {
        return clean;
    }
    clean
        .chars()
        .take(width.saturating_sub(1))
        .chain(['…'])
        .collect()
}

/// How sure, never rounded up to certainty.
pub fn confidence(log_probability: f64) -> String {
    let sure = log_probability.exp();
    if log_probability < 0.0 && sure >= 0.995 {
        ">.99".into()
    } else {
        format!("{sure:.2}")
    }
}

/// A state: its line, how sure it is, and what is new in it.
pub fn text(program: &Program, run: &Run, at: usize, whole: bool, shown: Shown) -> String {
    let event = &run.events[at];
    let depth = depth(run, event);
    let right = format!("{} {}", shown.word(), confidence(event.log_probability));
    let source = format!(
        "{}{}",
        "  ".repeat(depth.min(8)),
        program.line_text(event.line)
    );
    let room = WIDTH - 6 - right.chars().count() - 1;
    let mut out = format!(
        "{:>4}  {:<room$} {right}\n",
        event.line,
        short(&source, room)
    );
    let before = (0..at)
        .rev()
        .map(|at| &run.events[at])
        .find(|before| before.activation == event.activation);
    for (name, value) in &event.locals {
        let old = before.and_then(|before| before.locals.iter().find(|(held, _)| held == name));
        if whole || old.is_none_or(|(_, old)| old != value) {
            let _ = writeln!(out, "        {name} = {}", short(value, VALUE));
        }
    }
    if let Some(before) = before {
        for (name, _) in &before.locals {
            if !event.locals.iter().any(|(held, _)| held == name) {
                let _ = writeln!(out, "        {name} is not bound any more");
            }
        }
    }
    if let Some(value) = &event.value {
        let mark = match event.kind {
            EventKind::Exception => "raises",
            _ => "->",
        };
        let _ = writeln!(out, "        {mark} {}", short(value, VALUE));
    }
    out
}

fn depth(run: &Run, event: &Event) -> usize {
    let mut depth = 0;
    let mut caller = event.caller;
    while let Some(number) = caller {
        depth += 1;
        caller = run
            .events
            .iter()
            .find(|other| other.activation == number)
            .and_then(|other| other.caller);
    }
    depth
}

/// A state as JSON.
#[derive(Debug, Serialize)]
struct JsonState<'r> {
    state: usize,
    event: EventKind,
    function: &'r str,
    activation: usize,
    line: u32,
    source: &'r str,
    locals: serde_json::Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'r str>,
    provenance: Shown,
    confidence: f64,
}

/// A state as a line of JSON.
pub fn json(program: &Program, run: &Run, at: usize, shown: Shown) -> String {
    let event = &run.events[at];
    let state = JsonState {
        state: at,
        event: event.kind,
        function: &event.function,
        activation: event.activation,
        line: event.line,
        source: program.line_text(event.line),
        locals: event
            .locals
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect(),
        value: event.value.as_deref(),
        provenance: shown,
        confidence: event.log_probability.exp(),
    };
    serde_json::to_string(&state).unwrap_or_default()
}

/// How the run ended, in a line.
pub fn ending(run: &Run) -> String {
    let sure = confidence(run.log_probability);
    match &run.ended {
        Ended::Returned(value) if value == "?" => "returns ?".into(),
        // A probability beside what is unknown would read as certainty about all of it.
        Ended::Returned(value) if !crate::simulate::is_known(value) => {
            format!("returns {} ({sure} for what is known)", short(value, VALUE))
        }
        Ended::Returned(value) => format!("returns {} ({sure})", short(value, VALUE)),
        Ended::Raised(kind, message) if message.is_empty() => format!("raises {kind} ({sure})"),
        Ended::Raised(kind, message) => {
            format!("raises {kind}: {} ({sure})", short(message, VALUE - 10))
        }
        Ended::Unknown(why) => format!("unknown from here: {why}"),
        Ended::Limit(which) => format!("stopped at the limit of {which}"),
    }
}

/// Whether a text has no `?` outside of its quotes.
pub fn is_known(text: &str) -> bool {
    let mut quote = None;
    let mut escaped = false;
    for letter in text.chars() {
        match quote {
            _ if escaped => escaped = false,
            Some(_) if letter == '\\' => escaped = true,
            Some(open) if letter == open => quote = None,
            None if letter == '?' => return false,
            None if letter == '\'' || letter == '"' => quote = Some(letter),
            _ => {}
        }
    }
    true
}

/// How the run ended, as a line of JSON.
pub fn json_ending(run: &Run, checked: Option<&super::Checked>) -> String {
    let (ended, value) = match &run.ended {
        Ended::Returned(value) => ("returned", value.clone()),
        Ended::Raised(kind, message) => ("raised", format!("{kind}: {message}")),
        Ended::Unknown(why) => ("unknown", why.clone()),
        Ended::Limit(which) => ("limit", (*which).to_owned()),
    };
    let mut object = serde_json::json!({
        "ended": ended, "value": value, "confidence": run.log_probability.exp(),
        "states": run.events.len(),
    });
    if let Some(checked) = checked {
        object["check"] = serde_json::json!({
            "agree": checked.agree, "real_states": checked.real, "real_ending": checked.ending,
            "agrees": checked.agrees(),
        });
    }
    object.to_string()
}
