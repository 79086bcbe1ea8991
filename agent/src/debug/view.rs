//! What the debugger shows: plain text that reads well at 80 columns.

use std::fmt::Write as _;

use ndbg_simulator::EventKind;
use ndbg_simulator::recording::{ActivationId, Entry, EventId, Leave, Recording, TextId};

use super::movement;
use super::names::kind_name;

/// Widest value on a line; `p NAME` shows all of it.
const VALUE: usize = 60;
/// Variables shown for one event.
const VARIABLES: usize = 12;

/// Text without control characters, cut in the middle when it is too long.
pub fn short(text: &str, width: usize) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { '·' } else { c })
        .collect();
    let length = clean.chars().count();
    if length <= width {
        return clean;
    }
    let head = width * 2 / 3;
    let tail = width.saturating_sub(head + 1);
    let first: String = clean.chars().take(head).collect();
    let last: String = clean.chars().skip(length - tail).collect();
    format!("{first}…{last}")
}

/// Name of a function and its place.
pub fn place(run: &Recording, id: EventId) -> String {
    let event = run.event(id);
    format!(
        "{} ({}:{})",
        run.function(event.activation),
        run.file_of(id).name,
        event.line
    )
}

/// How an event is called in a line: `call`, `return`, `yield`, …
fn title(run: &Recording, id: EventId) -> String {
    let event = run.event(id);
    match event.kind {
        EventKind::Call if run.activation_of(id).entry == Entry::Resume => "resume".into(),
        EventKind::Return => match event.leave {
            Some(Leave::Yield) => "yield".into(),
            Some(Leave::Unwind) => "unwinding".into(),
            Some(Leave::Close) => "closed".into(),
            _ => "return".into(),
        },
        kind => kind_name(kind).into(),
    }
}

/// A stop: where it is, its line, and what is new.
pub fn stop(run: &Recording, id: EventId) -> String {
    let event = run.event(id);
    let task = if run.tasks().len() > 1 {
        format!(" [{}]", run.tasks()[run.activation_of(id).task.index()])
    } else {
        String::new()
    };
    let mut text = format!(
        "{} of {}  {} in {}{task}\n-> {}\n",
        id.0,
        run.len(),
        title(run, id),
        place(run, id),
        short(run.source_line(id), 76),
    );
    if let Some(kind) = event.exception {
        let value = event.value.map_or("", |value| run.text(value));
        let _ = writeln!(text, "   {}: {}", run.text(kind), short(value, VALUE));
    } else if movement::unwinds(run, id) {
        text += "   an exception leaves the function\n";
    } else if let Some(value) = event.value {
        let _ = writeln!(text, "   value: {}", short(run.text(value), VALUE));
    }
    let previous = run
        .previous_in_frame(id)
        .map(|previous| run.locals(previous));
    let mut shown = 0;
    for change in event.changes {
        let name = run.text(change.name);
        let before = previous
            .as_ref()
            .and_then(|locals| locals.get(run, name))
            .and_then(|held| held.value);
        if before.is_some() && before == change.value {
            continue;
        }
        shown += 1;
        if shown > VARIABLES {
            text += "   …\n";
            break;
        }
        let _ = writeln!(
            text,
            "   {}",
            binding(run, name, change.value, change.serial, before)
        );
    }
    text
}

/// `name = value`, with the value before when there was one.
pub fn binding(
    run: &Recording,
    name: &str,
    value: Option<TextId>,
    serial: u32,
    before: Option<TextId>,
) -> String {
    let Some(value) = value else {
        return format!("{name} is not bound any more");
    };
    let object = if serial == 0 {
        String::new()
    } else {
        format!("  #{serial}")
    };
    let was = match before {
        Some(before) => format!("  (was {})", short(run.text(before), VALUE / 3)),
        None => String::new(),
    };
    format!("{name} = {}{object}{was}", short(run.text(value), VALUE))
}

/// The stack, outermost first, `>` at the selected frame.
pub fn stack(run: &Recording, at: EventId, selected: usize) -> String {
    let frames = movement::stack(run, at);
    let mut text = String::new();
    for (level, &id) in frames.iter().enumerate().rev() {
        let mark = if level == selected { '>' } else { ' ' };
        let _ = write!(
            text,
            "{mark} {}\n    {}\n",
            place(run, id),
            short(run.source_line(id).trim(), 72)
        );
    }
    text
}

/// Lines around the event's, `->` at it.
pub fn source(run: &Recording, id: EventId) -> String {
    let file = run.file_of(id);
    if file.text.is_none() {
        return format!("the source of `{}` was not recorded\n", file.name);
    }
    let line = run.event(id).line;
    let mut text = String::new();
    for number in line.saturating_sub(5).max(1)..=line + 5 {
        let source = file.line(number);
        if source.is_empty()
            && number > line
            && (number..=line + 5).all(|n| file.line(n).is_empty())
        {
            break;
        }
        let mark = if number == line { "->" } else { "  " };
        text += format!("{number:>5} {mark} {}", short(source, 70)).trim_end();
        text.push('\n');
    }
    text
}

/// Type of the exception that an activation last saw.
pub fn raised(run: &Recording, id: ActivationId) -> Option<&str> {
    let last = run.activation(id).last;
    std::iter::successors(Some(last), |&at| run.previous_in_activation(at))
        .find_map(|at| run.event(at).exception)
        .map(|kind| run.text(kind))
}

/// One line for a call: number of its first event, function, arguments, result.
pub fn call_line(run: &Recording, id: ActivationId, level: usize) -> String {
    let activation = run.activation(id);
    let first = run.event(activation.first);
    let arguments: Vec<String> = first
        .changes
        .iter()
        .map(|change| {
            let value = change.value.map_or("", |value| run.text(value));
            format!("{}={}", run.text(change.name), short(value, 16))
        })
        .collect();
    let last = run.event(activation.last);
    let result = match (last.kind, last.leave, last.value) {
        (EventKind::Return, Some(Leave::Unwind), _) => match raised(run, id) {
            Some(kind) => format!("raises {kind}"),
            None => "is left by an exception".into(),
        },
        (EventKind::Return, Some(Leave::Yield), Some(value)) => {
            format!("yields {}", short(run.text(value), 24))
        }
        (EventKind::Return, _, Some(value)) => short(run.text(value), 24),
        _ => "never returns".into(),
    };
    let resumed = if activation.entry == Entry::Resume {
        "… "
    } else {
        ""
    };
    // Indentation stops where little of a line would be left.
    let indent = "  ".repeat(level.min(12));
    let head = format!(
        "{:>7}  {indent}{resumed}{}",
        activation.first.0,
        run.function(id)
    );
    // A line of 79 columns; where names alone fill it, it gets longer.
    let used = head.chars().count() + result.chars().count() + "() -> ".len();
    let arguments = short(&arguments.join(", "), 79_usize.saturating_sub(used).max(12));
    format!("{head}({arguments}) -> {result}")
}
