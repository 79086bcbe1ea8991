//! Plain functions with fuzzed inputs, and the examples of docstrings, as sources: a unit is a file.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_dataset::sample::{Harvest, Origin, Skip, Unit};
use ndbg_dataset::shard::hex;
use ndbg_tools::process::{self, Spec};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::operations;
use super::programs::{Program, Runner};
use super::trajectories::{Drawing, Grammar, of_programs};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Events after which a call never ends.
const MAX_EVENTS: u64 = 5000;
/// Time for finding the functions of one file and their inputs.
const DEADLINE: Duration = Duration::from_mins(5);

/// How calls are found in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Finder {
    /// Inputs are drawn.
    Fuzzed,
    /// The examples of docstrings.
    Doctests,
}

#[derive(Debug, Serialize, Deserialize)]
struct Work {
    finder: Finder,
    path: Utf8PathBuf,
    /// Of the file's contents: a part made of another version is no part of this data set.
    sha256: String,
    seed: u64,
    project: String,
    licence: String,
}

/// A line of the finders.
#[derive(Debug, Deserialize)]
struct Found {
    id: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    calls: Vec<String>,
    #[serde(default)]
    skipped: Option<String>,
}

/// Where files come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Files, and folders whose `.py` files are taken.
    pub paths: Vec<Utf8PathBuf>,
    /// Name and version of the project that they belong to.
    pub project: String,
    /// Its licence as an SPDX expression.
    pub licence: String,
}

/// A unit for each file, in the order of their names.
pub(super) fn units(files: &Files, finder: Finder, seed: u64) -> std::io::Result<Vec<Unit>> {
    let mut found: BTreeMap<String, Utf8PathBuf> = BTreeMap::new();
    for path in &files.paths {
        collect(path, path, &mut found)?;
    }
    let prefix = match finder {
        Finder::Fuzzed => "functions",
        Finder::Doctests => "doctests",
    };
    found
        .into_iter()
        .map(|(name, path)| {
            let digest = Sha256::digest(std::fs::read(&path)?);
            let sha256 = hex(&digest);
            Ok(Unit {
                key: format!("{prefix}/{name}"),
                source: prefix.into(),
                work: json!(Work {
                    finder,
                    path,
                    sha256,
                    seed,
                    project: files.project.clone(),
                    licence: files.licence.clone(),
                }),
            })
        })
        .collect()
}

fn collect(
    root: &Utf8Path,
    path: &Utf8Path,
    found: &mut BTreeMap<String, Utf8PathBuf>,
) -> std::io::Result<()> {
    if !path.is_dir() {
        let base = if path == root {
            root.parent()
        } else {
            Some(root)
        };
        let name = base
            .and_then(|base| path.strip_prefix(base).ok())
            .unwrap_or(path);
        let absolute = path.canonicalize_utf8()?;
        found.insert(name.to_string(), absolute);
        return Ok(());
    }
    for entry in path.read_dir_utf8()? {
        let entry = entry?;
        let name = entry.file_name();
        let hidden = name.starts_with('.') || matches!(name, "__pycache__" | "node_modules");
        // Links may lead anywhere, in circles too.
        if hidden || entry.file_type()?.is_symlink() {
            continue;
        }
        if entry.file_type()?.is_dir() || entry.path().extension() == Some("py") {
            collect(root, entry.path(), found)?;
        }
    }
    Ok(())
}

/// Asks a finder for the calls in one file. `key` begins the names of what it finds.
fn calls_in(
    path: &Utf8Path,
    finder: Finder,
    seed: u64,
    key: &str,
    runner: &Runner,
) -> Result<Vec<Found>, Skip> {
    let (script, seed) = match finder {
        Finder::Fuzzed => ("ndbg_fuzz.py", vec!["--seed".to_owned(), seed.to_string()]),
        Finder::Doctests => ("ndbg_doctests.py", Vec::new()),
    };
    let mut spec = Spec::new(&runner.python, &runner.scratch)
        .arg("-s")
        .arg(runner.plugin.join(script))
        .args(seed)
        .args(["--id", &format!("{key}::"), path.as_str()])
        .env("PYTHONHASHSEED", "0")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONIOENCODING", "utf-8")
        .deadline(DEADLINE);
    spec.output_cap = 256 << 20;
    let done = process::run(&spec, &runner.cancel).map_err(super::build::crashed)?;
    let lines = String::from_utf8_lossy(&done.stdout);
    let mut found: Vec<Found> = lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    if found.is_empty() {
        let reason = if done.exit.success() {
            "no functions or examples".to_owned()
        } else {
            format!("the finder ended with {}: {}", done.exit, done.tail(1))
        };
        return Err(Skip::Unsuitable { reason });
    }
    // Names say where a function is from, not where the file lies on this machine.
    let place = format!("{path}::");
    for function in &mut found {
        function.id = function.id.replacen(&place, "", 1);
    }
    // Several examples may call one function: they are calls of one program.
    found.sort_by(|a, b| a.source.cmp(&b.source));
    Ok(found)
}

