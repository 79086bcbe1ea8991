//! Why a task could not be tried or graded at all, which says nothing about the tool that is measured.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The interpreter that it asks for is not here.
    Python,
    /// The repository cannot be cloned.
    Repository,
    /// The base commit is not in the repository.
    Commit,
    /// The test patch, or a test file, does not fit the base commit.
    TestPatch,
    /// A name of a test leads to no file.
    TestNames,
    /// Installing what the tests need failed.
    Install,
    /// The network failed.
    Network,
    /// A server refused because of too many requests.
    RateLimit,
    /// The disk is full, or not to be written to.
    Disk,
    /// The tests do not do without a patch what the task says that they do.
    Baseline,
    /// The measured program ended without a result.
    Program,
}

impl Class {
    /// In a word or two.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Repository => "repository",
            Self::Commit => "commit",
            Self::TestPatch => "test patch",
            Self::TestNames => "test names",
            Self::Install => "install",
            Self::Network => "network",
            Self::RateLimit => "rate limit",
            Self::Disk => "disk",
            Self::Baseline => "baseline",
            Self::Program => "program",
        }
    }

    /// Whether a second try may end otherwise.
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            Self::Repository
                | Self::Install
                | Self::Network
                | Self::RateLimit
                | Self::Disk
                | Self::Program
        )
    }
}

/// A failure that is not the tool's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Error)]
#[error("{message}")]
pub struct Infrastructure {
    /// Its kind.
    pub class: Class,
    /// What happened, in a few lines.
    pub message: String,
    /// Whether somebody interrupted it.
    #[serde(skip)]
    pub cancelled: bool,
}

impl Infrastructure {
    /// A failure of `class`, unless the message tells of a more precise one: a full disk, a missing
    /// network and a server that wants fewer requests show in whatever ran.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        let message = message.into();
        let lower = message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let class = if says(&["no space left", "disk quota", "read-only file system"]) {
            Class::Disk
        } else if says(&[
            "rate limit",
            "too many requests",
            "429 client error",
            "http error 429",
        ]) {
            Class::RateLimit
        } else if says(&[
            "could not resolve host",
            "temporary failure in name resolution",
            "name or service not known",
            "connection refused",
            "connection reset",
            "connection timed out",
            "failed to establish a new connection",
            "network is unreachable",
            "connectionerror",
        ]) {
            Class::Network
        } else {
            class
        };
        Self {
            class,
            message,
            cancelled: false,
        }
    }

    /// Somebody interrupted.
    pub fn interrupted() -> Self {
        Self {
            class: Class::Program,
            message: "interrupted".into(),
            cancelled: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_a_failure_is_found_in_its_words() {
        for (message, class) in [
            ("OSError: [Errno 28] No space left on device", Class::Disk),
            ("fatal: Could not resolve host: github.com", Class::Network),
            ("HTTP error 429 while getting x", Class::RateLimit),
            ("error: subprocess-exited-with-error", Class::Install),
        ] {
            assert_eq!(
                Infrastructure::new(Class::Install, message).class,
                class,
                "{message}"
            );
        }
    }
}
