//! The command line: one file a verb. Arguments become settled settings here, nothing else happens.

mod completions;
mod dataset;
mod debug;
mod doctor;
mod eval;
mod explain;
mod fix;
mod infer;
mod localize;
mod man;
mod model;
mod models;
mod planner;
mod project;
#[cfg(test)]
mod reference;
mod report;
mod resume;
mod simulate;
mod trace;

use std::any::Any;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::ColorChoice;

/// Fixes failing Python tests: finds what is wrong, tries patches in an isolated copy, and believes
/// only real test runs.
#[derive(Debug, Parser)]
#[command(name = "ndbg-agent", version, max_term_width = 80, after_help = exit_codes())]
struct Arguments {
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    verb: Verb,
}

/// Whether `fix` takes these arguments, as far as it can be said without a project; else what is wrong, in a line.
pub(crate) fn check_fix(arguments: &[String]) -> Result<(), String> {
    let words = ["ndbg-agent", "fix"].into_iter().map(str::to_owned);
    let parsed = Arguments::try_parse_from(words.chain(arguments.iter().cloned()));
    let Verb::Fix(fix) = parsed
        .map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_owned()
        })?
        .verb
    else {
        return Err("that is another command".into());
    };
    fix.check().map_err(|stop| match stop.hint {
        Some(hint) => format!("{}; {hint}", stop.message),
        None => stop.message,
    })
}

#[derive(Debug, Subcommand)]
enum Verb {
    Fix(fix::FixArguments),
    Resume(resume::ResumeArguments),
    Report(report::ReportArguments),
    Localize(localize::LocalizeArguments),
    Explain(explain::ExplainArguments),
    Trace(trace::TraceArguments),
    Debug(debug::DebugArguments),
    Simulate(Box<simulate::SimulateArguments>),
    Infer(Box<infer::InferArguments>),
    Dataset(dataset::DatasetArguments),
    Eval(eval::EvalArguments),
    Doctor(doctor::DoctorArguments),
    Models(models::ModelsArguments),
    Bench(crate::bench::BenchArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

/// The exit codes, for help texts.
fn exit_codes() -> String {
    let lines: Vec<String> = Outcome::ALL
        .iter()
        .map(|outcome| format!("  {:>3}  {}", outcome.exit_code(), outcome.meaning()))
        .collect();
    format!("Exit codes:\n{}", lines.join("\n"))
}

/// Prints a result. Whoever reads may have had enough, and that is no failure; a result that is lost in another way is.
pub(crate) fn print(result: &[u8]) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    reached(out.write_all(result).and_then(|()| out.flush()))
}

/// What became of a result that was printed.
fn reached(printed: io::Result<()>) -> Result<(), Stop> {
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Stop::new(
            Outcome::Environment,
            format!("cannot write to stdout: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Why a macro of the standard library could not print, in its words: it panics then.
fn print_failure(payload: &(dyn Any + Send)) -> Option<&str> {
    let message = payload.downcast_ref::<String>()?;
    message.strip_prefix("failed printing to ")
}

/// Where nothing can be printed, a panic's message says nothing of use. The panic itself unwinds, so that everything
/// is cleaned up.
fn quiet_failed_prints() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if print_failure(panic.payload()).is_none() {
            usual(panic);
        }
    }));
}

/// Says why the program could not do what it was to do. Stderr may be the stream that failed: then there is no place
/// left to say it.
fn fail(why: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {why}");
    ExitCode::from(Outcome::Environment.exit_code())
}

/// Prints the help, the version, or what is wrong with the command line.
fn refuse(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| io::stdout().flush());
    match reached(printed) {
        // There is no place left to say it where this was to go to stderr.
        Err(stop) if !error.use_stderr() => fail(&stop.message),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1)),
    }
}

/// Parses the command line and runs the verb.
pub fn main() -> ExitCode {
    ndbg_tools::process::shield();
    quiet_failed_prints();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let color = arguments.color.into();
    let done = std::panic::catch_unwind(|| run(arguments.verb, color));
    let code = match done {
        Ok(code) => code,
        Err(payload) => match print_failure(&*payload) {
            // Nobody listens any more (`… | head`).
            Some(why) if why.contains("Broken pipe") => return ExitCode::SUCCESS,
            Some(why) => return fail(&format!("cannot write to {why}")),
            None => std::panic::resume_unwind(payload),
        },
    };
    match code {
        Ok(code) => ExitCode::from(code),
        Err(error) => fail(&format!("{error:#}")),
    }
}

/// Runs a verb; the answer is the exit code.
fn run(verb: Verb, color: ColorChoice) -> anyhow::Result<u8> {
    let outcome = match verb {
        Verb::Trace(verb) => return trace::run(verb, color),
        Verb::Fix(verb) => fix::run(verb, color),
        Verb::Resume(verb) => resume::run(&verb, color),
        Verb::Report(verb) => Ok(report::run(&verb)),
        Verb::Localize(verb) => localize::run(verb, color),
        Verb::Explain(verb) => explain::run(verb, color),
        Verb::Debug(verb) => debug::run(verb, color),
        Verb::Simulate(verb) => simulate::run(&verb),
        Verb::Infer(verb) => infer::run(&verb),
        Verb::Dataset(verb) => dataset::run(verb, color),
        Verb::Eval(verb) => eval::run(verb),
        Verb::Doctor(verb) => doctor::run(verb),
        Verb::Models(verb) => Ok(models::run(&verb)),
        Verb::Bench(verb) => crate::bench::run(verb),
        Verb::Completions(verb) => Ok(completions::run(&verb, Arguments::command())),
        Verb::Man(verb) => man::run(&verb, Arguments::command()),
    };
    outcome.map(Outcome::exit_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