impl Found {
    /// A program for each call: `main` makes it.
    fn programs(&self) -> impl Iterator<Item = Program> + '_ {
        self.calls.iter().enumerate().map(|(at, call)| Program {
            id: format!("{}~{at}", self.id),
            source: format!(
                "{}\n\n\ndef main():\n    return {call}\n",
                self.source.trim_end()
            ),
            entry: "main".into(),
            max_events: MAX_EVENTS,
        })
    }
}

/// Calls of the plain functions in files, with inputs that were tried.
///
/// # Errors
/// A file that cannot be read, or an interruption; a file without such functions is no error.
pub fn functions_in(path: &Utf8Path, seed: u64, runner: &Runner) -> Result<Vec<Program>, Stop> {
    let mut files = BTreeMap::new();
    collect(path, path, &mut files)
        .map_err(|error| Stop::new(Outcome::Usage, format!("{path}: {error}")))?;
    let mut programs = Vec::new();
    for (name, file) in files {
        if runner.cancel.is_set() {
            return Err(Stop::interrupted());
        }
        match calls_in(&file, Finder::Fuzzed, seed, &name, runner) {
            Ok(found) => programs.extend(found.iter().flat_map(Found::programs)),
            Err(Skip::Crashed { reason }) => {
                return Err(Stop::new(Outcome::Environment, reason));
            }
            Err(_) => {}
        }
    }
    Ok(programs)
}

pub(super) fn run(unit: &Unit, runner: &Runner, drawing: &Drawing) -> Result<Harvest, Skip> {
    let work: Work = serde_json::from_value(unit.work.clone()).map_err(super::build::crashed)?;
    let found = calls_in(&work.path, work.finder, work.seed, &unit.key, runner)?;
    let mut programs = Vec::new();
    let mut last_source = None;
    let mut first_of: BTreeMap<String, String> = BTreeMap::new();
    let mut harvest = Harvest::default();
    for function in &found {
        if let Some(reason) = &function.skipped {
            harvest.left_out.insert(function.id.clone(), reason.clone());
        }
        for program in function.programs() {
            if last_source.replace(&function.source) != Some(&function.source) {
                first_of.insert(program.id.clone(), program.source.clone());
            }
            programs.push(program);
        }
    }
    if programs.is_empty() {
        return Ok(harvest);
    }
    let origin = |_: &str| {
        Some(Origin {
            file: unit
                .key
                .split_once('/')
                .map_or("", |(_, name)| name)
                .to_owned(),
            project: work.project.clone(),
            licence: work.licence.clone(),
        })
    };
    if drawing.grammar == Grammar::Step {
        let origin = origin("").unwrap_or_default();
        let mut made = operations::of_programs(&programs, runner, drawing, &origin, "functions")?;
        made.left_out.append(&mut harvest.left_out);
        return Ok(made);
    }
    let recorded = runner.record(&programs).map_err(super::build::crashed)?;
    harvest.left_out.extend(recorded.died);
    // All calls of a function are one program: the first that gives samples speaks for them.
    let mut waiting: Option<String> = None;
    for recording in &recorded.recordings {
        for walked in of_programs(recording, drawing, origin) {
            if let Some(source) = first_of.get(&walked.id) {
                waiting = Some(source.clone());
            }
            let mut own = walked.samples;
            if let Some(first) = own.first_mut() {
                first.program = waiting.take();
            }
            harvest.samples.extend(own);
            let reason = walked.reason.map(|reason| (walked.id, reason));
            harvest.left_out.extend(reason);
        }
    }
    Ok(harvest)
}
