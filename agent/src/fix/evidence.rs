//! The failing tests, recorded with all states, and answers to what a model asks about them and the source.

use std::cell::{Cell, OnceCell};
use std::fs;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::harness::{self, Limits, Program};
use ndbg_simulator::recording::Recording;
use ndbg_tools::python::executions::Goal;
use ndbg_tools::python::pytest::{Mode, Request, Tracing};
use ndbg_tools::trace::{self, Opened};

use super::baseline::Baseline;
use super::localize::Localization;
use super::reproduce::{runner, subject};
use super::session::Session;
use crate::infer::{self, Settings, Sources};
use crate::model::{self, Model, Named, Served};
use crate::plan::llm::Lookup;
use crate::simulate::{self, Shown};

/// Failing tests that are recorded, and events of the recording.
const TESTS: usize = 3;
const EVENTS: u64 = 200_000;
/// Time for it.
const SOFT: Duration = Duration::from_secs(20);
const HARD: Duration = Duration::from_secs(40);
/// With less time than this left, nothing is recorded.
const LEAST: Duration = Duration::from_secs(1);
/// Files of suspicious functions that are recorded.
const FILES: usize = 20;
/// What an inferred input may take.
const SECONDS: f64 = 3.0;
const EXECUTIONS: usize = 20_000;
/// Predicted states, and characters of a file that is read.
const STATES: usize = 60;
const LARGEST: u64 = 400_000;

/// Answers from a session.
pub struct Evidence<'a> {
    session: &'a Session,
    baseline: &'a Baseline,
    found: &'a Localization,
    /// When the run ends.
    deadline: Instant,
    /// Test runs that it took.
    test_runs: &'a Cell<u64>,
    /// Recorded when it is looked at first: a search before may make it needless.
    opened: OnceCell<Option<Opened>>,
    /// Whether the functions of the tests are recorded, too.
    with_tests: bool,
}

impl<'a> Evidence<'a> {
    /// Nothing is recorded yet, unless `opened` is that; the runs that this will take are added to `test_runs`.
    pub fn new(
        session: &'a Session,
        baseline: &'a Baseline,
        found: &'a Localization,
        deadline: Instant,
        test_runs: &'a Cell<u64>,
        opened: Option<Opened>,
    ) -> Self {
        Self {
            session,
            baseline,
            found,
            deadline,
            test_runs,
            with_tests: false,
            opened: opened.map_or_else(OnceCell::new, |opened| OnceCell::from(Some(opened))),
        }
    }

    /// The recording, made now, with the frames of the failing tests themselves; it can be handed to another one.
    pub fn record(mut self) -> Option<Opened> {
        self.with_tests = true;
        self.recording();
        self.opened.take().flatten()
    }
}

/// Records the failing tests; nothing when the run fails, since it only helps.
fn recorded(evidence: &Evidence<'_>) -> Option<Opened> {
    let Evidence {
        session,
        baseline,
        found,
        ..
    } = evidence;
    if baseline.collection_fails || found.functions.is_empty() {
        return None;
    }
    let left = (evidence.deadline).saturating_duration_since(Instant::now());
    if left < LEAST {
        return None;
    }
    session.tree.restore(&session.cancel).ok()?;
    let mut files: Vec<String> = Vec::new();
    for function in &found.functions {
        // The project may lie below the top of its repository, and paths begin there.
        let glob = format!("*/{}", function.file);
        if !files.contains(&glob) && files.len() < FILES {
            files.push(glob);
        }
    }
    let raw = session.harness.tmp.join("evidence.raw");
    let mut tests = baseline.failing_ids();
    tests.truncate(TESTS);
    if evidence.with_tests {
        for id in &tests {
            let glob = format!("*/{}", baseline.file_of(id));
            if !files.contains(&glob) {
                files.push(glob);
            }
        }
    }
    let request = Request {
        mode: Mode::Trace(Tracing {
            out: raw.clone(),
            files: Some(files),
            functions: None,
            states: true,
            max_events: EVENTS,
        }),
        select: Some(tests),
        neutral: true,
        args: baseline.args.clone(),
        soft_limit: Some(SOFT),
        deadline: HARD.min(left),
        ..Request::run(baseline.paths.clone())
    };
    evidence.test_runs.set(evidence.test_runs.get() + 1);
    session.harness.run(&request, &session.cancel).ok()?;
    let folder = session.scratch.path().join("evidence.ndbg");
    let top = session.harness.folder.clone();
    let mut sources = |name: &str| crate::trace::source(name, &top);
    trace::write(&folder, &raw, Vec::new(), &mut sources).ok()?;
    trace::open(&folder).ok()
}

