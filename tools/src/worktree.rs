//! Worktrees: the only place that writes inside a checkout.
//!
//! Each worktree lies in a scratch folder of the run. Dropping the scratch folder removes the
//! worktrees and what git remembers of them; a scratch folder whose owner died is swept by the next
//! run.

use std::fs;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

use crate::cancel::Cancel;
use crate::git;
use crate::process;
use crate::project::{Base, Project, ProjectError, STEP};

const PREFIX: &str = "ndbg-agent-";
const OWNER: &str = "owner.json";

/// A folder of our own for one run: worktrees, configuration of children, temporary files.
#[derive(Debug)]
pub struct Scratch {
    path: Utf8PathBuf,
    repository: Option<Utf8PathBuf>,
    count: AtomicUsize,
}

impl Scratch {
    /// Makes a scratch folder for work on `project`, and sweeps those that dead runs left behind.
    pub fn new(project: &Project) -> Result<Self, ProjectError> {
        Self::of(project.git.then(|| project.root.clone()))
    }

    /// Makes a scratch folder for work on no project of the user's, and sweeps in the same way.
    pub fn alone() -> Result<Self, ProjectError> {
        Self::of(None)
    }

    fn of(repository: Option<Utf8PathBuf>) -> Result<Self, ProjectError> {
        let parent = Utf8PathBuf::from_path_buf(std::env::temp_dir())
            .unwrap_or_else(|_| Utf8PathBuf::from("/tmp"));
        let parent = parent.canonicalize_utf8().unwrap_or(parent);
        sweep(&parent);
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(&parent)
            .map_err(ProjectError::io(&parent))?;
        let path = Utf8PathBuf::from_path_buf(folder.keep())
            .map_err(|path| ProjectError::NotAFolder(path.to_string_lossy().as_ref().into()))?;
        let scratch = Self {
            repository,
            path,
            count: AtomicUsize::new(0),
        };
        let owner = serde_json::json!({
            "pid": std::process::id(),
            "started": start_time(std::process::id()),
            "repository": scratch.repository,
        });
        let file = scratch.path.join(OWNER);
        fs::write(&file, owner.to_string()).map_err(ProjectError::io(file))?;
        for folder in ["tmp", "plugin"] {
            let folder = scratch.path.join(folder);
            fs::create_dir(&folder).map_err(ProjectError::io(folder))?;
        }
        Ok(scratch)
    }

    /// The folder.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Temporary folder for children.
    pub fn tmp(&self) -> Utf8PathBuf {
        self.path.join("tmp")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove_tree(&self.path);
        if let Some(repository) = &self.repository {
            prune(repository);
        }
    }
}

/// Forgets worktrees whose folders are gone. Runs even when the user interrupted us.
fn prune(repository: &Utf8Path) {
    let spec = git::command(repository, ["worktree", "prune", "--expire=now"]);
    let _ = git::run(&spec, &Cancel::default());
}

/// Removes a tree; tests may have left folders without write permission.
fn remove_tree(path: &Utf8Path) {
    if fs::remove_dir_all(path).is_ok() || !path.exists() {
        return;
    }
    make_writable(path);
    if let Err(error) = fs::remove_dir_all(path) {
        tracing::warn!("cannot remove {path}: {error}");
    }
}

fn make_writable(path: &Utf8Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    }
    for entry in path.read_dir_utf8().into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(entry.path());
        }
    }
}

fn sweep(parent: &Utf8Path) {
    for entry in parent.read_dir_utf8().into_iter().flatten().flatten() {
        if !entry.file_name().starts_with(PREFIX) {
            continue;
        }
        let Ok(text) = fs::read_to_string(entry.path().join(OWNER)) else {
            continue;
        };
        let Ok(owner) = serde_json::from_str::<serde_json::Value>(&text) else {
            continue;
        };
        let Some(pid) = owner["pid"]
            .as_u64()
            .and_then(|pid| u32::try_from(pid).ok())
        else {
            continue;
        };
        // A recycled pid has another start time.
        if start_time(pid).is_none() || start_time(pid) != owner["started"].as_u64() {
            if start_time(pid).is_none() {
                process::kill_children_of_dead(pid);
            }
            remove_tree(entry.path());
            if let Some(repository) = owner["repository"].as_str() {
                prune(Utf8Path::new(repository));
            }
        }
    }
}

/// Start time of a process in clock ticks since boot; none when it does not run. Where there is no
/// `/proc`, every process counts as running, so nothing is swept by mistake.
fn start_time(pid: u32) -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return Some(0);
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(19)?
        .parse()
        .ok()
}

/// A checkout of the base contents.
#[derive(Debug)]
pub struct Worktree {
    top: Utf8PathBuf,
    sub: Utf8PathBuf,
    git: bool,
    _scratch: Arc<Scratch>,
}

