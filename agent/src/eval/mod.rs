//! Evaluations of models: what they say beside what is true.

mod crosshair;
mod cruxeval;
mod foreseen;
mod horizon;
mod inputs;
mod items;
mod pace;
mod page;
mod predictor;
mod programs;
mod reaches;
mod recorded;
mod replay;
mod states;
mod steps;
mod table;
mod truth;
mod verified;

pub use cruxeval::{CruxSettings, cruxeval};
pub(crate) use foreseen::Foreseen;
pub use horizon::{HorizonSettings, horizon};
pub use page::{Page, Section};
pub use predictor::Predictor;
pub use programs::Data;
pub use reaches::{ReachesSettings, reaches};
pub use states::{StatesSettings, states};
pub use steps::{StepsSettings, steps};
pub use table::Table;
pub use verified::{VerifiedSettings, verified};

use crate::fix::stop::Stop;

/// Tells how far a long part of the work is: what, how many are done, of how many.
pub type Progress<'a> = dyn FnMut(&str, usize, usize) + 'a;

/// What an evaluation gives.
#[derive(Debug)]
pub struct Evaluation {
    /// For people.
    pub page: Page,
    /// For programs.
    pub json: serde_json::Value,
    /// Every answer of the model beside the truth, where single answers are judged.
    pub answers: Vec<serde_json::Value>,
}

/// What an evaluation ends with.
pub type Evaluated = Result<Evaluation, Stop>;
