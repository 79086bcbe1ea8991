//! Temporary copies of a task's repository, each a git repository of its own.
//!
//! Nothing here ever writes to a task's folder or to a user's checkout.

use std::collections::BTreeSet;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::git::{self, GitError};
use ndbg_tools::process::ProcessError;
use ndbg_tools::project::ProjectError;
use ndbg_tools::python::environment::Interpreter;
use ndbg_tools::python::plugin;
use ndbg_tools::python::pytest::Harness;
use ndbg_tools::worktree::Scratch;
use thiserror::Error;

use crate::environments::Prepared;
use crate::infrastructure::{Class, Infrastructure};
use crate::instance::{Instance, Source, TestFileSource};
use crate::repositories;
use crate::task::{DESCRIPTION, Origin, Task};

/// Folders that are never part of a program.
const LEFT_OUT: &[&str] = &[
    ".git",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".venv",
    "venv",
];

/// Why a copy could not be made or changed.
#[derive(Debug, Error)]
pub enum TreeError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// git said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A patch of the task itself does not apply.
    #[error("{path} does not apply to its repository: {message}")]
    BadPatch {
        /// The patch.
        path: Utf8PathBuf,
        /// What git said.
        message: String,
    },
}

impl TreeError {
    pub(crate) fn io(path: impl Into<Utf8PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// Whether the cause is an interruption.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Git(GitError::Process(ProcessError::Cancelled)))
    }
}

impl From<TreeError> for Infrastructure {
    fn from(error: TreeError) -> Self {
        if error.is_cancelled() {
            return Self::interrupted();
        }
        let class = match &error {
            TreeError::Io { .. } => Class::Disk,
            TreeError::BadPatch { .. } => Class::TestPatch,
            TreeError::Git(_) => Class::Repository,
        };
        Self::new(class, error.to_string())
    }
}

/// A patch of a task that does not apply says so; anything else is what it is.
fn unfit(what: &str, error: TreeError) -> Infrastructure {
    match error {
        TreeError::Git(GitError::Failed { message, .. }) => Infrastructure::new(
            Class::TestPatch,
            format!("{what} does not apply to the base: {message}"),
        ),
        other => other.into(),
    }
}

/// A temporary copy; goes away with this value.
#[derive(Debug)]
pub struct Tree {
    scratch: Scratch,
    root: Utf8PathBuf,
    top: Utf8PathBuf,
    original: Utf8PathBuf,
}

impl Tree {
    /// Copies the folder `from` and commits it to a fresh git repository.
    pub fn copy(from: &Utf8Path, cancel: &Cancel) -> Result<Self, TreeError> {
        let tree = Self::bare(from, cancel)?;
        tree.commit(cancel)?;
        Ok(tree)
    }

    /// What a tool is given to see of `task`: the program with its bug and the visible tests, as the
    /// only commit of a fresh git repository.
    pub fn visible(task: &Task, cancel: &Cancel) -> Result<Self, TreeError> {
        let tree = Self::bare(task.source(), cancel)?;
        match &task.origin {
            Origin::Bundled => {
                let description = tree.top.join(DESCRIPTION);
                fs::remove_file(&description).map_err(TreeError::io(description))?;
            }
            Origin::Seeded { seeded, .. } => {
                for patch in &seeded.patches {
                    let path = task.folder.join(patch);
                    let bytes = fs::read(&path).map_err(TreeError::io(path.clone()))?;
                    tree.apply(&bytes, cancel).map_err(|error| match error {
                        TreeError::Git(GitError::Failed { message, .. }) => {
                            TreeError::BadPatch { path, message }
                        }
                        other => other,
                    })?;
                }
            }
        }
        tree.commit(cancel)?;
        Ok(tree)
    }

