//! One pytest process in a worktree, and the records of our plugin.
//!
//! Results come over a side channel, a file of JSON lines that only our plugin writes; stdout is
//! never believed. A run counts as complete only when the process that wrote the first record wrote
//! the last one too and its exit code agrees.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use thiserror::Error;

use super::environment::Interpreter;
use super::plugin;
use crate::cancel::Cancel;
use crate::process::{self, Exit, ProcessError, Spec};
use crate::worktree::Worktree;

/// Why a pytest process could not be run at all.
#[derive(Debug, Error)]
pub enum PytestError {
    /// The process could not be run, or was interrupted.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The side channel failed.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Cause.
        source: std::io::Error,
    },
}

impl PytestError {
    /// Whether the cause is an interruption.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Process(ProcessError::Cancelled))
    }
}

/// How the tests of one worktree are run.
#[derive(Debug, Clone)]
pub struct Harness {
    /// The interpreter.
    pub interpreter: Interpreter,
    /// Folder with our Python side.
    pub plugin: Utf8PathBuf,
    /// Folder for configuration, results and temporary files.
    pub tmp: Utf8PathBuf,
    /// Top of the worktree.
    pub top: Utf8PathBuf,
    /// The project's folder in the worktree; working directory of the tests.
    pub folder: Utf8PathBuf,
    /// Root of the user's own checkout, which must not be imported from.
    pub foreign: Utf8PathBuf,
    /// Variables to pass on top of the clean environment.
    pub env: Vec<(String, String)>,
    /// Arguments to pass on every call, the user's own.
    pub args: Vec<String>,
    /// Bytes of memory that tests may use beyond what the interpreter has at start.
    pub memory_limit: Option<u64>,
}

/// What the plugin does besides reporting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Nothing.
    Run,
    /// Line coverage per test.
    Spectrum,
    /// Values of locals in the functions named, by file relative to the project and line ranges.
    Values(BTreeMap<Utf8PathBuf, Vec<(usize, usize)>>),
    /// Arguments and results of every call of a function in the files named, relative to the project.
    Calls(Vec<Utf8PathBuf>),
}

/// One run.
#[derive(Debug, Clone)]
pub struct Request {
    /// What to record.
    pub mode: Mode,
    /// Paths to collect, relative to the project's folder; empty = the project's own choice.
    pub paths: Vec<String>,
    /// Exact node ids to run; none = all.
    pub select: Option<Vec<String>>,
    /// Whether plugins that get in the way of screening are switched off.
    pub neutral: bool,
    /// Further pytest arguments.
    pub args: Vec<String>,
    /// Wall-clock limit of the process.
    pub deadline: Duration,
    /// Time after which the session stops cleanly.
    pub soft_limit: Option<Duration>,
    /// File contents in place of those on disk, by path relative to the project.
    pub overlay: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl Request {
    /// A plain run of `paths` with a limit of ten minutes.
    pub fn run(paths: Vec<String>) -> Self {
        Self {
            mode: Mode::Run,
            paths,
            select: None,
            neutral: false,
            args: Vec::new(),
            deadline: Duration::from_secs(600),
            soft_limit: None,
            overlay: BTreeMap::new(),
        }
    }
}

/// How a test ended, its phases taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestOutcome {
    /// Passed, or failed as expected.
    Passed,
    /// Failed in any phase.
    Failed,
    /// Skipped.
    Skipped,
}

/// A test's result.
#[derive(Debug, Clone)]
pub struct TestResult {
    /// How it ended.
    pub outcome: TestOutcome,
    /// Seconds of all phases.
    pub seconds: f64,
    /// The first failure.
    pub failure: Option<FailureRecord>,
    /// Whether its tear-down was reported: without it the process ended in the middle of the test.
    ended: bool,
}

