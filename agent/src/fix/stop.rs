//! Expected endings: a run that stops early says why, and what to do about it.

use ndbg_tools::project::ProjectError;
use ndbg_tools::python::environment::EnvironmentError;
use ndbg_tools::python::pytest::PytestError;

use crate::outcome::Outcome;

/// An early end.
#[derive(Debug)]
pub struct Stop {
    /// How the run ends.
    pub outcome: Outcome,
    /// One line.
    pub message: String,
    /// What the user can do.
    pub hint: Option<String>,
}

impl Stop {
    /// An ending without a hint.
    pub fn new(outcome: Outcome, message: impl Into<String>) -> Self {
        Self {
            outcome,
            message: message.into(),
            hint: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        self.hint = (!hint.is_empty()).then_some(hint);
        self
    }

    /// Ctrl-C or SIGTERM.
    pub fn interrupted() -> Self {
        Self::new(Outcome::Interrupted, "interrupted")
    }
}

impl From<ProjectError> for Stop {
    fn from(error: ProjectError) -> Self {
        if error.is_cancelled() {
            return Self::interrupted();
        }
        let outcome = match error {
            ProjectError::NotAFolder(_) => Outcome::Usage,
            _ => Outcome::Environment,
        };
        let hint = error.hint().unwrap_or_default();
        Self::new(outcome, error.to_string()).hint(hint)
    }
}

impl From<EnvironmentError> for Stop {
    fn from(error: EnvironmentError) -> Self {
        match error {
            EnvironmentError::Cancelled => Self::interrupted(),
            other => Self::new(Outcome::Environment, other.to_string()).hint(other.hint()),
        }
    }
}

impl From<PytestError> for Stop {
    fn from(error: PytestError) -> Self {
        if error.is_cancelled() {
            return Self::interrupted();
        }
        Self::new(Outcome::Environment, error.to_string())
    }
}