impl Worktree {
    /// Checks the base out into the scratch folder.
    pub fn checkout(
        scratch: &Arc<Scratch>,
        project: &Project,
        base: &Base,
        cancel: &Cancel,
    ) -> Result<Self, ProjectError> {
        let number = scratch.count.fetch_add(1, Ordering::Relaxed);
        // The folder keeps its name: with an `__init__.py` at the root it is the package's name.
        let name = project.root.file_name().unwrap_or("tree");
        let top = scratch.path.join(format!("w{number}")).join(name);
        fs::create_dir_all(top.parent().unwrap_or(&top)).map_err(ProjectError::io(&top))?;
        if let Some(commit) = &base.commit {
            let args = [
                "worktree",
                "add",
                "--detach",
                "--force",
                "-q",
                top.as_str(),
                commit,
            ];
            git::run(&git::command(&project.root, args).deadline(STEP), cancel)?;
            copy_files(&project.root, &top, &base.overlay, cancel)?;
        } else {
            copy_files(&project.root, &top, &base.files, cancel)?;
        }
        Ok(Self {
            top,
            sub: project.sub.clone(),
            git: base.commit.is_some(),
            _scratch: Arc::clone(scratch),
        })
    }

    /// Undoes what tests did to the checkout: files that they changed, deleted or made. Ignored files
    /// stay, and so does everything in a copy without git.
    pub fn restore(&self, cancel: &Cancel) -> Result<(), ProjectError> {
        if self.git {
            let checkout = ["checkout", "-q", "--force", "HEAD", "--", "."];
            git::run(&git::command(&self.top, checkout), cancel)?;
            git::run(
                &git::command(&self.top, ["clean", "-f", "-d", "-q"]),
                cancel,
            )?;
        }
        Ok(())
    }

    /// Top of the checkout.
    pub fn top(&self) -> &Utf8Path {
        &self.top
    }

    /// The project's folder in it.
    pub fn folder(&self) -> Utf8PathBuf {
        if self.sub.as_str().is_empty() {
            self.top.clone()
        } else {
            self.top.join(&self.sub)
        }
    }

    /// Writes a file, named relative to the project's folder.
    pub fn write(&self, relative: &Utf8Path, bytes: &[u8]) -> Result<(), ProjectError> {
        let path = self.folder().join(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(ProjectError::io(parent))?;
        }
        fs::write(&path, bytes).map_err(ProjectError::io(&path))
    }
}

fn copy_files(
    from: &Utf8Path,
    to: &Utf8Path,
    files: &[Utf8PathBuf],
    cancel: &Cancel,
) -> Result<(), ProjectError> {
    fs::create_dir_all(to).map_err(ProjectError::io(to))?;
    for relative in files {
        if cancel.is_set() {
            return Err(git::GitError::from(crate::process::ProcessError::Cancelled).into());
        }
        let (source, target) = (from.join(relative), to.join(relative));
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(ProjectError::io(parent))?;
        }
        let kind = fs::symlink_metadata(&source).map_err(ProjectError::io(&source))?;
        if kind.is_symlink() {
            copy_link(&source, &target)?;
        } else {
            fs::copy(&source, &target).map_err(ProjectError::io(&source))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn copy_link(source: &Utf8Path, target: &Utf8Path) -> Result<(), ProjectError> {
    let to = fs::read_link(source).map_err(ProjectError::io(source))?;
    std::os::unix::fs::symlink(to, target).map_err(ProjectError::io(target))
}

#[cfg(not(unix))]
fn copy_link(source: &Utf8Path, target: &Utf8Path) -> Result<(), ProjectError> {
    fs::copy(source, target)
        .map(|_| ())
        .map_err(ProjectError::io(source))
}

/// Writes a verified patch into the user's tree: every file must still hold `before`. Either all
/// files are written or none.
pub fn apply_to_users_tree(
    project: &Project,
    changes: &[(Utf8PathBuf, Vec<u8>, Vec<u8>)],
) -> Result<(), ProjectError> {
    let mut staged = Vec::new();
    for (relative, before, after) in changes {
        let path = project.folder().join(relative);
        // Through a link the file it names is what changes.
        let path = path.canonicalize_utf8().map_err(ProjectError::io(&path))?;
        let now = fs::read(&path).map_err(ProjectError::io(&path))?;
        if now != *before {
            let cause = std::io::Error::other("changed while the fix was being searched");
            return Err(ProjectError::io(path)(cause));
        }
        let folder = path.parent().unwrap_or(&path).to_owned();
        let mut file =
            tempfile::NamedTempFile::new_in(&folder).map_err(ProjectError::io(&folder))?;
        file.write_all(after).map_err(ProjectError::io(&path))?;
        let mode = fs::metadata(&path)
            .map_err(ProjectError::io(&path))?
            .permissions();
        file.as_file()
            .set_permissions(mode)
            .map_err(ProjectError::io(&path))?;
        staged.push((file, path, before));
    }
    let mut done: Vec<(&Utf8Path, &Vec<u8>)> = Vec::new();
    for (file, path, before) in &mut staged {
        let written = fs::rename(file.path(), &*path);
        if let Err(source) = written {
            for (path, before) in done {
                let _ = fs::write(path, before);
            }
            return Err(ProjectError::io(path.clone())(source));
        }
        done.push((path, before));
    }
    Ok(())
}
