//! Laws of trees, transitions, grammars and trajectories over random recordings.
#![allow(clippy::unwrap_used, missing_docs)]

mod corners;
mod forward;
mod golden;
mod grammar;
mod inverse;
mod recordings;
mod sampling;
mod script;
