//! A time-travel debugger over a recorded run: every step, forwards and backwards, is exact.

mod breakpoint;
mod command;
mod complete;
mod debugger;
mod help;
mod movement;
mod names;
mod repl;
mod scan;
mod view;
mod why;

pub use debugger::{Answer, Debugger};
pub use repl::run;

#[cfg(test)]
mod tests;
