//! The seam between the fix loop and whatever predicts.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::state::{Action, State};
use crate::transition::Inapplicable;

/// Where a value comes from. No report shows a predicted value as a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Seen in a real run.
    Recorded,
    /// Said by a model.
    Predicted,
    /// Said by a model and then seen in a real run.
    Verified,
}

/// A predicted state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The state.
    pub state: State,
    /// Where it comes from.
    pub provenance: Provenance,
    /// Probability that it is right, 0 to 1.
    pub confidence: f64,
}

/// Why there is no prediction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unavailable {
    /// There is no simulator.
    #[error("no simulator")]
    Off,
    /// The simulator does not know.
    #[error("unknown: {0}")]
    Unknown(String),
    /// The action has no meaning where it is to be done.
    #[error(transparent)]
    Inapplicable(#[from] Inapplicable),
}

/// Predicts program states. Pure: the same question has the same answer.
pub trait Simulator {
    /// Short name for events and reports.
    fn name(&self) -> &str;

    /// The state after `action` in `state`, for the program `source`.
    fn predict(
        &self,
        source: &str,
        state: &State,
        action: &Action,
    ) -> Result<Prediction, Unavailable>;

    /// Log-probability (natural) of `next` as the state after `action` in `state`.
    fn score(
        &self,
        source: &str,
        state: &State,
        action: &Action,
        next: &State,
    ) -> Result<f64, Unavailable>;
}

/// The simulator that knows nothing: every question is answered by a real run instead.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSimulator;

impl Simulator for NoSimulator {
    fn name(&self) -> &'static str {
        "none"
    }

    fn predict(&self, _: &str, _: &State, _: &Action) -> Result<Prediction, Unavailable> {
        Err(Unavailable::Off)
    }

    fn score(&self, _: &str, _: &State, _: &Action, _: &State) -> Result<f64, Unavailable> {
        Err(Unavailable::Off)
    }
}
