//! The results folder of a benchmark.
//!
//! ```text
//! DIR/results.json            the header: format, settings, tasks that cannot be run
//! DIR/tasks/<id>/record.json  the result of a task, written when it ends
//! DIR/tasks/<id>/…            what `fix` wrote: events, reports, patch
//! DIR/results.jsonl           all records, sorted by name; made from the above
//! DIR/predictions.jsonl       all patches, in the form of SWE-bench; made from the above
//! DIR/locks/i-of-n            held by the run of shard i of n
//! ```
//!
//! A record depends on nothing but its task, so that shards may share a folder or be merged from several,
//! in any order, to the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_dataset::shard::Shard;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::record::Record;

/// Version of the folder's format; raised when a field changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// Name of the header.
const HEADER: &str = "results.json";

/// Why a results folder cannot be used.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// There is no header.
    #[error("`{0}` is no folder of benchmark results")]
    NotResults(Utf8PathBuf),
    /// A file is not what it should be.
    #[error("{path}: {message}")]
    Broken {
        /// The file.
        path: Utf8PathBuf,
        /// What the parser said.
        message: String,
    },
    /// Written by another version.
    #[error("`{path}` holds results in format {found}, this program writes format {FORMAT}")]
    OtherFormat {
        /// The folder.
        path: Utf8PathBuf,
        /// Its format.
        found: u32,
    },
    /// Made with other settings.
    #[error("`{path}` holds results with another {what}: {theirs} and not {ours}")]
    OtherSettings {
        /// The folder.
        path: Utf8PathBuf,
        /// Which setting.
        what: &'static str,
        /// Its value there.
        theirs: String,
        /// Its value here.
        ours: String,
    },
    /// Another run is at it.
    #[error("another run works on shard {shard} of `{path}`")]
    Locked {
        /// The folder.
        path: Utf8PathBuf,
        /// Its shard.
        shard: String,
    },
    /// Two folders hold different results of a task.
    #[error("`{task}` has different results in `{first}` and `{second}`")]
    Conflict {
        /// The task.
        task: String,
        /// A folder.
        first: Utf8PathBuf,
        /// Another one.
        second: Utf8PathBuf,
    },
}

impl ResultsError {
    fn io(path: impl Into<Utf8PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotResults(_) => Some("`bench run --out DIR` makes one"),
            Self::OtherFormat { .. } => Some("name a new folder, or use the version that wrote it"),
            Self::OtherSettings { .. } => {
                Some("name a new folder with `--out`, or give the settings that it was begun with")
            }
            Self::Locked { .. } => Some("wait for it, or name another folder with `--out`"),
            Self::Broken { .. } => Some("remove that file; its task is then run again"),
            Self::Conflict { .. } => Some("merge the shards of one benchmark run, each once"),
            Self::Io { .. } => None,
        }
    }
}

/// What has to be the same for results to belong together, and what was left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Name of the benchmark: the last part of its path.
    pub benchmark: String,
    /// Hash of the tasks, as they were read.
    pub digest: String,
    /// Planner that `fix` is asked for.
    pub planner: String,
    /// Model that it is asked for.
    pub model: Option<String>,
    /// Simulator that it is asked for.
    pub simulator: String,
    /// Limit of each run in seconds.
    pub max_time: u64,
    /// Share of the failing tests that is hidden from `fix`.
    pub hidden_share: f64,
    /// Whether the known repairs are judged instead of running `fix`.
    pub gold: bool,
    /// Further arguments of `fix`.
    pub fix_arguments: Vec<String>,
    /// Program that is measured, where it is not the one that runs the benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Interpreter for all tasks, where it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// Names of all tasks.
    pub tasks: Vec<String>,
    /// Tasks that cannot be run, with the reason.
    pub unsupported: Vec<(String, String)>,
}

