//! Laws of trees, transitions, grammars and trajectories over random recordings.
#![allow(clippy::unwrap_used, missing_docs)]

mod forward;
mod inverse;
mod recordings;
