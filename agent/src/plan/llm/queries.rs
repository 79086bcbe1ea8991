//! Questions that a model may ask after a failed round: about the recorded run and the source. They read, and
//! answer with capped text.

use std::fmt::Write as _;

use camino::{Utf8Component, Utf8Path};
use ndbg_providers::{Tool, ToolCall};
use ndbg_simulator::EventKind;
use ndbg_simulator::expression;
use ndbg_simulator::recording::{ActivationId, Entry, EventId, Recording};
use serde_json::{Value as Json, json};

use crate::debug::{StateNames, call_line, is_named, last_write, scan, stop_lines};

/// Characters of an answer.
const ANSWER: usize = 2_400;
/// Lines of source at once, found places, visits looked at.
const LINES: usize = 120;
const FOUND: usize = 20;

/// Where answers come from.
pub trait Lookup {
    /// The recorded failing tests.
    fn recording(&self) -> Option<&Recording>;

    /// Text of a file of the project, tests among them; relative to the project.
    fn source(&self, file: &Utf8Path) -> Option<String>;

    /// Names of the project's Python files.
    fn files(&self) -> Vec<String>;

    /// Inputs with which a function does something, found and verified by running it; or why there are none.
    fn infer(&self, file: &Utf8Path, function: &str, goal: &str, wanted: &str) -> String;

    /// What a model of Python predicts for a call of a function; not run.
    fn simulate(&self, file: &Utf8Path, call: &str) -> String;
}

/// The questions, as models know functions.
pub fn tools() -> Vec<Tool> {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let number = |about: &str| json!({ "type": "integer", "description": about });
    let tool = |name: &str, description: &str, properties: Json| {
        let names: Vec<&String> = properties
            .as_object()
            .map(|properties| properties.keys().collect())
            .unwrap_or_default();
        Tool {
            name: name.into(),
            description: description.into(),
            parameters: json!({
                "type": "object",
                "properties": properties,
                "required": names,
                "additionalProperties": false,
            }),
        }
    };
    vec![
        tool(
            "show_frame",
            "A recorded call of a function in the failing tests: arguments, each line with the variables \
             that changed, result.",
            json!({
                "function": text("name, qualified or not"),
                "number": number("which of its calls, from 1; negative from the last one"),
            }),
        ),
        tool(
            "state_at",
            "All local variables just before a line ran.",
            json!({
                "file": text("file"), "line": number("line"),
                "visit": number("which visit of the line, from 1; negative from the last one"),
            }),
        ),
        tool(
            "find_state",
            "Where in the recorded run a condition on local variables first became true, and how often it is.",
            json!({ "condition": text("such as: total < 0 and name == 'x'") }),
        ),
        tool(
            "why_value",
            "Which line last wrote a variable before a visit of a line.",
            json!({
                "file": text("file"), "line": number("line"), "visit": number("visit, from 1"),
                "name": text("the variable"),
            }),
        ),
        tool(
            "read_source",
            "Lines of a file of the project.",
            json!({ "file": text("file"), "from": number("first line"), "to": number("last line") }),
        ),
        tool(
            "search_source",
            "Lines of the project's Python files that contain a text.",
            json!({ "text": text("what to look for") }),
        ),
        tool(
            "infer",
            "Arguments with which a function returns a literal, raises a class or reaches a line; found and \
             verified by running it.",
            json!({
                "file": text("file"), "function": text("function or Class.method"),
                "goal": { "type": "string", "enum": ["returns", "raises", "reaches"] },
                "wanted": text("the literal, the class, or the line"),
            }),
        ),
        tool(
            "simulate",
            "What a small model predicts that a call does, with its confidence. Not run; may be wrong.",
            json!({ "file": text("file of the function"), "call": text("such as: total([1, 2])") }),
        ),
    ]
}

