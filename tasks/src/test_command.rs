//! Shell commands that run tests, as benchmarks write them: what they ask pytest for.
//!
//! Our own plugin must report the results, so a command is not run but read: `pytest`, `py.test`,
//! `python -m pytest`, `python -m unittest` and `python tests/test_x.py Class.test` are understood,
//! anything else is said to be unsupported.

use camino::Utf8Path;

/// What a command asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestCommand {
    /// Variables set in front of it.
    pub env: Vec<(String, String)>,
    /// Arguments for pytest that change which tests run or how.
    pub args: Vec<String>,
    /// Files, folders, node ids and dotted names.
    pub names: Vec<String>,
}

/// Options of pytest whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "-k",
    "-m",
    "-p",
    "-c",
    "-o",
    "-W",
    "-n",
    "-r",
    "--rootdir",
    "--confcutdir",
    "--deselect",
    "--ignore",
    "--ignore-glob",
    "--maxfail",
    "--tb",
    "--import-mode",
    "--timeout",
    "--cov",
    "--basetemp",
    "--junitxml",
    "--junit-xml",
    "--color",
    "--durations",
    "--log-level",
];

/// Options that say how results are shown, or where to; ours are read from another channel.
const REPORTING: &[&str] = &[
    "-v",
    "-vv",
    "-vvv",
    "-q",
    "-qq",
    "-s",
    "-x",
    "-l",
    "-r",
    "--verbose",
    "--quiet",
    "--no-header",
    "--no-summary",
    "--tb",
    "--color",
    "--durations",
    "--showlocals",
    "--exitfirst",
    "--maxfail",
    "--junitxml",
    "--junit-xml",
    "--cov",
    "--basetemp",
];

/// Reads one command line. The error says what is not understood.
pub fn parse(line: &str) -> Result<TestCommand, String> {
    let words = shlex::split(line).ok_or_else(|| format!("`{line}` has an open quote"))?;
    let mut command = TestCommand::default();
    let mut words = words.into_iter().peekable();
    if words.peek().is_some_and(|word| word == "env") {
        words.next();
    }
    while let Some((name, value)) = words.peek().and_then(|word| assignment(word)) {
        command.env.push((name, value));
        words.next();
    }
    let program = words.next().ok_or("an empty command")?;
    let program = program.rsplit('/').next().unwrap_or(&program).to_owned();
    let rest: Vec<String> = words.collect();
    match program.as_str() {
        "pytest" | "py.test" => pytest(&mut command, &rest),
        _ if is_python(&program) => python(&mut command, &rest, line)?,
        _ => {
            return Err(format!(
                "`{program}` is no test runner that is supported (pytest, unittest)"
            ));
        }
    }
    Ok(command)
}

/// Reads all commands of a script, in order; blank lines and comments are skipped.
pub fn parse_script(text: &str) -> Result<Vec<TestCommand>, String> {
    let joined = text.replace("\\\n", " ");
    joined
        .lines()
        .flat_map(|line| line.split("&&"))
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(parse)
        .collect()
}

fn is_python(program: &str) -> bool {
    program
        .strip_prefix("python")
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let mut letters = name.chars();
    let first = letters.next()?;
    ((first.is_ascii_alphabetic() || first == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_'))
    .then(|| (name.to_owned(), value.to_owned()))
}

fn python(command: &mut TestCommand, words: &[String], line: &str) -> Result<(), String> {
    // Options of the interpreter, which change warnings and no results; two have their value apart.
    let mut start = 0;
    while let Some(word) = words.get(start)
        && word != "-m"
        && word.starts_with('-')
    {
        start += if word == "-W" || word == "-X" { 2 } else { 1 };
    }
    if start >= words.len() {
        return Err(format!("`{line}` starts no tests"));
    }
    let words = &words[start..];
    match words.first().map(String::as_str) {
        Some("-m") => match words.get(1).map(String::as_str) {
            Some("pytest" | "py.test") => pytest(command, &words[2..]),
            Some("unittest") => {
                let names = words[2..].iter().filter(|word| !word.starts_with('-'));
                command
                    .names
                    .extend(names.filter(|word| *word != "discover").cloned());
            }
            other => {
                return Err(format!(
                    "`python -m {}` is no test runner that is supported",
                    other.unwrap_or_default()
                ));
            }
        },
        Some(file) if Utf8Path::new(file).extension() == Some("py") => {
            let names: Vec<&String> = words[1..].iter().filter(|w| !w.starts_with('-')).collect();
            if names.is_empty() {
                command.names.push(file.to_owned());
            }
            for name in names {
                command
                    .names
                    .push(format!("{file}::{}", name.replace('.', "::")));
            }
        }
        _ => return Err(format!("`{line}` starts no tests that are understood")),
    }
    Ok(())
}

fn pytest(command: &mut TestCommand, words: &[String]) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            command.names.push(word.clone());
            continue;
        }
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        // `-rA`, `-n4`: a short option with its value in the same word.
        let short = name.len() > 2
            && !name.starts_with("--")
            && WITH_VALUE.contains(&name.get(..2).unwrap_or_default());
        let key = if short {
            name.get(..2).unwrap_or(name)
        } else {
            name
        };
        let value = (inline.is_none() && !short && WITH_VALUE.contains(&key))
            .then(|| words.next().cloned())
            .flatten();
        // Workers are for our scheduler, which counts cores itself.
        if REPORTING.contains(&key) || key == "-n" {
            continue;
        }
        command.args.push(word.clone());
        command.args.extend(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Vec<String> {
        parse(line).unwrap().names
    }

    #[test]
    fn runners_are_told_apart_and_their_names_found() {
        assert_eq!(
            names("pytest -rA --tb=no tests/test_a.py::test_b"),
            ["tests/test_a.py::test_b"]
        );
        assert_eq!(names("python3.8 -W ignore -m pytest -k x tests"), ["tests"]);
        assert_eq!(
            names("python -m unittest -q tests.test_a.C.test_b"),
            ["tests.test_a.C.test_b"]
        );
        assert_eq!(
            names("python test/test_utils.py TestUtil.test_match"),
            ["test/test_utils.py::TestUtil::test_match"]
        );
        for line in [
            "tox -e py38",
            "bin/test x",
            "make check",
            "python -m nose x",
            "pytest 'open",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_changes_results_is_kept_and_what_shows_them_is_not() {
        let command =
            parse("TZ=UTC pytest -vv -rA -n 4 -p no:cacheprovider -o addopts= -x a.py").unwrap();
        assert_eq!(command.env, [("TZ".to_owned(), "UTC".to_owned())]);
        assert_eq!(command.args, ["-p", "no:cacheprovider", "-o", "addopts="]);
        assert_eq!(command.names, ["a.py"]);
    }

    #[test]
    fn a_script_has_several_commands() {
        let commands =
            parse_script("# why\npytest a.py\n\npython -m unittest b.C && pytest c.py\n").unwrap();
        let names: Vec<&str> = commands
            .iter()
            .flat_map(|c| &c.names)
            .map(String::as_str)
            .collect();
        assert_eq!(names, ["a.py", "b.C", "c.py"]);
    }
}
