//! The command line: one file a verb. Arguments become settled settings here, nothing else happens.

mod completions;
mod dataset;
mod debug;
mod doctor;
mod eval;
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

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

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

#[derive(Debug, Subcommand)]
enum Verb {
    Fix(fix::FixArguments),
    Resume(resume::ResumeArguments),
    Report(report::ReportArguments),
    Localize(localize::LocalizeArguments),
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

/// Nobody listens any more (`… | head`): no reason for a panic's message. The panic itself unwinds, so
/// that everything is cleaned up.
fn quiet_broken_pipes() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_broken_pipe(panic.payload()) {
            usual(panic);
        }
    }));
}

fn is_broken_pipe(payload: &(dyn std::any::Any + Send)) -> bool {
    let message = payload.downcast_ref::<String>();
    message.is_some_and(|text| text.contains("Broken pipe") && text.contains("failed printing"))
}

/// Parses the command line and runs the verb.
pub fn main() -> ExitCode {
    ndbg_tools::process::shield();
    quiet_broken_pipes();
    let arguments = Arguments::parse();
    let color = arguments.color.into();
    let done = std::panic::catch_unwind(|| run(arguments.verb, color));
    let code = match done {
        Ok(code) => code,
        Err(payload) if is_broken_pipe(&*payload) => return ExitCode::SUCCESS,
        Err(payload) => std::panic::resume_unwind(payload),
    };
    match code {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(Outcome::Environment.exit_code())
        }
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
