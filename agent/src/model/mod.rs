//! Opening what predicts: the embedded model, a checkpoint, or a real interpreter.

mod files;
mod named;
mod opened;
mod reality;

pub use named::Named;
pub use opened::{Model, open};
pub use reality::Reality;
