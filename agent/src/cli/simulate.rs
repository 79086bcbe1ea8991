//! `ndbg-agent simulate`.

use std::io::Write as _;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use clap::Args;
use ndbg_simulator::Unavailable;
use ndbg_simulator::grammar::step::Operation;
use ndbg_simulator::harness::{self, Answer, Ended, Limits, Operations, Program};
use ndbg_simulator::model::LanguageModel;
use ndbg_tools::Cancel;

use super::model::ModelArguments;
use super::trace::say;
use crate::fix::stop::Stop;
use crate::model::Model;
use crate::outcome::Outcome;
use crate::simulate::{self, Goal, Shown};

/// Time that an interrupted prediction has to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// Predict what a call does, without running it
///
/// Prints the states that a model predicts on the way from the call to its
/// return: the line about to run, what changed, and how sure it is that all
/// of it up to there is right. Names, control flow and what containers hold
/// follow from the source; what operators, builtins and methods give is
/// predicted. What is not sure enough is `?`, and so is what depends on it.
/// With `--check` the real program runs beside it, with a deadline and a
/// memory limit, and the first state that differs is shown with both sides.
///
///   ndbg-agent simulate sums.py --call "total([3, 1, 2])"
///   ndbg-agent simulate sums.py --call "total([3, 1, 2])" --break 4
///   ndbg-agent simulate sums.py --call "total([])" --continue --check
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[allow(clippy::struct_excessive_bools)] // Flags of a command line.
pub struct SimulateArguments {
    #[command(flatten)]
    pub(super) subject: SubjectArguments,
    /// Show the state so many states further, into calls
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1", group = "goal", help_heading = "Actions")]
    step_into: Option<usize>,
    /// Show the state so many states further, over calls
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1", group = "goal", help_heading = "Actions")]
    step_over: Option<usize>,
    /// Show the return of the call
    #[arg(long, group = "goal", help_heading = "Actions")]
    step_return: bool,
    /// Show the first state at a line
    #[arg(long, value_name = "LINE", group = "goal", help_heading = "Actions")]
    r#break: Option<u32>,
    /// Show only how the call ends
    #[arg(long, group = "goal", help_heading = "Actions")]
    r#continue: bool,
    /// Run the real program, too, and show where they part
    #[arg(long)]
    check: bool,
    /// Interpreter that `--check` and the oracle run
    #[arg(long, value_name = "PATH")]
    python: Option<Utf8PathBuf>,
    /// One JSON object a state, and one for the end
    #[arg(long)]
    json: bool,
}

/// What is predicted, and by whom.
#[derive(Debug, Args)]
pub struct SubjectArguments {
    /// Python file
    #[arg(value_name = "FILE")]
    pub file: Utf8PathBuf,
    /// Call to predict, with literal arguments: `f([3, 1, 2])`
    #[arg(long, value_name = "CALL")]
    pub call: String,
    #[command(flatten)]
    pub model: ModelArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// How far a prediction goes, and what it believes.
#[derive(Debug, Args)]
pub struct LimitArguments {
    /// Answers less probable than this are unknown, 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = probability, help_heading = "Prediction")]
    pub threshold: f64,
    /// States after which a prediction stops
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Prediction")]
    pub max_states: u64,
}

impl LimitArguments {
    /// The limits of a prediction.
    pub fn limits(&self) -> Limits {
        Limits {
            events: self.max_states as usize,
            operations: 4 * self.max_states as usize,
            threshold: self.threshold,
            ..Limits::default()
        }
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a probability lies between 0 and 1".into()),
    }
}

impl SubjectArguments {
    /// Reads and parses the file and the call.
    pub fn program(&self) -> Result<Program, Stop> {
        let usage = |message: String| Stop::new(Outcome::Usage, message);
        let bytes = std::fs::read(&self.file)
            .map_err(|error| usage(format!("`{}`: {error}", self.file)))?;
        let source = String::from_utf8(bytes).map_err(|_| {
            usage(format!("`{}` is not UTF-8", self.file)).hint("predictions need source in UTF-8")
        })?;
        // A mark of byte order is no part of the program.
        let source = source
            .strip_prefix('\u{feff}')
            .unwrap_or(&source)
            .to_owned();
        if let Err(error) = Program::parse(&source, "None") {
            return Err(usage(format!("`{}` does not parse: {error}", self.file)));
        }
        Program::parse(&source, &self.call).map_err(|error| {
            usage(format!("the call does not parse: {error}"))
                .hint("as Python writes it: `--call \"f([3, 1, 2], k='x')\"`")
        })
    }
}

impl SimulateArguments {
    fn goal(&self) -> Goal {
        match (self.step_into, self.step_over, self.r#break) {
            (Some(count), ..) => Goal::StepInto(count),
            (_, Some(count), _) => Goal::StepOver(count),
            (.., Some(line)) => Goal::Break(line),
            _ if self.step_return => Goal::StepReturn,
            _ if self.r#continue => Goal::Continue,
            _ => Goal::All,
        }
    }
}

/// Runs the verb.
pub fn run(arguments: &SimulateArguments) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals()?;
    match simulate(arguments, &cancel) {
        Ok(outcome) => Ok(outcome),
        Err(stop) => Ok(say(&stop)),
    }
}

