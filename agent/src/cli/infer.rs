//! `ndbg-agent infer`.

use std::time::Duration;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use ndbg_simulator::recording::{BoundaryKind, EventId};
use ndbg_tools::Cancel;
use ndbg_tools::python::executions::Goal;
use ndbg_tools::trace::Opened;

use super::model::ModelArguments;
use super::trace::{open, say};
use crate::eval::Predictor;
use crate::fix::settings::ProjectSettings;
use crate::fix::stop::Stop;
use crate::infer::{self, Past, Settings, Sources};
use crate::model::Reality;
use crate::outcome::Outcome;
use crate::report::{ColorChoice, Reporter, ReporterOptions};
use crate::trace;

/// Limits of a test run that is recorded for its calls.
const RECORDED_EVENTS: u64 = 1_000_000;
const RECORDED_TIME: Duration = Duration::from_mins(5);
const RECORDED_MEMORY: u64 = 2 << 30;

/// Find inputs with which a function does what you say
///
/// Proposes arguments (variations of values from the goal and the source,
/// and what the model says when it walks backwards from a result), runs the
/// function with them, goes on from those that came nearest, and makes what
/// it finds smaller. A call is printed only after runs in new processes
/// that all did it; nothing is guessed. Calls have no network, write only
/// into a folder that goes away, and have limits of time and memory.
///
///   ndbg-agent infer sums.py::total --returns "[1, 2]"
///   ndbg-agent infer shop.py::Cart.add --raises KeyError
///   ndbg-agent infer parse.py::parse --reaches 42
///   ndbg-agent infer parse.py::parse --where "line 42: len(stack) > 3"
///   ndbg-agent infer new.py::f --differs old.py::f --pytest > test_new.py
///
/// From a state that `ndbg-agent trace` recorded it goes back to the
/// arguments that the call may have had, each with a probability:
///
///   ndbg-agent infer --repo . --state RUN.ndbg@118
///
/// What a function was given in a recorded run (`--recording`, or `--test`
/// to record it first) is tried before anything else.
///
/// Exits with 0 if it found one, with 1 if not within the budget, with 2 if
/// what is asked cannot be done, with 4 if something is missing around it,
/// and with 130 when it is interrupted.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct InferArguments {
    /// Function or method; of a state its own without it
    #[arg(value_name = "FILE::FUNCTION", required_unless_present = "state")]
    target: Option<String>,
    #[command(flatten)]
    goal: GoalArguments,
    /// Seconds at most
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = seconds, help_heading = "Budget")]
    seconds: f64,
    /// Executions at most
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Budget")]
    executions: u64,
    /// Seconds at most for each call
    #[arg(long, value_name = "S", default_value_t = infer::CALL_SECONDS, value_parser = call_seconds, help_heading = "Budget")]
    call_seconds: f64,
    /// Different inputs at most
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    count: u64,
    /// Every draw follows from it
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Who proposes inputs
    #[arg(long, value_enum, default_value_t = Proposer::Both, value_name = "WHO")]
    from: Proposer,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    past: PastArguments,
    /// Interpreter that runs the function; the project's own without it
    #[arg(long, value_name = "PATH")]
    python: Option<Utf8PathBuf>,
    /// Print a test file
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pytest: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What is to happen.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct GoalArguments {
    /// It returns this value
    #[arg(
        long,
        value_name = "LITERAL",
        allow_hyphen_values = true,
        help_heading = "Goal"
    )]
    returns: Option<String>,
    /// It raises this class, or a subclass
    #[arg(long, value_name = "CLASS", help_heading = "Goal")]
    raises: Option<String>,
    /// It reaches this line of the file
    #[arg(long, value_name = "LINE", help_heading = "Goal")]
    reaches: Option<u32>,
    /// A condition holds just before a line runs: "line 42: len(stack) > 3"
    #[arg(long, value_name = "PLACE", help_heading = "Goal")]
    r#where: Option<String>,
    /// Another function does something else
    #[arg(long, value_name = "FILE::FUNCTION", help_heading = "Goal")]
    differs: Option<String>,
    /// It comes to the state of this event; without a recording of the newest one
    #[arg(long, value_name = "[RUN.ndbg]@EVENT", help_heading = "Goal")]
    state: Option<String>,
}

