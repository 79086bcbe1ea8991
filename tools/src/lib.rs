//! Everything of `ndbg-agent` that touches the outside world: processes, git worktrees,
//! Python interpreters, source files.
//!
//! Invariants: only [`process`] spawns, only [`worktree`] writes inside a checkout.

pub mod cancel;
pub mod folders;
pub mod git;
pub mod process;
pub mod project;
pub mod protected;
pub mod python;
pub mod source;
pub mod trace;
pub mod worktree;

pub use cancel::Cancel;
