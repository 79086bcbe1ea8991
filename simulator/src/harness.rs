//! The harness around the small model: what follows from the syntax of a program is decided here.
//!
//! Names and scopes, which line comes next, binding of arguments, displays, attributes, loads and
//! stores by key, truth, identity and the walk through an iterable follow from the syntax tree and
//! from the values, and so does when an exception is handled. What has to be *computed* is asked: each
//! operator, builtin function, method, slice and formatting is one [`Operation`] to whoever answers,
//! a model or a real interpreter. The harness itself adds no two numbers.
//!
//! What is not known stays unknown: an operation on an unknown value is unknown without being asked,
//! and a branch on one ends the run.
//!
//! [`Operation`]: crate::grammar::step::Operation

mod attributes;
pub mod backwards;
mod call;
mod class;
mod comprehension;
mod exceptions;
pub(crate) mod expression;
mod heap;
mod iteration;
mod machine;
mod names;
mod object;
mod program;
mod recorded;
mod statement;
mod store;
mod subscript;
mod text;

pub use heap::canonical as in_set_order;
pub use machine::{Answer, Ended, Event, Limits, Operations, Override, Run, run, run_with};
pub use program::{Program, Unparsable};
pub use recorded::recording;
