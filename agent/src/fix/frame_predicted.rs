//! What a model predicts for the lines of a frame: each is a function of its own, called with the recorded values.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use ndbg_simulator::EventKind;
use ndbg_simulator::harness::{self, Ended, Limits, Program, Run};
use ndbg_simulator::literal;
use ndbg_simulator::model::Sampling;
use ndbg_simulator::recording::{EventId, File, Locals, Recording};

use super::frame_table::{FrameTable, Held};
use crate::eval::{Foreseen, Predictor};

/// Rows that are predicted, and the time that this may take.
const ROWS: usize = 40;
const TIME: Duration = Duration::from_secs(2);
/// Lines that one statement may have.
const LINES: u32 = 12;
/// How far one prediction goes, and how sure each answer has to be.
const LIMITS: Limits = Limits {
    events: 100,
    operations: 100,
    depth: 20,
    threshold: 0.5,
};
/// The function that is made of a statement.
const STEP: &str = "__ndbg_step__";

/// Fills in the predictions of a table, those nearest to the divergence first; `events` are its rows.
pub fn predict(
    recording: &Recording,
    events: &[EventId],
    table: &mut FrameTable,
    predictor: &dyn Predictor,
) {
    let until = Instant::now() + TIME;
    let model = Foreseen::new(predictor, Sampling::Greedy);
    // Up to the divergence, then on from there.
    let order = (0..=table.diverges_at)
        .rev()
        .chain(table.diverges_at + 1..events.len());
    for row in order.take(ROWS) {
        if Instant::now() > until {
            break;
        }
        let Some(found) = predicted(recording, events[row], &model) else {
            continue;
        };
        let step = &mut table.steps[row];
        (step.predicted, step.confidence) = (found.0, Some(found.1));
    }
    table.predicted_by = Some(predictor.name());
}

/// What the statement at a state does, and how sure that is.
fn predicted(recording: &Recording, id: EventId, model: &Foreseen<'_>) -> Option<(Vec<Held>, f64)> {
    if recording.kind(id) != EventKind::Line {
        return None;
    }
    let file = recording.file_of(id);
    let line = recording.event(id).line;
    let locals = recording.locals(id);
    let (statement, is_condition) = statement(file, line)?;
    let arguments = arguments(recording, &locals, &statement)?;
    let function = function(&statement, &arguments, is_condition);
    let values: Vec<&str> = arguments.iter().map(|(_, value)| value.as_str()).collect();
    let call = format!("{STEP}({})", values.join(", "));
    // Most statements need nothing of their module, and that takes time.
    ran(&function, &call, model, is_condition, &arguments).or_else(|| {
        let module = file.text.as_deref()?;
        let whole = format!("{module}\n\n\n{function}");
        ran(&whole, &call, model, is_condition, &arguments)
    })
}

/// The statement that begins at a line, at no indentation, and whether it is the head of a condition.
fn statement(file: &File, line: u32) -> Option<(String, bool)> {
    let first = file.line(line);
    let indent = first.len() - first.trim_start().len();
    let mut text = first.trim().to_owned();
    // Where control goes is no effect of these, and what a generator is sent is not known.
    let word = text.split(|c: char| !c.is_alphanumeric()).next()?;
    let others = [
        "for", "with", "try", "def", "class", "break", "continue", "pass", "async",
    ];
    if others.contains(&word) || text.contains("yield") || text.contains("await") {
        return None;
    }
    let is_condition = ["if", "elif", "while"].contains(&word);
    if is_condition {
        text = format!("if{}", &text[word.len()..]);
    }
    for further in 1..=LINES {
        let whole = if is_condition {
            format!("{text}\n    pass\n")
        } else {
            format!("{text}\n")
        };
        if Program::parse(&whole, "0").is_ok() {
            return Some((text, is_condition));
        }
        let next = file.line(line + further);
        // Inside brackets, indentation means nothing; inside text it does.
        text.push('\n');
        text.push_str(next.get(indent..).unwrap_or_else(|| next.trim_start()));
    }
    None
}