impl Header {
    /// The first setting in which `other` differs, with both values.
    fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let named = |name: Option<&String>| name.cloned().unwrap_or_else(|| "none named".into());
        let model = |header: &Self| header.model.clone().unwrap_or_else(|| "none".into());
        let rows = [
            ("version", self.version.clone(), other.version.clone()),
            ("benchmark", self.benchmark.clone(), other.benchmark.clone()),
            ("planner", self.planner.clone(), other.planner.clone()),
            ("model", model(self), model(other)),
            ("simulator", self.simulator.clone(), other.simulator.clone()),
            (
                "time limit",
                self.max_time.to_string(),
                other.max_time.to_string(),
            ),
            (
                "hidden share",
                self.hidden_share.to_string(),
                other.hidden_share.to_string(),
            ),
            (
                "mode (`--gold`)",
                self.gold.to_string(),
                other.gold.to_string(),
            ),
            (
                "argument of `fix`",
                self.fix_arguments.join(" "),
                other.fix_arguments.join(" "),
            ),
            (
                "program",
                named(self.program.as_ref()),
                named(other.program.as_ref()),
            ),
            (
                "interpreter",
                named(self.python.as_ref()),
                named(other.python.as_ref()),
            ),
            (
                "number of tasks",
                self.tasks.len().to_string(),
                other.tasks.len().to_string(),
            ),
            ("set of tasks", self.digest.clone(), other.digest.clone()),
        ];
        rows.into_iter().find(|(_, ours, theirs)| ours != theirs)
    }
}

/// A results folder as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The folder.
    pub folder: Utf8PathBuf,
    /// Its header.
    pub header: Header,
    /// Records, sorted by task.
    pub records: Vec<Record>,
}

impl Results {
    /// Reads a folder.
    pub fn read(folder: &Utf8Path) -> Result<Self, ResultsError> {
        let header = read_header(folder)?.ok_or_else(|| ResultsError::NotResults(folder.into()))?;
        Ok(Self {
            folder: folder.to_owned(),
            header,
            records: records(folder)?.into_values().collect(),
        })
    }
}

/// A results folder that a run writes to; no other run does so meanwhile.
#[derive(Debug)]
pub struct Store {
    folder: Utf8PathBuf,
    _lock: File,
}

impl Store {
    /// Opens or makes the folder for a shard, and reads the results that it holds already.
    pub fn open(
        folder: &Utf8Path,
        header: &Header,
        shard: Shard,
    ) -> Result<(Self, BTreeMap<String, Record>), ResultsError> {
        let locks = folder.join("locks");
        fs::create_dir_all(&locks).map_err(ResultsError::io(&locks))?;
        let lock = lock(folder, &locks, shard)?;
        match read_header(folder)? {
            None => write(&folder.join(HEADER), &pretty(header))?,
            Some(found) => {
                if let Some((what, ours, theirs)) = header.difference(&found) {
                    return Err(ResultsError::OtherSettings {
                        path: folder.to_owned(),
                        what,
                        theirs,
                        ours,
                    });
                }
            }
        }
        let store = Self {
            folder: folder.to_owned(),
            _lock: lock,
        };
        Ok((store, records(folder)?))
    }

    /// Folder for what the run of a task leaves.
    pub fn task_folder(&self, id: &str) -> Utf8PathBuf {
        self.folder.join("tasks").join(id)
    }

    /// Writes the result of a task.
    pub fn add(&self, record: &Record) -> Result<(), ResultsError> {
        let folder = self.task_folder(&record.task);
        fs::create_dir_all(&folder).map_err(ResultsError::io(&folder))?;
        write(&folder.join("record.json"), &pretty(record))
    }

    /// Writes what is made from the records.
    pub fn summarise(&self) -> Result<Results, ResultsError> {
        summarise(&self.folder)
    }
}

/// Puts the results of several folders into a new one. The bytes do not depend on the order of the folders.
pub fn merge(from: &[Utf8PathBuf], to: &Utf8Path) -> Result<Results, ResultsError> {
    let mut all: Vec<Results> = Vec::new();
    for folder in from {
        all.push(Results::read(folder)?);
    }
    let Some(first) = all.first() else {
        return Err(ResultsError::NotResults(to.to_owned()));
    };
    let mut owners: BTreeMap<&str, (&Record, &Utf8Path)> = BTreeMap::new();
    for results in &all {
        if let Some((what, ours, theirs)) = first.header.difference(&results.header) {
            return Err(ResultsError::OtherSettings {
                path: results.folder.clone(),
                what,
                theirs,
                ours,
            });
        }
        for record in &results.records {
            match owners.insert(&record.task, (record, &results.folder)) {
                Some((known, folder)) if known != record => {
                    return Err(ResultsError::Conflict {
                        task: record.task.clone(),
                        first: folder.to_owned(),
                        second: results.folder.clone(),
                    });
                }
                _ => {}
            }
        }
    }
    let locks = to.join("locks");
    fs::create_dir_all(&locks).map_err(ResultsError::io(&locks))?;
    let _lock = lock(to, &locks, Shard { index: 0, count: 1 })?;
    write(&to.join(HEADER), &pretty(&first.header))?;
    for (task, (_, folder)) in &owners {
        let source = folder.join("tasks").join(task);
        copy(&source, &to.join("tasks").join(task))?;
    }
    summarise(to)
}

