//! The user's project: where it is, and a snapshot of its contents. Reading only; what git needs to
//! write goes to its object store through an index of our own.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::cancel::Cancel;
use crate::git::{self, GitError};
use crate::process::ProcessError;

/// Largest untracked file that is taken over.
const UNTRACKED_FILE: u64 = 1 << 20;
/// Most bytes of untracked files taken over in all.
const UNTRACKED_TOTAL: u64 = 64 << 20;
/// Most files of a folder without git that is copied.
const COPY_FILES: usize = 50_000;
/// Most bytes of a folder without git that is copied.
const COPY_BYTES: u64 = 1 << 30;

/// Folders that never hold a project's own source.
const SKIPPED_FOLDERS: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "node_modules",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".eggs",
];

/// Ignored files that tests often need: built extensions, generated version modules, local settings.
const NEEDED_IGNORED: &[&str] = &[
    ":(glob)**/*.so",
    ":(glob)**/*.pyd",
    ":(glob)**/_version.py",
    ":(glob)**/version.py",
    ":(glob)**/.env",
];

/// Why a project cannot be worked on.
#[derive(Debug, Error)]
pub enum ProjectError {
    /// The path does not exist or is no folder.
    #[error("`{0}` is not a folder")]
    NotAFolder(Utf8PathBuf),
    /// A repository without any commit.
    #[error("the repository at `{0}` has no commits")]
    NoCommits(Utf8PathBuf),
    /// A bare repository, or the inside of `.git`.
    #[error("`{0}` is not inside a work tree")]
    NoWorkTree(Utf8PathBuf),
    /// A merge in progress: the index has no single content.
    #[error("the repository has unmerged files: {0}")]
    Unmerged(String),
    /// A folder without git that is too large to copy.
    #[error("`{path}` is not a git repository and too large to copy ({what})")]
    TooLarge {
        /// The folder.
        path: Utf8PathBuf,
        /// What was too much.
        what: String,
    },
    /// git said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Cause.
        source: std::io::Error,
    },
}

impl ProjectError {
    pub(crate) fn io(path: impl Into<Utf8PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// Whether the cause is an interruption.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Git(GitError::Process(ProcessError::Cancelled)))
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotAFolder(_) => Some("check the path given to `--repo`"),
            Self::NoCommits(_) => Some(
                "commit once (`git add -A && git commit`), or point `--repo` at a copy without `.git`",
            ),
            Self::NoWorkTree(_) => {
                Some("point `--repo` at the checkout, not at the bare repository")
            }
            Self::Unmerged(_) => Some("finish or abort the merge first"),
            Self::TooLarge { .. } => Some("run `git init` there and commit the sources"),
            Self::Git(_) | Self::Io { .. } => None,
        }
    }
}

/// A project: a folder inside a git work tree, or a folder without git.
#[derive(Debug, Clone)]
pub struct Project {
    /// Top of the work tree, or the folder itself; absolute, without links.
    pub root: Utf8PathBuf,
    /// The project's folder relative to `root`; empty when they are the same.
    pub sub: Utf8PathBuf,
    /// Whether `root` is a git work tree.
    pub git: bool,
}

/// The contents that everything is measured against.
#[derive(Debug, Clone)]
pub struct Base {
    /// Commit with tracked changes and untracked files in it; none without git.
    pub commit: Option<String>,
    /// Tracked files with uncommitted changes, relative to the root.
    pub changed: Vec<Utf8PathBuf>,
    /// Untracked files taken over, relative to the root.
    pub untracked: Vec<Utf8PathBuf>,
    /// Files copied beside the commit (ignored files that tests need, submodules), relative to the root.
    pub overlay: Vec<Utf8PathBuf>,
    /// What was left out, with the reason.
    pub left_out: Vec<String>,
    /// Files of a folder without git, relative to the root.
    pub files: Vec<Utf8PathBuf>,
}

