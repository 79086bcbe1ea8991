//! One task of a benchmark run: its environment, `fix` as a child, the judgement of what it hands back.

use std::fs;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tasks::tree::Tree;
use ndbg_tasks::{Class, Environments, Infrastructure, Instance, Judge, Known, Prepared};
use ndbg_tools::Cancel;
use ndbg_tools::process::{self, ProcessError, Spec};

use super::measure::heard;
use super::record::{Ending, Record, Subject};
use crate::outcome::Outcome;

/// Tries of a task whose surroundings fail.
const TRIES: u32 = 2;

/// What every task is run with.
#[derive(Debug)]
pub struct Attempts {
    /// The program.
    pub program: Utf8PathBuf,
    /// Makes environments.
    pub environments: Environments,
    /// Judges patches.
    pub judge: Judge,
    /// Wall-clock limit of `fix`.
    pub max_time: Duration,
    /// Candidates that `fix` runs at a time.
    pub fix_jobs: usize,
    /// Further arguments of `fix`.
    pub fix_arguments: Vec<String>,
    /// Judge the known repairs instead of running `fix`.
    pub gold: bool,
}

/// Tries a task; a failure of its surroundings that may pass is given a second chance. None when it was
/// interrupted.
pub fn attempt(
    attempts: &Attempts,
    instance: &Instance,
    out: &Utf8Path,
    say: &mut dyn FnMut(&str),
    cancel: &Cancel,
) -> Option<Record> {
    let mut tries = 1;
    loop {
        let begun = Instant::now();
        let result = once(attempts, instance, out, say, cancel);
        if cancel.is_set() {
            return None;
        }
        match result {
            Ok(mut record) => {
                record.tries = tries;
                record.harness_seconds = (begun.elapsed().as_secs_f64() - record.seconds).max(0.0);
                return Some(record);
            }
            Err(failure) if failure.cancelled => return None,
            Err(failure) if failure.class.is_transient() && tries < TRIES => {
                say(&format!("{}; once more", first_line(&failure.message)));
                tries += 1;
            }
            Err(failure) => {
                let mut record = Record::not_run(Subject::from(instance));
                first_line(&failure.message).clone_into(&mut record.summary);
                record.infrastructure = Some(failure);
                record.tries = tries;
                record.harness_seconds = begun.elapsed().as_secs_f64();
                return Some(record);
            }
        }
    }
}

fn once(
    attempts: &Attempts,
    instance: &Instance,
    out: &Utf8Path,
    say: &mut dyn FnMut(&str),
    cancel: &Cancel,
) -> Result<Record, Infrastructure> {
    let disk = |error: std::io::Error| Infrastructure::new(Class::Disk, format!("{out}: {error}"));
    // What an earlier try left would look like this one's.
    match fs::remove_dir_all(out) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(disk(error)),
        _ => {}
    }
    fs::create_dir_all(out).map_err(disk)?;
    let prepared = attempts.environments.prepare(instance, say, cancel)?;
    let tree = Tree::of(instance, &prepared, cancel)?;
    if !prepared.warm {
        say("running its tests without a patch");
    }
    let known = attempts.judge.known(instance, &prepared, &tree, cancel)?;
    let patch_file = out.join("patch.diff");
    let mut record = if attempts.gold {
        let reference = instance.reference.clone().unwrap_or_default();
        fs::write(&patch_file, reference).map_err(disk)?;
        Record::not_run(Subject::from(instance))
    } else {
        run_fix(attempts, instance, &prepared, &known, &tree, out, cancel)?
    };
    let patch = fs::read(&patch_file).unwrap_or_default();
    let grade = attempts
        .judge
        .judge(instance, &prepared, &known, &patch, cancel)?;
    if attempts.gold
        && let Some(reason) = grade.reason.as_ref().filter(|reason| {
            reason.starts_with("does not apply") || reason.starts_with("no unified diff")
        })
    {
        return Err(Infrastructure::new(
            Class::Baseline,
            format!("the known repair: {reason}"),
        ));
    }
    record.grade(grade);
    record.environment_made = !prepared.warm;
    record.broken_here = known.broken_here.len();
    Ok(record)
}

fn run_fix(
    attempts: &Attempts,
    instance: &Instance,
    prepared: &Prepared,
    known: &Known,
    tree: &Tree,
    out: &Utf8Path,
    cancel: &Cancel,
) -> Result<Record, Infrastructure> {
    let mut spec = Spec::new(&attempts.program, tree.scratch())
        .args(["fix", "--json", "--repo", tree.top().as_str()])
        .args(["--out", out.as_str()])
        .args(["--max-time", &attempts.max_time.as_secs().to_string()])
        .args(["--python", prepared.interpreter.path.as_str()]);
    for target in targets(instance, known) {
        spec = spec.args(["--test", &target]);
    }
    for argument in instance.pytest_args.iter().chain(&instance.hidden.args) {
        spec = spec.arg(format!("--pytest-arg={argument}"));
    }
    if instance.hidden.files.is_empty() {
        for id in &known.hidden {
            spec = spec.arg(format!("--pytest-arg=--deselect={id}"));
        }
    }
    for (name, value) in &instance.env {
        spec = spec.arg(format!("--env={name}={value}"));
    }
    if !super::fix_arguments::names(&attempts.fix_arguments, "--jobs") {
        spec = spec.args(["--jobs", &attempts.fix_jobs.to_string()]);
    }
    spec = spec.args(&attempts.fix_arguments);
    // The child is this program: it needs the keys that it keeps from its own children.
    for (name, value) in std::env::vars_os() {
        // What is no text names no key.
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
            spec = spec.env(name, value);
        }
    }
    // Whatever the child leaves behind goes away with the copy.
    spec = spec.env("TMPDIR", tree.tmp());
    spec.output_cap = 512 << 20;
    // The child ends by itself at its limit; this is for one that does not.
    let spec = spec.deadline(attempts.max_time * 2 + Duration::from_mins(2));
    let done = process::run(&spec, cancel).map_err(|error| match error {
        ProcessError::Cancelled => Infrastructure::interrupted(),
        other => Infrastructure::new(Class::Program, other.to_string()),
    })?;
    let record = heard(Subject::from(instance), &done);
    match record.ending {
        Ending::Said(Outcome::Environment | Outcome::Usage) | Ending::Crashed | Ending::Killed => {
            Err(Infrastructure::new(
                Class::Program,
                format!("fix: {}: {}", record.ending.word(), record.summary),
            ))
        }
        _ => Ok(record),
    }
}

/// What `fix` is asked to make pass.
fn targets(instance: &Instance, known: &Known) -> Vec<String> {
    if !instance.targets.is_empty() {
        return instance.targets.clone();
    }
    let visible = known.fail_to_pass.iter();
    visible
        .filter(|id| !known.hidden.contains(id))
        .cloned()
        .collect()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
