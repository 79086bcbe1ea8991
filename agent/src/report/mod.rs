//! One event enum in, many renderers out.

pub mod event;

pub use event::{Event, Level, Stamped};