impl Project {
    /// Finds the project that `path` points into.
    pub fn open(path: &Utf8Path, cancel: &Cancel) -> Result<Self, ProjectError> {
        let not_a_folder = || ProjectError::NotAFolder(path.to_owned());
        let folder = path.canonicalize_utf8().map_err(|_| not_a_folder())?;
        if !folder.is_dir() {
            return Err(not_a_folder());
        }
        let spec = git::command(
            &folder,
            ["rev-parse", "--is-inside-work-tree", "--show-toplevel"],
        );
        match git::run(&spec, cancel) {
            Ok(done) => {
                let text = done.stdout_text();
                let mut lines = text.lines();
                if lines.next() != Some("true") {
                    return Err(ProjectError::NoWorkTree(folder));
                }
                let root = Utf8PathBuf::from(lines.next().unwrap_or_default());
                let root = root.canonicalize_utf8().unwrap_or(root);
                let head = git::command(&root, ["rev-parse", "--verify", "-q", "HEAD^{commit}"]);
                if let Err(error) = git::run(&head, cancel) {
                    return Err(match error {
                        GitError::Failed { .. } => ProjectError::NoCommits(root),
                        other @ GitError::Process(_) => other.into(),
                    });
                }
                let sub = folder.strip_prefix(&root).map(Utf8Path::to_owned);
                Ok(Self {
                    sub: sub.unwrap_or_default(),
                    root,
                    git: true,
                })
            }
            Err(GitError::Failed { message, .. }) if message.contains("not a git repository") => {
                Ok(Self::plain(folder))
            }
            Err(GitError::Failed { message, .. })
                if message.contains("must be run in a work tree") =>
            {
                Err(ProjectError::NoWorkTree(folder))
            }
            // Without git on the machine every folder is a plain one.
            Err(GitError::Process(ProcessError::Spawn { .. })) => Ok(Self::plain(folder)),
            Err(other) => Err(other.into()),
        }
    }

    fn plain(folder: Utf8PathBuf) -> Self {
        Self {
            root: folder,
            sub: Utf8PathBuf::new(),
            git: false,
        }
    }

    /// The project's folder in the user's tree.
    pub fn folder(&self) -> Utf8PathBuf {
        if self.sub.as_str().is_empty() {
            self.root.clone()
        } else {
            self.root.join(&self.sub)
        }
    }

    /// Takes the base contents. `scratch` is a folder of ours for the private index.
    pub fn snapshot(&self, scratch: &Utf8Path, cancel: &Cancel) -> Result<Base, ProjectError> {
        if self.git {
            self.snapshot_git(scratch, cancel)
        } else {
            self.snapshot_plain(cancel)
        }
    }

    fn snapshot_git(&self, scratch: &Utf8Path, cancel: &Cancel) -> Result<Base, ProjectError> {
        let git = |args: &[&str]| git::run(&git::command(&self.root, args), cancel);
        let unmerged = git::paths(&git(&["diff", "--name-only", "-z", "--diff-filter=U"])?);
        if let Some(first) = unmerged.first() {
            return Err(ProjectError::Unmerged(first.to_string()));
        }
        let mut left_out = Vec::new();
        let submodules = self.submodules(cancel)?;
        let mut changed = git::paths(&git(&[
            "diff",
            "--name-only",
            "-z",
            "--ignore-submodules",
            "HEAD",
        ])?);
        changed.retain(|path| !submodules.contains(path));
        let untracked = self.untracked(&mut left_out, cancel)?;
        let mut overlay: Vec<Utf8PathBuf> = {
            let mut args = vec![
                "ls-files",
                "--others",
                "--ignored",
                "--exclude-standard",
                "-z",
                "--",
            ];
            args.extend(NEEDED_IGNORED);
            let mut found = git::paths(&git(&args)?);
            found.retain(|path| !in_skipped_folder(path) && !is_build_output(path));
            found
        };
        if overlay.len() > 2000 {
            left_out.push(format!(
                "{} ignored files that tests may need (built extensions and the like)",
                overlay.len()
            ));
            overlay.clear();
        }
        for module in &submodules {
            let mut files = Vec::new();
            let folder = self.root.join(module);
            let mut copied = CopyLimits::default();
            if folder.join(".git").exists() {
                list_files(&folder, module, &mut files, &mut copied, cancel)?;
            }
            if files.is_empty() {
                left_out.push(format!("submodule `{module}`: not checked out"));
            }
            overlay.extend(files);
        }
        let commit = if changed.is_empty() && untracked.is_empty() {
            git(&["rev-parse", "HEAD"])?.stdout_text()
        } else {
            self.commit_work_tree(scratch, &untracked, cancel)?
        };
        Ok(Base {
            commit: Some(commit),
            changed,
            untracked,
            overlay,
            left_out,
            files: Vec::new(),
        })
    }

