//! Trajectories as token streams, and back.
//!
//! An encoder yields [`Segment`]s: text, or a special token, with its role and whether it counts for
//! the loss. [`plain_text`] joins them; decoders read the joined text or a model's answer.

pub mod cwm;
mod json;
mod lexer;
pub mod nd;
mod segment;
mod special;
pub mod step;

pub use lexer::DecodeError;
pub use segment::{Piece, Role, Segment, plain_text};
pub use special::{Special, SpecialRole};
