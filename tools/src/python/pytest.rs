//! One pytest process in a worktree, and the records of our plugin.
//!
//! Results come over a side channel, a file of JSON lines that only our plugin writes; stdout is
//! never believed. A run counts as complete only when the process that wrote the first record wrote
//! the last one too and its exit code agrees.

mod cases;
mod results;

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value as Json, json};
use thiserror::Error;

use super::environment::Interpreter;
use super::plugin;
use crate::cancel::Cancel;
use crate::process::{self, Exit, ProcessError, Spec};
use crate::worktree::Worktree;

pub use cases::{Cases, function_of};
pub use results::{
    AssertionRecord, CallRecord, CollectError, ExceptionRecord, FailureRecord, FrameRecord,
    RunResults, TestOutcome, TestResult, ValueRecord,
};

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
    /// The whole run, as a raw stream in a file.
    Trace(Tracing),
}

/// What [`Mode::Trace`] records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracing {
    /// File of the raw stream.
    pub out: Utf8PathBuf,
    /// Globs of files, relative to the project; none = all of the project's.
    pub files: Option<Vec<String>>,
    /// Plain or qualified names of functions; none = all.
    pub functions: Option<Vec<String>>,
    /// Whether local states are recorded, or calls and lines alone.
    pub states: bool,
    /// Events after which recording ends.
    pub max_events: u64,
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
            deadline: Duration::from_mins(10),
            soft_limit: None,
            overlay: BTreeMap::new(),
        }
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
            Mode::Trace(tracing) => {
                config["trace_out"] = json!(tracing.out);
                config["trace_files"] = json!(tracing.files);
                config["trace_functions"] = json!(tracing.functions);
                config["trace_states"] = json!(tracing.states);
                config["trace_max_events"] = json!(tracing.max_events);
                "trace"
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
        let mut parsed = results::parse(self, &bytes, &token);
        parsed.exit = done.exit;
        parsed.elapsed = done.elapsed;
        parsed.tail = done.tail(12);
        parsed.complete = parsed.complete
            && match done.exit {
                Exit::Code(code) => results::finish_code(&bytes, &token) == Some(i64::from(code)),
                _ => false,
            };
        if !parsed.complete {
            parsed.fail_unended();
        }
        Ok(parsed)
    }
}

/// A token that the code under test cannot guess.
fn new_token() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let random = RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1))
}
