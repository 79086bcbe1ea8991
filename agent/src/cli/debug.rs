//! `ndbg-agent debug`.

use camino::Utf8PathBuf;
use clap::Args;
use ndbg_tools::Cancel;
use ndbg_tools::python::managed::cache_folder;

use super::model::ModelArguments;
use super::simulate::{LimitArguments, SubjectArguments};
use super::trace::{RecordArguments, Source, open, record, say};
use crate::debug::{self, Debugger, Predicted};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::ColorChoice;
use crate::simulate::ending;

/// Step through a recorded run, forwards and backwards
///
/// Opens a recording, by default the newest, or makes one of the tests or
/// the script named (which gets no input). Nothing is run while stepping:
/// every state was recorded, so that going back is as exact as going forth.
/// Commands come from the terminal or from standard input, one a line; `h`
/// lists them.
///
///   ndbg-agent debug --repo . --test tests/test_cart.py::test_total
///   ndbg-agent debug RECORDING.ndbg
///   echo 'find total < 0' | ndbg-agent debug
///
/// With `--predict` nothing was recorded: a model predicts the run of a
/// call, every stop says how sure it is, and `set x = 3` goes on from there
/// with another value.
///
///   ndbg-agent debug --predict sums.py --call "total([3, 1, 2])"
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct DebugArguments {
    #[command(flatten)]
    record: RecordArguments,
    /// Python file of a call to predict instead of a recording
    #[arg(
        long,
        value_name = "FILE",
        requires = "call",
        conflicts_with_all = ["script", "tests"],
        help_heading = "Prediction"
    )]
    predict: Option<Utf8PathBuf>,
    /// The call, with literal arguments: `f([3, 1, 2])`
    #[arg(
        long,
        value_name = "CALL",
        requires = "predict",
        help_heading = "Prediction"
    )]
    call: Option<String>,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    limits: LimitArguments,
}

/// Runs the verb.
pub fn run(arguments: DebugArguments, color: ColorChoice) -> anyhow::Result<Outcome> {
    if let (Some(file), Some(call)) = (arguments.predict, arguments.call) {
        let python = arguments.record.python().cloned();
        let subject = SubjectArguments {
            file,
            call,
            model: arguments.model,
            limits: arguments.limits,
        };
        return match predict(&subject, python.as_ref()) {
            Ok(debugger) => {
                debug::run(debugger, &cache_folder().join("debug_history"))?;
                Ok(Outcome::Fixed)
            }
            Err(stop) => Ok(say(&stop)),
        };
    }
    let opened = match arguments.record.into() {
        Source::Newest => open(None),
        Source::Recording(path) => open(Some(&path)),
        Source::Run(run) => match record(*run, color, false)? {
            Ok(done) => open(Some(&done.folder)),
            Err(outcome) => return Ok(outcome),
        },
    };
    let opened = match opened {
        Ok(opened) => opened,
        Err(stop) => return Ok(say(&stop)),
    };
    let cut_off = opened.cut_off.clone();
    let Some(debugger) = Debugger::new(opened) else {
        let stop = match cut_off {
            Some(reason) => Stop::new(
                Outcome::Usage,
                format!("there is no whole event in the recording: {reason}"),
            ),
            None => Stop::new(Outcome::Usage, "nothing was recorded").hint(
                "`--focus` may name nothing that ran, or the tests run no code of the project",
            ),
        };
        return Ok(say(&stop));
    };
    let history: Utf8PathBuf = cache_folder().join("debug_history");
    debug::run(debugger, &history)?;
    Ok(Outcome::Fixed)
}

/// A debugger over the prediction of a call.
fn predict(subject: &SubjectArguments, python: Option<&Utf8PathBuf>) -> Result<Debugger, Stop> {
    let cancel =
        Cancel::on_signals().map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
    let program = subject.program()?;
    let model = subject.model.open(python, &cancel)?;
    model.performs_operations("debug --predict")?;
    let name = model.name().to_owned();
    let file = subject.file.to_string();
    let predicted = Predicted::new(
        program,
        Box::new(model),
        subject.limits.limits(),
        file,
        name,
    );
    let ended = ending(predicted.run());
    Debugger::predicting(predicted).ok_or_else(|| {
        Stop::new(
            Outcome::Usage,
            format!("there is nothing to step through: {ended}"),
        )
        .hint("name a function of the file, with arguments that fit its signature")
    })
}