/// A failure as the plugin reports it; also of a collector.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct FailureRecord {
    /// Exception.
    #[serde(default)]
    pub exc: Option<ExceptionRecord>,
    /// Stack, outermost first, absolute paths.
    #[serde(default)]
    pub frames: Vec<FrameRecord>,
    /// Both sides of a comparison.
    #[serde(default)]
    pub assertion: Option<AssertionRecord>,
    /// pytest's text.
    #[serde(default)]
    pub longrepr: Option<String>,
}

/// An exception.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ExceptionRecord {
    /// Type, qualified unless builtin.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// Message, capped.
    #[serde(default)]
    pub message: String,
}

/// A stack frame.
#[derive(Debug, Clone, Deserialize)]
pub struct FrameRecord {
    /// Absolute path.
    pub file: String,
    /// One-based.
    pub line: usize,
    /// Function name.
    #[serde(default)]
    pub func: String,
}

/// Both sides of a comparison.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct AssertionRecord {
    /// Operator.
    #[serde(default)]
    pub op: String,
    /// Left side.
    #[serde(default)]
    pub left: String,
    /// Right side.
    #[serde(default)]
    pub right: String,
    /// Whether a side is abbreviated.
    #[serde(default)]
    pub lossy: bool,
}

/// A collector that failed.
#[derive(Debug, Clone)]
pub struct CollectError {
    /// Node id of the collector.
    pub id: String,
    /// What went wrong.
    pub failure: FailureRecord,
}

/// Locals seen before a line ran.
#[derive(Debug, Clone)]
pub struct ValueRecord {
    /// Test.
    pub test: String,
    /// File relative to the project.
    pub file: Utf8PathBuf,
    /// One-based line.
    pub line: usize,
    /// Values by name, as the recorder writes them.
    pub locals: Json,
}

/// A call: what went in and what came out.
#[derive(Debug, Clone)]
pub struct CallRecord {
    /// Test.
    pub test: String,
    /// File relative to the project.
    pub file: Utf8PathBuf,
    /// Function name.
    pub function: String,
    /// Arguments, result and exception, as the recorder writes them.
    pub text: String,
}

/// Everything a run said.
#[derive(Debug, Clone)]
pub struct RunResults {
    /// pytest's root folder.
    pub rootdir: Option<Utf8PathBuf>,
    /// pytest's version.
    pub pytest: String,
    /// Node ids after selection, in run order.
    pub collected: Vec<String>,
    /// Node ids before selection.
    pub all: Vec<String>,
    /// Results by node id.
    pub tests: BTreeMap<String, TestResult>,
    /// Collectors that failed.
    pub collect_errors: Vec<CollectError>,
    /// Lines by file (relative to the project) and test; the empty test is collection.
    pub coverage: Vec<(String, BTreeMap<Utf8PathBuf, Vec<usize>>)>,
    /// Recorded values.
    pub values: Vec<ValueRecord>,
    /// Recorded calls, in order of their returns.
    pub calls: Vec<CallRecord>,
    /// Modules imported from the user's own checkout.
    pub foreign: Vec<String>,
    /// What the plugin wants said.
    pub notes: Vec<String>,
    /// Whether the session stopped at its soft limit.
    pub stopped: bool,
    /// Whether first and last record and the exit code agree.
    pub complete: bool,
    /// How the process ended.
    pub exit: Exit,
    /// Last lines of its output, for messages.
    pub tail: String,
    /// Wall-clock time.
    pub elapsed: Duration,
}

impl RunResults {
    /// Makes a failure of every test in whose middle the process ended: a set-up that passed is no
    /// test that passed.
    fn fail_unended(&mut self) {
        let message = format!(
            "the process ended in the middle of the test ({})",
            self.exit
        );
        let unended = self.tests.values_mut().filter(|test| !test.ended);
        for test in unended.filter(|test| test.outcome != TestOutcome::Failed) {
            test.outcome = TestOutcome::Failed;
            test.failure = Some(FailureRecord {
                exc: Some(ExceptionRecord {
                    kind: "Crash".into(),
                    message: message.clone(),
                }),
                ..FailureRecord::default()
            });
        }
    }