    /// A commit of the work tree as it is, written through an index of our own so that neither the
    /// user's index nor any ref changes.
    fn commit_work_tree(
        &self,
        scratch: &Utf8Path,
        untracked: &[Utf8PathBuf],
        cancel: &Cancel,
    ) -> Result<String, ProjectError> {
        let index = scratch.join("index");
        let own = git::command(&self.root, ["rev-parse", "--git-path", "index"]);
        let users = self.root.join(git::run(&own, cancel)?.stdout_text());
        // Starting from the user's index keeps its cached stat data: only changed files are read.
        if users.exists() {
            copy_index(&users, &index).map_err(ProjectError::io(&users))?;
        }
        let with_index =
            |args: &[&str]| git::command(&self.root, args).env("GIT_INDEX_FILE", index.as_str());
        git::run(&with_index(&["add", "-u", "--ignore-errors", "."]), cancel)?;
        if !untracked.is_empty() {
            let mut spec = with_index(&["add", "--pathspec-from-file=-", "--pathspec-file-nul"]);
            spec.env.push(("GIT_LITERAL_PATHSPECS".into(), "1".into()));
            for path in untracked {
                spec.input.extend_from_slice(path.as_str().as_bytes());
                spec.input.push(0);
            }
            git::run(&spec, cancel)?;
        }
        let tree = git::run(&with_index(&["write-tree"]), cancel)?.stdout_text();
        let message = "ndbg-agent: work tree with uncommitted changes";
        let args = ["commit-tree", "-p", "HEAD", "-m", message, tree.as_str()];
        Ok(git::run(&git::command(&self.root, args), cancel)?.stdout_text())
    }

    fn submodules(&self, cancel: &Cancel) -> Result<BTreeSet<Utf8PathBuf>, ProjectError> {
        if !self.root.join(".gitmodules").exists() {
            return Ok(BTreeSet::new());
        }
        let done = git::run(&git::command(&self.root, ["ls-files", "-s", "-z"]), cancel)?;
        Ok(done
            .stdout
            .split(|&b| b == 0)
            .filter(|entry| entry.starts_with(b"160000 "))
            .filter_map(|entry| std::str::from_utf8(entry).ok())
            .filter_map(|entry| entry.split_once('\t'))
            .map(|(_, path)| Utf8PathBuf::from(path))
            .collect())
    }

    fn untracked(
        &self,
        left_out: &mut Vec<String>,
        cancel: &Cancel,
    ) -> Result<Vec<Utf8PathBuf>, ProjectError> {
        let args = ["ls-files", "--others", "--exclude-standard", "-z"];
        let done = git::run(&git::command(&self.root, args), cancel)?;
        let (mut taken, mut total, mut large) = (Vec::new(), 0, Vec::new());
        for path in git::paths(&done) {
            if path.as_str().ends_with('/') {
                left_out.push(format!("nested repository `{path}`"));
                continue;
            }
            if in_skipped_folder(&path) {
                continue;
            }
            let size = fs::symlink_metadata(self.root.join(&path)).map_or(0, |m| m.len());
            // Tests and sources are what the user is working on; large files are data.
            if size > UNTRACKED_FILE || total + size > UNTRACKED_TOTAL {
                large.push(path);
                continue;
            }
            total += size;
            taken.push(path);
        }
        if let Some(first) = large.first() {
            left_out.push(format!(
                "{} large untracked {} (`{first}`{})",
                large.len(),
                if large.len() == 1 { "file" } else { "files" },
                if large.len() == 1 { "" } else { ", …" }
            ));
        }
        Ok(taken)
    }

