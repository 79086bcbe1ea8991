//! `ndbg-agent eval`.

use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use camino::Utf8PathBuf;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ndbg_tools::Cancel;

use super::model::ModelArguments;
use super::trace::say;
use crate::eval::{
    self, CruxSettings, Data, Evaluated, Evaluation, HorizonSettings, Progress, ReachesSettings,
    StatesSettings, StepsSettings, VerifiedSettings,
};
use crate::fix::stop::Stop;
use crate::model::{Model, Reality};
use crate::outcome::Outcome;
use crate::report::{ColorChoice, Reporter, ReporterOptions};

/// Measure how well a model predicts, beside baselines and a real interpreter
///
/// Programs are run by Python itself, and the model says what they do; what
/// it says is compared with what is true. Every figure has its count and its
/// 95 % interval, and stands beside what can be had without a model.
///
///   ndbg-agent eval steps --model embedded
///   ndbg-agent eval horizon --model embedded --html horizon.html
///   ndbg-agent eval cruxeval --data cruxeval.jsonl --model MODEL
///   ndbg-agent eval reaches --tasks tasks/examples
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct EvalArguments {
    #[command(subcommand)]
    verb: EvalVerb,
}

#[derive(Debug, Subcommand)]
enum EvalVerb {
    Steps(StepsArguments),
    Horizon(HorizonArguments),
    Cruxeval(CruxArguments),
    Reaches(ReachesArguments),
    States(StatesArguments),
}

/// The next state after each statement, from the true state before it
///
/// Programs are taken apart into statements, and those into operations; the
/// model is asked for each operation with the true values in it. A statement
/// is right if all of its operations are, exactly. Many statements ask for
/// nothing, because the harness knows what they do: both counts are shown.
///
///   ndbg-agent eval steps
///   ndbg-agent eval steps --data generated --data cruxeval.jsonl --model MODEL
///   ndbg-agent eval steps --data src --count 300 --html steps.html
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
struct StepsArguments {
    /// `generated`, JSON lines with `code` and `input`, or Python files; may be repeated
    #[arg(long, value_name = "DATA", default_value = "generated")]
    data: Vec<Data>,
    /// Programs at most, of each `--data`
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = at_least_one)]
    count: usize,
    /// Seed of generated programs and of drawn inputs; no training used 9001
    #[arg(long, value_name = "N", default_value_t = 9001)]
    seed: u64,
    /// Seed of the generated programs that the baseline of frequent values counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    baseline_seed: u64,
    #[command(flatten)]
    model: ModelArguments,
    /// Write each operation with the answer, its confidence and the truth, as JSON lines
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    answers: Option<Utf8PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// How far ahead states are right, from the entry of a program on
///
/// The model runs whole programs with nothing true shown to it after their
/// entry. The state is looked at after 1, 2, 4, … statements, and after
/// tenths of the run; @k counts a state as right if any of k sampled runs
/// has it right.
///
///   ndbg-agent eval horizon --count 100
///   ndbg-agent eval horizon --samples 5 --svg plots
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
struct HorizonArguments {
    /// `generated`, JSON lines with `code` and `input`, or Python files
    #[arg(long, value_name = "DATA", default_value = "generated")]
    data: Data,
    /// Programs at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    count: usize,
    /// Seed of generated programs, of drawn inputs and of samples; no training used 9001
    #[arg(long, value_name = "N", default_value_t = 9001)]
    seed: u64,
    /// Sampled runs of each program, at temperature 0.6 and top-p 0.95
    #[arg(long, value_name = "K", default_value_t = 5)]
    samples: usize,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// What functions return, and what they were given (CRUXEval)
///
/// The output is predicted by a run from the call to the return. The input
/// is predicted by a walk backwards from the output, and counts as right if
/// a real run of the function with it gives the output. FILE has a JSON
/// object a line with the texts `code` (which defines `f`), `input` and
/// `output`.
///
///   ndbg-agent eval cruxeval --data cruxeval.jsonl
///   ndbg-agent eval cruxeval --data cruxeval.jsonl --count 50 --samples 0
///   ndbg-agent eval cruxeval --data cruxeval.jsonl --verified --seconds 5
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
struct CruxArguments {
    /// Items
    #[arg(long, value_name = "FILE")]
    data: Utf8PathBuf,
    /// Items at most; all without it
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    count: Option<usize>,
    /// Sampled walks backwards for each item, at temperature 0.6 and top-p 0.95
    #[arg(long, value_name = "K", default_value_t = 10)]
    samples: usize,
    /// Seed of samples
    #[arg(long, value_name = "N", default_value_t = 9001)]
    seed: u64,
    /// Search for inputs as `infer` does, and count those that real runs confirm
    #[arg(long, conflicts_with = "samples")]
    verified: bool,
    /// Seconds for each item, with --verified
    #[arg(long, value_name = "S", default_value_t = 5.0, requires = "verified", value_parser = super::infer::seconds)]
    seconds: f64,
    /// Ask CrossHair for the same, with --verified: an interpreter that has it, or its program
    #[arg(long, value_name = "PATH", requires = "verified")]
    crosshair: Option<Utf8PathBuf>,
    /// Items that CrossHair gets at most, the first ones
    #[arg(long, value_name = "N", default_value_t = 80, requires = "crosshair", value_parser = at_least_one)]
    crosshair_count: usize,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// Lines that a project's tests reach, reached again by `infer` without them
///
/// The tests run once and tell which lines of functions and methods they
/// reach. Then `infer --reaches` gets those lines, without the tests and
/// without the model. A line is reached if a call passes it in two new
/// processes. CrossHair gets the same functions, where it is named.
///
///   ndbg-agent eval reaches --tasks tasks/examples
///   ndbg-agent eval reaches --repo toolz-1.0 --repo parse-1.20 --python venv
///   ndbg-agent eval reaches --repo . --seconds 20 --crosshair venv/bin/python
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
struct ReachesArguments {
    /// Folder of a project with tests; may be repeated
    #[arg(long, value_name = "DIR", required_unless_present = "tasks")]
    repo: Vec<Utf8PathBuf>,
    /// Folder of tasks, such as `tasks/examples`: each is a project, with its bug fixed
    #[arg(long, value_name = "DIR")]
    tasks: Option<Utf8PathBuf>,
    /// Functions of each project at most, drawn
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    count: usize,
    /// Seconds for each function, all of its lines together
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = super::infer::seconds)]
    seconds: f64,
    /// Seed of draws
    #[arg(long, value_name = "N", default_value_t = 9001)]
    seed: u64,
    /// Ask CrossHair for the same: an interpreter that has it and what the projects import
    #[arg(long, value_name = "PATH")]
    crosshair: Option<Utf8PathBuf>,
    /// Functions that CrossHair gets at most, drawn
    #[arg(long, value_name = "N", default_value_t = 40, requires = "crosshair", value_parser = at_least_one)]
    crosshair_count: usize,
    #[command(flatten)]
    output: OutputArguments,
}

