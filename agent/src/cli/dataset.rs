//! `ndbg-agent dataset`.

use std::time::Instant;

use anyhow::Context as _;
use camino::Utf8PathBuf;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ndbg_dataset::generate::program_at;
use ndbg_dataset::manifest::Manifest;
use ndbg_dataset::profile::{Measurement, Profile, Selection, compare};
use ndbg_dataset::shard::Shard;
use ndbg_tools::Cancel;

use super::trace::say;
use crate::dataset::{self, Directions, Files, Grammar, Settings, Source};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::{ColorChoice, Reporter, ReporterOptions};

/// Make training and validation data for neural debuggers
///
/// Programs are recorded and walked through with debugger actions, forwards
/// and backwards; each walk is a line of JSON with its text in the paper's
/// grammar and the spans that a model is to predict. Functions are split
/// between training and validation, duplicates and what a benchmark holds
/// are left out. docs/scale.md says how to run shards on many machines.
#[derive(Debug, Args)]
pub struct DatasetArguments {
    #[command(subcommand)]
    verb: DatasetVerb,
}

#[derive(Debug, Subcommand)]
enum DatasetVerb {
    Build(Box<BuildArguments>),
    Merge(MergeArguments),
    Profile(ProfileArguments),
}

/// Record programs and write samples; a part of the work with `--shard`
///
///   ndbg-agent dataset build --from generated --count 10000 --out data
///   ndbg-agent dataset build --from functions --files src --licence MIT --out data
///   ndbg-agent dataset build --from tests --repo . --licence MIT --out data
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
struct BuildArguments {
    /// Where programs come from; may be repeated
    #[arg(long = "from", value_enum, value_name = "SOURCE", required = true)]
    sources: Vec<Source>,
    /// Folder of the data set; an interrupted build goes on there
    #[arg(long, value_name = "DIR")]
    out: Utf8PathBuf,
    /// Name of the data set, for its card
    #[arg(long, value_name = "NAME", default_value = "Debugger trajectories")]
    name: String,
    /// Programs that are generated
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: u64,
    /// File, or folder of files, for functions and doctests; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Sources")]
    files: Vec<Utf8PathBuf>,
    /// Repository whose tests are recorded
    #[arg(long, value_name = "DIR", help_heading = "Sources")]
    repo: Option<Utf8PathBuf>,
    /// Name and version of the project that files and tests belong to, for the manifest
    #[arg(
        long,
        value_name = "NAME",
        default_value = "unnamed",
        help_heading = "Sources"
    )]
    project: String,
    /// Its licence, an SPDX expression, for the manifest
    #[arg(
        long,
        value_name = "SPDX",
        default_value = "unknown",
        help_heading = "Sources"
    )]
    licence: String,
    /// Interpreter that runs the programs
    #[arg(long, value_name = "PATH", help_heading = "Sources")]
    python: Option<Utf8PathBuf>,
    /// Grammar of the texts
    #[arg(long, value_enum, default_value_t = Grammar::Nd, help_heading = "Samples")]
    grammar: Grammar,
    /// Directions of the walks
    #[arg(long, value_enum, default_value_t = Directions::Both, help_heading = "Samples")]
    directions: Directions,
    /// Walks of each direction: a call of a function, or a hundred events of a repository
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Samples")]
    walks: u32,
    /// Most states of a walk
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(2..), help_heading = "Samples")]
    max_states: u32,
    /// Seed of everything that is drawn
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Samples")]
    seed: u64,
    /// Write token shards with loss masks, too
    #[arg(long, help_heading = "Samples")]
    tokens: bool,
    /// Share of functions that validate
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = share, help_heading = "Selection")]
    validation: f64,
    /// JSON lines whose code must not be in the data, `FILE` or `FILE:FIELD`; may be repeated
    #[arg(long, value_name = "FILE[:FIELD]", help_heading = "Selection")]
    decontaminate: Vec<String>,
    /// Keep duplicates and near-duplicates
    #[arg(long, help_heading = "Selection")]
    keep_duplicates: bool,
    /// The part of the work that is done here, `i/n` with i from 0; `dataset merge` follows
    #[arg(
        long,
        value_name = "I/N",
        default_value = "0/1",
        help_heading = "Scale"
    )]
    shard: Shard,
    /// Memory that programs may use, in MiB; 0 = no limit
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 1024,
        help_heading = "Scale"
    )]
    memory: u64,
}

/// Put the parts of all shards together
#[derive(Debug, Args)]
struct MergeArguments {
    /// Folder that `dataset build --out` was given
    #[arg(value_name = "DIR")]
    out: Utf8PathBuf,
    /// Folder for the merged files; beside the parts without it
    #[arg(long, value_name = "DIR")]
    to: Option<Utf8PathBuf>,
}

/// Print statistics of generated programs beside those of real code
///
/// Shares of statements, expressions, operators, methods, lengths and depths, with the total
/// variation distance of each table (0 = the same, 1 = nothing in common).
#[derive(Debug, Args)]
struct ProfileArguments {
    /// Python files to measure instead of the built-in statistics of the standard library
    #[arg(value_name = "FILE")]
    files: Vec<Utf8PathBuf>,
    /// Programs that are generated
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a share lies between 0 and 1".into()),
    }
}

/// Runs the verb.
pub fn run(arguments: DatasetArguments, color: ColorChoice) -> anyhow::Result<Outcome> {
    match arguments.verb {
        DatasetVerb::Build(arguments) => build(*arguments, color),
        DatasetVerb::Merge(arguments) => merge(&arguments, color),
        DatasetVerb::Profile(arguments) => profile(&arguments),
    }
}

fn reporter(color: ColorChoice) -> anyhow::Result<Reporter> {
    Ok(Reporter::start(ReporterOptions::silent(color))?)
}