    /// What a tool is given to see of `instance`: the files of its base with its patches and its
    /// visible tests, as the only commit of a fresh git repository, so that no later history can be read.
    pub fn of(
        instance: &Instance,
        prepared: &Prepared,
        cancel: &Cancel,
    ) -> Result<Self, Infrastructure> {
        let tree = Self::bare(&prepared.checkout, cancel)?;
        if let Source::Folder { left_out, .. } = &instance.source {
            for name in left_out {
                let path = tree.top.join(name);
                let gone = if path.is_dir() {
                    fs::remove_dir_all(&path)
                } else {
                    fs::remove_file(&path)
                };
                match gone {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(TreeError::io(path)(error).into());
                    }
                    _ => {}
                }
            }
        }
        for patch in &instance.patches {
            tree.apply(patch, cancel)
                .map_err(|error| unfit("a patch of the task", error))?;
        }
        if !instance.test_patch.is_empty() {
            tree.apply(&instance.test_patch, cancel)
                .map_err(|error| unfit("the test patch", error))?;
        }
        for file in &instance.test_files {
            let bytes = match &file.from {
                TestFileSource::File(path) => fs::read(path).map_err(|error| {
                    Infrastructure::new(Class::TestPatch, format!("{path}: {error}"))
                })?,
                TestFileSource::Commit(commit) => {
                    let repository = prepared.repository.as_deref().unwrap_or(&prepared.checkout);
                    repositories::file_at(repository, commit, &file.to, cancel)?
                }
            };
            tree.write(&file.to, &bytes)?;
        }
        tree.commit(cancel)?;
        Ok(tree)
    }

    /// A hash of all contents as they were committed.
    pub fn state(&self, cancel: &Cancel) -> Result<String, TreeError> {
        let done = git::run(
            &git::command(&self.top, ["rev-parse", "HEAD^{tree}"]),
            cancel,
        )?;
        Ok(done.stdout_text())
    }

    /// All Python files, relative to the top.
    pub fn python_files(&self, cancel: &Cancel) -> Result<BTreeSet<Utf8PathBuf>, TreeError> {
        let done = git::run(
            &git::command(&self.top, ["ls-files", "-z", "--", "*.py"]),
            cancel,
        )?;
        Ok(git::paths(&done).into_iter().collect())
    }

    fn bare(from: &Utf8Path, cancel: &Cancel) -> Result<Self, TreeError> {
        // What a killed run left behind goes away here, with the processes that it had.
        let scratch = Scratch::alone().map_err(|error| match error {
            ProjectError::Io { path, source } => TreeError::Io { path, source },
            other => TreeError::io(from)(std::io::Error::other(other.to_string())),
        })?;
        let root = scratch.path().to_owned();
        // The folder keeps its name: with an `__init__.py` at the root it is the package's name.
        let top = root.join("w").join(from.file_name().unwrap_or("tree"));
        copy_folder(from, &top)?;
        // A repository of its own: inside another one `git apply` would skip files without a word.
        git::run(&git::command(&top, ["init", "-q"]), cancel)?;
        Ok(Self {
            scratch,
            root,
            top,
            original: from.to_owned(),
        })
    }

    fn commit(&self, cancel: &Cancel) -> Result<(), TreeError> {
        // `-f`: source distributions hold generated files that their `.gitignore` names.
        for args in [
            ["-c", "core.autocrlf=false", "add", "-A", "-f"].as_slice(),
            &["commit", "-q", "--no-gpg-sign", "-m", "Base"],
        ] {
            git::run(&git::command(&self.top, args), cancel)?;
        }
        Ok(())
    }

    /// Top of the copy.
    pub fn top(&self) -> &Utf8Path {
        &self.top
    }

    /// Folder beside the copy for temporary files.
    pub fn tmp(&self) -> Utf8PathBuf {
        self.root.join("tmp")
    }

    /// Folder of everything that belongs to this copy.
    pub fn scratch(&self) -> &Utf8Path {
        debug_assert!(self.scratch.path().exists());
        &self.root
    }

    /// Files that `patch` changes, adds or removes.
    pub fn touched(&self, patch: &[u8], cancel: &Cancel) -> Result<Vec<Utf8PathBuf>, TreeError> {
        let mut spec = git::command(&self.top, ["apply", "--numstat", "-z", "-"]);
        spec.input = patch.to_vec();
        if !patch.ends_with(b"\n") {
            spec.input.push(b'\n');
        }
        let done = git::run(&spec, cancel)?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        Ok(text
            .split('\0')
            .filter_map(|record| record.splitn(3, '\t').nth(2))
            .filter(|path| !path.is_empty())
            .map(Utf8PathBuf::from)
            .collect())
    }

    /// Applies a unified diff whose paths are relative to the top.
    pub fn apply(&self, patch: &[u8], cancel: &Cancel) -> Result<(), TreeError> {
        let args = [
            "-c",
            "core.autocrlf=false",
            "apply",
            "--whitespace=nowarn",
            "-",
        ];
        let mut spec = git::command(&self.top, args);
        spec.input = patch.to_vec();
        // Rows are stripped of their last line break, which git insists on.
        if !patch.ends_with(b"\n") {
            spec.input.push(b'\n');
        }
        git::run(&spec, cancel)?;
        Ok(())
    }

    /// Writes a file, named relative to the top.
    pub fn write(&self, relative: &Utf8Path, bytes: &[u8]) -> Result<(), TreeError> {
        let path = self.top.join(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(TreeError::io(parent))?;
        }
        fs::write(&path, bytes).map_err(TreeError::io(path))
    }

    /// How tests are run in the copy.
    pub fn harness(
        &self,
        interpreter: &Interpreter,
        args: &[String],
        memory_limit: Option<u64>,
    ) -> Result<Harness, TreeError> {
        let folder = self.root.join("plugin");
        let plugin = plugin::install(&folder).map_err(TreeError::io(folder))?;
        Ok(Harness {
            interpreter: interpreter.clone(),
            plugin,
            tmp: self.tmp(),
            top: self.top.clone(),
            folder: self.top.clone(),
            foreign: self.original.clone(),
            env: Vec::new(),
            args: args.to_vec(),
            memory_limit,
        })
    }
}

