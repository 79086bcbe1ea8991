//! `ndbg-agent resume`.

use camino::Utf8PathBuf;
use clap::{Args, Parser};

use super::trace::say;
use super::{Arguments, Verb, fix};
use crate::fix::resumable;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::ColorChoice;

/// Go on with a run of `fix` that was ended, without paying for the same answers again
///
/// Gives the run's own command line once more, in the folder where it was
/// given, with the artefacts in the same run folder. What the language
/// model answered is kept there and taken from there; it is asked again
/// from where the run ended, or from where it takes another course.
///
///   ndbg-agent resume ~/.cache/ndbg-agent/runs/1764500000-123-4567
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ResumeArguments {
    /// Run folder
    #[arg(value_name = "RUN")]
    run: Utf8PathBuf,
}

/// Runs the verb.
pub fn run(arguments: &ResumeArguments, color: ColorChoice) -> anyhow::Result<Outcome> {
    match resumed(arguments) {
        Ok((verb, run_dir)) => fix::go(verb, &run_dir, color),
        Err(stop) => Ok(say(&stop)),
    }
}

fn resumed(arguments: &ResumeArguments) -> Result<(fix::FixArguments, Utf8PathBuf), Stop> {
    let usage = |message: String| Stop::new(Outcome::Usage, message);
    let run = resumable::read(&arguments.run)?;
    let run_dir = camino::absolute_utf8(&arguments.run)
        .map_err(|error| usage(format!("`{}`: {error}", arguments.run)))?;
    let line = std::iter::once("ndbg-agent".to_owned()).chain(run.arguments);
    let parsed = Arguments::try_parse_from(line).map_err(|error| {
        usage(format!(
            "the command line of the run is not understood: {}",
            error.to_string().lines().next().unwrap_or_default()
        ))
        .hint("it was written by another version")
    })?;
    let Verb::Fix(verb) = parsed.verb else {
        return Err(usage(format!("`{}` is no run of `fix`", arguments.run)));
    };
    std::env::set_current_dir(&run.cwd)
        .map_err(|error| usage(format!("`{}`, where the run began: {error}", run.cwd)))?;
    Ok((verb, run_dir))
}
