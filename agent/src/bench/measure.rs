//! One task: a fresh repository, this program as a child, the grade of what it hands back.

use std::fs;
use std::time::Duration;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tasks::tree::Tree;
use ndbg_tasks::{Grader, Task};
use ndbg_tools::Cancel;
use ndbg_tools::process::{self, Exit, Finished, Spec};

use super::record::{Ending, Record, Subject};
use crate::report::event::{Event, Stamped};

/// A record from what a finished `fix --json` said.
pub fn heard(subject: Subject<'_>, done: &Finished) -> Record {
    let events: Vec<Stamped> = done
        .stdout
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let said = events.iter().rev().find_map(|stamped| match stamped.event {
        Event::Finished { outcome, .. } => Some(outcome),
        _ => None,
    });
    let ending = match (said, done.exit) {
        (Some(outcome), _) => Ending::Said(outcome),
        (None, Exit::TimedOut) => Ending::Killed,
        (None, _) => Ending::Crashed,
    };
    let mut record = Record::from_events(subject, &events, ending, done.elapsed.as_secs_f64());
    if said.is_none() {
        record.summary = format!("{}: {}", done.exit, done.tail(2));
    }
    record
}

/// What every task is run with.
#[derive(Debug)]
pub struct Measure {
    /// The program.
    pub program: Utf8PathBuf,
    /// Wall-clock limit of `fix`.
    pub max_time: Duration,
    /// Candidates that `fix` runs at a time.
    pub fix_jobs: usize,
    /// Where run folders are kept.
    pub runs: Option<Utf8PathBuf>,
    /// Judges the patches; its interpreter runs the tests of `fix`, too.
    pub grader: Grader,
}

impl Measure {
    /// Runs and grades `task`.
    pub fn task(&self, task: &Task, cancel: &Cancel) -> anyhow::Result<Record> {
        let tree = Tree::visible(task, cancel)?;
        let out = match &self.runs {
            Some(folder) => folder.join(&task.name),
            None => tree.scratch().join("out"),
        };
        fs::create_dir_all(&out).with_context(|| format!("cannot make `{out}`"))?;
        let spec = self.command(task, &tree, &out);
        let done = process::run(&spec, cancel)?;
        let mut record = heard(Subject::from(task), &done);
        let patch = fs::read(out.join("patch.diff")).unwrap_or_default();
        record.grade(self.grader.grade(task, &patch, cancel)?);
        Ok(record)
    }

    fn command(&self, task: &Task, tree: &Tree, out: &Utf8Path) -> Spec {
        let mut spec = Spec::new(&self.program, tree.scratch())
            .args(["fix", "--json", "--repo", tree.top().as_str()])
            .args(["--out", out.as_str()])
            .args(["--max-time", &self.max_time.as_secs().to_string()])
            .args(["--jobs", &self.fix_jobs.to_string()])
            .args(["--python", self.grader.interpreter.path.as_str()]);
        for test in &task.test {
            spec = spec.args(["--test", test]);
        }
        for argument in task.seeded().into_iter().flat_map(|s| &s.pytest_args) {
            spec = spec.arg(format!("--pytest-arg={argument}"));
        }
        // Whatever the child leaves behind goes away with the copy.
        spec = spec.env("TMPDIR", tree.tmp());
        spec.output_cap = 512 << 20;
        // The child ends by itself at its limit; this is for one that does not.
        spec.deadline(self.max_time * 2 + Duration::from_mins(1))
    }
}
