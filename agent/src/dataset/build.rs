//! Building a data set: the list of units, a shard of them, and the merge.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_dataset::choosing::Choosing;
use ndbg_dataset::decontaminate::{Benchmark, RUN};
use ndbg_dataset::manifest::{Manifest, Recipe};
use ndbg_dataset::merge::{Merging, merge};
use ndbg_dataset::near_duplicates::NearOptions;
use ndbg_dataset::profile::Profile;
use ndbg_dataset::sample::{Harvest, Skip, Unit};
use ndbg_dataset::shard::{RunOptions, Shard, ShardError, ShardReport, Worker, run_shard};
use ndbg_simulator::grammar::step::Vocabulary;
use ndbg_tools::Cancel;
use ndbg_tools::python::environment;
use ndbg_tools::python::plugin;
use serde::{Deserialize, Serialize};

use super::functions::{self, Files, Finder};
use super::generated;
use super::operations;
use super::programs::Runner;
use super::repository;
use super::trajectories::{Directions, Drawing, Grammar};
use crate::fix::session::{self, Session};
use crate::fix::settings::ProjectSettings;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::Reporter;

/// Where programs come from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Random programs.
    Generated,
    /// Plain functions of files, with inputs that were tried.
    Functions,
    /// The examples of docstrings.
    Doctests,
    /// The tests of a repository.
    Tests,
    /// Single operations on drawn values, for the grammar `step`.
    Drills,
}

/// What a data set is made of: kept beside it, so that every shard and the merge agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Version of this file.
    pub format: u32,
    /// Name, for the data card.
    pub name: String,
    /// Sources.
    pub sources: Vec<Source>,
    /// Generated programs.
    pub count: u64,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Files for functions and doctests, the project's name and licence for tests too.
    pub files: Files,
    /// Repository for tests.
    pub repo: Option<Utf8PathBuf>,
    /// Interpreter.
    pub python: Option<Utf8PathBuf>,
    /// Grammar.
    pub grammar: Grammar,
    /// Directions.
    pub directions: Directions,
    /// Walks of each direction.
    pub walks: u32,
    /// Most states of a walk.
    pub cap: usize,
    /// Share of functions that validate.
    pub validation: f64,
    /// Whether duplicates stay.
    pub keep_duplicates: bool,
    /// Benchmark files, with the field that holds code, that the data must not touch.
    pub benchmarks: Vec<(Utf8PathBuf, String)>,
    /// Whether token shards are written.
    pub tokens: bool,
    /// Bytes of memory that programs may use.
    pub memory_limit: Option<u64>,
}

/// What was built.
#[derive(Debug)]
pub struct Built {
    /// The shard.
    pub report: ShardReport,
    /// The merged set, when all of the work was done here.
    pub manifest: Option<Manifest>,
    /// Seconds for the shard.
    pub seconds: f64,
    /// Transitions in the parts that this run wrote.
    pub transitions: u64,
}

/// Tells how far it is: units done, of how many, samples, transitions.
pub type Progress<'a> = dyn FnMut(usize, usize, u64) + 'a;

const SETTINGS: &str = "settings.json";
const PARTS: &str = "parts";

/// A failure of a unit, from any error.
pub(super) fn crashed(error: impl std::fmt::Display) -> Skip {
    Skip::Crashed {
        reason: error.to_string(),
    }
}

struct Sources {
    settings: Settings,
    profile: Profile,
    runner: Runner,
    session: Option<Session>,
    python: String,
}

impl Worker for Sources {
    fn run(&self, unit: &Unit) -> Result<Harvest, Skip> {
        let drawing = drawing(&self.settings);
        match (unit.source.as_str(), &self.session) {
            ("drills", _) => operations::drills(unit, &self.runner, &drawing),
            ("generated", _) => generated::run(unit, &self.profile, &self.runner, &drawing),
            ("tests", Some(session)) => repository::run(unit, session, &drawing),
            _ => functions::run(unit, &self.runner, &drawing),
        }
    }

    fn fingerprint(&self) -> String {
        // The interpreter's version, not its path: shards run on different machines.
        format!(
            "{} python {} {}",
            env!("CARGO_PKG_VERSION"),
            self.python,
            serde_json::to_string(&drawing(&self.settings)).unwrap_or_default()
        )
    }

    fn is_stopped(&self) -> bool {
        self.runner.cancel.is_set()
    }
}

fn drawing(settings: &Settings) -> Drawing {
    Drawing {
        seed: settings.seed,
        cap: settings.cap,
        walks: settings.walks,
        directions: settings.directions,
        grammar: settings.grammar,
    }
}