fn copy(from: &Utf8Path, to: &Utf8Path) -> Result<(), ResultsError> {
    if from == to {
        return Ok(());
    }
    fs::create_dir_all(to).map_err(ResultsError::io(to))?;
    for entry in from
        .read_dir_utf8()
        .map_err(ResultsError::io(from))?
        .flatten()
    {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).map_err(ResultsError::io(entry.path()))?;
        }
    }
    Ok(())
}

fn summarise(folder: &Utf8Path) -> Result<Results, ResultsError> {
    let results = Results::read(folder)?;
    let mut lines = String::new();
    let mut predictions = String::new();
    let name = super::predictions::model_name(&results.header);
    for record in &results.records {
        lines += &line(record);
        let patch = folder.join("tasks").join(&record.task).join("patch.diff");
        let patch = fs::read(patch).unwrap_or_default();
        predictions += &line(&super::predictions::prediction(&record.task, &name, &patch));
    }
    write(&folder.join("results.jsonl"), lines.as_bytes())?;
    write(&folder.join("predictions.jsonl"), predictions.as_bytes())?;
    Ok(results)
}

/// Takes the lock of a shard. Shards of the same number do not disturb each other; a run with another
/// number of shards does.
fn lock(folder: &Utf8Path, locks: &Utf8Path, shard: Shard) -> Result<File, ResultsError> {
    let name = |shard: Shard| format!("{}-of-{}", shard.index, shard.count);
    let open = |path: &Utf8Path| {
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        options.open(path).map_err(ResultsError::io(path))
    };
    // Who looks at the locks of the others does so alone.
    let gate = open(&locks.join("gate"))?;
    gate.lock().map_err(ResultsError::io(locks))?;
    let mine = open(&locks.join(name(shard)))?;
    let held = |shard: String| ResultsError::Locked {
        path: folder.to_owned(),
        shard,
    };
    if mine.try_lock().is_err() {
        return Err(held(format!("{}/{}", shard.index, shard.count)));
    }
    let suffix = format!("-of-{}", shard.count);
    for entry in locks
        .read_dir_utf8()
        .map_err(ResultsError::io(locks))?
        .flatten()
    {
        let other = entry.file_name();
        if other == "gate" || other.ends_with(&suffix) {
            continue;
        }
        if open(entry.path())?.try_lock().is_err() {
            return Err(held(other.replace("-of-", "/")));
        }
    }
    Ok(mine)
}

fn read_header(folder: &Utf8Path) -> Result<Option<Header>, ResultsError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let path = folder.join(HEADER);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ResultsError::io(path)(error)),
    };
    let broken = |error: serde_json::Error| ResultsError::Broken {
        path: path.clone(),
        message: error.to_string(),
    };
    let Format { format } = serde_json::from_slice(&bytes).map_err(broken)?;
    if format != FORMAT {
        return Err(ResultsError::OtherFormat {
            path: folder.to_owned(),
            found: format,
        });
    }
    serde_json::from_slice(&bytes).map(Some).map_err(broken)
}

fn records(folder: &Utf8Path) -> Result<BTreeMap<String, Record>, ResultsError> {
    let tasks = folder.join("tasks");
    let mut all = BTreeMap::new();
    let names: BTreeSet<String> = tasks
        .read_dir_utf8()
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_owned())
        .collect();
    for name in names {
        let path = tasks.join(&name).join("record.json");
        // A task that was being worked on when the run was killed has no record yet.
        let Ok(bytes) = fs::read(&path) else {
            continue;
        };
        let record: Record =
            serde_json::from_slice(&bytes).map_err(|error| ResultsError::Broken {
                path,
                message: error.to_string(),
            })?;
        all.insert(name, record);
    }
    Ok(all)
}

/// Writes a file so that a kill leaves the old one or the new one.
fn write(path: &Utf8Path, bytes: &[u8]) -> Result<(), ResultsError> {
    let part = path.with_extension(format!("part{}", std::process::id()));
    fs::write(&part, bytes).map_err(ResultsError::io(&part))?;
    fs::rename(&part, path).map_err(ResultsError::io(path))
}

fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}
