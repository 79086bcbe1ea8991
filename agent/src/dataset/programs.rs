//! Runs many small programs in one Python process and reads their recordings.

use std::fs::{self, File};
use std::io::BufReader;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::recording::{BoundaryKind, Recording, RecordingBuilder};
use ndbg_tools::Cancel;
use ndbg_tools::process::{self, ProcessError, Spec};
use ndbg_tools::trace::{RawError, RawReader};
use serde::Serialize;
use thiserror::Error;

/// A program: its source, and what is called in it.
#[derive(Debug, Clone, Serialize)]
pub struct Program {
    /// Name; that of its file, too.
    pub id: String,
    /// Its text.
    pub source: String,
    /// A function without parameters, or an expression.
    pub entry: String,
    /// Events after which it never ends.
    pub max_events: u64,
}

/// How programs are run.
#[derive(Debug, Clone)]
pub struct Runner {
    /// Interpreter.
    pub python: Utf8PathBuf,
    /// Folder with our Python side.
    pub plugin: Utf8PathBuf,
    /// Empty folder that programs run in.
    pub scratch: Utf8PathBuf,
    /// Seconds that one program may take.
    pub deadline: f64,
    /// Bytes of memory that the process may use.
    pub memory_limit: Option<u64>,
    /// Set by Ctrl-C.
    pub cancel: Cancel,
}

/// Why programs could not be run; a program that fails is no error.
#[derive(Debug, Error)]
pub enum RunError {
    /// The process.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The files between the processes.
    #[error("{path}: {source}")]
    Io {
        /// File.
        path: Utf8PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// What the recorder wrote.
    #[error(transparent)]
    Raw(#[from] RawError),
    /// Python itself does not run.
    #[error("the recorder did not start: {0}")]
    NotStarted(String),
}

/// Recordings of programs, in their order.
#[derive(Debug, Default)]
pub struct Recorded {
    /// One for each process that was needed; each holds some of the programs.
    pub recordings: Vec<Recording>,
    /// Programs in which the process died, with how.
    pub died: Vec<(String, String)>,
}

impl Runner {
    /// Runs programs. One that kills the process costs itself only: the next process goes on behind it.
    pub fn record(&self, programs: &[Program]) -> Result<Recorded, RunError> {
        let io = |path: &Utf8Path| {
            let path = path.to_owned();
            move |source| RunError::Io { path, source }
        };
        let folder = tempfile::Builder::new()
            .prefix("jobs-")
            .tempdir_in(&self.scratch)
            .map_err(io(&self.scratch))?;
        let folder = Utf8Path::from_path(folder.path()).unwrap_or(&self.scratch);
        let empty = folder.join("empty");
        fs::create_dir_all(&empty).map_err(io(&empty))?;
        let (jobs, config, raw) = (
            folder.join("jobs"),
            folder.join("config"),
            folder.join("raw"),
        );
        let lines: Vec<String> = programs
            .iter()
            .map(|program| serde_json::to_string(program).unwrap_or_default())
            .collect();
        fs::write(&jobs, lines.join("\n")).map_err(io(&jobs))?;
        let mut recorded = Recorded::default();
        let mut skip = 0;
        while skip < programs.len() {
            let settings = serde_json::json!({
                "jobs": jobs, "out": raw, "skip": skip,
                "deadline": self.deadline, "memory_limit": self.memory_limit,
            });
            fs::write(&config, settings.to_string()).map_err(io(&config))?;
            let left = (programs.len() - skip) as f64;
            let spec = Spec::new(&self.python, &empty)
                .arg("-s")
                .arg(self.plugin.join("ndbg_sample.py"))
                .arg(&config)
                .env("PYTHONHASHSEED", "0")
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .env("PYTHONIOENCODING", "utf-8")
                .deadline(Duration::from_secs_f64(30.0 + left * (self.deadline + 0.5)));
            let done = process::run(&spec, &self.cancel)?;
            let Ok(file) = File::open(&raw) else {
                return Err(RunError::NotStarted(done.tail(2)));
            };
            let recording = read(BufReader::new(file))?;
            let _ = fs::remove_file(&raw);
            let begun = recording
                .boundaries()
                .iter()
                .filter(|boundary| boundary.kind == BoundaryKind::Function);
            let ended = begun
                .clone()
                .filter(|boundary| boundary.exit.is_some())
                .count();
            let (begun, whole) = (begun.count(), recording.end().is_some());
            recorded.recordings.push(recording);
            if whole {
                break;
            }
            if begun == 0 {
                return Err(RunError::NotStarted(done.tail(2)));
            }
            skip += ended;
            if begun > ended {
                let id = programs[skip].id.clone();
                recorded.died.push((id, done.exit.to_string()));
                skip += 1;
            }
        }
        Ok(recorded)
    }
}

/// Reads a raw stream up to its last whole record.
fn read(input: BufReader<File>) -> Result<Recording, RunError> {
    let mut reader = RawReader::start(input)?;
    let mut builder = RecordingBuilder::new();
    let mut sources = |name: &str| (name.to_owned(), None);
    while let Some(record) = reader.next_record(&mut sources)? {
        builder.push(record).map_err(|error| RawError::Damaged {
            line: 0,
            reason: error.to_string(),
        })?;
    }
    Ok(builder.finish())
}
