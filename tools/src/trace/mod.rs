//! Recordings on disk: the raw stream that the recorder writes while the program runs, and the
//! `.ndbg` folder that it becomes. Both are described in docs/trace-format.md.

mod codec;
mod folder;
mod raw;

pub use folder::{
    FolderError, Meta, Opened, VERSION, Written, claim, open, read_meta, write, write_streaming,
};
pub use raw::{RawError, RawReader, Sources};

#[cfg(test)]
mod tests;
