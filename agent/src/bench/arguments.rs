//! Arguments of `ndbg-agent bench`.

use std::time::Duration;

use anyhow::Context as _;
use camino::Utf8PathBuf;
use clap::{Args, Subcommand};
use ndbg_tools::Cancel;

use super::compare::{self, CompareArguments};
use super::ranks::{self, RanksRun};
use super::report::{self, ReportArguments};
use super::run_arguments::{MergeArguments, RunArguments, merge};
use super::screening::{self, ScreeningRun};
use super::seed::{self, SeedRun};
use super::tasks::{self, TasksRun};
use crate::fix::settings::ProjectSettings;
use crate::outcome::Outcome;

/// Measure how many bugs are fixed
#[derive(Debug, Args)]
pub struct BenchArguments {
    #[command(subcommand)]
    verb: BenchVerb,
}

#[derive(Debug, Subcommand)]
enum BenchVerb {
    Run(RunArguments),
    Merge(MergeArguments),
    Tasks(TasksArguments),
    Seed(SeedArguments),
    Screening(ScreeningArguments),
    Ranks(RanksArguments),
    Report(ReportArguments),
    Compare(CompareArguments),
}

/// Show where the reference patch stands among the candidates
///
/// Runs no candidate. A bug has many right fixes, so the rank is an upper bound; `-` means that the
/// very text of the reference is not among the single edits.
#[derive(Debug, Args)]
struct RanksArguments {
    /// Folder of tasks, or the output of `bench seed`
    #[arg(long, value_name = "DIR", default_value = "tasks/examples")]
    tasks: Utf8PathBuf,
    /// Only the task of this name; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Interpreter, or folder of a virtual environment, that runs the tests
    #[arg(long, value_name = "PATH")]
    python: Option<Utf8PathBuf>,
    /// Candidates looked at per task
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    limit: usize,
    /// Candidates printed per task
    #[arg(long, value_name = "N", default_value_t = 0)]
    show: usize,
    /// Neural debugger that is asked where the failing runs part from what was needed, as of `fix`
    ///
    /// With one, edits are also looked at before they are proposed.
    #[arg(long, value_name = "MODEL", default_value = "off")]
    simulator: String,
    /// JSON lines to write, one a candidate: its features, its rank, whether it is the reference
    #[arg(long, value_name = "FILE")]
    features: Option<Utf8PathBuf>,
}