impl From<ShardError> for Stop {
    fn from(error: ShardError) -> Self {
        let stop = Self::new(Outcome::Environment, error.to_string());
        match error {
            ShardError::Stopped => Self::interrupted(),
            ShardError::Part { .. } => stop.hint("build the missing shards, then merge again"),
            ShardError::Io { path, source }
                if source.kind() == std::io::ErrorKind::NotFound
                    && path.to_string_lossy().contains(PARTS) =>
            {
                stop.hint("build the missing shards, then merge again")
            }
            _ => stop,
        }
    }
}

fn environment_error(path: &Utf8Path) -> impl Fn(std::io::Error) -> Stop + '_ {
    move |error| Stop::new(Outcome::Environment, format!("{path}: {error}"))
}

/// Builds a shard; merges when it is all of the work.
pub fn build(
    settings: &Settings,
    out: &Utf8Path,
    shard: Shard,
    reporter: &Reporter,
    cancel: &Cancel,
    progress: &mut Progress<'_>,
) -> Result<Built, Stop> {
    let scratch = tempfile::tempdir().map_err(environment_error(out))?;
    let sources = open(settings, &scratch, reporter, cancel)?;
    let units = units(&sources)?;
    benchmark(settings)?;
    // Last: what is wrong so far must not leave a folder behind that a right command stumbles over.
    keep_settings(settings, out)?;
    let started = Instant::now();
    let mine = (0..units.len()).filter(|&index| shard.takes(index)).count();
    let parts = out.join(PARTS);
    let options = RunOptions {
        shard,
        retry_crashed: true,
    };
    let (mut finished, mut transitions) = (0, 0);
    progress(0, mine, 0);
    let report = run_shard(
        &sources,
        &units,
        options,
        parts.as_std_path(),
        |_, header| {
            finished += 1;
            transitions += header.transitions;
            progress(finished, mine, transitions);
        },
    )?;
    let seconds = started.elapsed().as_secs_f64();
    let manifest = if shard == Shard::WHOLE {
        Some(merge_with(&sources, &units, out, out)?)
    } else {
        None
    };
    Ok(Built {
        report,
        manifest,
        seconds,
        transitions,
    })
}

