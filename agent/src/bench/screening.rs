//! `ndbg-agent bench screening`: candidates per second.

use ndbg_tools::Cancel;

use super::said;
use crate::fix::settings::ProjectSettings;
use crate::fix::throughput::measure;
use crate::outcome::Outcome;
use crate::report::{ColorChoice, Reporter, ReporterOptions};

/// What to measure.
#[derive(Debug)]
pub struct ScreeningRun {
    /// The project with its failing test.
    pub project: ProjectSettings,
    /// Candidates run warm.
    pub warm: usize,
    /// Candidates run cold.
    pub cold: usize,
    /// Candidates run at a time; none = one a core.
    pub jobs: Option<usize>,
    /// Whether to print JSON.
    pub json: bool,
}

/// Measures and prints.
pub fn run(settings: &ScreeningRun, cancel: &Cancel) -> anyhow::Result<Outcome> {
    let reporter = Reporter::start(ReporterOptions::silent(ColorChoice::Auto))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = settings.jobs.unwrap_or(cores);
    let found = match measure(
        &settings.project,
        jobs,
        settings.warm,
        settings.cold,
        &reporter,
        cancel,
    ) {
        Ok(found) => found,
        Err(stop) => return Ok(said(&stop)),
    };
    if settings.json {
        println!("{}", serde_json::to_string_pretty(&found)?);
        return Ok(Outcome::Fixed);
    }
    println!("jobs             {} on {cores} cores", found.jobs);
    println!("failing tests    {} run per candidate", found.failing);
    println!(
        "warm             {:.1} candidates a second ({} run, ready after {:.2} s)",
        found.warm_rate, found.warm, found.startup
    );
    println!(
        "one process each {:.2} candidates a second ({} run)",
        found.cold_rate, found.cold
    );
    println!(
        "ratio            {:.1}",
        found.warm_rate / found.cold_rate.max(1e-9)
    );
    Ok(Outcome::Fixed)
}
