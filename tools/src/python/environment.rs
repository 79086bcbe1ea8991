//! Which interpreter runs the tests, by which rule, and what it can do.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use thiserror::Error;

use crate::cancel::Cancel;
use crate::process::{self, ProcessError, Spec};

const PROBE: &str = include_str!("../../python/ndbg_probe.py");
const PROBE_LIMIT: Duration = Duration::from_secs(20);
/// The oldest Python that the recorder and the runner support.
pub const OLDEST: (u32, u32) = (3, 8);

/// Why there is no usable interpreter.
#[derive(Debug, Error)]
pub enum EnvironmentError {
    /// The one asked for does not start.
    #[error("the interpreter `{python}` ({rule}) does not start: {reason}")]
    DoesNotStart {
        /// Path.
        python: Utf8PathBuf,
        /// Rule that found it.
        rule: String,
        /// What happened.
        reason: String,
    },
    /// Older than [`OLDEST`].
    #[error("`{python}` ({rule}) is Python {version}; 3.8 or later is needed")]
    TooOld {
        /// Path.
        python: Utf8PathBuf,
        /// Rule that found it.
        rule: String,
        /// Its version.
        version: String,
    },
    /// No rule found anything.
    #[error("no Python interpreter found")]
    NotFound,
    /// Making the managed environment failed.
    #[error("cannot make an environment with pytest: {0}")]
    Managed(String),
    /// Interrupted.
    #[error("interrupted")]
    Cancelled,
}

impl EnvironmentError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::DoesNotStart { .. } | Self::TooOld { .. } => {
                "name another interpreter with `--python PATH`"
            }
            Self::NotFound => "install Python 3.8 or later, or name one with `--python PATH`",
            Self::Managed(_) => {
                "install pytest into the project's environment, or name one that has it with `--python PATH`"
            }
            Self::Cancelled => "",
        }
    }
}

/// What an interpreter says of itself.
#[derive(Debug, Clone, Deserialize)]
pub struct Probe {
    /// Version numbers.
    pub version: Vec<u32>,
    /// `sys.executable`.
    #[serde(default)]
    pub executable: String,
    /// `sys.prefix`.
    #[serde(default)]
    pub prefix: Utf8PathBuf,
    /// pytest's version, when it is installed.
    #[serde(default)]
    pub pytest: Option<String>,
    /// Names of installed pytest plugins.
    #[serde(default)]
    pub plugins: Vec<String>,
    /// `sys.path`.
    #[serde(default)]
    pub sys_path: Vec<Utf8PathBuf>,
    /// Editable installs that point below the project.
    #[serde(default)]
    pub editable: Vec<Editable>,
    /// Whether `os.fork` exists.
    #[serde(default)]
    pub fork: bool,
}

/// An editable install.
#[derive(Debug, Clone, Deserialize)]
pub struct Editable {
    /// Distribution or module.
    #[serde(default)]
    pub name: String,
    /// Folders it puts on the path or maps modules to.
    #[serde(default)]
    pub paths: Vec<Utf8PathBuf>,
}

/// A settled interpreter.
#[derive(Debug, Clone)]
pub struct Interpreter {
    /// Path to call it by; links are kept, since a venv's `python` is one.
    pub path: Utf8PathBuf,
    /// The rule that found it, in words.
    pub rule: String,
    /// Whether it belongs to an environment that we made.
    pub managed: bool,
    /// What it says of itself.
    pub probe: Probe,
}

impl Interpreter {
    /// `3.11.7`.
    pub fn version(&self) -> String {
        let parts: Vec<String> = self.probe.version.iter().map(u32::to_string).collect();
        parts.join(".")
    }
}

/// A candidate interpreter and the rule behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Path or program name.
    pub path: Utf8PathBuf,
    /// In words.
    pub rule: String,
    /// Whether the user named it: then nothing else is tried.
    pub explicit: bool,
}

