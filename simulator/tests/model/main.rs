//! What networks compute and what is asked of them.
#![allow(clippy::unwrap_used)]

mod asking;
mod checkpoints;
mod fixture;
mod parity;