/// From recorded states back to the arguments of their calls
///
/// The tests of each project are recorded, states of them drawn, and `infer
/// --state` looks for calls that come to them. The call that was recorded is
/// not shown to it; how often it is the first answer stands beside how sure
/// the answers claim to be.
///
///   ndbg-agent eval states --repo tasks/examples/league-table --count 10
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
struct StatesArguments {
    /// Folder of a project with tests; may be repeated
    #[arg(long, value_name = "DIR", required = true)]
    repo: Vec<Utf8PathBuf>,
    /// States of each project
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    count: usize,
    /// Seconds for each state
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = super::infer::seconds)]
    seconds: f64,
    /// Seed of draws
    #[arg(long, value_name = "N", default_value_t = 9001)]
    seed: u64,
    #[command(flatten)]
    output: OutputArguments,
}

/// Where figures go, and which interpreter knows what is true.
#[derive(Debug, Args)]
struct OutputArguments {
    /// Interpreter that runs programs
    #[arg(long, value_name = "PATH")]
    python: Option<Utf8PathBuf>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<Utf8PathBuf>,
    /// Write a page with tables and plots
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<Utf8PathBuf>,
    /// Write the plots, each into an SVG of its own
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    svg: Option<Utf8PathBuf>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("it has to be a number, at least 1".into()),
        Ok(count) => Ok(count),
    }
}

