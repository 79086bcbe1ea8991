//! The `git` program, called so that hooks, prompts, fsmonitor and LFS downloads stay out of it.

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::cancel::Cancel;
use crate::process::{self, Finished, ProcessError, Spec};

/// Why a git command failed.
#[derive(Debug, Error)]
pub enum GitError {
    /// It could not be run, or was interrupted.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// It said no.
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// Subcommand.
        command: String,
        /// Its last words.
        message: String,
    },
}

/// A git command in `cwd`.
pub fn command<S: AsRef<std::ffi::OsStr>>(
    cwd: &Utf8Path,
    args: impl IntoIterator<Item = S>,
) -> Spec {
    let mut spec = Spec::new("git", cwd)
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.quotePath=false",
            "-c",
            "gc.auto=0",
            "-c",
            "advice.detachedHead=false",
        ])
        .args(args)
        .env("GIT_LFS_SKIP_SMUDGE", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        // The snapshot commit is never published; it needs some identity where none is configured.
        .env("GIT_AUTHOR_NAME", "ndbg-agent")
        .env("GIT_AUTHOR_EMAIL", "ndbg-agent@localhost")
        .env("GIT_COMMITTER_NAME", "ndbg-agent")
        .env("GIT_COMMITTER_EMAIL", "ndbg-agent@localhost");
    spec.output_cap = 64 << 20;
    spec.deadline(std::time::Duration::from_mins(5))
}

/// Runs a git command that must succeed.
pub fn run(spec: &Spec, cancel: &Cancel) -> Result<Finished, GitError> {
    let done = process::run(spec, cancel)?;
    if done.exit.success() {
        return Ok(done);
    }
    let command = spec
        .args
        .iter()
        .map(|a| a.to_string_lossy())
        .find(|a| a != "-c" && !a.contains('='))
        .unwrap_or_default()
        .into_owned();
    Err(GitError::Failed {
        command,
        message: done.tail(3),
    })
}

/// Output of a git command with `-z`, as paths; names that are not UTF-8 are left out.
pub fn paths(done: &Finished) -> Vec<Utf8PathBuf> {
    done.stdout
        .split(|&b| b == 0)
        .filter(|name| !name.is_empty())
        .filter_map(|name| std::str::from_utf8(name).ok())
        .map(Utf8PathBuf::from)
        .collect()
}
