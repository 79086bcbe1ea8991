//! `ndbg-agent bench`: how many bugs are fixed, and how many of the fixes are right.

mod arguments;
mod attempt;
mod compare;
mod fix_arguments;
mod interpreter;
mod log;
mod measure;
mod predictions;
mod ranks;
mod record;
mod report;
mod results;
mod run;
mod run_arguments;
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
