//! Records a test run or a script into a `.ndbg` folder.

use std::fs;
use std::io::BufReader;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::recording::{Record, Structure};
use ndbg_tools::Cancel;
use ndbg_tools::process::{self, Exit, Spec, Streams};
use ndbg_tools::project::Project;
use ndbg_tools::python::environment;
use ndbg_tools::python::plugin;
use ndbg_tools::python::pytest::{Mode, Tracing};
use ndbg_tools::source::SourceFile;
use ndbg_tools::trace::{self, FolderError, RawReader, Written};
use ndbg_tools::worktree::Scratch;

use super::focus::Focus;
use crate::fix::baseline::Baseline;
use crate::fix::budget::Budget;
use crate::fix::session::{self, environment_folders};
use crate::fix::settings::ProjectSettings;
use crate::fix::stop::Stop;
use crate::fix::target::Target;
use crate::fix::target_run;
use crate::outcome::Outcome;
use crate::report::Reporter;

/// What to record.
#[derive(Debug, Clone)]
pub enum Subject {
    /// The tests that the project settings name.
    Tests,
    /// A script with its arguments.
    Script(Utf8PathBuf, Vec<String>),
}

/// How to record.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Project, interpreter, limits of children.
    pub project: ProjectSettings,
    /// What.
    pub subject: Subject,
    /// Which functions and files.
    pub focus: Focus,
    /// Whether local states are recorded.
    pub states: bool,
    /// Events after which recording ends.
    pub max_events: u64,
    /// Folder of the recording.
    pub out: Utf8PathBuf,
    /// Command line, for the recording's own description.
    pub command: Vec<String>,
    /// Wall-clock limit of the recorded run.
    pub limit: Duration,
    /// Whether a script gets our standard input.
    pub input: bool,
    /// Whether tests are run once before for their path alone.
    pub twice: bool,
}

/// What was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// Folder.
    pub folder: Utf8PathBuf,
    /// Size.
    pub written: Written,
    /// How the script ended; none for tests.
    pub exit: Option<Exit>,
    /// Passed, failed and skipped tests; none for a script.
    pub counts: Option<(usize, usize, usize)>,
    /// Seconds that the recorded run took.
    pub seconds: f64,
    /// Whether both passes took the same path, where there were two.
    pub same_path: Option<bool>,
}

impl From<FolderError> for Stop {
    fn from(error: FolderError) -> Self {
        let hint = match &error {
            FolderError::Occupied(_) => "name another folder with `--out`",
            FolderError::NotOne(_) => {
                "give a folder that `ndbg-agent trace` wrote, or none for the newest one"
            }
            FolderError::Version { .. } => "record the run again with this version",
            FolderError::Io { .. } | FolderError::Raw(_) => "",
        };
        let outcome = match &error {
            FolderError::Io { source, .. } if source.kind() != std::io::ErrorKind::NotFound => {
                Outcome::Environment
            }
            FolderError::Raw(_) => Outcome::Environment,
            _ => Outcome::Usage,
        };
        Self::new(outcome, error.to_string()).hint(hint)
    }
}

/// Records.
pub fn record(settings: &Settings, reporter: &Reporter, cancel: &Cancel) -> Result<Recorded, Stop> {
    if let Subject::Script(script, _) = &settings.subject
        && !script.is_file()
    {
        return Err(Stop::new(Outcome::Usage, format!("no script `{script}`")));
    }
    let new = !settings.out.exists();
    trace::claim(&settings.out)?;
    let recorded = match &settings.subject {
        Subject::Tests => tests(settings, reporter, cancel),
        Subject::Script(script, arguments) => run_script(settings, script, arguments, cancel),
    };
    if new && recorded.is_err() {
        // Goes away only while it is empty.
        let _ = fs::remove_dir(&settings.out);
    }
    recorded
}

fn tests(settings: &Settings, reporter: &Reporter, cancel: &Cancel) -> Result<Recorded, Stop> {
    let folder = settings.project.repo.canonicalize_utf8().map_err(|_| {
        Stop::from(ndbg_tools::project::ProjectError::NotAFolder(
            settings.project.repo.clone(),
        ))
    })?;
    let texts = &settings.project.tests;
    let targets: Vec<Target> = texts
        .iter()
        .map(|text| Target::parse(text, &folder))
        .collect::<Result<_, _>>()?;
    let session = session::open(&settings.project, reporter, cancel)?;
    let raw = session.harness.tmp.join("trace.raw");
    let limits = crate::fix::settings::Limits {
        time: settings.limit,
        executions: u64::MAX,
    };
    let mut budget = Budget::start(limits, cancel);
    let mut baseline = Baseline {
        paths: target_run::unique_paths(&targets),
        ..Baseline::default()
    };
    if targets.iter().any(|target| target.inside.is_some()) {
        target_run::select(&session, &targets, &mut baseline, &mut budget)?;
    }
    let top = session.harness.folder.clone();
    let mut sources = |name: &str| source(name, &top);
    let tracing = Tracing {
        out: raw.clone(),
        files: settings.focus.files.clone(),
        functions: settings.focus.functions.clone(),
        states: settings.states,
        max_events: settings.max_events,
    };
    let first_path = if settings.twice {
        let mode = Mode::Trace(Tracing {
            states: false,
            ..tracing.clone()
        });
        target_run::run(&session, &targets, &mut baseline, None, &mode, &mut budget)?;
        let path = path_of(&raw)?;
        fs::remove_file(&raw).map_err(|e| Stop::new(Outcome::Environment, e.to_string()))?;
        session.tree.restore(cancel)?;
        path
    } else {
        None
    };
    let mode = Mode::Trace(tracing);
    let started = Instant::now();
    let results = target_run::run(&session, &targets, &mut baseline, None, &mode, &mut budget);
    let seconds = started.elapsed().as_secs_f64();
    let results = match results {
        Ok(results) => results,
        Err(stop) => return Err(keep_what_there_is(settings, &raw, &mut sources, stop)),
    };
    if results.tests.is_empty() {
        target_run::check_collected(&targets, &baseline, &results)?;
        if let Some(error) = results.collect_errors.first() {
            let kind = error
                .failure
                .exc
                .as_ref()
                .map(|e| format!("{}: {}", e.kind, e.message));
            return Err(Stop::new(
                Outcome::Environment,
                format!(
                    "`{}` cannot be collected: {}",
                    error.id,
                    kind.unwrap_or_default()
                ),
            ));
        }
        return Err(Stop::new(
            Outcome::Environment,
            "no test ran, so there is nothing to record",
        ));
    }
    let same_path = match first_path {
        Some(first) => Some(path_of(&raw)? == Some(first)),
        None => None,
    };
    let written = trace::write(&settings.out, &raw, settings.command.clone(), &mut sources)?;
    Ok(Recorded {
        folder: settings.out.clone(),
        written,
        exit: None,
        counts: Some(results.counts()),
        seconds,
        same_path,
    })
}