/// Answers a question.
pub fn answer(lookup: &dyn Lookup, call: &ToolCall) -> String {
    let arguments: Json = match serde_json::from_str(&call.arguments) {
        Ok(arguments) => arguments,
        Err(error) => return format!("the arguments are no JSON: {error}"),
    };
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let number = |name: &str| arguments[name].as_i64().unwrap_or(1);
    let recorded = |look: &dyn Fn(&Recording) -> String| match lookup.recording() {
        Some(recording) => look(recording),
        None => "nothing was recorded".into(),
    };
    let answer = match call.name.as_str() {
        "show_frame" => recorded(&|run| frame(run, text("function"), number("number"))),
        "state_at" => {
            recorded(
                &|run| match visit(run, text("file"), number("line"), number("visit")) {
                    Ok(event) => state(run, event),
                    Err(why) => why,
                },
            )
        }
        "find_state" => recorded(&|run| find(run, text("condition"))),
        "why_value" => {
            recorded(
                &|run| match visit(run, text("file"), number("line"), number("visit")) {
                    Ok(event) => written(run, event, text("name")),
                    Err(why) => why,
                },
            )
        }
        "read_source" => read(lookup, text("file"), number("from"), number("to")),
        "search_source" => search(lookup, text("text")),
        "infer" => match inside(text("file")) {
            Some(file) => lookup.infer(file, text("function"), text("goal"), text("wanted")),
            None => outside(text("file")),
        },
        "simulate" => match inside(text("file")) {
            Some(file) => lookup.simulate(file, text("call")),
            None => outside(text("file")),
        },
        other => format!("there is no function `{other}`"),
    };
    capped(&answer)
}

fn capped(text: &str) -> String {
    match text.char_indices().nth(ANSWER) {
        Some((at, _)) => format!("{}\n… cut here", &text[..at]),
        None => text.to_owned(),
    }
}

/// A path that does not leave the project.
fn inside(file: &str) -> Option<&Utf8Path> {
    let path = Utf8Path::new(file);
    let stays = path
        .components()
        .all(|part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir));
    (stays && !file.is_empty()).then_some(path)
}

fn outside(file: &str) -> String {
    format!("`{file}` is no file of the project")
}

/// The `number`th of some, from 1, or from the last one where it is negative.
fn pick<T: Copy>(all: &[T], number: i64) -> Option<T> {
    let at = match number {
        0 | 1 => 0,
        number if number > 0 => usize::try_from(number - 1).ok()?,
        number => all.len().checked_sub(usize::try_from(-number).ok()?)?,
    };
    all.get(at).copied()
}

fn frame(run: &Recording, function: &str, number: i64) -> String {
    let calls: Vec<ActivationId> = (0..run.activations().len())
        .map(|number| ActivationId(number as u32))
        .filter(|&id| {
            run.activation(id).entry == Entry::Call && is_named(run.function(id), function)
        })
        .collect();
    let Some(id) = pick(&calls, number) else {
        return format!("{} calls of `{function}` were recorded", calls.len());
    };
    let mut text = format!(
        "{} calls of it were recorded\n{}\n",
        calls.len(),
        call_line(run, id, 0)
    );
    let mut at = run.activation(id).first;
    loop {
        let _ = writeln!(text, "{}", stop_lines(run, at).trim_end());
        match run.next_in_frame(at) {
            Some(next) if text.len() < 2 * ANSWER => at = next,
            _ => return text,
        }
    }
}

fn visits(run: &Recording, file: &str, line: i64) -> Vec<EventId> {
    let is_file = |name: &str| name == file || Utf8Path::new(name).ends_with(file);
    run.events()
        .filter(|&id| {
            let event = run.event(id);
            event.kind == EventKind::Line
                && i64::from(event.line) == line
                && is_file(&run.file_of(id).name)
        })
        .collect()
}

fn visit(run: &Recording, file: &str, line: i64, number: i64) -> Result<EventId, String> {
    let all = visits(run, file, line);
    pick(&all, number).ok_or_else(|| match all.len() {
        0 => format!("line {line} of `{file}` did not run in the failing tests"),
        count => format!("line {line} of `{file}` ran {count} times"),
    })
}

fn state(run: &Recording, event: EventId) -> String {
    let mut text = String::new();
    for held in &run.locals(event) {
        let value = held.value.map_or("", |value| run.text(value));
        let _ = writeln!(text, "{} = {value}", run.text(held.name));
    }
    if text.is_empty() {
        "no local variables".into()
    } else {
        text
    }
}

fn find(run: &Recording, condition: &str) -> String {
    let parsed = match expression::parse(condition) {
        Ok(parsed) => parsed,
        Err(error) => return format!("`{condition}` cannot be looked up: {error}"),
    };
    let (mut count, mut shown) = (0, String::new());
    scan(run, 0..run.len() as u32, |id, locals| {
        if parsed.evaluate(&StateNames::with(run, id, locals)).holds() {
            count += 1;
            if count <= 3 {
                let _ = writeln!(shown, "{}", stop_lines(run, id).trim_end());
            }
        }
        true
    });
    match count {
        0 => "it never holds in the recorded run".into(),
        _ => format!(
            "holds at {count} of {} recorded states, first at:\n{shown}",
            run.len()
        ),
    }
}