/// Where calls of the function were recorded.
#[derive(Debug, Args)]
struct PastArguments {
    /// Folder of the project whose tests are recorded
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        help_heading = "Recorded calls"
    )]
    repo: Utf8PathBuf,
    /// Record this test first, and begin with what the function was given in it; may be repeated
    #[arg(
        long = "test",
        short = 't',
        value_name = "TEST",
        conflicts_with = "recording",
        help_heading = "Recorded calls"
    )]
    tests: Vec<String>,
    /// Begin with what the function was given in this recording
    #[arg(long, value_name = "RUN.ndbg", help_heading = "Recorded calls")]
    recording: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Proposer {
    /// Variation and combination of values
    Search,
    /// The model, walking backwards
    Model,
    /// The two, into one pool
    Both,
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=86_400.0).contains(&value) && value > 0.0 => Ok(value),
        _ => Err("it has to be a number of seconds, more than 0 and at most a day".into()),
    }
}

fn call_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=60.0).contains(&value) && value > 0.0 => Ok(value),
        _ => Err("it has to be a number of seconds, more than 0 and at most 60".into()),
    }
}

impl GoalArguments {
    fn goal(&self) -> Result<Goal, Stop> {
        if let Some(text) = &self.returns {
            infer::value(text)?;
            return Ok(Goal::Returns(text.trim().to_owned()));
        }
        if let Some(class) = &self.raises {
            return Ok(Goal::Raises(class.trim().to_owned()));
        }
        if let Some(line) = self.reaches {
            return Ok(Goal::Reaches(line));
        }
        if let Some(text) = &self.r#where {
            return infer::place(text);
        }
        match &self.differs {
            Some(text) => Ok(Goal::Differs(infer::subject(text)?)),
            None => Ok(Goal::Any),
        }
    }
}

impl PastArguments {
    /// The recording that is named, or made now.
    fn open(
        &self,
        run: Option<&Utf8PathBuf>,
        python: Option<&Utf8PathBuf>,
        cancel: &Cancel,
    ) -> Result<Opened, Stop> {
        if let Some(folder) = run.or(self.recording.as_ref()) {
            return open(Some(folder));
        }
        if self.tests.is_empty() {
            return open(None);
        }
        eprintln!("recording {}", self.tests.join(", "));
        let settings = trace::Settings {
            project: ProjectSettings {
                tests: self.tests.clone(),
                ..ProjectSettings::as_it_is(
                    self.repo.clone(),
                    python.cloned(),
                    Some(RECORDED_MEMORY),
                )
            },
            subject: trace::Subject::Tests,
            focus: trace::Focus::parse(&[]),
            states: true,
            max_events: RECORDED_EVENTS,
            out: trace::new_folder(&self.tests[0].replace("::", ".")),
            command: std::env::args().skip(1).collect(),
            limit: RECORDED_TIME,
            input: false,
            twice: false,
        };
        let reporter = Reporter::start(ReporterOptions::silent(ColorChoice::Auto))
            .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
        let recorded = trace::record(&settings, &reporter, cancel)?;
        open(Some(&recorded.folder))
    }
}

/// Runs the verb.
pub fn run(arguments: &InferArguments) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    match inferred(arguments, &cancel) {
        Ok(outcome) => Ok(outcome),
        Err(stop) => Ok(say(&stop)),
    }
}

/// `RUN.ndbg@118`, or `@118`.
fn event_of(text: &str) -> Result<(Option<Utf8PathBuf>, usize), Stop> {
    let parsed = text.rsplit_once('@').and_then(|(run, event)| {
        let run = (!run.is_empty()).then(|| run.into());
        Some((run, event.trim().parse().ok()?))
    });
    parsed.ok_or_else(|| {
        Stop::new(
            Outcome::Usage,
            format!("`{text}` is no event of a recording"),
        )
        .hint("for example: --state RUN.ndbg@118; `ndbg-agent trace show` numbers events")
    })
}

/// The test that an event was recorded in has to be the one that was named.
fn check_test(opened: &Opened, event: EventId, tests: &[String]) -> Result<(), Stop> {
    let boundaries = opened.recording.boundaries().iter();
    let mut before = boundaries.filter(|b| b.kind == BoundaryKind::Test && b.at <= event);
    let Some(boundary) = before.next_back() else {
        return Ok(());
    };
    let name = boundary.name.as_str();
    // A file or a function stands for all tests in it.
    let is_in = |test: &String| name == test || name.starts_with(test.as_str());
    if tests.is_empty() || tests.iter().any(is_in) {
        return Ok(());
    }
    Err(Stop::new(
        Outcome::Usage,
        format!("event {} belongs to the test `{name}`", event.0),
    )
    .hint("leave out `--test`, or choose an event of that test"))
}

