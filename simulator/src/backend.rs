//! What answers a debugger's questions.

pub mod oracle;
