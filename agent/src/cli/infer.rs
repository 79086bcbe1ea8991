//! `ndbg-agent infer`.

use std::io::Write as _;

use anyhow::Context as _;
use camino::Utf8PathBuf;
use clap::Args;
use ndbg_tools::Cancel;
use ndbg_tools::python::executions::Goal;

use super::model::ModelArguments;
use super::trace::say;
use crate::eval::Predictor;
use crate::fix::stop::Stop;
use crate::infer::{self, Settings, Sources};
use crate::model::Reality;
use crate::outcome::Outcome;

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
/// Exits with 0 if it found one, with 1 if not within the budget.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct InferArguments {
    /// Function or method
    #[arg(value_name = "FILE::FUNCTION")]
    target: String,
    #[command(flatten)]
    goal: GoalArguments,
    /// Seconds at most
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = seconds, help_heading = "Budget")]
    seconds: f64,
    /// Executions at most
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Budget")]
    executions: u64,
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
    /// Interpreter that runs the function
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

impl GoalArguments {
    fn goal(&self) -> Result<Goal, Stop> {
        Ok(match self {
            Self {
                returns: Some(text),
                ..
            } => {
                infer::value(text)?;
                Goal::Returns(text.trim().to_owned())
            }
            Self {
                raises: Some(class),
                ..
            } => Goal::Raises(class.trim().to_owned()),
            Self {
                reaches: Some(line),
                ..
            } => Goal::Reaches(*line),
            Self {
                r#where: Some(text),
                ..
            } => infer::place(text)?,
            Self {
                differs: Some(text),
                ..
            } => Goal::Differs(infer::subject(text)?),
            _ => Goal::Any,
        })
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

fn inferred(arguments: &InferArguments, cancel: &Cancel) -> Result<Outcome, Stop> {
    let settings = Settings {
        subject: infer::subject(&arguments.target)?,
        goal: arguments.goal.goal()?,
        sources: Sources {
            search: arguments.from != Proposer::Model,
            model: arguments.from != Proposer::Search,
        },
        seconds: arguments.seconds,
        executions: arguments.executions as usize,
        count: arguments.count as usize,
        seed: arguments.seed,
    };
    let reality = Reality::open(arguments.python.as_deref(), cancel)?;
    // Only results are walked back from, and a model takes a moment to open.
    let model = match (&settings.goal, settings.sources.model) {
        (Goal::Returns(_), true) => Some(arguments.model.open(arguments.python.as_ref(), cancel)?),
        (_, true) if !settings.sources.search => {
            return Err(Stop::new(
                Outcome::Usage,
                "the model proposes inputs for --returns only",
            )
            .hint("leave out `--from model`"));
        }
        _ => None,
    };
    let predictor = model.as_ref().map(|model| model as &dyn Predictor);
    let inferred = infer::infer(&settings, predictor, &reality)?;
    let answer = infer::answer(&settings.goal, &inferred);
    let text = if arguments.json {
        let json = infer::json(&settings.subject.function, &settings.goal, &inferred);
        format!("{json:#}\n")
    } else if arguments.pytest {
        infer::test_file(&settings.subject, &settings.goal, &inferred)
    } else {
        answer.calls
    };
    // Whoever reads may have had enough.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    eprint!("{}", answer.remarks);
    Ok(if inferred.found.is_empty() {
        Outcome::NotFixed
    } else {
        Outcome::Fixed
    })
}