/// Interpreters in the order of the rules: `--python`, `VIRTUAL_ENV`, `.venv`/`venv` in the project,
/// the environment of uv, poetry, pdm, pipenv or conda if the project uses it, `python3`.
///
/// `folders` are the project's folder and the root of its repository.
pub fn discover(
    explicit: Option<&Utf8Path>,
    folders: &[Utf8PathBuf],
    cancel: &Cancel,
) -> Vec<Found> {
    let mut found = Vec::new();
    let mut push = |path: Utf8PathBuf, rule: String, explicit: bool| {
        found.push(Found {
            path,
            rule,
            explicit,
        });
    };
    if let Some(path) = explicit {
        // A folder is taken as an environment.
        let path = if path.is_dir() {
            python_in(path)
        } else {
            path.to_owned()
        };
        push(path, "--python".into(), true);
        return found;
    }
    if let Some(prefix) = variable("VIRTUAL_ENV") {
        push(python_in(&prefix), "VIRTUAL_ENV".into(), false);
    }
    for folder in folders {
        for name in [".venv", "venv"] {
            let python = python_in(&folder.join(name));
            if python.exists() {
                push(python, format!("`{name}` in the project"), false);
            }
        }
    }
    for folder in folders {
        for (tool, marker) in [
            ("uv", "uv.lock"),
            ("poetry", "poetry.lock"),
            ("pdm", "pdm.lock"),
            ("pipenv", "Pipfile"),
            ("conda", "environment.yml"),
            ("conda", "environment.yaml"),
        ] {
            if (folder.join(marker).exists() || declares(folder, tool))
                && let Some(path) = ask_tool(tool, folder, cancel)
            {
                push(path, format!("environment of {tool}"), false);
            }
        }
    }
    for name in ["python3", "python"] {
        push(name.into(), format!("`{name}` on PATH"), false);
    }
    found
}

fn variable(name: &str) -> Option<Utf8PathBuf> {
    std::env::var(name)
        .ok()
        .filter(|v| !v.is_empty())
        .map(Into::into)
}

fn python_in(prefix: &Utf8Path) -> Utf8PathBuf {
    if cfg!(windows) {
        prefix.join("Scripts").join("python.exe")
    } else {
        prefix.join("bin").join("python")
    }
}

/// Whether pyproject.toml has a `[tool.NAME]` table.
fn declares(folder: &Utf8Path, tool: &str) -> bool {
    std::fs::read_to_string(folder.join("pyproject.toml")).is_ok_and(|text| {
        text.lines().any(|line| {
            let line = line.trim();
            line.starts_with(&format!("[tool.{tool}]"))
                || line.starts_with(&format!("[tool.{tool}."))
        })
    })
}

fn ask_tool(tool: &str, folder: &Utf8Path, cancel: &Cancel) -> Option<Utf8PathBuf> {
    let ask = |program: &str, args: &[&str]| {
        let spec = Spec::new(program, folder).args(args).deadline(PROBE_LIMIT);
        let done = process::run(&spec, cancel).ok()?;
        let line = done.stdout_text().lines().last()?.trim().to_owned();
        (done.exit.success() && !line.is_empty()).then(|| Utf8PathBuf::from(line))
    };
    match tool {
        "uv" => variable("UV_PROJECT_ENVIRONMENT")
            .map(|path| python_in(&folder.join(path)))
            .filter(|python| python.exists()),
        "poetry" => ask("poetry", &["env", "info", "--executable"]),
        "pdm" => std::fs::read_to_string(folder.join(".pdm-python"))
            .ok()
            .map(|text| Utf8PathBuf::from(text.trim()))
            .filter(|path| path.exists())
            .or_else(|| ask("pdm", &["info", "--python"])),
        "pipenv" => ask("pipenv", &["--py"]),
        "conda" => variable("CONDA_PREFIX")
            .map(|prefix| python_in(&prefix))
            .or_else(|| {
                let name = conda_environment_name(folder)?;
                ask(
                    "conda",
                    &[
                        "run",
                        "-n",
                        &name,
                        "python",
                        "-c",
                        "import sys; print(sys.executable)",
                    ],
                )
            }),
        _ => None,
    }
}

fn conda_environment_name(folder: &Utf8Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("environment.yml"))
        .or_else(|_| std::fs::read_to_string(folder.join("environment.yaml")))
        .ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("name:"))?;
    Some(name.trim().trim_matches(['"', '\'']).to_owned())
}

