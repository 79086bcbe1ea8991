//! The real run beside a predicted one: up to where they agree.

use std::fmt::Write as _;

use camino::Utf8Path;
use ndbg_simulator::EventKind;
use ndbg_simulator::harness::{Ended, Event, Program, Run};
use ndbg_simulator::literal::{self, Literal};
use ndbg_simulator::recording::{EventId, ExitKind, Recording};
use ndbg_tools::Cancel;

use super::show::short;
use crate::dataset::{Program as Recorded, Runner};
use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;

/// Seconds that the real program may take.
const DEADLINE: f64 = 10.0;
const ENTRY: &str = "__ndbg_call__";

/// What came out of running the real program.
#[derive(Debug)]
pub struct Checked {
    /// States from the start that are the same.
    pub agree: usize,
    /// States of the real run.
    pub real: usize,
    /// States of the prediction.
    predicted: usize,
    /// Whether the prediction came to an end of its own.
    whole: bool,
    /// How the real run ended.
    pub ending: String,
    /// The first state that differs.
    pub parted: Option<Parted>,
}

/// Where the runs part.
#[derive(Debug)]
pub struct Parted {
    /// Number of the predicted state.
    pub at: usize,
    /// What really happened there.
    pub text: String,
}

impl Checked {
    /// Whether all of the prediction is what happened.
    pub fn agrees(&self) -> bool {
        self.whole
            && self.parted.is_none()
            && self.agree == self.real
            && self.agree == self.predicted
    }

    /// In a line or two.
    pub fn summary(&self) -> String {
        let mut text = format!("really {}\n", short(&self.ending, 70));
        if self.agrees() {
            let _ = writeln!(
                text,
                "the prediction is what happened, in all {} states",
                self.real
            );
        } else {
            let _ = writeln!(
                text,
                "the first {} of {} real states were predicted",
                self.agree, self.real
            );
        }
        text
    }
}

/// Runs the call for real and compares.
pub fn check(
    program: &Program,
    call: &str,
    run: &Run,
    python: Option<&Utf8Path>,
    cancel: &Cancel,
) -> Result<Checked, Stop> {
    let reality = Reality::open(python, cancel)?;
    let runner = Runner {
        deadline: DEADLINE,
        ..reality.runner.clone()
    };
    let source = program.source();
    let end = if source.ends_with('\n') { "" } else { "\n" };
    let real = Recorded {
        id: "check".into(),
        source: format!("{source}{end}\n\ndef {ENTRY}():\n    return {call}\n"),
        entry: ENTRY.into(),
        max_events: 200_000,
    };
    let recorded = runner
        .record(std::slice::from_ref(&real))
        .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
    let Some(recording) = recorded.recordings.first() else {
        return Err(Stop::new(Outcome::Environment, "nothing was recorded"));
    };
    Ok(compare(program, run, recording))
}

/// Compares state by state.
pub fn compare(program: &Program, run: &Run, recording: &Recording) -> Checked {
    let states = real_states(program, recording);
    let agree = run
        .events
        .iter()
        .zip(&states)
        .take_while(|(event, id)| same(event, recording, **id))
        .count();
    let parted = (agree < run.events.len()).then(|| Parted {
        at: agree,
        text: match states.get(agree) {
            Some(&id) => difference(&run.events[agree], recording, id),
            None => "        really: the run has ended before\n".into(),
        },
    });
    Checked {
        agree,
        real: states.len(),
        predicted: run.events.len(),
        whole: matches!(run.ended, Ended::Returned(_) | Ended::Raised(..)),
        ending: ending(recording),
        parted,
    }
}

/// The states that the harness has, too: without our own call, the bodies of comprehensions, lambdas
/// and classes, and the further lines of one statement.
fn real_states(program: &Program, recording: &Recording) -> Vec<EventId> {
    let mut last_line: Vec<u32> = Vec::new();
    let mut states = Vec::new();
    for number in 0..recording.len() {
        let Some(id) = recording.find_event(number) else {
            break;
        };
        let event = recording.event(id);
        let function = recording.function(event.activation);
        let own = function.rsplit('.').next().unwrap_or(function);
        if function == ENTRY || own.starts_with('<') {
            continue;
        }
        let index = event.activation.index();
        last_line.resize(last_line.len().max(index + 1), 0);
        if event.kind == EventKind::Line {
            let start = program.statement_line(event.line);
            let continued = start != event.line;
            // Back on the first line of a statement that spans several.
            let back = std::mem::replace(&mut last_line[index], event.line) != event.line
                && program.spans_lines(start)
                && states.last().is_some_and(|&last| {
                    let before = recording.event(last);
                    before.activation == event.activation
                        && before.kind == EventKind::Line
                        && before.line == start
                        && !continued
                });
            if continued || back {
                continue;
            }
        }
        states.push(id);
    }
    states
}

fn same(event: &Event, recording: &Recording, id: EventId) -> bool {
    let real = recording.event(id);
    if real.kind != event.kind || event.line != real.line && event.kind != EventKind::Return {
        return false;
    }
    let locals = recording.locals(id);
    let mut count = 0;
    for held in &locals {
        let Some(value) = held.value else { continue };
        count += 1;
        let name = recording.text(held.name);
        let Some((_, predicted)) = event.locals.iter().find(|(own, _)| own == name) else {
            return false;
        };
        if !same_text(predicted, recording.text(value)) {
            return false;
        }
    }
    if count != event.locals.len() {
        return false;
    }
    match (event.kind, &event.value, real.value) {
        (EventKind::Return, Some(value), Some(id)) => same_text(value, recording.text(id)),
        _ => true,
    }
}

