//! `ndbg-agent trace`.

use std::time::Duration;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use ndbg_tools::Cancel;
use ndbg_tools::process::Exit;
use ndbg_tools::trace as recordings;

use super::project::ProjectArguments;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::{ColorChoice, Reporter, ReporterOptions};
use crate::trace::{self, Filter, Focus, Recorded, Subject};

/// Record a run of tests or of a script, with every local state
///
/// Records calls, lines, returns and exceptions with the local variables
/// at each, in all threads and tasks, into a folder that `trace show`
/// prints and `debug` opens. Tests run in a worktree, all of them without
/// `--test`; the exit code is 0 whether they pass or not. A script runs
/// where it is, as `python SCRIPT` would run it, in a clean environment
/// (`-e` passes variables on), and its exit code is passed on. Without
/// `--out` the recording goes into the cache, which keeps the newest twenty.
///
///   ndbg-agent trace --repo . --test tests/test_cart.py::test_total
///   ndbg-agent trace report.py --year 2024
///   ndbg-agent trace show
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, verbatim_doc_comment)]
pub struct TraceArguments {
    #[command(subcommand)]
    verb: Option<TraceVerb>,
    #[command(flatten)]
    record: RecordArguments,
}

#[derive(Debug, Subcommand)]
enum TraceVerb {
    Show(ShowArguments),
}

/// What is recorded, and how.
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// Script to run, and its arguments; tests without it
    #[arg(
        value_name = "SCRIPT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    script: Vec<String>,
    #[command(flatten)]
    project: ProjectArguments,
    /// Record only this function, file or FILE::FUNCTION; may be repeated
    #[arg(long, value_name = "WHAT", help_heading = "Recording")]
    focus: Vec<String>,
    /// Record calls and lines without the local variables
    #[arg(long, help_heading = "Recording")]
    no_states: bool,
    /// Run the tests once before, for calls and lines alone, and say whether both runs took the same path
    #[arg(long, conflicts_with = "script", help_heading = "Recording")]
    twice: bool,
    /// Folder for the recording
    #[arg(long, value_name = "DIR", help_heading = "Recording")]
    out: Option<Utf8PathBuf>,
    /// Events after which recording ends; the program goes on
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    max_events: u64,
    /// Wall-clock limit in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    max_time: u64,
}

