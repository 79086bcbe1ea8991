//! CrossHair, which solves for inputs what we search: found, and asked for the same things.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::Cancel;
use ndbg_tools::process::{self, Exit, ProcessError, Spec};

use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Time for it to say that it is there.
const HELLO: Duration = Duration::from_secs(30);
/// Its time is that of the processor, and of its search alone; ours is the clock's, start included.
const SLACK: f64 = 2.0;
const START: f64 = 15.0;
/// The function with the contract, and what it must not return.
const CONTRACT: &str = "ndbg_contract";
const WANTED: &str = "NDBG_WANTED";

/// A CrossHair that answers.
#[derive(Debug)]
pub struct CrossHair {
    program: Utf8PathBuf,
    before: &'static [&'static str],
    scratch: Utf8PathBuf,
    cancel: Cancel,
    /// Its version, where an interpreter tells it.
    pub version: Option<String>,
}

/// What it said, and how long it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Said<T> {
    /// What it said.
    pub answer: T,
    /// Seconds by the clock.
    pub seconds: f64,
    /// Whether it had to be ended.
    pub cut: bool,
}

impl CrossHair {
    /// Takes an interpreter, a folder of a virtual environment, or the program `crosshair` itself.
    ///
    /// # Errors
    /// It does not start, or is not installed there.
    pub fn find(path: &Utf8Path, scratch: &Utf8Path, cancel: &Cancel) -> Result<Self, Stop> {
        let program = if path.is_dir() {
            path.join("bin/python")
        } else {
            path.to_owned()
        };
        // A path stays one in another folder.
        let program = if program.components().count() > 1 {
            camino::absolute_utf8(&program).unwrap_or(program)
        } else {
            program
        };
        let name = program.file_name().unwrap_or_default();
        let is_python = name.starts_with("python") || name.starts_with("pypy");
        let mut found = Self {
            program,
            before: if is_python { &["-m", "crosshair"] } else { &[] },
            scratch: scratch.to_owned(),
            cancel: cancel.clone(),
            version: None,
        };
        let hello = found.spec().arg("--help").deadline(HELLO);
        let hello = found.run(&hello)?;
        if hello.exit != Exit::Code(0) || !hello.stdout_text().contains("diffbehavior") {
            let message = if is_python {
                format!("CrossHair is not installed for `{path}`")
            } else {
                format!("`{path}` is no CrossHair")
            };
            let hint = if is_python {
                format!("`{path} -m pip install crosshair-tool` installs it")
            } else {
                "name an interpreter that has it, or its program `crosshair`".to_owned()
            };
            return Err(Stop::new(Outcome::Environment, message).hint(hint));
        }
        if is_python {
            let asks = "import importlib.metadata as m; print(m.version('crosshair-tool'))";
            let told = Spec::new(&found.program, scratch)
                .args(["-c", asks])
                .deadline(HELLO);
            let told = found.run(&told)?;
            found.version = Some(told.stdout_text()).filter(|_| told.exit.success());
        }
        Ok(found)
    }

    /// Its name with its version.
    pub fn name(&self) -> String {
        match &self.version {
            Some(version) => format!("CrossHair {version}"),
            None => "CrossHair".into(),
        }
    }

    /// Calls that are to cover a function of a module: `f(1)`, and `m(C(), 1)` for a method.
    ///
    /// # Errors
    /// It does not start, or an interruption.
    pub fn cover(
        &self,
        target: &str,
        root: &Utf8Path,
        seconds: f64,
    ) -> Result<Said<Vec<String>>, Stop> {
        let spec = self
            .spec()
            .args([
                "cover",
                target,
                "--example_output_format",
                "eval_expression",
            ])
            .args(["--per_condition_timeout", &seconds.to_string()])
            .env("PYTHONPATH", root.as_str())
            .deadline(deadline(seconds));
        let done = self.run(&spec)?;
        let text = done.stdout_text();
        let calls = text.lines().map(str::trim).filter(|line| !line.is_empty());
        Ok(Said {
            answer: calls.map(str::to_owned).collect(),
            seconds: done.elapsed.as_secs_f64(),
            cut: done.exit == Exit::TimedOut,
        })
    }

