//! `ndbg-agent bench`: how many bugs are fixed, and how many of the fixes are right.

mod arguments;
mod interpreter;
mod log;
mod measure;
mod ranks;
mod record;
mod screening;
mod seed;
mod table;
mod tasks;

pub use arguments::{BenchArguments, run};

use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Says why a command ends early.
fn said(stop: &Stop) -> Outcome {
    eprintln!("error: {}", stop.message);
    if let Some(hint) = &stop.hint {
        eprintln!("hint: {hint}");
    }
    stop.outcome
}