/// Print the call tree of a recording, or the states of one call
#[derive(Debug, Args)]
struct ShowArguments {
    /// Recording; the newest one in the cache without it
    #[arg(value_name = "RECORDING")]
    recording: Option<Utf8PathBuf>,
    /// Only calls of this function, and what they call
    #[arg(long, short, value_name = "NAME")]
    function: Option<String>,
    /// The states of the call that this event belongs to
    #[arg(long, short, value_name = "N")]
    event: Option<usize>,
    /// Deepest level of calls
    #[arg(long, value_name = "N", default_value_t = 100)]
    depth: usize,
    /// Calls or events left out first
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// Most calls or events shown
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl RecordArguments {
    /// The interpreter that was named.
    pub fn python(&self) -> Option<&Utf8PathBuf> {
        self.project.python.as_ref()
    }
}

/// What is to be debugged.
#[derive(Debug)]
pub enum Source {
    /// The newest recording.
    Newest,
    /// A recording that exists.
    Recording(Utf8PathBuf),
    /// A run that is to be recorded first.
    Run(Box<RecordArguments>),
}

impl From<RecordArguments> for Source {
    fn from(arguments: RecordArguments) -> Self {
        match &arguments.script[..] {
            [] if arguments.project.tests.is_empty() => Self::Newest,
            [path]
                if Utf8Path::new(path).is_dir()
                    || Utf8Path::new(path).extension() == Some("ndbg") =>
            {
                Self::Recording(path.into())
            }
            _ => Self::Run(Box::new(arguments)),
        }
    }
}

/// Runs the verb; the answer is the exit code: a script's own where there is one.
pub fn run(arguments: TraceArguments, color: ColorChoice) -> anyhow::Result<u8> {
    match arguments.verb {
        Some(TraceVerb::Show(arguments)) => show(&arguments).map(Outcome::exit_code),
        None => record_and_say(arguments.record, color),
    }
}

fn record_and_say(arguments: RecordArguments, color: ColorChoice) -> anyhow::Result<u8> {
    let done = match record(arguments, color, true)? {
        Ok(done) => done,
        Err(stop) => return Ok(stop.exit_code()),
    };
    let (passed, failed, skipped) = done.counts.unwrap_or_default();
    let tests = match done.counts {
        Some(_) => format!("{passed} passed, {failed} failed, {skipped} skipped; "),
        None => String::new(),
    };
    eprintln!(
        "{tests}{} events in {:.1} s, {}\nrecorded in {}",
        done.written.events,
        done.seconds,
        size(done.written.bytes),
        done.folder
    );
    if let Ok(opened) = recordings::open(&done.folder) {
        for line in trace::gaps(&opened.recording, opened.cut_off.as_deref()) {
            eprintln!("{line}");
        }
    }
    match done.same_path {
        Some(true) => eprintln!("both runs made the same calls and ran the same lines"),
        Some(false) => eprintln!(
            "the two runs took different paths: what is recorded may not happen again \
             (chance, time, or the order of a set)"
        ),
        None => {}
    }
    if done.written.events == 0 {
        eprintln!("nothing was recorded: `--focus` may name nothing that ran");
    } else {
        eprintln!("`ndbg-agent debug {}` steps through it", done.folder);
    }
    let code = match done.exit {
        None => 0,
        Some(Exit::Code(code)) => u8::try_from(code).unwrap_or(1),
        Some(Exit::TimedOut) => {
            eprintln!("the script was ended at the limit of `--max-time`");
            Outcome::Budget.exit_code()
        }
        Some(Exit::Signal(signal)) => {
            eprintln!("the script was ended by signal {signal}");
            u8::try_from(128 + signal).unwrap_or(1)
        }
    };
    // Last, so that nothing is said after a broken pipe.
    if done.counts.is_some() {
        println!("{}", done.folder);
    }
    Ok(code)
}

/// Records; the inner error is an ending that has been said.
pub fn record(
    arguments: RecordArguments,
    color: ColorChoice,
    input: bool,
) -> anyhow::Result<Result<Recorded, Outcome>> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    let mut script = arguments.script.into_iter();
    let subject = match script.next() {
        Some(path) => Subject::Script(path.into(), script.collect()),
        None => Subject::Tests,
    };
    let project = arguments.project.settle();
    let name = match &subject {
        Subject::Script(path, _) => path.to_string(),
        Subject::Tests => {
            let first = project.tests.first();
            first.map_or_else(|| "tests".to_owned(), |test| test.replace("::", "."))
        }
    };
    let settings = trace::Settings {
        project,
        subject,
        focus: Focus::parse(&arguments.focus),
        states: !arguments.no_states,
        max_events: arguments.max_events,
        out: arguments.out.unwrap_or_else(|| trace::new_folder(&name)),
        command: std::env::args().skip(1).collect(),
        limit: Duration::from_secs(arguments.max_time),
        input,
        twice: arguments.twice,
    };
    let reporter = Reporter::start(ReporterOptions::silent(color))?;
    Ok(trace::record(&settings, &reporter, &cancel).map_err(|stop| say(&stop)))
}

fn show(arguments: &ShowArguments) -> anyhow::Result<Outcome> {
    let opened = match open(arguments.recording.as_ref()) {
        Ok(opened) => opened,
        Err(stop) => return Ok(say(&stop)),
    };
    let filter = Filter {
        function: arguments.function.clone(),
        event: arguments.event,
        depth: arguments.depth,
        skip: arguments.skip,
        limit: arguments.limit,
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let shown = trace::show(&opened, &filter, arguments.json, &mut out)
        .and_then(|shown| std::io::Write::flush(&mut out).map(|()| shown));
    match shown {
        Ok(true) => Ok(Outcome::Fixed),
        Ok(false) => Ok(say(&Stop::new(
            Outcome::Usage,
            format!(
                "there is no event {}: they go from 0 to {}",
                arguments.event.unwrap_or_default(),
                opened.recording.len().saturating_sub(1)
            ),
        ))),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Outcome::Fixed),
        Err(error) => Err(error.into()),
    }
}

/// Opens a recording, or the newest one.
pub fn open(recording: Option<&Utf8PathBuf>) -> Result<recordings::Opened, Stop> {
    let folder = recording.cloned().or_else(trace::latest).ok_or_else(|| {
        Stop::new(Outcome::Usage, "there is no recording yet")
            .hint("record one: `ndbg-agent trace --repo . --test TEST`")
    })?;
    Ok(recordings::open(&folder)?)
}

/// Says why there is nothing to show.
pub fn say(stop: &Stop) -> Outcome {
    eprintln!("error: {}", stop.message);
    if let Some(hint) = &stop.hint {
        eprintln!("hint: {hint}");
    }
    stop.outcome
}

fn size(bytes: u64) -> String {
    if bytes < 10_000 {
        format!("{bytes} bytes")
    } else if bytes < 10_000_000 {
        format!("{} kB", bytes / 1000)
    } else {
        format!("{} MB", bytes / 1_000_000)
    }
}