fn run_script(
    settings: &Settings,
    script: &Utf8Path,
    arguments: &[String],
    cancel: &Cancel,
) -> Result<Recorded, Stop> {
    let project = &settings.project;
    let absolute = camino::absolute_utf8(script)
        .map_err(|error| Stop::new(Outcome::Usage, format!("`{script}`: {error}")))?;
    let cwd = camino::absolute_utf8(".")
        .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
    let repo = Project::open(&project.repo, cancel)?;
    let scratch = Scratch::new(&repo)?;
    let found = environment::discover(
        project.python.as_deref(),
        &environment_folders(&repo),
        cancel,
    );
    let (interpreter, _) = environment::choose(&found, &repo.root, cancel)?;
    let plugin = plugin::install(&scratch.path().join("plugin"))
        .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
    let raw = scratch.tmp().join("trace.raw");
    let config = scratch.tmp().join("trace.json");
    let mut roots = vec![repo.root.clone()];
    roots.extend(absolute.parent().map(Utf8Path::to_owned));
    let contents = serde_json::json!({
        "script": script, "args": arguments, "out": raw, "roots": roots,
        "files": settings.focus.files, "functions": settings.focus.functions,
        "states": settings.states, "max_events": settings.max_events,
        "memory_limit": project.memory_limit,
    });
    fs::write(&config, contents.to_string())
        .map_err(|error| Stop::new(Outcome::Environment, format!("{config}: {error}")))?;
    let mut spec = Spec::new(&interpreter.path, &cwd)
        .arg(plugin.join("ndbg_trace_script.py"))
        .arg(&config)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONIOENCODING", "utf-8")
        .deadline(settings.limit);
    spec.env.extend(project.env.iter().cloned());
    spec.streams = if settings.input {
        Streams::Shown
    } else {
        Streams::Watched
    };
    let done = process::run(&spec, cancel).map_err(|error| match error {
        process::ProcessError::Cancelled => Stop::interrupted(),
        other => Stop::new(Outcome::Environment, other.to_string()),
    });
    if !raw.exists() {
        done?;
        return Err(Stop::new(
            Outcome::Environment,
            "the recorder did not start",
        ));
    }
    let mut sources = |name: &str| source(name, &repo.folder());
    let done = match done {
        Ok(done) => done,
        Err(stop) => return Err(keep_what_there_is(settings, &raw, &mut sources, stop)),
    };
    let written = trace::write(&settings.out, &raw, settings.command.clone(), &mut sources)?;
    Ok(Recorded {
        folder: settings.out.clone(),
        written,
        exit: Some(done.exit),
        counts: None,
        seconds: done.elapsed.as_secs_f64(),
        same_path: None,
    })
}

/// The path that a recorded run took, as its recorder sums it up.
fn path_of(raw: &Utf8Path) -> Result<Option<Structure>, Stop> {
    let wrong = |error: String| Stop::new(Outcome::Environment, error);
    let file = fs::File::open(raw).map_err(|error| wrong(format!("{raw}: {error}")))?;
    let reader = RawReader::start(BufReader::new(file));
    let mut reader = reader.map_err(|error| wrong(error.to_string()))?;
    let mut sources = |name: &str| (name.to_owned(), None);
    let mut path = None;
    while let Some(record) = reader
        .next_record(&mut sources)
        .map_err(|error| wrong(error.to_string()))?
    {
        if let Record::End(end) = record {
            path = end.structure;
        }
    }
    Ok(path)
}

/// Writes what was recorded before a run was stopped, and says where it is.
fn keep_what_there_is(
    settings: &Settings,
    raw: &Utf8Path,
    sources: &mut trace::Sources<'_>,
    stop: Stop,
) -> Stop {
    match trace::write(&settings.out, raw, settings.command.clone(), sources) {
        Ok(written) if written.events > 0 => stop.hint(format!(
            "what was recorded until then is kept: `ndbg-agent debug {}`",
            settings.out
        )),
        // The stop is what counts; nothing was recorded that could be kept.
        _ => stop,
    }
}

/// Name relative to the project, and text, of a source file.
pub fn source(name: &str, folder: &Utf8Path) -> (String, Option<String>) {
    let path = Utf8Path::new(name);
    let shown = path
        .strip_prefix(folder)
        .map_or(name, Utf8Path::as_str)
        .to_owned();
    let text = fs::read(path)
        .ok()
        .and_then(|bytes| SourceFile::decode(shown.as_str(), bytes).ok())
        .map(|file| file.text().to_owned());
    (shown, text)
}
