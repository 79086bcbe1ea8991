//! A time-travel debugger over a recorded run: every step, forwards and backwards, is exact.

mod breakpoint;
mod command;
mod complete;
mod debugger;
mod help;
mod movement;
mod names;
mod outer;
mod predicted;
mod repl;
mod scan;
mod view;
mod why;

pub use breakpoint::is_named;
pub use debugger::{Answer, Debugger};
pub use names::StateNames;
pub use predicted::Predicted;
pub use repl::run;
pub use scan::scan;
pub use view::{call_line, raised, stop as stop_lines};
pub use why::last_write;

#[cfg(test)]
mod tests;