/// Copies a folder without what is no part of a program; links stay links.
pub(crate) fn copy_folder(from: &Utf8Path, to: &Utf8Path) -> Result<(), TreeError> {
    fs::create_dir_all(to).map_err(TreeError::io(to))?;
    for entry in from.read_dir_utf8().map_err(TreeError::io(from))? {
        let entry = entry.map_err(TreeError::io(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(TreeError::io(source))?;
        if kind.is_dir() {
            if !LEFT_OUT.contains(&entry.file_name()) {
                copy_folder(source, &target)?;
            }
        } else if kind.is_symlink() {
            copy_link(source, &target)?;
        } else if kind.is_file() {
            fs::copy(source, &target).map_err(TreeError::io(source))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn copy_link(source: &Utf8Path, target: &Utf8Path) -> Result<(), TreeError> {
    let to = fs::read_link(source).map_err(TreeError::io(source))?;
    std::os::unix::fs::symlink(to, target).map_err(TreeError::io(target))
}

#[cfg(not(unix))]
fn copy_link(source: &Utf8Path, target: &Utf8Path) -> Result<(), TreeError> {
    fs::copy(source, target)
        .map(|_| ())
        .map_err(TreeError::io(source))
}

/// Whether `path` is a test, a test's data or configuration of the tests: no place for a bug, and
/// no place for a fix.
pub fn is_test_path(path: &Utf8Path) -> bool {
    ndbg_tools::protected::is_protected(path)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::task::write_file;

    fn sample() -> (TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().join("demo");
        write_file(&root.join("a.py"), b"x = 1\n").unwrap();
        write_file(&root.join("__pycache__/a.pyc"), b"").unwrap();
        write_file(&root.join(".gitignore"), b"made.py\n").unwrap();
        write_file(&root.join("made.py"), b"y = 1\n").unwrap();
        (folder, root)
    }

    #[test]
    fn a_copy_is_a_clean_repository_with_ignored_files_in_it() {
        let (_guard, root) = sample();
        let cancel = Cancel::default();
        let tree = Tree::copy(&root, &cancel).unwrap();
        assert_eq!(tree.top().file_name(), Some("demo"));
        assert!(!tree.top().join("__pycache__").exists());
        let files = git::run(&git::command(tree.top(), ["ls-files"]), &cancel).unwrap();
        assert_eq!(files.stdout_text(), ".gitignore\na.py\nmade.py");
    }

    #[test]
    fn a_patch_is_applied_and_its_files_are_named() {
        let (_guard, root) = sample();
        let cancel = Cancel::default();
        let tree = Tree::copy(&root, &cancel).unwrap();
        let patch = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n";
        assert_eq!(tree.touched(patch, &cancel).unwrap(), ["a.py"]);
        tree.apply(patch, &cancel).unwrap();
        assert_eq!(fs::read(tree.top().join("a.py")).unwrap(), b"x = 2\n");
        assert!(
            tree.apply(patch, &cancel).is_err(),
            "a second time it does not fit"
        );
    }

    #[test]
    fn a_patch_cannot_leave_the_copy() {
        let (_guard, root) = sample();
        let cancel = Cancel::default();
        let tree = Tree::copy(&root, &cancel).unwrap();
        let patch = b"--- /dev/null\n+++ b/../../out.py\n@@ -0,0 +1 @@\n+x = 2\n";
        assert!(tree.apply(patch, &cancel).is_err());
        assert!(!tree.scratch().join("out.py").exists());
    }

    #[test]
    fn tests_and_their_configuration_are_no_place_for_a_bug() {
        for path in ["tests/data.py", "test_x.py", "pkg/conftest.py", "setup.py"] {
            assert!(is_test_path(Utf8Path::new(path)), "{path}");
        }
        for path in ["pkg/testimony.py", "src/contest.py", "attest.py"] {
            assert!(!is_test_path(Utf8Path::new(path)), "{path}");
        }
    }
}
