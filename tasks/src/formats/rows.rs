//! Rows of SWE-bench as JSON lines or a JSON array, with the fields `setup`, `test_cmd`, `python`,
//! `repo_url` and `kind` of our own.

use std::fs;

use camino::Utf8Path;
use serde_json::{Map, Value};

use super::{FormatError, Read};
use crate::instance::{Instance, Setup, Source};
use crate::test_command;

/// Fields that every row has.
const NEEDED: &[&str] = &[
    "instance_id",
    "repo",
    "base_commit",
    "test_patch",
    "FAIL_TO_PASS",
];

/// Bytes of a name: a file system takes 255, and parts are added to it.
const LONGEST: usize = 200;

/// Reads all rows of a file.
pub fn read(path: &Utf8Path) -> Result<Read, FormatError> {
    let text = fs::read_to_string(path).map_err(FormatError::io(path))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let wrong = |place: String, message: String| FormatError::Row { place, message };
    let mut out = Read::default();
    if path.extension() == Some("json") {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            let lines = text
                .lines()
                .next()
                .is_some_and(|line| serde_json::from_str::<Value>(line).is_ok());
            let hint = if lines {
                "; JSON lines belong into a file that ends in .jsonl"
            } else {
                ""
            };
            wrong(
                format!("{path}:{}", error.line()),
                format!("is no JSON: {error}{hint}"),
            )
        })?;
        let rows: Vec<Value> = match value {
            Value::Array(rows) => rows,
            // One row, or rows by name.
            Value::Object(row) if row.contains_key("instance_id") => vec![Value::Object(row)],
            Value::Object(rows) => rows.into_iter().map(|(_, row)| row).collect(),
            _ => {
                return Err(wrong(
                    path.to_string(),
                    "holds neither an array nor an object".into(),
                ));
            }
        };
        for (number, row) in rows.into_iter().enumerate() {
            add(&mut out, row)
                .map_err(|message| wrong(format!("{path}, row {}", number + 1), message))?;
        }
        return Ok(out);
    }
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = || format!("{path}:{}", number + 1);
        let row = serde_json::from_str(line)
            .map_err(|error| wrong(place(), format!("is no JSON: {error}")))?;
        add(&mut out, row).map_err(|message| wrong(place(), message))?;
    }
    Ok(out)
}

fn add(out: &mut Read, row: Value) -> Result<(), String> {
    let Value::Object(row) = row else {
        return Err("is no JSON object".into());
    };
    match instance(&row)? {
        Ok(instance) => out.instances.push(instance),
        Err(unsupported) => out.unsupported.push(unsupported),
    }
    Ok(())
}

/// The task of a row. An error names the field that is missing or wrong; a row that is right but cannot
/// be run here is the inner error: its name and the reason.
pub fn instance(row: &Map<String, Value>) -> Result<Result<Instance, (String, String)>, String> {
    for name in NEEDED {
        if row.get(*name).is_none_or(Value::is_null) {
            return Err(format!("field `{name}` is missing"));
        }
    }
    let id = text(row, "instance_id")?;
    if id.is_empty()
        || id.len() > LONGEST
        || id.starts_with('.')
        || id.contains(['/', '\\'])
        || id.contains(char::is_control)
    {
        let shown: String = id.escape_debug().take(60).collect();
        return Err(format!(
            "field `instance_id` (`{shown}`) cannot be the name of a folder"
        ));
    }
    let repository = text(row, "repo")?;
    let url = match text(row, "repo_url")? {
        url if url.is_empty() => format!("https://github.com/{repository}"),
        url => url,
    };
    let setup = match list(row, "setup")? {
        commands if commands.is_empty() => Setup::Declared,
        commands => Setup::Commands(commands),
    };
    let mut instance = Instance {
        source: Source::Git {
            name: repository.clone(),
            url,
            commit: text(row, "base_commit")?,
        },
        repository,
        test_patch: text(row, "test_patch")?.into_bytes(),
        problem: text(row, "problem_statement")?,
        fail_to_pass: list(row, "FAIL_TO_PASS")?,
        pass_to_pass: list(row, "PASS_TO_PASS")?,
        setup,
        python: Some(text(row, "python")?).filter(|version| !version.is_empty()),
        reference: Some(text(row, "patch")?.into_bytes()).filter(|patch| !patch.is_empty()),
        kind: text(row, "kind")?,
        id,
        ..Instance::default()
    };
    if instance.fail_to_pass.is_empty() {
        return Err("field `FAIL_TO_PASS` names no test".into());
    }
    let mut lines = list(row, "test_cmd")?;
    if lines.len() > 1
        && lines
            .iter()
            .any(|line| test_command::parse_script(line).is_err())
    {
        // The words of one command.
        let joined = shlex::try_join(lines.iter().map(String::as_str));
        lines = joined.into_iter().collect();
    }
    for line in lines {
        match test_command::parse_script(&line) {
            Ok(commands) => {
                for command in commands {
                    instance.pytest_args.extend(command.args);
                    instance.env.extend(command.env);
                }
            }
            Err(reason) => return Ok(Err((instance.id, format!("`test_cmd`: {reason}")))),
        }
    }
    Ok(Ok(instance))
}

