//! Python source files: bytes and their decoded text, byte-exact edits, unified diffs, syntax.

mod diff;
mod edit;
mod file;
pub mod syntax;

pub use diff::unified_diff;
pub use edit::{Edit, EditError, apply_edits};
pub use file::{Encoding, SourceError, SourceFile};