fn simulate(arguments: &SimulateArguments, cancel: &Cancel) -> Result<Outcome, Stop> {
    let subject = &arguments.subject;
    let program = subject.program()?;
    let model = subject.model.open(arguments.python.as_ref(), cancel)?;
    if let Model::Language(model) = model {
        return trajectory(arguments, &program, model, cancel);
    }
    let run = interruptible(cancel, || {
        let asked = Cancellable {
            model: &model,
            cancel,
        };
        harness::run(&program, &asked, subject.limits.limits())
    });
    if cancel.is_set() {
        return Err(Stop::interrupted());
    }
    if let Some(failure) = model.failure() {
        return Err(Stop::new(Outcome::Environment, failure).hint(
            "what was predicted before is not shown: it would be mistaken for all there is",
        ));
    }
    if let Ended::Raised(kind, message) = &run.ended
        && run.events.is_empty()
    {
        return Err(Stop::new(
            Outcome::Usage,
            format!("the call cannot be made: {kind}: {message}"),
        )
        .hint("name a function of the file, with arguments that fit its signature"));
    }
    let goal = arguments.goal();
    let states = simulate::reached(&run, goal);
    let shown = if matches!(model, Model::Oracle(..)) {
        Shown::Performed
    } else {
        Shown::Predicted
    };
    let checked = if arguments.check {
        Some(simulate::check(
            &program,
            &subject.call,
            &run,
            arguments.python.as_deref(),
            cancel,
        )?)
    } else {
        None
    };
    let mut out = std::io::stdout().lock();
    let mut text = String::new();
    for &at in &states {
        let shown = match &checked {
            Some(checked) if at < checked.agree => Shown::Verified,
            _ => shown,
        };
        if arguments.json {
            text.push_str(&simulate::json(&program, &run, at, shown));
            text.push('\n');
        } else {
            text.push_str(&simulate::text(
                &program,
                &run,
                at,
                goal != Goal::All,
                shown,
            ));
        }
        if let Some(parted) = checked.as_ref().and_then(|checked| checked.parted.as_ref())
            && parted.at == at
            && !arguments.json
        {
            text.push_str(&parted.text);
        }
    }
    let missed = states.is_empty() && goal != Goal::Continue;
    if arguments.json {
        text.push_str(&simulate::json_ending(&run, checked.as_ref()));
        text.push('\n');
    } else {
        if missed {
            text.push_str("the run does not get there\n");
        }
        text.push_str(&simulate::ending(&run));
        text.push('\n');
        if let Some(checked) = &checked {
            text.push_str(&checked.summary());
        }
    }
    // Nobody may be listening any more.
    let _ = out.write_all(text.as_bytes());
    let differs = checked.is_some_and(|checked| !checked.agrees());
    Ok(if missed || differs {
        Outcome::NotFixed
    } else {
        Outcome::Fixed
    })
}

/// Answers nothing more after an interruption, so that the run ends and cleans up.
struct Cancellable<'a> {
    model: &'a Model,
    cancel: &'a Cancel,
}

impl Operations for Cancellable<'_> {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        if self.cancel.is_set() {
            return Err(Unavailable::Off);
        }
        self.model.perform(operation)
    }
}

/// Ends the process if work goes on after an interruption: it waits for a server, and holds nothing that has to
/// be cleaned up.
fn interruptible<T>(cancel: &Cancel, work: impl FnOnce() -> T) -> T {
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let ended = &done;
        let watcher = scope.spawn(move || {
            let mut since = None;
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                if cancel.is_set() && since.get_or_insert_with(Instant::now).elapsed() > GRACE {
                    eprintln!("error: interrupted");
                    std::process::exit(i32::from(Outcome::Interrupted.exit_code()));
                }
                std::thread::park_timeout(std::time::Duration::from_millis(20));
            }
        });
        let result = work();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}

/// The same with a model that speaks whole trajectories.
fn trajectory(
    arguments: &SimulateArguments,
    program: &Program,
    model: Box<dyn LanguageModel>,
    cancel: &Cancel,
) -> Result<Outcome, Stop> {
    if arguments.check {
        return Err(Stop::new(
            Outcome::Usage,
            "`--check` needs a model of the dialect `step`",
        )
        .hint("states of other dialects have no line numbers to compare"));
    }
    let Some((function, inner)) = program.plain_call() else {
        return Err(Stop::new(
            Outcome::Usage,
            "the call is no call of a function by its name",
        )
        .hint("models of whole trajectories know calls like `f([3, 1, 2])`"));
    };
    let limits = &arguments.subject.limits;
    let walked = interruptible(cancel, || {
        simulate::walk(
            model,
            program,
            function,
            inner,
            arguments.goal(),
            limits.threshold,
            limits.max_states as usize,
        )
    })
    .map_err(|error| Stop::new(Outcome::NotFixed, error.to_string()))?;
    let mut text = String::new();
    let skip = match arguments.goal() {
        Goal::All => 0,
        _ => walked.states.len() - usize::from(walked.reached && walked.states.len() > 1),
    };
    for (state, sure) in &walked.states[skip..] {
        if arguments.json {
            text.push_str(
                &serde_json::json!({"event": state.event, "source": state.source,
                    "locals": state.locals, "provenance": "predicted", "confidence": sure})
                .to_string(),
            );
            text.push('\n');
        } else {
            text.push_str(&simulate::state_text(state, *sure));
        }
    }
    if arguments.json {
        text.push_str(&serde_json::json!({"ended": walked.ended}).to_string());
        text.push('\n');
    } else if !walked.ended.is_empty() {
        text.push_str(&walked.ended);
        text.push('\n');
    }
    if let Err(stop) = super::print(text.as_bytes()) {
        return Ok(super::trace::say(&stop));
    }
    Ok(if walked.reached {
        Outcome::Fixed
    } else {
        Outcome::NotFixed
    })
}