    /// Numbers of passed, failed and skipped tests; collectors that failed count as failed.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |outcome| self.tests.values().filter(|t| t.outcome == outcome).count();
        (
            count(TestOutcome::Passed),
            count(TestOutcome::Failed) + self.collect_errors.len(),
            count(TestOutcome::Skipped),
        )
    }
}

impl Harness {
    /// The harness of another worktree with the same settings.
    #[must_use]
    pub fn for_tree(&self, tree: &Worktree) -> Self {
        Self {
            top: tree.top().to_owned(),
            folder: tree.folder(),
            ..self.clone()
        }
    }

    /// A path relative to the project's folder, when it lies in it.
    pub fn relative(&self, path: &str) -> Option<Utf8PathBuf> {
        Utf8Path::new(path)
            .strip_prefix(&self.folder)
            .ok()
            .map(Utf8Path::to_owned)
    }

    /// Source roots of the worktree, in the order in which they go on the path: counterparts of what
    /// the environment imports from the user's checkout, then `src`.
    fn source_roots(&self) -> Vec<Utf8PathBuf> {
        let probe = &self.interpreter.probe;
        let mut roots: Vec<Utf8PathBuf> = Vec::new();
        let mut push = |path: Utf8PathBuf| {
            if path.is_dir() && !roots.contains(&path) {
                roots.push(path);
            }
        };
        let editable = probe.editable.iter().flat_map(|e| &e.paths);
        for path in editable.chain(&probe.sys_path) {
            if let Ok(relative) = path.strip_prefix(&self.foreign)
                && !path.starts_with(&probe.prefix)
                && !path.as_str().contains("site-packages")
            {
                let mut counterpart = self.top.join(relative);
                // A finder may map a package to its own folder: the folder above is the root.
                while counterpart.join("__init__.py").exists() && counterpart != self.top {
                    if !counterpart.pop() {
                        break;
                    }
                }
                push(counterpart);
            }
        }
        push(self.folder.join("src"));
        roots
    }

