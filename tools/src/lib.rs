//! Everything of `ndbg-agent` that touches the outside world: processes, git worktrees,
//! Python interpreters, source files.
//!
//! Invariants: only [`process`] spawns, only [`worktree`] writes inside a checkout.

pub mod source;
