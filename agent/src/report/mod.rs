//! One event enum in, many renderers out.
//!
//! A [`Reporter`] takes events from any thread, records them, tells people what happens and writes
//! the artefacts at the end. Everything but the recording is rendered from a [`Story`], which folds
//! the events; a report can therefore be made again from a recording, of a killed run too.

mod artefacts;
pub(crate) mod columns;
pub mod event;
mod facts;
mod gaps;
pub mod github;
pub mod html;
pub mod json;
pub mod jsonl;
pub mod junit;
mod leads;
mod live;
pub mod look;
pub mod markdown;
mod next;
mod prose;
mod reporter;
pub mod sarif;
pub(crate) mod sides;
pub mod story;
pub mod terminal;
mod timeline;
pub mod visible;
pub mod wording;

#[cfg(test)]
mod tests;

use camino::Utf8PathBuf;
use thiserror::Error;

pub use event::{Event, Level, Stamped};
pub use jsonl::{Recording, read_events};
pub use look::ColorChoice;
pub use reporter::{ProgressChoice, Reporter, ReporterOptions, StdoutMode};
pub use story::Story;

/// Why a report cannot be written or read.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The run directory cannot be made, or holds nothing that can be written.
    #[error("cannot write to the run directory `{path}`")]
    RunDir {
        /// The directory or the file in it.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An artefact cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The artefact.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The diff cannot be written to stdout.
    #[error("cannot write the diff to stdout")]
    Stdout(#[source] std::io::Error),
    /// A recording cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The recording.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A recording is from a later version of this program.
    #[error("`{path}` has format {format}, which a later version of ndbg-agent writes")]
    TooNew {
        /// The recording.
        path: Utf8PathBuf,
        /// Its format.
        format: u32,
    },
    /// A report cannot be rendered.
    #[error("cannot render {what}")]
    Render {
        /// The artefact.
        what: &'static str,
        /// What the renderer said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