    /// The process that runs pytest with `config` for our plugin. Shared with the warm runner.
    pub(crate) fn spec(
        &self,
        config: &Json,
        paths: &[String],
        args: &[String],
    ) -> Result<Spec, PytestError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let file = self.tmp.join(format!("config-{number}.json"));
        fs::write(&file, config.to_string()).map_err(|source| PytestError::Io {
            path: file.clone(),
            source,
        })?;
        let mut python_path = vec![self.plugin.clone()];
        python_path.extend(self.source_roots());
        let joined: Vec<&str> = python_path.iter().map(|p| p.as_str()).collect();
        let separator = if cfg!(windows) { ";" } else { ":" };
        let mut spec = Spec::new(&self.interpreter.path, &self.folder)
            .args(["-m", "pytest", "-p", plugin::PLUGIN])
            .args(&self.args)
            .args(args)
            // A file name may look like an option.
            .args(paths.iter().map(|path| {
                if path.starts_with('-') {
                    format!("./{path}")
                } else {
                    path.clone()
                }
            }))
            .env("PYTHONPATH", joined.join(separator))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PYTHONHASHSEED", "0")
            .env("PYTHONIOENCODING", "utf-8")
            .env("TMPDIR", self.tmp.as_str())
            .env("NDBG_CONFIG", file.as_str())
            .env("CI", "true")
            .env("TERM", "dumb");
        spec.env.extend(self.env.iter().cloned());
        Ok(spec)
    }

    /// Configuration that every mode shares.
    pub(crate) fn config(&self, neutral: bool) -> Json {
        let probe = &self.interpreter.probe;
        // An environment may lie inside the checkout, that of a managed one's parent too.
        let installed = |path: &&Utf8PathBuf| {
            path.components()
                .any(|part| matches!(part.as_str(), "site-packages" | "dist-packages"))
        };
        let mut environments = vec![probe.prefix.clone()];
        environments.extend(probe.sys_path.iter().filter(installed).cloned());
        json!({
            "roots": [self.top],
            "foreign": self.foreign,
            "exclude_foreign": environments,
            "neutral": neutral,
            "memory_limit": self.memory_limit,
            "repr_limit": 2000,
            "output_limit": 4000,
            "max_hits": 4,
        })
    }

    /// Runs pytest once.
    pub fn run(&self, request: &Request, cancel: &Cancel) -> Result<RunResults, PytestError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let results = self.tmp.join(format!("results-{number}.jsonl"));
        let token = new_token();
        let mut config = self.config(request.neutral);
        let mode = match &request.mode {
            Mode::Run => "run",
            Mode::Spectrum => "spectrum",
            Mode::Values(functions) => {
                let trace: BTreeMap<String, &Vec<(usize, usize)>> = functions
                    .iter()
                    .map(|(file, ranges)| (self.folder.join(file).into_string(), ranges))
                    .collect();
                config["trace"] = json!(trace);
                "values"
            }
            Mode::Calls(files) => {
                let trace: BTreeMap<String, [(usize, usize); 1]> = files
                    .iter()
                    .map(|file| {
                        (
                            self.folder.join(file).into_string(),
                            [(0, usize::MAX >> 12)],
                        )
                    })
                    .collect();
                config["trace"] = json!(trace);
                config["calls_only"] = json!(true);
                "values"
            }
        };
        config["mode"] = json!(mode);
        config["results"] = json!(results);
        config["token"] = json!(token);
        config["select"] = json!(request.select);
        config["time_limit"] = json!(request.soft_limit.map(|d| d.as_secs_f64()));
        if !request.overlay.is_empty() {
            use base64::Engine as _;
            let engine = base64::engine::general_purpose::STANDARD;
            let overlay: BTreeMap<String, String> = request
                .overlay
                .iter()
                .map(|(file, bytes)| (self.folder.join(file).into_string(), engine.encode(bytes)))
                .collect();
            config["overlay"] = json!(overlay);
        }
        let spec = self
            .spec(&config, &request.paths, &request.args)?
            .deadline(request.deadline);
        let done = process::run(&spec, cancel)?;
        let bytes = fs::read(&results).unwrap_or_default();
        let _ = fs::remove_file(&results);
        let mut parsed = self.parse(&bytes, &token);
        parsed.exit = done.exit;
        parsed.elapsed = done.elapsed;
        parsed.tail = done.tail(12);
        parsed.complete = parsed.complete
            && match done.exit {
                Exit::Code(code) => finish_code(&bytes, &token) == Some(i64::from(code)),
                _ => false,
            };
        if !parsed.complete {
            parsed.fail_unended();
        }
        Ok(parsed)
    }

    fn parse(&self, bytes: &[u8], token: &str) -> RunResults {
        let mut out = RunResults {
            rootdir: None,
            pytest: String::new(),
            collected: Vec::new(),
            all: Vec::new(),
            tests: BTreeMap::new(),
            collect_errors: Vec::new(),
            coverage: Vec::new(),
            values: Vec::new(),
            calls: Vec::new(),
            foreign: Vec::new(),
            notes: Vec::new(),
            stopped: false,
            complete: false,
            exit: Exit::Code(0),
            tail: String::new(),
            elapsed: Duration::ZERO,
        };
        let mut starter = None;
        for record in records(bytes, token) {
            match record["t"].as_str().unwrap_or_default() {
                "start" => {
                    starter = record["pid"].as_i64();
                    out.rootdir = record["rootdir"].as_str().map(Utf8PathBuf::from);
                    out.pytest = text(&record["pytest"]);
                }
                "collected" => {
                    out.collected = strings(&record["ids"]);
                    out.all = strings(&record["all"]);
                }
                "collect_error" => out.collect_errors.push(CollectError {
                    id: text(&record["id"]),
                    failure: serde_json::from_value(record).unwrap_or_default(),
                }),
                "report" => merge_report(&mut out.tests, record),
                "cov" => {
                    let mut files = BTreeMap::new();
                    for (file, lines) in record["files"].as_object().into_iter().flatten() {
                        if let Some(file) = self.relative(file) {
                            let lines = lines.as_array().into_iter().flatten();
                            let lines = lines.filter_map(Json::as_u64).map(|n| n as usize);
                            files.insert(file, lines.collect());
                        }
                    }
                    out.coverage.push((text(&record["id"]), files));
                }
                "value" => {
                    if let Some(file) = record["file"].as_str().and_then(|f| self.relative(f)) {
                        out.values.push(ValueRecord {
                            test: text(&record["id"]),
                            file,
                            line: record["line"].as_u64().unwrap_or(0) as usize,
                            locals: record["locals"].clone(),
                        });
                    }
                }
                "ret" => {
                    if let Some(file) = record["file"].as_str().and_then(|f| self.relative(f)) {
                        out.calls.push(CallRecord {
                            test: text(&record["id"]),
                            file,
                            function: text(&record["func"]),
                            text: call_text(&record),
                        });
                    }
                }
                "modules" => {
                    let foreign = record["foreign"].as_array().into_iter().flatten();
                    out.foreign = foreign
                        .map(|m| format!("{} ({})", text(&m["name"]), text(&m["file"])))
                        .collect();
                }
                "note" | "internal" => out.notes.push(text(&record["message"])),
                "finish" => {
                    out.stopped = record["stopped"].as_bool().unwrap_or(false);
                    let same = record["pid"]
                        .as_i64()
                        .is_none_or(|pid| Some(pid) == starter);
                    out.complete = starter.is_some() && same;
                }
                _ => {}
            }
        }
        out
    }
}