impl Evidence<'_> {
    /// A path of the project's worktree that does not leave it, links followed.
    fn inside(&self, file: &Utf8Path) -> Option<Utf8PathBuf> {
        let folder = self.session.harness.folder.canonicalize_utf8().ok()?;
        let path = folder.join(file).canonicalize_utf8().ok()?;
        path.starts_with(&folder).then_some(path)
    }
}

impl Lookup for Evidence<'_> {
    fn recording(&self) -> Option<&Recording> {
        let opened = self.opened.get_or_init(|| recorded(self)).as_ref()?;
        Some(&opened.recording)
    }

    fn source(&self, file: &Utf8Path) -> Option<String> {
        let path = self.inside(file)?;
        let is_small = fs::metadata(&path).is_ok_and(|data| data.is_file() && data.len() < LARGEST);
        is_small.then(|| fs::read_to_string(&path).ok()).flatten()
    }

    fn files(&self) -> Vec<String> {
        let folder = &self.session.harness.folder;
        let mut found = Vec::new();
        let mut waiting = vec![folder.clone()];
        while let Some(at) = waiting.pop() {
            for entry in at.read_dir_utf8().into_iter().flatten().flatten() {
                let path = entry.path();
                let is_hidden = entry.file_name().starts_with('.');
                // Links are not followed: they may lead outside.
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if kind.is_dir() && !is_hidden && found.len() < 5_000 {
                    waiting.push(path.to_owned());
                } else if kind.is_file()
                    && path.extension() == Some("py")
                    && let Ok(name) = path.strip_prefix(folder)
                {
                    found.push(name.to_string());
                }
            }
        }
        found.sort();
        found
    }

    fn infer(&self, file: &Utf8Path, function: &str, goal: &str, wanted: &str) -> String {
        if self.inside(file).is_none() {
            return format!("`{file}` is no file of the project");
        }
        let goal = match goal {
            "returns" => match infer::value(wanted) {
                Ok(_) => Goal::Returns(wanted.trim().to_owned()),
                Err(stop) => return stop.message,
            },
            "raises" => Goal::Raises(wanted.trim().to_owned()),
            "reaches" => match wanted.trim().parse() {
                Ok(line) => Goal::Reaches(line),
                Err(_) => return format!("`{wanted}` is no line"),
            },
            other => return format!("`{other}` is no goal"),
        };
        let Some(runner) = runner(self.session) else {
            return "there is no room for it".into();
        };
        let settings = Settings {
            subject: subject(self.session, file, function),
            goal,
            sources: Sources {
                search: true,
                model: false,
            },
            seconds: SECONDS,
            executions: EXECUTIONS,
            call_seconds: infer::CALL_SECONDS,
            count: 3,
            seed: 0,
        };
        match infer::infer_from(&settings, None, &runner, infer::Past::default()) {
            Ok(inferred) => {
                let answer = infer::answer(&settings, &inferred);
                format!("{}{}", answer.calls, answer.remarks)
            }
            Err(stop) => stop.message,
        }
    }

    fn simulate(&self, file: &Utf8Path, call: &str) -> String {
        let Some(source) = self.source(file) else {
            return format!("`{file}` is no file of the project");
        };
        let program = match Program::parse(&source, call) {
            Ok(program) => program,
            Err(error) => return format!("the call does not parse: {error}"),
        };
        let served = Served::default();
        let Ok(Model::Step(model)) =
            model::open(&Named::Embedded, &served, None, &self.session.cancel)
        else {
            return "there is no model".into();
        };
        let limits = Limits {
            events: STATES,
            ..Limits::default()
        };
        let run = harness::run(&program, &*model, limits);
        let mut text = String::new();
        for at in 0..run.events.len() {
            text.push_str(&simulate::text(&program, &run, at, false, Shown::Predicted));
        }
        text + &simulate::ending(&run)
    }
}
