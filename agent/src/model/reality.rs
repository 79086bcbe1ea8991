//! A real interpreter that knows what operations and programs do.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::python::operations::Interpreter;
use ndbg_tools::python::{environment, plugin};
use tempfile::TempDir;

use crate::dataset::Runner;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Seconds that a program may take.
const DEADLINE: f64 = 2.0;
/// Bytes of memory that programs may use.
const MEMORY: u64 = 1 << 30;

/// An interpreter with our Python side, in folders that go away with this.
#[derive(Debug)]
pub struct Reality {
    /// Records whole programs.
    pub runner: Runner,
    /// The interpreter's version.
    pub version: String,
    _folder: TempDir,
}

impl Reality {
    /// Finds an interpreter: `python`, or the one that would run tests here.
    ///
    /// # Errors
    /// None that works, or no place for temporary files.
    pub fn open(python: Option<&Utf8Path>, cancel: &Cancel) -> Result<Self, Stop> {
        Self::within(python, &[], cancel)
    }

    /// Finds an interpreter: `python`, or the one of the project with these folders.
    ///
    /// # Errors
    /// None that works, or no place for temporary files.
    pub fn within(
        python: Option<&Utf8Path>,
        folders: &[Utf8PathBuf],
        cancel: &Cancel,
    ) -> Result<Self, Stop> {
        let broken = |error: String| Stop::new(Outcome::Environment, error);
        let folder = tempfile::tempdir().map_err(|error| broken(error.to_string()))?;
        let scratch = Utf8PathBuf::from_path_buf(folder.path().to_owned())
            .map_err(|path| broken(format!("`{}` is not UTF-8", path.display())))?;
        let found = environment::discover(python, folders, cancel);
        let (interpreter, _) = environment::choose(&found, &scratch, cancel)?;
        // Where the cache cannot be written, it is compiled each time.
        let plugin = plugin::shared()
            .or_else(|_| plugin::install(&scratch.join("plugin")))
            .map_err(|error| broken(error.to_string()))?;
        let work = scratch.join("work");
        fs::create_dir_all(&work).map_err(|error| broken(format!("{work}: {error}")))?;
        Ok(Self {
            runner: Runner {
                python: interpreter.path.clone(),
                plugin,
                scratch: work,
                deadline: DEADLINE,
                memory_limit: Some(MEMORY),
                cancel: cancel.clone(),
            },
            version: interpreter.version(),
            _folder: folder,
        })
    }

    /// A process that performs operations.
    ///
    /// # Errors
    /// It does not start.
    pub fn operations(&self) -> Result<Interpreter, Stop> {
        let runner = &self.runner;
        Interpreter::start(&runner.python, &runner.plugin, &runner.scratch)
            .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))
    }
}