/// A token that the code under test cannot guess.
fn new_token() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let random = RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1))
}

/// Argument and result texts of a call and its exception, without the attributes of objects.
fn call_text(record: &Json) -> String {
    let mut parts = Vec::new();
    for (name, value) in record["args"].as_object().into_iter().flatten() {
        parts.push(format!("{name}={}", text(&value["v"])));
    }
    let result = text(&record["value"]["v"]);
    parts.push(format!("-> {result} {}", text(&record["exc"])));
    parts.join(", ")
}

/// Whole records that carry the token; a line cut off by a killed process is no record.
fn records<'a>(bytes: &'a [u8], token: &'a str) -> impl Iterator<Item = Json> + 'a {
    bytes
        .split(|&b| b == b'\n')
        .filter_map(|line| serde_json::from_slice::<Json>(line).ok())
        .filter(move |record| record["k"].as_str() == Some(token))
}

fn finish_code(bytes: &[u8], token: &str) -> Option<i64> {
    records(bytes, token)
        .filter(|record| record["t"] == "finish")
        .last()
        .and_then(|record| record["exit"].as_i64())
}

fn merge_report(tests: &mut BTreeMap<String, TestResult>, record: Json) {
    let failed = record["outcome"] == "failed";
    let skipped = record["outcome"] == "skipped" && !record["xfail"].as_bool().unwrap_or(false);
    let test = tests.entry(text(&record["id"])).or_insert(TestResult {
        outcome: TestOutcome::Passed,
        seconds: 0.0,
        failure: None,
        ended: false,
    });
    test.ended |= record["when"] == "teardown";
    test.seconds += record["duration"].as_f64().unwrap_or(0.0);
    if failed {
        test.outcome = TestOutcome::Failed;
        if test.failure.is_none() {
            test.failure = Some(serde_json::from_value(record).unwrap_or_default());
        }
    } else if skipped && test.outcome == TestOutcome::Passed {
        test.outcome = TestOutcome::Skipped;
    }
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn strings(value: &Json) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}
