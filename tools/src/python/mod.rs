//! Python from the outside: finding an interpreter, running pytest with our plugin, the warm runner.

pub mod environment;
pub mod executions;
pub mod managed;
pub mod operations;
pub mod plugin;
pub mod pytest;
pub mod requirements;
pub mod warm;
