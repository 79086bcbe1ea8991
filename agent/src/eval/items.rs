//! Items of a benchmark in the form of CRUXEval: a function `f`, its input and its output.

use std::fs;

use camino::Utf8Path;
use serde::Deserialize;

use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// A function with an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name.
    pub id: String,
    /// A module that defines `f`.
    pub code: String,
    /// What stands between the brackets of the call.
    pub input: String,
    /// What it returns, as Python writes it.
    pub output: String,
}

#[derive(Deserialize)]
struct Line {
    id: Option<serde_json::Value>,
    code: Option<String>,
    input: Option<String>,
    output: Option<String>,
}

/// Reads items; `whole` if outputs must be there.
///
/// # Errors
/// The line that does not parse, and what it lacks.
pub fn read(path: &Utf8Path, whole: bool) -> Result<Vec<Item>, Stop> {
    let usage = |message: String| {
        Stop::new(Outcome::Usage, message)
            .hint("a line is a JSON object with the texts `code`, `input` and `output`")
    };
    let text = fs::read_to_string(path).map_err(|error| usage(format!("`{path}`: {error}")))?;
    parsed(&text, whole).map_err(|problem| usage(format!("`{path}`, {problem}")))
}

fn parsed(text: &str, whole: bool) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    for (number, line) in lines {
        let at = number + 1;
        let line: Line =
            serde_json::from_str(line).map_err(|error| format!("line {at}: {error}"))?;
        let lacks = |name: &str| format!("line {at}: the field `{name}` is missing");
        let output = match line.output {
            Some(output) => output,
            None if whole => return Err(lacks("output")),
            None => String::new(),
        };
        let id = match line.id {
            Some(serde_json::Value::String(id)) => id,
            Some(other) => other.to_string(),
            None => format!("line-{at}"),
        };
        items.push(Item {
            id,
            code: line.code.ok_or_else(|| lacks("code"))?,
            input: line.input.ok_or_else(|| lacks("input"))?,
            output,
        });
    }
    if items.is_empty() {
        return Err("it holds no items".into());
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let good = r#"{"code": "def f(x):\n    return x", "input": "1", "output": "1", "id": 7}"#;
        let items = parsed(&format!("{good}\n\n{good}\n"), true).unwrap();
        assert_eq!((items.len(), items[0].id.as_str()), (2, "7"));
        let problem = |text: &str| parsed(text, true).unwrap_err();
        assert!(problem(&format!("{good}\n{{")).starts_with("line 2: "));
        assert!(problem(r#"{"code": "", "output": ""}"#).contains("line 1: the field `input`"));
        assert!(problem(r#"{"code": "", "input": ""}"#).contains("`output` is missing"));
        assert!(parsed(r#"{"code": "", "input": ""}"#, false).is_ok());
        assert!(problem("\n").contains("no items"));
    }
}