/// Starts the interpreter and asks it about itself. `root` is the repository, for editable installs.
pub fn probe(
    found: &Found,
    root: &Utf8Path,
    cancel: &Cancel,
) -> Result<Interpreter, EnvironmentError> {
    let fail = |reason: String| EnvironmentError::DoesNotStart {
        python: found.path.clone(),
        rule: found.rule.clone(),
        reason,
    };
    let path = absolute(&found.path).ok_or_else(|| fail("no such file".into()))?;
    let spec = Spec::new(&path, root)
        .args(["-c", PROBE, root.as_str()])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONIOENCODING", "utf-8")
        .deadline(PROBE_LIMIT);
    let done = process::run(&spec, cancel).map_err(|error| match error {
        ProcessError::Cancelled => EnvironmentError::Cancelled,
        other => fail(other.to_string()),
    })?;
    if !done.exit.success() {
        // A program that is no Python may repeat the whole probe in its complaint.
        let tail: String = done.tail(1).chars().take(160).collect();
        return Err(fail(if tail.is_empty() {
            done.exit.to_string()
        } else {
            tail
        }));
    }
    let last = done.stdout_text();
    let last = last.lines().last().unwrap_or_default();
    let probe: Probe = serde_json::from_str(last)
        .map_err(|_| fail("it is no Python: it did not answer the probe".into()))?;
    let version = (
        probe.version.first().copied().unwrap_or(0),
        probe.version.get(1).copied().unwrap_or(0),
    );
    let interpreter = Interpreter {
        path,
        rule: found.rule.clone(),
        managed: false,
        probe,
    };
    if version < OLDEST {
        return Err(EnvironmentError::TooOld {
            python: found.path.clone(),
            rule: found.rule.clone(),
            version: interpreter.version(),
        });
    }
    Ok(interpreter)
}

/// A path with a slash made absolute, or a program name looked up in `PATH`.
fn absolute(path: &Utf8Path) -> Option<Utf8PathBuf> {
    if path.components().count() > 1 || path.is_absolute() {
        let path = camino::absolute_utf8(path).ok()?;
        return path.is_file().then_some(path);
    }
    let dirs = std::env::var_os("PATH")?;
    std::env::split_paths(&dirs)
        .filter_map(|dir| Utf8PathBuf::from_path_buf(dir).ok())
        .map(|dir| dir.join(path))
        .find(|candidate| candidate.is_file())
}

/// The first interpreter that works, and why the earlier ones were passed over. An interpreter that
/// the user named is the only one tried.
pub fn choose(
    found: &[Found],
    root: &Utf8Path,
    cancel: &Cancel,
) -> Result<(Interpreter, Vec<String>), EnvironmentError> {
    let mut passed_over = Vec::new();
    let mut last = EnvironmentError::NotFound;
    for candidate in found {
        match probe(candidate, root, cancel) {
            Ok(interpreter) => return Ok((interpreter, passed_over)),
            Err(EnvironmentError::Cancelled) => return Err(EnvironmentError::Cancelled),
            Err(error) if candidate.explicit => return Err(error),
            Err(error) => {
                // A name that is not on PATH is no finding.
                if candidate.path.components().count() > 1
                    || !error.to_string().contains("no such file")
                {
                    passed_over.push(error.to_string());
                    last = error;
                }
            }
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explicit_interpreter_is_the_only_one_tried() {
        let found = discover(
            Some(Utf8Path::new("/nowhere/python")),
            &[],
            &Cancel::default(),
        );
        assert_eq!(found.len(), 1);
        let error = choose(&found, Utf8Path::new("/"), &Cancel::default()).unwrap_err();
        assert!(error.to_string().contains("/nowhere/python"), "{error}");
    }

    #[test]
    fn a_program_that_is_no_python_is_said_so() {
        let found = Found {
            path: "/bin/true".into(),
            rule: "--python".into(),
            explicit: true,
        };
        let error = probe(&found, Utf8Path::new("/"), &Cancel::default()).unwrap_err();
        assert!(error.to_string().contains("no Python"), "{error}");
    }

    #[test]
    fn the_projects_environment_goes_before_path() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let python = python_in(&root.join(".venv"));
        std::fs::create_dir_all(python.parent().unwrap()).unwrap();
        std::fs::write(&python, "").unwrap();
        let found = discover(None, std::slice::from_ref(&root), &Cancel::default());
        let at = |path: &Utf8Path| found.iter().position(|f| f.path == path).unwrap();
        assert!(at(&python) < at(Utf8Path::new("python3")));
    }
}