    /// Arguments with which `f` of a module returns a literal, as they stand in a call. It is told the
    /// types of arguments that are known to do it.
    ///
    /// # Errors
    /// It does not start, no place for its file, or an interruption.
    pub fn arguments(
        &self,
        code: &str,
        known: &str,
        output: &str,
        seconds: f64,
    ) -> Result<Said<Option<String>>, Stop> {
        let folder = self.scratch.join("contract");
        let file = folder.join("item.py");
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&file, contract(code, known, output)))
            .map_err(|error| Stop::new(Outcome::Environment, format!("`{file}`: {error}")))?;
        let mut spec = self
            .spec()
            .args(["check", &format!("item.{CONTRACT}")])
            .args(["--analysis_kind", "PEP316"])
            .args(["--per_condition_timeout", &seconds.to_string()])
            .env("PYTHONPATH", folder.as_str())
            .deadline(deadline(seconds));
        spec.cwd = folder;
        let done = self.run(&spec)?;
        Ok(Said {
            answer: counterexample(&done.stdout_text()).map(str::to_owned),
            seconds: done.elapsed.as_secs_f64(),
            cut: done.exit == Exit::TimedOut,
        })
    }

    fn spec(&self) -> Spec {
        Spec::new(&self.program, &self.scratch)
            .args(self.before)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PYTHONIOENCODING", "utf-8")
    }

    fn run(&self, spec: &Spec) -> Result<process::Finished, Stop> {
        process::run(spec, &self.cancel).map_err(|error| match error {
            ProcessError::Cancelled => Stop::interrupted(),
            other => Stop::new(Outcome::Environment, other.to_string())
                .hint("`--crosshair` takes an interpreter that has CrossHair, or its program"),
        })
    }
}

fn deadline(seconds: f64) -> Duration {
    Duration::from_secs_f64(SLACK * seconds + START)
}

/// The module with a function that must not return what is wanted: a counterexample is what we want.
fn contract(code: &str, known: &str, output: &str) -> String {
    let types = literal::parse(&format!("({known},)")).map_or_else(
        |_| Vec::new(),
        |known| match known {
            Literal::Tuple(items) => items.iter().map(typed).collect(),
            _ => Vec::new(),
        },
    );
    let names: Vec<String> = (0..types.len()).map(|at| format!("a{at}")).collect();
    let parameters: Vec<String> = names
        .iter()
        .zip(&types)
        .map(|(name, kind)| format!("{name}: '{kind}'"))
        .collect();
    format!(
        "import typing as ndbg_types\n{}\n\n{WANTED} = {output}\n\n\ndef {CONTRACT}({}):\n    \
         \"\"\"\n    raises: Exception\n    post: __return__ != {WANTED}\n    \"\"\"\n    return \
         f({})\n",
        code.trim_end(),
        parameters.join(", "),
        names.join(", ")
    )
}

/// The type of a value as an annotation says it.
fn typed(value: &Literal) -> String {
    let of = |items: &[&Literal]| {
        let mut kinds: Vec<String> = Vec::new();
        for item in items {
            let kind = typed(item);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        match kinds.len() {
            // Nothing is known; texts are what it finds most with.
            0 => "str".to_owned(),
            1 => kinds.remove(0),
            _ => format!("ndbg_types.Union[{}]", kinds.join(", ")),
        }
    };
    let all = |items: &[Literal]| of(&items.iter().collect::<Vec<_>>());
    match value {
        Literal::None => "None".into(),
        Literal::List(items) => format!("ndbg_types.List[{}]", all(items)),
        Literal::Set(items) => format!("ndbg_types.Set[{}]", all(items)),
        Literal::FrozenSet(items) => format!("ndbg_types.FrozenSet[{}]", all(items)),
        Literal::Tuple(items) if items.is_empty() => "ndbg_types.Tuple[()]".into(),
        Literal::Tuple(items) => {
            let kinds: Vec<String> = items.iter().map(typed).collect();
            format!("ndbg_types.Tuple[{}]", kinds.join(", "))
        }
        Literal::Dict(items) => {
            let keys: Vec<&Literal> = items.iter().map(|(key, _)| key).collect();
            let values: Vec<&Literal> = items.iter().map(|(_, value)| value).collect();
            format!("ndbg_types.Dict[{}, {}]", of(&keys), of(&values))
        }
        other => other.type_name().into(),
    }
}

/// What stands between the brackets of the call in its report.
fn counterexample(report: &str) -> Option<&str> {
    let (_, rest) = report.split_once(&format!("when calling {CONTRACT}("))?;
    let line = rest.lines().next()?;
    let end = line.rfind(") (which returns ")?;
    Some(&line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_the_recorded_arguments() {
        let kind = |text: &str| typed(&literal::parse(text).unwrap()).replace("ndbg_types.", "");
        assert_eq!(kind("3"), "int");
        assert_eq!(kind("['a', 'b']"), "List[str]");
        assert_eq!(
            kind("{'a': [1], 'b': []}"),
            "Dict[str, Union[List[int], List[str]]]"
        );
        assert_eq!(kind("(1, 'a', None)"), "Tuple[int, str, None]");
        let module = contract("def f(x, n):\n    return x * n\n", "'a', 2", "'aa'");
        assert!(
            module.contains("def ndbg_contract(a0: 'str', a1: 'int'):"),
            "{module}"
        );
        assert!(module.contains("NDBG_WANTED = 'aa'\n"), "{module}");
    }

    #[test]
    fn a_counterexample_is_the_arguments_alone() {
        let said = "/x/item.py:9: error: false when calling ndbg_contract('a) (', {}) (which returns \
                    (42, ') (which'))";
        assert_eq!(counterexample(said), Some("'a) (', {}"));
        assert_eq!(counterexample("item.py:9: error: ValueError"), None);
    }
}
