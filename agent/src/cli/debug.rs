//! `ndbg-agent debug`.

use camino::Utf8PathBuf;
use clap::Args;
use ndbg_tools::python::managed::cache_folder;

use super::trace::{RecordArguments, Source, open, record, say};
use crate::debug::{self, Debugger};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::ColorChoice;

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
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct DebugArguments {
    #[command(flatten)]
    record: RecordArguments,
}

/// Runs the verb.
pub fn run(arguments: DebugArguments, color: ColorChoice) -> anyhow::Result<Outcome> {
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
