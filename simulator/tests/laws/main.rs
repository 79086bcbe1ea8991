//! Laws of trees, transitions, grammars and trajectories over random recordings.
#![allow(
    clippy::unwrap_used,
    // In tests short call sites and expected values that read like results are worth more.
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    missing_docs
)]

mod corners;
mod forward;
mod golden;
mod grammar;
mod inverse;
mod predicted;
mod raw_stream;
mod recorded;
mod recordings;
mod sampling;
mod script;
