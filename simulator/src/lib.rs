//! The neural debugger: predicts program states under debugger actions.
//!
//! Pure: states and source in, predictions out. No path, clock, network or environment.

pub mod expression;
pub mod literal;
pub mod recording;
mod simulator;
mod state;

pub use simulator::{NoSimulator, Prediction, Provenance, Simulator, Unavailable};
pub use state::{Action, EventKind, State};
