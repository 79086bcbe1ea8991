//! `ndbg-agent bench seed`.

use camino::Utf8PathBuf;
use ndbg_tools::Cancel;

use crate::outcome::Outcome;

/// Settled arguments.
#[derive(Debug)]
pub struct SeedRun {
    pub repo: Utf8PathBuf,
    pub count: usize,
    pub out: Utf8PathBuf,
    pub seed: u64,
    pub python: Option<Utf8PathBuf>,
    pub tests: Vec<String>,
    pub name: Option<String>,
}

/// Runs the verb.
pub fn run(_settings: &SeedRun, _cancel: &Cancel) -> anyhow::Result<Outcome> {
    Ok(Outcome::Fixed)
}