fn written(run: &Recording, event: EventId, name: &str) -> String {
    let Some(write) = last_write(run, event, name) else {
        return format!("`{name}` was never bound there");
    };
    let value = |text: Option<_>| text.map_or("unbound", |text| run.text(text)).to_owned();
    let by = run.event(write.by);
    let place = format!("{}:{}", run.file_of(write.by).name, by.line);
    if write.argument {
        return format!(
            "it came in as an argument from {place}: {}",
            value(write.after)
        );
    }
    format!(
        "line {place} `{}` changed it from {} to {}",
        run.source_line(write.by).trim(),
        value(write.before),
        value(write.after)
    )
}

fn read(lookup: &dyn Lookup, file: &str, from: i64, to: i64) -> String {
    let Some(text) = inside(file).and_then(|file| lookup.source(file)) else {
        return outside(file);
    };
    let from = usize::try_from(from.max(1)).unwrap_or(1);
    let to = usize::try_from(to.max(1))
        .unwrap_or(1)
        .min(from + LINES - 1);
    let mut shown = String::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .skip(from - 1)
        .take(to + 1 - from.min(to + 1))
    {
        let _ = writeln!(shown, "{:>5}  {line}", number + 1);
    }
    if shown.is_empty() {
        return format!("`{file}` has {} lines", text.lines().count());
    }
    shown
}

fn search(lookup: &dyn Lookup, wanted: &str) -> String {
    if wanted.trim().is_empty() {
        return "there is nothing to look for".into();
    }
    let (mut shown, mut count) = (String::new(), 0);
    for file in lookup.files() {
        let Some(text) = lookup.source(Utf8Path::new(&file)) else {
            continue;
        };
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains(wanted))
        {
            count += 1;
            if count <= FOUND {
                let cut: String = line.trim().chars().take(160).collect();
                let _ = writeln!(shown, "{file}:{}  {cut}", number + 1);
            }
        }
    }
    match count {
        0 => "it stands nowhere".into(),
        count if count > FOUND => format!("{shown}and {} more lines", count - FOUND),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Files(Vec<(&'static str, &'static str)>);

    impl Lookup for Files {
        fn recording(&self) -> Option<&Recording> {
            None
        }
        fn source(&self, file: &Utf8Path) -> Option<String> {
            let found = self.0.iter().find(|(name, _)| *name == file);
            found.map(|(_, text)| (*text).to_owned())
        }
        fn files(&self) -> Vec<String> {
            self.0.iter().map(|(name, _)| (*name).to_owned()).collect()
        }
        fn infer(&self, _: &Utf8Path, _: &str, _: &str, _: &str) -> String {
            "inferred".into()
        }
        fn simulate(&self, _: &Utf8Path, _: &str) -> String {
            "simulated".into()
        }
    }

    fn asked(name: &str, arguments: &Json) -> String {
        let call = ToolCall {
            id: "1".into(),
            name: name.into(),
            arguments: arguments.to_string(),
            signature: None,
        };
        let files = Files(vec![("a.py", "x = 1\ny = 2\n"), ("b/c.py", "print(x)\n")]);
        answer(&files, &call)
    }

    #[test]
    fn source_is_read_within_the_project_only() {
        let read = |file: &str| asked("read_source", &json!({"file": file, "from": 2, "to": 9}));
        assert_eq!(read("a.py"), "    2  y = 2\n");
        for file in ["/etc/passwd", "../a.py", "b/../../a.py", ""] {
            assert!(read(file).contains("is no file of the project"), "{file}");
        }
    }

    #[test]
    fn text_is_found_in_all_files() {
        let found = asked("search_source", &json!({"text": "x"}));
        assert_eq!(found, "a.py:1  x = 1\nb/c.py:1  print(x)\n");
        assert!(asked("search_source", &json!({"text": "zzz"})).contains("nowhere"));
    }

    #[test]
    fn wrong_questions_are_answered_and_not_fatal() {
        assert!(asked("rm", &json!({})).contains("no function `rm`"));
        assert!(asked("state_at", &json!({"file": "a.py"})).contains("nothing was recorded"));
        let call = ToolCall {
            id: "1".into(),
            name: "read_source".into(),
            arguments: "{".into(),
            signature: None,
        };
        assert!(answer(&Files(Vec::new()), &call).contains("no JSON"));
    }

    #[test]
    fn numbers_count_from_either_end() {
        let all = [10, 20, 30];
        assert_eq!(pick(&all, 1), Some(10));
        assert_eq!(pick(&all, 3), Some(30));
        assert_eq!(pick(&all, -1), Some(30));
        assert_eq!(pick(&all, 4), None);
        assert_eq!(pick(&all, -4), None);
    }
}
