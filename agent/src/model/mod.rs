//! Opening what predicts: the embedded model, a checkpoint, a server, or a real interpreter.

mod files;
mod named;
mod opened;
mod reality;
mod server;

pub use named::Named;
pub use opened::{Model, open};
pub use reality::Reality;
pub use server::Served;