/// A field that is text; empty when it is not there.
fn text(row: &Map<String, Value>, name: &str) -> Result<String, String> {
    match row.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(_) => Err(format!("field `{name}` is no string")),
    }
}

/// A field that is a list of strings, a JSON list in a string, or one string.
fn list(row: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    let strings = |values: &[Value]| -> Result<Vec<String>, String> {
        values
            .iter()
            .map(|value| {
                let text = value.as_str().map(str::to_owned);
                text.ok_or_else(|| format!("field `{name}` holds something that is no string"))
            })
            .collect()
    };
    match row.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => strings(values),
        Some(Value::String(text)) if text.trim_start().starts_with('[') => {
            match serde_json::from_str::<Vec<Value>>(text) {
                Ok(values) => strings(&values),
                Err(error) => Err(format!("field `{name}` is no JSON list: {error}")),
            }
        }
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(_) => Err(format!("field `{name}` is neither a list nor a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row() -> Value {
        json!({
            "instance_id": "o__r-1", "repo": "o/r", "base_commit": "abcdef1", "patch": "diff",
            "test_patch": "", "problem_statement": "p", "version": 1.0,
            "FAIL_TO_PASS": "[\"t.py::test_a\"]", "PASS_TO_PASS": ["t.py::test_b"],
        })
    }

    fn read_lines(text: &str) -> Result<Read, FormatError> {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path())
            .unwrap()
            .join("rows.jsonl");
        fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn lists_are_read_as_strings_and_as_lists() {
        let read = read_lines(&format!("{}\n\n", row())).unwrap();
        let instance = &read.instances[0];
        assert_eq!(instance.fail_to_pass, ["t.py::test_a"]);
        assert_eq!(instance.pass_to_pass, ["t.py::test_b"]);
        assert_eq!(instance.setup, Setup::Declared);
        let Source::Git { url, .. } = &instance.source else {
            panic!()
        };
        assert_eq!(url, "https://github.com/o/r");
    }

    #[test]
    fn errors_name_line_and_field() {
        for name in NEEDED {
            let mut bad = row();
            bad.as_object_mut().unwrap().remove(*name);
            let error = read_lines(&format!("{}\n{bad}\n", row()))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("rows.jsonl:2") && error.contains(name),
                "{error}"
            );
        }
        for (name, value) in [
            ("FAIL_TO_PASS", json!("[1")),
            ("FAIL_TO_PASS", json!([1])),
            ("FAIL_TO_PASS", json!([])),
            ("PASS_TO_PASS", json!({"a": 1})),
            ("instance_id", json!("../x")),
            ("instance_id", json!("x".repeat(300))),
            ("instance_id", json!("a\u{1b}[31mred")),
            ("repo", json!(["o"])),
        ] {
            let mut bad = row();
            bad[name] = value;
            let error = read_lines(&bad.to_string()).unwrap_err().to_string();
            assert!(
                error.contains("rows.jsonl:1") && error.contains(name),
                "{error}"
            );
        }
        let error = read_lines("{\"a\": ").unwrap_err().to_string();
        assert!(error.contains("rows.jsonl:1: is no JSON"), "{error}");
    }

    #[test]
    fn our_own_fields_are_read() {
        let mut own = row();
        own["setup"] = json!(["pip install -e ."]);
        own["python"] = json!("3.9");
        own["test_cmd"] = json!("TZ=UTC pytest -rA -p no:randomly");
        let read = read_lines(&own.to_string()).unwrap();
        let instance = &read.instances[0];
        assert_eq!(
            instance.setup,
            Setup::Commands(vec!["pip install -e .".into()])
        );
        assert_eq!(instance.python.as_deref(), Some("3.9"));
        assert_eq!(instance.pytest_args, ["-p", "no:randomly"]);
        assert_eq!(instance.env, [("TZ".to_owned(), "UTC".to_owned())]);
        own["test_cmd"] = json!(["pytest", "-q", "-k", "not slow"]);
        let read = read_lines(&own.to_string()).unwrap();
        assert_eq!(read.instances[0].pytest_args, ["-k", "not slow"]);
        own["test_cmd"] = json!("tox -e py");
        let read = read_lines(&own.to_string()).unwrap();
        assert!(read.instances.is_empty());
        assert!(
            read.unsupported[0].1.contains("tox"),
            "{:?}",
            read.unsupported
        );
    }
}
