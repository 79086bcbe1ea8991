//! What networks compute and what is asked of them.
#![allow(clippy::unwrap_used)]

mod asking;
mod fixture;
mod parity;