/// The locals that a statement mentions; none where one of them cannot be written down.
fn arguments(
    recording: &Recording,
    locals: &Locals,
    statement: &str,
) -> Option<Vec<(String, String)>> {
    let words: HashSet<&str> = statement
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .collect();
    let mut found = Vec::new();
    for change in locals {
        let name = recording.text(change.name);
        if !words.contains(name) {
            continue;
        }
        let value = change.value?;
        if recording.is_lossy(value) {
            return None;
        }
        let value = literal::parse(recording.text(value)).ok()?;
        found.push((name.to_owned(), value.to_string()));
    }
    Some(found)
}

/// A function that does what the statement does.
fn function(statement: &str, arguments: &[(String, String)], is_condition: bool) -> String {
    let names: Vec<&str> = arguments.iter().map(|(name, _)| name.as_str()).collect();
    let mut text = format!("def {STEP}({}):\n", names.join(", "));
    for line in statement.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text += if is_condition {
        "        return True\n    return False\n"
    } else {
        // The state at this line shows what the statement has left behind.
        "    pass\n"
    };
    text
}

/// Predicts the call, and reads what it did.
fn ran(
    source: &str,
    call: &str,
    model: &Foreseen<'_>,
    is_condition: bool,
    arguments: &[(String, String)],
) -> Option<(Vec<Held>, f64)> {
    let program = Program::parse(source, call).ok()?;
    let run = harness::run(&program, model, LIMITS);
    let held = did(&run, is_condition, arguments)?;
    let first = run.events.first().map_or(0.0, |call| call.log_probability);
    let confidence = (run.log_probability - first).exp();
    Some((held, (confidence * 1000.0).round() / 1000.0))
}

fn did(run: &Run, is_condition: bool, arguments: &[(String, String)]) -> Option<Vec<Held>> {
    let own = |event: &&harness::Event| event.function == STEP;
    let value = match &run.ended {
        Ended::Returned(value) => value,
        // A name that the function alone does not know says nothing.
        Ended::Raised(kind, _) if kind == "NameError" => return None,
        Ended::Raised(kind, text) if run.events.iter().any(|event| own(&event)) => {
            return Some(vec![Held::new("raise", &format!("{kind}: {text}"))]);
        }
        _ => return None,
    };
    if is_condition {
        return crate::simulate::is_known(value).then(|| vec![Held::new("if", value)]);
    }
    let last = run
        .events
        .iter()
        .filter(own)
        .rfind(|event| event.kind == EventKind::Line)?;
    // The first line is the statement's: one that returns does not come to the next.
    let lines = run.events.iter().filter(own);
    if lines.filter(|event| event.kind == EventKind::Line).count() < 2 {
        return crate::simulate::is_known(value).then(|| vec![Held::new("return", value)]);
    }
    let changed = last.locals.iter().filter(|(name, value)| {
        let before = arguments.iter().find(|(known, _)| known == name);
        before.is_none_or(|(_, before)| before != value)
    });
    let held: Vec<Held> = changed
        .map(|(name, value)| Held::new(name, value))
        .collect();
    let is_known = held.iter().all(|one| crate::simulate::is_known(&one.value));
    is_known.then_some(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, line: u32) -> Option<(String, bool)> {
        statement(&File::new("f.py".into(), Some(source.to_owned())), line)
    }

    #[test]
    fn statements_are_read_whole_and_conditions_by_their_head() {
        let source = "def f(a):\n    b = (a +\n         1)\n    if a > b:  # why\n        for x in a:\n            pass\n    elif b:\n        pass\n";
        assert_eq!(check(source, 2), Some(("b = (a +\n     1)".into(), false)));
        assert_eq!(check(source, 4), Some(("if a > b:  # why".into(), true)));
        assert_eq!(check(source, 7), Some(("if b:".into(), true)));
        assert_eq!(check(source, 5), None);
    }

    #[test]
    fn a_statement_becomes_a_function_of_what_it_mentions() {
        let arguments = [("a".to_owned(), "1".to_owned())];
        assert_eq!(
            function("if a > 2:", &arguments, true),
            "def __ndbg_step__(a):\n    if a > 2:\n        return True\n    return False\n"
        );
        assert_eq!(
            function("a += 1", &arguments, false),
            "def __ndbg_step__(a):\n    a += 1\n    pass\n"
        );
    }
}