/// Whether two texts are one value: as literals where both are, else as texts; what cannot be written
/// as a literal is not told apart.
fn same_text(predicted: &str, real: &str) -> bool {
    if predicted == real {
        return true;
    }
    match (literal::parse(predicted), literal::parse(real)) {
        (Ok(a), Ok(b)) => same_literal(&a, &b),
        (Err(_), Err(_)) => masked(predicted) == masked(real),
        _ => false,
    }
}

/// A text in which functions, classes and what else has no literal are not told apart, nor exceptions of one
/// class; all else is compared.
fn masked(text: &str) -> String {
    const NAMELESS: &[&str] = &[
        "function",
        "builtin",
        "built-in",
        "class",
        "bound",
        "method",
        "module",
        "generator",
        "iterator",
        "super",
        "type",
        "lambda",
    ];
    let mut out = String::new();
    let mut quote: Option<char> = None;
    let mut rest = text.char_indices();
    // `ValueError: bad` and `<ValueError args=('bad',)>` are one value in two ways.
    let head: String = text
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    let after = &text[head.len()..];
    if (after.starts_with(": ") || after == "()") && head.starts_with(char::is_uppercase) {
        return format!("<{head}>");
    }
    while let Some((at, letter)) = rest.next() {
        match (quote, letter) {
            (Some(_), '\\') => {
                out.push(letter);
                out.extend(rest.next().map(|(_, next)| next));
                continue;
            }
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, '<') => {
                let inner = &text[at + 1..];
                let word: String = inner
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || "_-.".contains(*c))
                    .collect();
                let exception = inner[word.len()..].starts_with(" args=");
                if exception || NAMELESS.contains(&word.as_str()) {
                    let mut depth = 1;
                    for (_, next) in rest.by_ref() {
                        depth += i32::from(next == '<') - i32::from(next == '>');
                        if depth == 0 {
                            break;
                        }
                    }
                    out.push('<');
                    if exception {
                        out.push_str(&word);
                    }
                    out.push('>');
                    continue;
                }
            }
            _ => {}
        }
        out.push(letter);
    }
    out
}

/// Equal, and of the same types all through: `1` is not `True`.
fn same_literal(a: &Literal, b: &Literal) -> bool {
    a.type_name() == b.type_name() && a.equals(b)
}

fn difference(event: &Event, recording: &Recording, id: EventId) -> String {
    let real = recording.event(id);
    let mut text = String::new();
    if real.kind != event.kind || real.line != event.line {
        let _ = writeln!(
            text,
            "        really: line {} ({})",
            real.line,
            short(recording.source_line(id).trim(), 50)
        );
    }
    for held in &recording.locals(id) {
        let name = recording.text(held.name);
        let value = held.value.map_or("", |value| recording.text(value));
        let predicted = event.locals.iter().find(|(own, _)| own == name);
        if predicted.is_none_or(|(_, predicted)| !same_text(predicted, value)) {
            let _ = writeln!(text, "        really: {name} = {}", short(value, 60));
        }
    }
    if let (Some(value), EventKind::Return) = (real.value, real.kind) {
        let value = recording.text(value);
        if event
            .value
            .as_deref()
            .is_none_or(|own| !same_text(own, value))
        {
            let _ = writeln!(text, "        really: -> {}", short(value, 60));
        }
    }
    if text.is_empty() {
        text.push_str("        really: other variables are bound\n");
    }
    text
}

fn ending(recording: &Recording) -> String {
    let exit = recording
        .boundaries()
        .first()
        .and_then(|boundary| boundary.exit);
    let last = (0..recording.len())
        .rev()
        .filter_map(|number| recording.find_event(number))
        .find(|&id| recording.function(recording.event(id).activation) == ENTRY);
    match (exit, last) {
        (Some(ExitKind::Normal), Some(id)) => {
            let value = recording.event(id).value;
            format!(
                "returns {}",
                value.map_or("nothing", |value| recording.text(value))
            )
        }
        (Some(ExitKind::Error), _) => {
            let raised = (0..recording.len())
                .rev()
                .filter_map(|number| recording.find_event(number))
                .map(|id| recording.event(id))
                .find(|event| event.exception.is_some());
            match raised {
                Some(event) => format!(
                    "raises {}: {}",
                    event.exception.map_or("", |kind| recording.text(kind)),
                    event.value.map_or("", |value| recording.text(value))
                ),
                None => "raises".into(),
            }
        }
        (Some(ExitKind::Never), _) => "does not end".into(),
        _ => "ended in an unknown way".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_something_opaque_is_compared() {
        assert!(same_text("(3, <class len>)", "(3, <builtin len>)"));
        assert!(!same_text("(4, <class len>)", "(3, <builtin len>)"));
        assert!(same_text("<P x=1 y='<'>", "<P x=1 y='<'>"));
        assert!(!same_text("<P x=1 y=2>", "<P x=1 y=3>"));
        assert!(!same_text("['a', ?]", "['a', <builtin len>]"));
        assert!(same_text(
            "ValueError: bad 0",
            "<ValueError args=('bad 0',)>"
        ));
        assert!(!same_text(
            "ValueError: bad 0",
            "<KeyError args=('bad 0',)>"
        ));
        assert!(same_text("<function f>", "<function m.f>"));
        assert!(same_text(
            "{'f': <function <lambda>>, 'n': 1}",
            "{'f': <function m.<lambda>>, 'n': 1}"
        ));
        assert!(!same_text(
            "{'f': <function f>, 'n': 1}",
            "{'f': <function f>, 'n': 2}"
        ));
    }
}
