//! What answers a debugger's questions.

pub mod checkpoint;
pub mod embedded;
pub mod oracle;
pub mod remote;
pub mod step;
pub mod trajectory;
