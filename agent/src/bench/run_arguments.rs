//! Arguments of `ndbg-agent bench run` and `bench merge`.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;
use ndbg_dataset::shard::Shard;
use ndbg_tasks::formats::Format;

use super::results;
use super::run::BenchRun;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Run `fix` on the tasks of a benchmark and judge what it hands back
///
/// Tasks are rows of SWE-bench (.jsonl, .json, .parquet), task folders of SWE-bench 5, a checkout of
/// QuixBugs or BugsInPy, or bundled and seeded tasks. Results are kept in a folder: a run that was
/// stopped goes on when the same command is given again, shards of a run may share the folder.
///
/// Each task gets a fresh copy of its repository at the base commit, with the tests of the task and
/// without any later history. Judging is done here, not by the benchmark's own containers.
/// Environments are made once and kept in the cache; a task's setup commands are run as they
/// stand, so read them before you run a file that you do not trust.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ndbg-agent bench run --tasks tasks/examples --out results
  ndbg-agent bench run --tasks verified.jsonl --repos mirrors --out results --shard 0/8
  ndbg-agent bench run --tasks quixbugs --out results -- --planner auto --model ollama/qwen")]
pub struct RunArguments {
    /// File or folder of tasks
    #[arg(long, value_name = "PATH", required_unless_present_any = ["quixbugs", "bugsinpy"])]
    tasks: Option<Utf8PathBuf>,
    /// Checkout of QuixBugs
    #[arg(long, value_name = "DIR", conflicts_with_all = ["tasks", "bugsinpy"])]
    quixbugs: Option<Utf8PathBuf>,
    /// Checkout of BugsInPy
    #[arg(long, value_name = "DIR", conflicts_with = "tasks")]
    bugsinpy: Option<Utf8PathBuf>,
    /// Folder of results; made when it is not there
    #[arg(long, value_name = "DIR")]
    out: Utf8PathBuf,
    /// Tasks worked on at a time; the cores are shared among them
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// Work on part `i` of `n` only, counted from 0
    #[arg(long, value_name = "I/N", default_value = "0/1")]
    shard: Shard,
    /// Folder of local clones (`owner/name`, `owner__name` or `name`); others are cloned into the cache
    #[arg(long, value_name = "DIR")]
    repos: Option<Utf8PathBuf>,
    /// Only the task of this name; may be repeated
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Only the first tasks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Wall-clock limit of each `fix` in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    max_time: u64,
    /// Share of a task's failing tests that `fix` does not see, to tell correct patches from plausible ones
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    hide: f64,
    /// Judge the known repairs instead of running `fix`: which tasks can be judged here
    #[arg(long)]
    gold: bool,
    /// Try tasks again that could not be tried or judged
    #[arg(long)]
    retry: bool,
    /// Interpreter, or folder of a virtual environment, for all tasks, whatever they ask for
    #[arg(long, value_name = "PATH")]
    python: Option<Utf8PathBuf>,
    /// Program to measure; default: this one
    #[arg(long, value_name = "PATH")]
    program: Option<Utf8PathBuf>,
    /// Further arguments of `fix`, after `--`
    #[arg(last = true, value_name = "FIX ARGUMENTS")]
    fix_arguments: Vec<String>,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("write a number from 0 to 1".into()),
    }
}

impl RunArguments {
    /// Settles the arguments.
    pub fn settle(self) -> anyhow::Result<BenchRun> {
        for (folder, format, name) in [
            (&self.quixbugs, Format::QuixBugs, "QuixBugs"),
            (&self.bugsinpy, Format::BugsInPy, "BugsInPy"),
        ] {
            if let Some(folder) = folder
                && Format::of(folder) != Some(format)
            {
                anyhow::bail!("`{folder}` is no checkout of {name}");
            }
        }
        let tasks = self.tasks.or(self.quixbugs).or(self.bugsinpy);
        Ok(BenchRun {
            tasks: tasks.unwrap_or_default(),
            out: camino::absolute_utf8(self.out)?,
            jobs: usize::from(self.jobs),
            shard: self.shard,
            repos: self.repos.map(camino::absolute_utf8).transpose()?,
            only: self.only,
            limit: self.limit.map(|limit| limit as usize),
            max_time: Duration::from_secs(self.max_time),
            hidden_share: self.hide,
            gold: self.gold,
            retry: self.retry,
            python: self.python.map(camino::absolute_utf8).transpose()?,
            fix_arguments: self.fix_arguments,
            program_named: self.program.as_ref().map(ToString::to_string),
            program: match self.program {
                Some(program) => camino::absolute_utf8(program)?,
                None => Utf8PathBuf::try_from(std::env::current_exe()?)?,
            },
        })
    }
}

/// Put the results of several folders into one
///
/// For shards that ran on machines without a common disk. The result does not depend on the order of
/// the folders.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// Folders of results of one run
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<Utf8PathBuf>,
    /// Folder to write
    #[arg(long, value_name = "DIR")]
    out: Utf8PathBuf,
}

/// Runs `bench merge`.
pub fn merge(arguments: &MergeArguments) -> Result<Outcome, Stop> {
    let results = results::merge(&arguments.folders, &arguments.out)?;
    let (done, all) = (results.records.len(), results.header.tasks.len());
    eprintln!("{done} of {all} tasks have a result in `{}`", arguments.out);
    Ok(Outcome::Fixed)
}