    fn snapshot_plain(&self, cancel: &Cancel) -> Result<Base, ProjectError> {
        let mut files = Vec::new();
        let mut limits = CopyLimits::default();
        list_files(
            &self.root,
            Utf8Path::new(""),
            &mut files,
            &mut limits,
            cancel,
        )?;
        Ok(Base {
            commit: None,
            changed: Vec::new(),
            untracked: Vec::new(),
            overlay: Vec::new(),
            left_out: limits.left_out,
            files,
        })
    }
}

/// Copies an index with its time of change: git trusts the cached data of a file only when the index
/// is younger than the file. A younger copy would hide a change made in the second of the last commit.
fn copy_index(from: &Utf8Path, to: &Utf8Path) -> std::io::Result<()> {
    fs::copy(from, to)?;
    let changed = fs::metadata(from)?.modified()?;
    fs::File::options()
        .write(true)
        .open(to)?
        .set_modified(changed)
}

#[derive(Debug, Default)]
struct CopyLimits {
    files: usize,
    bytes: u64,
    left_out: Vec<String>,
}

/// Files below `folder`, named relative to the root by `prefix`, in sorted order.
fn list_files(
    folder: &Utf8Path,
    prefix: &Utf8Path,
    out: &mut Vec<Utf8PathBuf>,
    limits: &mut CopyLimits,
    cancel: &Cancel,
) -> Result<(), ProjectError> {
    if cancel.is_set() {
        return Err(GitError::from(ProcessError::Cancelled).into());
    }
    let mut entries: Vec<_> = folder
        .read_dir_utf8()
        .map_err(ProjectError::io(folder))?
        .filter_map(Result::ok)
        .collect();
    entries.sort_by(|a, b| a.file_name().cmp(b.file_name()));
    for entry in entries {
        let name = entry.file_name();
        let relative = prefix.join(name);
        let kind = entry.file_type().map_err(ProjectError::io(entry.path()))?;
        if kind.is_dir() {
            let environment = entry.path().join("pyvenv.cfg").exists();
            if !SKIPPED_FOLDERS.contains(&name) && !environment {
                list_files(entry.path(), &relative, out, limits, cancel)?;
            }
            continue;
        }
        if !kind.is_file() && !kind.is_symlink() {
            limits
                .left_out
                .push(format!("`{relative}`: a socket, pipe or device"));
            continue;
        }
        if name == ".git" {
            continue;
        }
        limits.files += 1;
        limits.bytes += entry.metadata().map_or(0, |m| m.len());
        if limits.files > COPY_FILES || limits.bytes > COPY_BYTES {
            return Err(ProjectError::TooLarge {
                path: folder.to_owned(),
                what: format!("over {COPY_FILES} files or 1 GiB"),
            });
        }
        out.push(relative);
    }
    Ok(())
}

fn in_skipped_folder(path: &Utf8Path) -> bool {
    path.components()
        .any(|part| SKIPPED_FOLDERS.contains(&part.as_str()))
}

/// Outputs of packaging tools, which hold copies of the sources.
fn is_build_output(path: &Utf8Path) -> bool {
    path.components().any(|part| {
        let part = part.as_str();
        matches!(part, "build" | "dist" | "site-packages") || part.ends_with(".egg-info")
    })
}

/// How long a git or copy step may take before it is called hung.
pub(crate) const STEP: Duration = Duration::from_mins(5);