/// Measure screening: candidates per second, warm and one process each
///
/// Runs the first candidates of the search planner through the warm runner, then some of them in a
/// pytest process of their own each, and prints both rates and their ratio.
#[derive(Debug, Args)]
struct ScreeningArguments {
    /// Folder of the project
    #[arg(long, value_name = "DIR")]
    repo: Utf8PathBuf,
    /// Failing test; may be repeated
    #[arg(long = "test", short = 't', value_name = "TEST")]
    tests: Vec<String>,
    /// Interpreter, or folder of a virtual environment, that runs the tests
    #[arg(long, value_name = "PATH")]
    python: Option<Utf8PathBuf>,
    /// Candidates run warm
    #[arg(long, value_name = "N", default_value_t = 400)]
    warm: usize,
    /// Candidates run in a process of their own
    #[arg(long, value_name = "N", default_value_t = 20)]
    cold: usize,
    /// Candidates run at a time; default: one a core
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Run `fix` on every task and grade what it hands back
///
/// Each task is copied into a fresh git repository, without its description and its hidden tests.
/// A patch is plausible when it passes the tests that `fix` could see, and correct when it also
/// passes tests that `fix` has never seen. The table goes to stdout, progress to stderr.
#[derive(Debug, Args)]
struct TasksArguments {
    /// Folder of tasks, or the output of `bench seed`
    #[arg(long, value_name = "DIR", default_value = "tasks/examples")]
    tasks: Utf8PathBuf,
    /// Folder of hidden tests; default: `hidden` beside the folder of tasks
    #[arg(long, value_name = "DIR")]
    hidden: Option<Utf8PathBuf>,
    /// Only the task of this name; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Wall-clock limit of each `fix` in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    max_time: u64,
    /// Tasks worked on at a time; more than one disturbs the times
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// JSON lines, one a task, written as the tasks end; tasks that it holds already are not run again
    #[arg(long, value_name = "FILE")]
    json: Option<Utf8PathBuf>,
    /// Interpreter, or folder of a virtual environment, that runs the tests
    #[arg(long, value_name = "PATH")]
    python: Option<Utf8PathBuf>,
    /// Keep the run folder of each `fix` below this folder
    #[arg(long, value_name = "DIR")]
    runs: Option<Utf8PathBuf>,
    /// Program to measure; default: this one
    #[arg(long, value_name = "PATH")]
    program: Option<Utf8PathBuf>,
}

/// Put bugs into a repository whose tests pass, and write them as tasks
///
/// A bug is kept when a test that passed fails because of it. Half of the tests that catch a bug are
/// hidden from `fix`, where there are at least two. The output holds one copy of the repository and
/// a patch for each bug.
#[derive(Debug, Args)]
struct SeedArguments {
    /// Folder of the repository; nothing is written to it
    #[arg(long, value_name = "DIR")]
    repo: Utf8PathBuf,
    /// Number of bugs wanted
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    count: u64,
    /// Folder to write; must not exist or be empty
    #[arg(long, value_name = "DIR")]
    out: Utf8PathBuf,
    /// Seed of the sampling: the same seed gives the same bugs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Interpreter, or folder of a virtual environment, that runs the tests
    #[arg(long, value_name = "PATH")]
    python: Option<Utf8PathBuf>,
    /// Test file or folder, relative to the repository; may be repeated. Default: the project's choice
    #[arg(long = "test", value_name = "PATH")]
    tests: Vec<String>,
    /// Name of the repository in tasks and tables; default: the name of its folder
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// Runs the verb.
pub fn run(arguments: BenchArguments) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    match arguments.verb {
        BenchVerb::Run(verb) => match super::run::run(&verb.settle()?, &cancel) {
            Ok(outcome) => Ok(outcome),
            Err(stop) => Ok(super::said(&stop)),
        },
        BenchVerb::Merge(verb) => match merge(&verb) {
            Ok(outcome) => Ok(outcome),
            Err(stop) => Ok(super::said(&stop)),
        },
        BenchVerb::Tasks(verb) => {
            let program = match verb.program {
                Some(program) => camino::absolute_utf8(program)?,
                None => Utf8PathBuf::try_from(std::env::current_exe()?)?,
            };
            let settings = TasksRun {
                tasks: verb.tasks,
                hidden: verb.hidden,
                only: verb.only,
                max_time: Duration::from_secs(verb.max_time),
                jobs: usize::from(verb.jobs),
                json: verb.json,
                python: verb.python,
                runs: verb.runs.map(camino::absolute_utf8).transpose()?,
                program,
            };
            tasks::run(&settings, &cancel)
        }
        BenchVerb::Seed(verb) => {
            let settings = SeedRun {
                repo: verb.repo,
                count: verb.count as usize,
                out: verb.out,
                seed: verb.seed,
                python: verb.python,
                tests: verb.tests,
                name: verb.name,
            };
            seed::run(&settings, &cancel)
        }
        BenchVerb::Report(verb) => report::run(&verb),
        BenchVerb::Compare(verb) => compare::run(&verb),
        BenchVerb::Ranks(verb) => {
            let settings = RanksRun {
                tasks: verb.tasks,
                only: verb.only,
                python: verb.python,
                limit: verb.limit,
                show: verb.show,
                simulator: (verb.simulator != "off").then(|| {
                    // A name is always one kind of model or another.
                    let Ok(named) = verb.simulator.parse();
                    named
                }),
                features: verb.features,
            };
            ranks::run(&settings, &cancel)
        }
        BenchVerb::Screening(verb) => {
            let project = ProjectSettings {
                tests: verb.tests,
                ..ProjectSettings::as_it_is(verb.repo, verb.python, Some(2 << 30))
            };
            let settings = ScreeningRun {
                project,
                warm: verb.warm,
                cold: verb.cold,
                jobs: verb.jobs.map(usize::from),
                json: verb.json,
            };
            screening::run(&settings, &cancel)
        }
    }
}