/// Folders of the project that a file belongs to, the innermost first: where its environment may lie.
fn project_folders(file: &Utf8Path) -> Vec<Utf8PathBuf> {
    const MARKS: [&str; 6] = [
        ".git",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        ".venv",
        "venv",
    ];
    file.ancestors()
        .skip(1)
        .filter(|folder| MARKS.iter().any(|mark| folder.join(mark).exists()))
        .map(Utf8PathBuf::from)
        .take(2)
        .collect()
}

fn inferred(arguments: &InferArguments, cancel: &Cancel) -> Result<Outcome, Stop> {
    let past = &arguments.past;
    let wanted = arguments.goal.state.as_deref().map(event_of).transpose()?;
    let run = wanted.as_ref().and_then(|(run, _)| run.clone());
    let is_asked = wanted.is_some() || past.recording.is_some() || !past.tests.is_empty();
    let opened = if is_asked {
        Some(past.open(run.as_ref(), arguments.python.as_ref(), cancel)?)
    } else {
        None
    };
    let state = match (&wanted, &opened) {
        (Some((_, event)), Some(opened)) => {
            let state = infer::state(&opened.recording, *event, &past.repo)?;
            if run.is_some() {
                check_test(opened, state.event, &past.tests)?;
            }
            Some(state)
        }
        _ => None,
    };
    let subject = match (&arguments.target, &state) {
        (Some(target), None) => infer::subject(target)?,
        (Some(target), Some(state)) => {
            let subject = infer::subject(target)?;
            if subject != state.subject {
                return Err(Stop::new(
                    Outcome::Usage,
                    format!(
                        "the event is in `{}`, not in `{target}`",
                        state.subject.function
                    ),
                )
                .hint("leave the function out: it is that of the state"));
            }
            subject
        }
        (None, Some(state)) => state.subject.clone(),
        (None, None) => return Err(Stop::new(Outcome::Usage, "no function is named")),
    };
    let settings = Settings {
        goal: match &state {
            Some(state) => state.goal.clone(),
            None => arguments.goal.goal()?,
        },
        subject,
        sources: Sources {
            search: arguments.from != Proposer::Model,
            model: arguments.from != Proposer::Search,
        },
        seconds: arguments.seconds,
        executions: arguments.executions as usize,
        count: arguments.count as usize,
        seed: arguments.seed,
        call_seconds: arguments.call_seconds,
    };
    let folders = project_folders(&settings.subject.file);
    let reality = Reality::within(arguments.python.as_deref(), &folders, cancel)?;
    // Only results and states are walked back from, and a model takes a moment to open.
    let is_walked = matches!(settings.goal, Goal::Returns(_))
        || state.as_ref().is_some_and(|s| s.line.is_some());
    let model = match (is_walked, settings.sources.model) {
        (true, true) => Some(arguments.model.open(arguments.python.as_ref(), cancel)?),
        (false, true) if !settings.sources.search => {
            return Err(Stop::new(
                Outcome::Usage,
                "the model proposes inputs for --returns and --state only",
            )
            .hint("leave out `--from model`"));
        }
        _ => None,
    };
    let file = opened
        .as_ref()
        .and_then(|opened| infer::recorded_file(&opened.recording, &settings.subject, &past.repo));
    if opened.is_some() && file.is_none() {
        eprintln!(
            "warning: nothing of `{}` was recorded",
            settings.subject.file
        );
    }
    let calls = opened
        .as_ref()
        .zip(file)
        .map_or_else(Vec::new, |(opened, file)| {
            let without = state.as_ref().map(|state| state.frame);
            infer::calls(
                &opened.recording,
                &file,
                &settings.subject.function,
                without,
            )
        });
    let past = Past {
        calls: &calls,
        state: state.as_ref(),
    };
    let predictor = model.as_ref().map(|model| model as &dyn Predictor);
    let inferred = infer::infer_from(&settings, predictor, &reality.runner, past)?;
    let answer = infer::answer(&settings, &inferred);
    let text = if arguments.json {
        let json = infer::json(&settings.subject.function, &inferred);
        format!("{json:#}\n")
    } else if arguments.pytest {
        infer::test_file(&settings.subject, &settings.goal, &inferred)
    } else {
        answer.calls
    };
    if let Err(stop) = super::print(text.as_bytes()) {
        return Ok(super::trace::say(&stop));
    }
    eprint!("{}", answer.remarks);
    Ok(if inferred.found.is_empty() {
        Outcome::NotFixed
    } else {
        Outcome::Fixed
    })
}
