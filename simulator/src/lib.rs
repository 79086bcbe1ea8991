//! The neural debugger: predicts program states under debugger actions.
//!
//! Pure: states and source in, predictions out. No path, clock, network or environment.

pub mod forest;
mod inverse;
pub mod recording;
mod simulator;
pub mod source_lines;
mod state;
pub mod transition;
pub mod tree;

pub use forest::CallForest;
pub use simulator::{NoSimulator, Prediction, Provenance, Simulator, Unavailable};
pub use state::{Action, EventKind, State};
pub use transition::{Destination, Exit, Inapplicable, Node};
pub use tree::{Ending, Tree};
