//! Repositories of tasks: a local mirror, or a clone that is kept in the cache.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::git::{self, GitError};
use ndbg_tools::process::ProcessError;

use crate::infrastructure::{Class, Infrastructure};

/// Time for a clone.
const CLONING: std::time::Duration = std::time::Duration::from_hours(1);

/// Where repositories are looked for.
#[derive(Debug, Clone)]
pub struct Repositories {
    /// The user's folder of mirrors; nothing is written to it.
    pub mirrors: Option<Utf8PathBuf>,
    /// Folder for clones.
    pub cache: Utf8PathBuf,
}

impl Repositories {
    /// A repository that holds `owner/name`: `owner/name`, `owner__name` or `name` in the folder of
    /// mirrors, each also with `.git`, else a clone of `url`.
    pub fn find(
        &self,
        name: &str,
        url: &str,
        say: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Utf8PathBuf, Infrastructure> {
        if let Some(folder) = &self.mirrors {
            let base = name.rsplit('/').next().unwrap_or(name);
            for spelling in [name, &name.replace('/', "__"), base] {
                for path in [
                    folder.join(spelling),
                    folder.join(format!("{spelling}.git")),
                ] {
                    if is_repository(&path) {
                        return Ok(path);
                    }
                }
            }
        }
        self.clone(name, url, say, cancel)
    }

    fn clone(
        &self,
        name: &str,
        url: &str,
        say: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Utf8PathBuf, Infrastructure> {
        // `ext::` runs a command; a leading dash is an option.
        let plain = [
            "https://", "http://", "ssh://", "git://", "file://", "git@", "/",
        ];
        if !plain.iter().any(|start| url.starts_with(start)) {
            return Err(Infrastructure::new(
                Class::Repository,
                format!("`{url}` is no address of a repository"),
            ));
        }
        let folder = self.cache.join("mirrors");
        let path = folder.join(format!(
            "{}-{}.git",
            name.replace('/', "__"),
            crate::digest::hex(&[url])
        ));
        let io =
            |error: std::io::Error| Infrastructure::new(Class::Disk, format!("{folder}: {error}"));
        fs::create_dir_all(&folder).map_err(io)?;
        // One clone at a time; the lock goes with the handle.
        let lock = fs::File::create(path.with_extension("lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        if is_repository(&path) {
            return Ok(path);
        }
        say(&format!("cloning {url}"));
        let part = path.with_extension("part");
        let _ = fs::remove_dir_all(&part);
        let mut spec = git::command(
            &folder,
            ["clone", "-q", "--mirror", "--", url, part.as_str()],
        )
        .deadline(CLONING);
        spec = spec.env("GIT_CONFIG_COUNT", "1");
        spec = spec.env("GIT_CONFIG_KEY_0", "protocol.ext.allow");
        spec = spec.env("GIT_CONFIG_VALUE_0", "never");
        git::run(&spec, cancel).map_err(|error| {
            let _ = fs::remove_dir_all(&part);
            of_git(
                Class::Repository,
                &format!("{name} cannot be cloned"),
                error,
            )
        })?;
        fs::rename(&part, &path).map_err(io)?;
        Ok(path)
    }
}

/// Whether `path` is a git repository, bare or with a work tree.
fn is_repository(path: &Utf8Path) -> bool {
    path.join(".git").exists() || (path.join("HEAD").is_file() && path.join("objects").is_dir())
}

/// A failed git command as a failure of `class`.
pub(crate) fn of_git(class: Class, what: &str, error: GitError) -> Infrastructure {
    match error {
        GitError::Process(ProcessError::Cancelled) => Infrastructure::interrupted(),
        GitError::Failed { message, .. } => {
            Infrastructure::new(class, format!("{what}: {message}"))
        }
        GitError::Process(error) => Infrastructure::new(class, format!("{what}: {error}")),
    }
}

/// A fresh checkout of `commit` in `to`, with history up to it and no remote.
pub fn checkout(
    repository: &Utf8Path,
    commit: &str,
    to: &Utf8Path,
    cancel: &Cancel,
) -> Result<(), Infrastructure> {
    let wrong = |error| {
        of_git(
            Class::Repository,
            &format!("`{repository}` cannot be read"),
            error,
        )
    };
    // A commit is named by its hash alone: a branch may move, and an option must not get through.
    if commit.len() < 7 || !commit.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(Infrastructure::new(
            Class::Commit,
            format!("`{commit}` is no hash of a commit"),
        ));
    }
    let parent = to.parent().unwrap_or(to);
    fs::create_dir_all(parent)
        .map_err(|error| Infrastructure::new(Class::Disk, format!("{parent}: {error}")))?;
    let args = [
        "clone",
        "-q",
        "--shared",
        "--no-checkout",
        "--",
        repository.as_str(),
        to.as_str(),
    ];
    git::run(&git::command(parent, args), cancel).map_err(wrong)?;
    let known = git::command(to, ["cat-file", "-e", &format!("{commit}^{{commit}}")]);
    if let Err(error) = git::run(&known, cancel) {
        return Err(match error {
            GitError::Failed { .. } => Infrastructure::new(
                Class::Commit,
                format!("commit {commit} is not in `{repository}`; a shallow clone may lack it"),
            ),
            error @ GitError::Process(_) => wrong(error),
        });
    }
    git::run(
        &git::command(to, ["checkout", "-q", "--detach", commit]),
        cancel,
    )
    .map_err(wrong)?;
    git::run(&git::command(to, ["remote", "remove", "origin"]), cancel).map_err(wrong)?;
    Ok(())
}

/// Contents of `path` at `commit`.
pub fn file_at(
    repository: &Utf8Path,
    commit: &str,
    path: &Utf8Path,
    cancel: &Cancel,
) -> Result<Vec<u8>, Infrastructure> {
    let spec = git::command(
        repository,
        ["cat-file", "blob", &format!("{commit}:{path}")],
    );
    git::run(&spec, cancel)
        .map(|done| done.stdout)
        .map_err(|error| of_git(Class::TestPatch, &format!("`{path}` at {commit}"), error))
}
