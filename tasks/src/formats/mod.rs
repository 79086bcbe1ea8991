//! Formats of benchmarks. One file each; each makes [`Instance`]s and says which tasks cannot be used.
//!
//! To add one: a file here with `read(path) -> Result<Read, FormatError>`, a variant of [`Format`] with
//! its name and how it is recognised, and a test on a sample.

mod bugsinpy;
mod bundled;
#[cfg(feature = "parquet")]
mod parquet;
mod quixbugs;
mod rows;
mod task_folders;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::instance::Instance;
use crate::task::TaskError;

/// Why tasks could not be read.
#[derive(Debug, Error)]
pub enum FormatError {
    /// A file could not be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// A row is not what the format asks for.
    #[error("{place}: {message}")]
    Row {
        /// File and line, or file and element.
        place: String,
        /// What is wrong, with the name of the field.
        message: String,
    },
    /// A task of our own format.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// No format fits.
    #[error("`{0}` is in no format that is known")]
    Unknown(Utf8PathBuf),
    /// Two tasks share a name.
    #[error("two tasks are called `{0}`")]
    Twice(String),
    /// A format that this build leaves out.
    #[error("`{0}` is a Parquet file, and this program was built without the feature `parquet`")]
    NoParquet(Utf8PathBuf),
}

impl FormatError {
    pub(crate) fn io(path: impl Into<Utf8PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(_) => Some(
                "rows as .jsonl, .json or .parquet, a folder of bundled or seeded tasks, of SWE-bench 5 \
                 tasks, or a checkout of QuixBugs or BugsInPy",
            ),
            Self::NoParquet(_) => {
                Some("build with `--features parquet`, or write the rows as JSON lines")
            }
            _ => None,
        }
    }
}

/// Tasks of a benchmark.
#[derive(Debug, Default)]
pub struct Read {
    /// Those that can be run, in the order of the file.
    pub instances: Vec<Instance>,
    /// Those that cannot, with the reason.
    pub unsupported: Vec<(String, String)>,
}

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Rows of SWE-bench, with fields of our own.
    Rows,
    /// The same as Parquet.
    Parquet,
    /// Folders of SWE-bench 5.
    TaskFolders,
    /// A checkout of QuixBugs.
    QuixBugs,
    /// A checkout of BugsInPy.
    BugsInPy,
    /// Our own bundled or seeded tasks.
    Bundled,
}

impl Format {
    /// The format of `path`, by what it looks like.
    pub fn of(path: &Utf8Path) -> Option<Self> {
        if path.is_file() {
            return match path.extension() {
                Some("jsonl" | "json") => Some(Self::Rows),
                Some("parquet") => Some(Self::Parquet),
                _ => None,
            };
        }
        if path.join("python_programs").is_dir() && path.join("python_testcases").is_dir() {
            return Some(Self::QuixBugs);
        }
        if path.join("projects").is_dir() {
            return Some(Self::BugsInPy);
        }
        let below = |folder: &Utf8Path, name: &str| {
            let mut entries = folder.read_dir_utf8().into_iter().flatten().flatten();
            entries.any(|entry| entry.path().join(name).is_file())
        };
        if path.join("sweb.yaml").is_file() || below(&path.join("tasks"), task_folders::DESCRIPTION)
        {
            return Some(Self::TaskFolders);
        }
        (below(path, crate::task::DESCRIPTION) || path.join(crate::task::PASSING).is_file())
            .then_some(Self::Bundled)
    }
}

/// Reads the tasks in `path`.
pub fn read(path: &Utf8Path) -> Result<Read, FormatError> {
    let path = path
        .canonicalize_utf8()
        .map_err(FormatError::io(path.to_owned()))?;
    let read = match Format::of(&path) {
        None => return Err(FormatError::Unknown(path)),
        Some(Format::Rows) => rows::read(&path)?,
        #[cfg(feature = "parquet")]
        Some(Format::Parquet) => parquet::read(&path)?,
        #[cfg(not(feature = "parquet"))]
        Some(Format::Parquet) => return Err(FormatError::NoParquet(path)),
        Some(Format::TaskFolders) => task_folders::read(&path)?,
        Some(Format::QuixBugs) => quixbugs::read(&path)?,
        Some(Format::BugsInPy) => bugsinpy::read(&path)?,
        Some(Format::Bundled) => bundled::read(&path)?,
    };
    let mut seen = std::collections::BTreeSet::new();
    for instance in &read.instances {
        if !seen.insert(instance.id.as_str()) {
            return Err(FormatError::Twice(instance.id.clone()));
        }
    }
    Ok(read)
}
