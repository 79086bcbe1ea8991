//! Task formats, grading and bug seeding.
//!
//! A *task* is a small program with one bug and tests that show it. Two kinds share one format:
//! bundled tasks, written by hand, and seeded ones, made by [`seed`] from a repository whose tests
//! pass. [`tree`] makes the working copy that a tool is given, [`grade`] judges the patch it hands
//! back: *plausible* when the tests that it could see pass, *correct* when tests that it has never
//! seen pass as well.

pub mod grade;
pub mod seed;
pub mod task;
pub mod tree;

pub use grade::{Grade, GradeError, Grader};
pub use task::{Bug, Origin, Seeded, Task, TaskError};
