//! `ndbg-agent fix`.

use std::time::Duration;

use anyhow::Context as _;
use camino::Utf8PathBuf;
use clap::Args;
use ndbg_tools::Cancel;
use ndbg_tools::python::managed::cache_folder;

use super::planner::PlannerArguments;
use super::project::ProjectArguments;
use super::trace::say;
use crate::fix;
use crate::fix::resumable::{self, Resumable};
use crate::fix::settings::{FixSettings, Limits};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::{ColorChoice, ProgressChoice, Reporter, ReporterOptions, StdoutMode};

/// Fix failing tests and print the verified patch
///
/// Runs the tests in a git worktree, ranks suspicious code, tries edits in a warm pytest process and
/// verifies what survives in fresh worktrees. The patch goes to stdout as a unified diff; nothing in
/// your tree changes without `--apply`.
#[derive(Debug, Args)]
#[command(after_help = super::exit_codes())]
#[allow(clippy::struct_excessive_bools)] // Flags are booleans.
pub struct FixArguments {
    #[command(flatten)]
    project: ProjectArguments,
    /// Write the verified patch into the working tree
    #[arg(long)]
    apply: bool,
    /// Print events as JSON lines on stdout instead of the diff
    #[arg(long)]
    json: bool,
    /// Folder for events.jsonl, report.md, report.html, report.json and patch.diff
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
    /// Only warnings, errors and the result on stderr
    #[arg(long, short, conflicts_with = "verbose")]
    quiet: bool,
    /// Every candidate on stderr
    #[arg(long, short)]
    verbose: bool,
    /// Wall-clock limit in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    max_time: u64,
    /// Most candidates run
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50_000,
        help_heading = "Limits"
    )]
    max_executions: u64,
    /// Candidates run at a time; default: one a core
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64), help_heading = "Limits")]
    jobs: Option<u16>,
    /// Suspicious functions that are searched
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Search")]
    max_functions: usize,
    /// Try single edits only
    #[arg(long, help_heading = "Search")]
    no_pairs: bool,
    /// Put no values in at places of the code, and synthesise nothing
    #[arg(long, help_heading = "Search")]
    no_synthesis: bool,
    /// Run every edit: put none off because it is foreseen to change nothing
    #[arg(long, help_heading = "Search")]
    no_foresight: bool,
    /// Run every candidate in a process of its own
    #[arg(long, help_heading = "Search")]
    cold: bool,
    /// Further candidates to screen after the first plausible one
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Search")]
    alternatives: u64,
    /// Neural debugger that is asked where the failing runs part from what was needed
    ///
    /// It costs one recorded run of the failing tests, and says where to look first. `off`, `embedded`, `oracle` (a
    /// real interpreter and rules, no model), a folder or GGUF file of a checkpoint, or the address of a server.
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "embedded",
        help_heading = "Search"
    )]
    simulator: String,
    #[command(flatten)]
    planner: PlannerArguments,
}

impl FixArguments {
    /// Whether the planner that they name can be settled.
    pub fn check(self) -> Result<(), Stop> {
        self.planner.settle(Utf8PathBuf::new()).map(|_| ())
    }
}

/// Runs the verb.
pub fn run(arguments: FixArguments, color: ColorChoice) -> anyhow::Result<Outcome> {
    let run_dir = arguments.out.clone().unwrap_or_else(new_run_dir);
    // Reports name it for readers who are in another folder.
    let run_dir = camino::absolute_utf8(&run_dir).unwrap_or(run_dir);
    if let Some(resumable) = Resumable::of_process() {
        resumable::write(&run_dir, &resumable);
    }
    go(arguments, &run_dir, color)
}

/// Fixes, with the artefacts in `run_dir`.
pub fn go(
    arguments: FixArguments,
    run_dir: &Utf8PathBuf,
    color: ColorChoice,
) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    let jobs = arguments.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let planner = match arguments.planner.settle(run_dir.join("exchanges")) {
        Ok(planner) => planner,
        Err(stop) => return Ok(say(&stop)),
    };
    let settings = FixSettings {
        project: arguments.project.settle(),
        limits: Limits {
            time: Duration::from_secs(arguments.max_time),
            executions: arguments.max_executions,
        },
        jobs,
        max_functions: arguments.max_functions,
        pairs: !arguments.no_pairs,
        synthesis: !arguments.no_synthesis,
        foresight: !arguments.no_foresight,
        alternatives: arguments.alternatives,
        warm: !arguments.cold,
        planner,
        simulator: (arguments.simulator != "off").then(|| {
            // A name is always one kind of model or another.
            let Ok(named) = arguments.simulator.parse();
            named
        }),
    };
    let reporter = Reporter::start(ReporterOptions {
        run_dir: Some(run_dir.clone()),
        stdout: if arguments.json {
            StdoutMode::Jsonl
        } else {
            StdoutMode::Diff
        },
        quiet: arguments.quiet,
        verbose: arguments.verbose,
        color,
        progress: ProgressChoice::Auto,
    })?;
    let ending = fix::fix(&settings, arguments.apply, run_dir, &reporter, &cancel);
    reporter.finish(&ending.diff)?;
    Ok(ending.outcome)
}

/// A run folder of its own in the cache, named after the time.
pub fn new_run_dir() -> Utf8PathBuf {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let name = format!(
        "{}-{:03}-{}",
        now.as_secs(),
        now.subsec_millis(),
        std::process::id()
    );
    cache_folder().join("runs").join(name)
}
