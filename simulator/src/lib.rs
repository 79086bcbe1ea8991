//! The neural debugger: predicts program states under debugger actions.
//!
//! Pure: states and source in, predictions out. No path, clock, network or environment, but for
//! [`backend::remote`], which asks a model behind a server.

pub mod backend;
mod chance;
pub mod context;
pub mod debugger;
pub mod divergence;
pub mod entries;
pub mod eval;
pub mod expression;
pub mod forest;
pub mod grammar;
pub mod harness;
mod inverse;
pub mod literal;
pub mod model;
pub mod policy;
pub mod recording;
pub mod sampler;
pub mod shown;
mod simulator;
pub mod source_lines;
mod state;
pub mod statistics;
pub mod trajectory;
pub mod transition;
pub mod tree;

pub use debugger::{Arrival, Debugger, Session, Stopped, Trust};
pub use entries::{Entries, Level};
pub use forest::CallForest;
pub use policy::{ActionKind, Policy};
pub use sampler::Sampler;
pub use simulator::{NoSimulator, Prediction, Provenance, Simulator, Unavailable};
pub use state::{Action, EventKind, State};
pub use statistics::Statistics;
pub use trajectory::{Direction, Stop, Trajectory};
pub use transition::{Destination, Exit, Inapplicable, Node};
pub use tree::{Ending, Tree};