fn settle(arguments: BuildArguments) -> Result<(Settings, Utf8PathBuf, Shard), Stop> {
    let usage = |message: &str, hint: &str| Stop::new(Outcome::Usage, message).hint(hint);
    let wants = |source| arguments.sources.contains(&source);
    if arguments.files.is_empty() && (wants(Source::Functions) || wants(Source::Doctests)) {
        return Err(usage(
            "no files to take functions from",
            "name them with `--files`",
        ));
    }
    if arguments.repo.is_none() && wants(Source::Tests) {
        return Err(usage(
            "no repository to take tests from",
            "name it with `--repo`",
        ));
    }
    if arguments.grammar == Grammar::Cwm && arguments.directions == Directions::Inverse {
        return Err(usage(
            "the grammar `cwm` has no way back",
            "leave `--directions` out, or use `--grammar nd`",
        ));
    }
    let absolute = |path: &Utf8PathBuf| {
        path.canonicalize_utf8()
            .map_err(|error| usage(&format!("`{path}`: {error}"), "check the path"))
    };
    let mut files = arguments
        .files
        .iter()
        .map(absolute)
        .collect::<Result<Vec<_>, _>>()?;
    files.sort();
    let benchmarks = arguments.decontaminate.iter().map(|text| {
        let (path, field) = match text.rsplit_once(':') {
            Some((path, field)) if !field.contains(['/', '\\']) => (path, field),
            _ => (text.as_str(), "code"),
        };
        Ok((absolute(&path.into())?, field.to_owned()))
    });
    let benchmarks = benchmarks.collect::<Result<Vec<_>, Stop>>()?;
    let repo = arguments.repo.as_ref().map(absolute).transpose()?;
    let mut sources = arguments.sources;
    sources.sort();
    sources.dedup();
    let settings = Settings {
        format: 1,
        name: arguments.name,
        sources,
        count: arguments.count,
        seed: arguments.seed,
        files: Files {
            paths: files,
            project: arguments.project,
            licence: arguments.licence,
        },
        repo,
        python: arguments.python,
        grammar: arguments.grammar,
        directions: arguments.directions,
        walks: arguments.walks,
        cap: arguments.max_states as usize,
        validation: arguments.validation,
        keep_duplicates: arguments.keep_duplicates,
        benchmarks,
        tokens: arguments.tokens,
        memory_limit: (arguments.memory > 0).then_some(arguments.memory << 20),
    };
    Ok((settings, arguments.out, arguments.shard))
}

fn build(arguments: BuildArguments, color: ColorChoice) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    let (settings, out, shard) = match settle(arguments) {
        Ok(settled) => settled,
        Err(stop) => return Ok(say(&stop)),
    };
    let reporter = reporter(color)?;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} units  {msg}  {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    let started = Instant::now();
    let mut progress = |done: usize, of: usize, transitions: u64| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
        let rate = transitions as f64 / started.elapsed().as_secs_f64().max(1e-3);
        bar.set_message(format!("{transitions} transitions, {rate:.0}/s"));
    };
    let built = dataset::build(&settings, &out, shard, &reporter, &cancel, &mut progress);
    bar.finish_and_clear();
    let built = match built {
        Ok(built) => built,
        Err(stop) => {
            if stop.outcome == Outcome::Interrupted {
                eprintln!("finished units are kept: the same command goes on");
            }
            return Ok(say(&stop));
        }
    };
    let report = built.report;
    eprintln!(
        "{} units: {} made, {} kept, {} without samples, {} failed; {} samples",
        report.units, report.written, report.kept, report.skipped, report.crashed, report.samples
    );
    eprintln!(
        "{} transitions in {:.1} s, {:.0} a second",
        built.transitions,
        built.seconds,
        built.transitions as f64 / built.seconds.max(1e-3)
    );
    match built.manifest {
        Some(manifest) => summary(&manifest, &out),
        None => eprintln!("when all shards are built: `ndbg-agent dataset merge {out}`"),
    }
    Ok(Outcome::Fixed)
}

fn merge(arguments: &MergeArguments, color: ColorChoice) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    let to = arguments.to.as_ref().unwrap_or(&arguments.out);
    match dataset::merge_parts(&arguments.out, to, &reporter(color)?, &cancel) {
        Ok(manifest) => {
            summary(&manifest, to);
            Ok(Outcome::Fixed)
        }
        Err(stop) => Ok(say(&stop)),
    }
}

fn summary(manifest: &Manifest, out: &Utf8PathBuf) {
    for (what, count) in manifest.programs.iter().chain(&manifest.sides) {
        eprintln!("{count:>9}  {what}");
    }
    println!("{out}");
}

fn profile(arguments: &ProfileArguments) -> anyhow::Result<Outcome> {
    let profile = Profile::standard_library()?;
    let mut generated = Measurement::default();
    for index in 0..arguments.count {
        let source = program_at(arguments.seed, index, &profile).source;
        // A program that does not parse would be a bug of the generator; its tests look for it.
        let _ = generated.add(&source, Selection::SelfContained);
    }
    let real = if arguments.files.is_empty() {
        profile
    } else {
        let mut measured = Measurement::default();
        for path in &arguments.files {
            if path.is_dir() {
                let stop = Stop::new(Outcome::Usage, format!("`{path}` is a folder"))
                    .hint("name files, as in `dataset profile src/*.py`");
                return Ok(say(&stop));
            }
            let text = std::fs::read_to_string(path).with_context(|| path.to_string())?;
            if measured.add(&text, Selection::SelfContained).is_err() {
                eprintln!("`{path}` does not parse and is left out");
            }
        }
        measured.profile("files")
    };
    println!("{}", compare(&real, &generated.profile("generated")));
    Ok(Outcome::Fixed)
}