/// Merges the parts of a data set whose shards were built.
pub fn merge_parts(
    from: &Utf8Path,
    to: &Utf8Path,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<Manifest, Stop> {
    let path = from.join(SETTINGS);
    let text = fs::read_to_string(&path).map_err(|error| {
        Stop::new(
            Outcome::Usage,
            format!("`{from}` holds no data set ({error})"),
        )
        .hint("name the folder that `dataset build --out` was given")
    })?;
    let settings: Settings = serde_json::from_str(&text)
        .map_err(|error| Stop::new(Outcome::Usage, format!("{path}: {error}")))?;
    if from != to {
        let foreign = to.is_file()
            || (to.is_dir()
                && !to.join("manifest.json").exists()
                && to
                    .read_dir_utf8()
                    .map_err(environment_error(to))?
                    .next()
                    .is_some());
        if foreign {
            let message = format!("`{to}` is not empty and holds no data set");
            return Err(Stop::new(Outcome::Usage, message).hint("name another folder with `--to`"));
        }
    }
    let scratch = tempfile::tempdir().map_err(environment_error(to))?;
    let sources = open(&settings, &scratch, reporter, cancel)?;
    let units = units(&sources)?;
    merge_with(&sources, &units, from, to)
}

/// Writes the settings down, or checks them against those that are there.
fn keep_settings(settings: &Settings, out: &Utf8Path) -> Result<(), Stop> {
    fs::create_dir_all(out).map_err(environment_error(out))?;
    let path = out.join(SETTINGS);
    if let Ok(text) = fs::read_to_string(&path) {
        let same = serde_json::from_str::<Settings>(&text).is_ok_and(|held| held == *settings);
        return if same {
            Ok(())
        } else {
            let message = format!("`{out}` holds a data set with other settings");
            Err(Stop::new(Outcome::Usage, message).hint("name another folder with `--out`"))
        };
    }
    if out
        .read_dir_utf8()
        .map_err(environment_error(out))?
        .next()
        .is_some()
    {
        let message = format!("`{out}` is not empty and holds no data set");
        return Err(Stop::new(Outcome::Usage, message).hint("name another folder with `--out`"));
    }
    let mut text = serde_json::to_string_pretty(settings).unwrap_or_default();
    text.push('\n');
    // Shards may start at once: each writes the same text and puts it in place in one step.
    let temporary = out.join(format!(".{SETTINGS}.{}", std::process::id()));
    fs::write(&temporary, text).map_err(environment_error(&temporary))?;
    fs::rename(&temporary, &path).map_err(environment_error(&path))
}

fn open(
    settings: &Settings,
    scratch: &tempfile::TempDir,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<Sources, Stop> {
    let scratch = Utf8Path::from_path(scratch.path())
        .ok_or_else(|| Stop::new(Outcome::Environment, "the temporary folder is not UTF-8"))?;
    let session = match (&settings.repo, settings.sources.contains(&Source::Tests)) {
        (Some(repo), true) => {
            let project = ProjectSettings::as_it_is(
                repo.clone(),
                settings.python.clone(),
                settings.memory_limit,
            );
            Some(session::open(&project, reporter, cancel)?)
        }
        _ => None,
    };
    let found = environment::discover(settings.python.as_deref(), &[], cancel);
    let (interpreter, _) = environment::choose(&found, scratch, cancel)?;
    let plugin = plugin::install(&scratch.join("plugin"))
        .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
    let work = scratch.join("work");
    fs::create_dir_all(&work).map_err(environment_error(&work))?;
    let profile = Profile::standard_library()
        .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
    Ok(Sources {
        settings: settings.clone(),
        profile,
        runner: Runner {
            python: interpreter.path.clone(),
            plugin,
            scratch: work,
            deadline: 2.0,
            memory_limit: settings.memory_limit,
            cancel: cancel.clone(),
        },
        session,
        python: interpreter.version(),
    })
}

fn units(sources: &Sources) -> Result<Vec<Unit>, Stop> {
    let settings = &sources.settings;
    let mut units = Vec::new();
    for source in &settings.sources {
        let files = |finder| {
            functions::units(&settings.files, finder, settings.seed).map_err(|error| {
                Stop::new(Outcome::Usage, format!("cannot read the files: {error}"))
            })
        };
        units.extend(match source {
            Source::Generated => generated::units(settings.seed, settings.count),
            Source::Drills => operations::units(settings.seed, settings.count),
            Source::Functions => files(Finder::Fuzzed)?,
            Source::Doctests => files(Finder::Doctests)?,
            Source::Tests => sources.session.as_ref().map_or_else(Vec::new, |session| {
                repository::units(session, &settings.files.project, &settings.files.licence)
            }),
        });
    }
    if units.is_empty() {
        return Err(
            Stop::new(Outcome::Usage, "there is nothing to make a data set of")
                .hint("name Python files with `--files`, or a repository with `--repo`"),
        );
    }
    Ok(units)
}

/// What the data must not hold, from all benchmark files.
fn benchmark(settings: &Settings) -> Result<Option<Benchmark>, Stop> {
    let mut lines = String::new();
    for (path, field) in &settings.benchmarks {
        let wrong = |message: String| {
            Stop::new(Outcome::Usage, format!("{path}: {message}"))
                .hint("name the field that holds code: `--decontaminate FILE:FIELD`")
        };
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let held = Benchmark::read(&text, field, RUN).map_err(|error| wrong(error.to_string()))?;
        if held.is_empty() {
            return Err(wrong("it holds no item".into()));
        }
        // Read again as one: every line is brought to one field.
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let item: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            let one = serde_json::json!({ "id": item["id"], "code": item[field.as_str()] });
            lines += &one.to_string();
            lines.push('\n');
        }
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let read = Benchmark::read(&lines, "code", RUN);
    read.map(Some)
        .map_err(|error| Stop::new(Outcome::Usage, error.to_string()))
}

fn merge_with(
    sources: &Sources,
    units: &[Unit],
    from: &Utf8Path,
    to: &Utf8Path,
) -> Result<Manifest, Stop> {
    let settings = &sources.settings;
    let benchmark = benchmark(settings)?;
    let merging = Merging {
        choosing: Choosing {
            near: (!settings.keep_duplicates).then(NearOptions::default),
            benchmark,
            validation: settings.validation,
        },
        tokens: settings.tokens,
        tokenizer: (settings.grammar == Grammar::Step).then(|| Vocabulary::get().tokenizer_json()),
        ..Merging::default()
    };
    let recipe = Recipe {
        name: settings.name.clone(),
        seeds: BTreeMap::from([("everything".to_owned(), settings.seed)]),
        versions: BTreeMap::from([
            (
                "ndbg-agent".to_owned(),
                env!("CARGO_PKG_VERSION").to_owned(),
            ),
            ("python".to_owned(), sources.python.clone()),
        ]),
    };
    let parts = from.join(PARTS);
    Ok(merge(
        sources,
        units,
        parts.as_std_path(),
        to.as_std_path(),
        recipe,
        &merging,
    )?)
}