/// Runs the verb.
pub fn run(arguments: EvalArguments) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    let done = match arguments.verb {
        EvalVerb::Steps(arguments) => {
            let settings = StepsSettings {
                data: arguments.data,
                count: arguments.count,
                seed: arguments.seed,
                baseline_seed: arguments.baseline_seed,
                python: arguments.output.python.clone(),
            };
            let run = |model: &Model, reality: &Reality, progress: &mut Progress<'_>| {
                eval::steps(&settings, model, reality, progress)
            };
            evaluate(
                "eval steps",
                &arguments.model,
                &arguments.output,
                arguments.answers.as_ref(),
                &cancel,
                run,
            )
        }
        EvalVerb::Horizon(arguments) => {
            let settings = HorizonSettings {
                data: arguments.data,
                count: arguments.count,
                seed: arguments.seed,
                samples: arguments.samples,
                python: arguments.output.python.clone(),
            };
            let run = |model: &Model, reality: &Reality, progress: &mut Progress<'_>| {
                eval::horizon(&settings, model, reality, progress)
            };
            evaluate(
                "eval horizon",
                &arguments.model,
                &arguments.output,
                None,
                &cancel,
                run,
            )
        }
        EvalVerb::Cruxeval(arguments) => {
            let settings = CruxSettings {
                data: arguments.data,
                count: arguments.count,
                samples: arguments.samples,
                seed: arguments.seed,
                python: arguments.output.python.clone(),
            };
            let verified = VerifiedSettings {
                seconds: arguments.seconds,
                crosshair: arguments.crosshair,
                crosshair_count: arguments.crosshair_count,
            };
            let run = |model: &Model, reality: &Reality, progress: &mut Progress<'_>| {
                if arguments.verified {
                    return eval::verified(&settings, &verified, model, reality, progress);
                }
                eval::cruxeval(&settings, model, reality, progress)
            };
            evaluate(
                "eval cruxeval",
                &arguments.model,
                &arguments.output,
                None,
                &cancel,
                run,
            )
        }
        EvalVerb::Reaches(arguments) => {
            let settings = ReachesSettings {
                repos: arguments.repo,
                tasks: arguments.tasks,
                count: arguments.count,
                seconds: arguments.seconds,
                seed: arguments.seed,
                python: arguments.output.python.clone(),
                crosshair: arguments.crosshair,
                crosshair_count: arguments.crosshair_count,
            };
            let reporter = Reporter::start(ReporterOptions::silent(ColorChoice::Auto))?;
            shown(&arguments.output, None, |progress| {
                eval::reaches(&settings, &reporter, &cancel, progress)
            })
        }
        EvalVerb::States(arguments) => {
            let settings = StatesSettings {
                repos: arguments.repo,
                count: arguments.count,
                seconds: arguments.seconds,
                seed: arguments.seed,
                python: arguments.output.python.clone(),
            };
            let reporter = Reporter::start(ReporterOptions::silent(ColorChoice::Auto))?;
            shown(&arguments.output, None, |progress| {
                eval::states(&settings, &reporter, &cancel, progress)
            })
        }
    };
    match done {
        Ok(()) => Ok(Outcome::Fixed),
        Err(stop) => Ok(say(&stop)),
    }
}

fn evaluate(
    what: &str,
    model: &ModelArguments,
    output: &OutputArguments,
    answers: Option<&Utf8PathBuf>,
    cancel: &Cancel,
    run: impl FnOnce(&Model, &Reality, &mut Progress<'_>) -> Evaluated,
) -> Result<(), Stop> {
    let model = model.open(output.python.as_ref(), cancel)?;
    model.performs_operations(what)?;
    let reality = Reality::open(output.python.as_deref(), cancel)?;
    shown(output, answers, |progress| run(&model, &reality, progress))
}

/// Evaluates with a bar, and puts out what it comes to.
fn shown(
    output: &OutputArguments,
    answers: Option<&Utf8PathBuf>,
    run: impl FnOnce(&mut Progress<'_>) -> Evaluated,
) -> Result<(), Stop> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg:18} {bar:30} {pos}/{len}  {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    let started = Instant::now();
    let mut stage = String::new();
    let evaluated = run(&mut |what, done, of| {
        if stage != what {
            what.clone_into(&mut stage);
            bar.reset();
            bar.set_message(stage.clone());
        }
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let evaluation = evaluated?;
    write(output, answers, &evaluation)?;
    let mut out = std::io::stdout().lock();
    // Whoever reads may have had enough.
    let _ = out.write_all(evaluation.page.text().as_bytes());
    let took = started.elapsed();
    if took > Duration::from_secs(1) {
        eprintln!("took {:.1} s", took.as_secs_f64());
    }
    Ok(())
}

fn write(
    output: &OutputArguments,
    answers: Option<&Utf8PathBuf>,
    evaluation: &Evaluation,
) -> Result<(), Stop> {
    let failed = |path: &Utf8PathBuf, error: &dyn std::fmt::Display| {
        Stop::new(
            Outcome::Environment,
            format!("cannot write `{path}`: {error}"),
        )
    };
    let Evaluation { page, json, .. } = evaluation;
    if let Some(path) = answers {
        let lines: Vec<String> = evaluation
            .answers
            .iter()
            .map(|a| format!("{a}\n"))
            .collect();
        std::fs::write(path, lines.concat()).map_err(|error| failed(path, &error))?;
    }
    if let Some(path) = &output.json {
        let text = serde_json::to_string_pretty(json).unwrap_or_default() + "\n";
        std::fs::write(path, text).map_err(|error| failed(path, &error))?;
    }
    if let Some(path) = &output.html {
        let html = page.html().map_err(|error| failed(path, &error))?;
        std::fs::write(path, html).map_err(|error| failed(path, &error))?;
    }
    if let Some(folder) = &output.svg {
        let written = page
            .write_plots(folder)
            .map_err(|error| failed(folder, &error))?;
        eprintln!("{written} plots in {folder}");
    }
    Ok(())
}
