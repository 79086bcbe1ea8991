//! Task formats, environments, grading and bug seeding.
//!
//! A *task* is a small program with one bug and tests that show it. Two kinds share one format:
//! bundled tasks, written by hand, and seeded ones, made by [`seed`] from a repository whose tests
//! pass. [`tree`] makes the working copy that a tool is given, [`grade`] judges the patch it hands
//! back: *plausible* when the tests that it could see pass, *correct* when tests that it has never
//! seen pass as well.
//!
//! An [`instance::Instance`] is a task of any format of [`formats`], those of other benchmarks among
//! them. [`environments`] makes what its tests need, [`judge`] judges patches by its rule, and
//! [`infrastructure`] names what may go wrong on the way without the tool's doing.

pub mod digest;
pub mod environments;
pub mod formats;
pub mod grade;
pub mod infrastructure;
pub mod instance;
pub mod judge;
mod official;
pub mod repositories;
pub mod seed;
pub mod task;
pub mod test_command;
pub mod test_names;
pub mod tree;

pub use environments::{Environments, Prepared};
pub use grade::{Grade, GradeError, Grader};
pub use infrastructure::{Class, Infrastructure};
pub use instance::Instance;
pub use judge::{Judge, Known};
pub use task::{Bug, Origin, Seeded, Task, TaskError};
