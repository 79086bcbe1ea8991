//! `ndbg-agent bench seed`.

use camino::Utf8PathBuf;
use ndbg_tasks::seed::{SeedSettings, seed};
use ndbg_tools::Cancel;

use super::interpreter;
use crate::outcome::Outcome;

/// Memory that tests may use; the default of `fix`.
const MEMORY: u64 = 2048 << 20;

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
pub fn run(settings: &SeedRun, cancel: &Cancel) -> anyhow::Result<Outcome> {
    let Ok(repo) = settings.repo.canonicalize_utf8() else {
        eprintln!("error: `{}` is not a folder", settings.repo);
        return Ok(Outcome::Usage);
    };
    if let Some(missing) = settings.tests.iter().find(|path| !repo.join(path).exists()) {
        eprintln!("error: no `{missing}` in `{repo}`");
        return Ok(Outcome::Usage);
    }
    let interpreter = match interpreter::choose(settings.python.as_deref(), Some(&repo), cancel) {
        Ok(interpreter) => interpreter,
        Err(stop) => return Ok(super::said(&stop)),
    };
    let name = settings
        .name
        .clone()
        .or_else(|| repo.file_name().map(str::to_owned))
        .unwrap_or_else(|| "repo".into());
    let wanted = SeedSettings {
        repo,
        name,
        count: settings.count,
        out: settings.out.clone(),
        seed: settings.seed,
        paths: settings.tests.clone(),
        interpreter,
        memory_limit: Some(MEMORY),
    };
    match seed(&wanted, cancel, &mut |line| eprintln!("{line}")) {
        Ok(report) => {
            println!(
                "{} bugs in `{}` ({} mutants tried: {} not noticed, {} broken, {} hanging, {} unstable)",
                report.kept,
                settings.out,
                report.tried,
                report.survived,
                report.broken,
                report.hung,
                report.unstable
            );
            Ok(Outcome::Fixed)
        }
        Err(error) if error.is_cancelled() => Ok(Outcome::Interrupted),
        Err(error) => Err(error.into()),
    }
}
