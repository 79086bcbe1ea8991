//! Executes a function of a user's file with many inputs, thousands a second.
//!
//! The process that executes is `ndbg_execute.py`: it forks a worker that imports the file and executes many
//! calls, and replaces it when a call kills it or does not end.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use thiserror::Error;

pub use description::{Class, ClassKind, Description, Parameter, ParameterKind};

use crate::Cancel;
use crate::process::{Conversation, ProcessError, Received, Spec};

mod description;

/// How often cancelling is looked for.
const LOOK: Duration = Duration::from_millis(100);
/// Time beyond that of an import, and of calls beyond their own limits.
const PATIENCE: Duration = Duration::from_mins(1);
/// Between processes that verify what reads a clock: together they last a few seconds.
const APART: Duration = Duration::from_millis(330);

/// Where executions happen, and their limits.
#[derive(Debug, Clone)]
pub struct Place {
    /// Interpreter.
    pub python: Utf8PathBuf,
    /// Folder of our Python side.
    pub plugin: Utf8PathBuf,
    /// Folder for what calls write; it must exist.
    pub scratch: Utf8PathBuf,
    /// Time that a call may take.
    pub each: Duration,
    /// Bytes of memory of the executing process.
    pub memory: u64,
    /// Time that an import may take.
    pub patience: Duration,
    /// Ends it early.
    pub cancel: Cancel,
}

/// A function in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The file; absolute.
    pub file: Utf8PathBuf,
    /// `f`, or `C.m` for a method of any kind.
    pub function: String,
    /// Folder from which packages are imported.
    pub root: Option<Utf8PathBuf>,
}

/// What calls are to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    /// Return a value that equals this literal and has its type.
    Returns(String),
    /// Raise a class, or a subclass of it.
    Raises(String),
    /// Raise a class, or a subclass of it, at a line of the file or further down from there.
    RaisesAt {
        /// The class.
        class: String,
        /// The line.
        line: u32,
    },
    /// Run a line of the file.
    Reaches(u32),
    /// Come to a line with a condition true.
    Where {
        /// The line.
        line: u32,
        /// A Python expression over the names there.
        predicate: String,
    },
    /// Do something else than another function does.
    Differs(Subject),
    /// Return.
    Any,
}

/// A call: texts of Python, evaluated where the module's names are known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// How the object of a method is built.
    pub receiver: Option<String>,
    /// What stands between the brackets.
    pub arguments: String,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With a value: a literal where it is one; `cut` if the text is not whole.
    Returned {
        /// Its text.
        text: String,
        /// Whether the text ends early.
        cut: bool,
        /// What it left of its arguments, where nothing else tells two versions apart: a list of those given
        /// by place, and a dictionary of the others.
        left: Option<String>,
    },
    /// With an exception.
    Raised {
        /// Name of its class.
        class: String,
        /// Its text, cut to some hundred characters.
        message: String,
        /// Line of the file that it passed last.
        line: Option<u32>,
    },
    /// Beyond its time.
    TooLong,
    /// It took its process with it.
    Killed,
    /// Its arguments could not be evaluated.
    Unbuildable(String),
    /// It tried what is not allowed: the network, other processes, files outside of its folder.
    Refused(String),
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it did what it was to do.
    pub reached: bool,
    /// How far it was from that: conditions of the way that are not met, and a part for the next one. None where
    /// nothing can be said before the end.
    pub distance: Option<f64>,
    /// Outcomes of conditions on its way, as numbers; sorted.
    pub covered: Vec<u32>,
    /// Seconds.
    pub seconds: f64,
    /// How the other function ended.
    pub other: Option<Outcome>,
    /// What the condition of [`Goal::Where`] raised, if it did at each visit of its line.
    pub raised: Option<String>,
}

/// Why nothing can be executed.
#[derive(Debug, Error)]
pub enum ExecutionsError {
    /// What the user asked for cannot be done.
    #[error("{text}")]
    Problem {
        /// `file`, `syntax`, `import`, `refused` (while importing), `function`, `line` or `goal`.
        kind: String,
        /// What is wrong.
        text: String,
        /// What may have been meant.
        near: Vec<String>,
    },
    /// The process.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// It ended, does not answer, or answers nonsense.
    #[error("the process that executes calls {0}")]
    Gone(String),
    /// Cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl ExecutionsError {
    /// Whether the user ended it.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }

    /// Whether another command line would do.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Problem { .. })
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Problem { near, .. } if !near.is_empty() => {
                Some(format!("near: {}", near.join(", ")))
            }
            Self::Problem { kind, .. } if kind == "import" => {
                Some("--python PATH runs another interpreter, with other packages".into())
            }
            _ => None,
        }
    }
}

/// A process that executes calls of one function.
#[derive(Debug)]
pub struct Executor {
    settings: Json,
    place: Place,
    child: Conversation,
    description: Description,
    /// Processes that verify, started while the first one searches.
    waiting: Vec<Conversation>,
}

/// Processes that verify at once; all of them are started ahead.
const VERIFIERS: usize = 3;

#[derive(Deserialize)]
struct First {
    ready: Option<Description>,
    problem: Option<String>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    near: Vec<String>,
}

type Answer = (
    Json,
    bool,
    Option<f64>,
    Vec<u32>,
    f64,
    Option<Json>,
    Option<String>,
);

impl Executor {
    /// Starts a process, which imports the file.
    ///
    /// # Errors
    /// See [`ExecutionsError`].
    pub fn start(place: &Place, subject: &Subject, goal: &Goal) -> Result<Self, ExecutionsError> {
        let settings = json!({
            "subject": described(subject),
            "goal": goal_of(goal),
            "each": place.each.as_secs_f64(),
            "memory": place.memory,
            "patience": place.patience.as_secs_f64(),
            "folder": place.scratch.join("calls"),
        });
        let child = opened(place, &settings, "0")?;
        let description = ready(&child, place)?;
        let mut waiting = Vec::with_capacity(VERIFIERS);
        for number in 1..=VERIFIERS {
            waiting.push(verifier(place, &settings, number)?);
        }
        Ok(Self {
            settings,
            place: place.clone(),
            child,
            description,
            waiting,
        })
    }

    /// What is known of the function.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Executes calls; what one leaves behind in the module, later ones see.
    ///
    /// # Errors
    /// The process, or cancelling.
    pub fn run(&mut self, calls: &[Call]) -> Result<Vec<Execution>, ExecutionsError> {
        ask(&mut self.child, calls)?;
        answered(&self.child, calls, &self.place)
    }

    /// Executes a call `times` times, each in a new process with other chances and another order of sets of texts;
    /// [`VERIFIERS`] processes at a time.
    ///
    /// # Errors
    /// A process, or cancelling.
    pub fn verify(&mut self, call: &Call, times: usize) -> Result<Vec<Execution>, ExecutionsError> {
        let mut children = VecDeque::from(std::mem::take(&mut self.waiting));
        children.truncate(times);
        let mut started = children.len();
        let calls = std::slice::from_ref(call);
        let mut executions = Vec::with_capacity(times);
        while executions.len() < times {
            while started < times && children.len() < VERIFIERS {
                started += 1;
                children.push_back(verifier(&self.place, &self.settings, started)?);
            }
            let Some(mut child) = children.pop_front() else {
                break;
            };
            ready(&child, &self.place)?;
            ask(&mut child, calls)?;
            executions.extend(answered(&child, calls, &self.place)?);
            // What takes turns with the clock shall have them.
            if times > VERIFIERS && executions.len() < times && self.description.reads_clock() {
                std::thread::sleep(APART);
            }
        }
        Ok(executions)
    }
}

fn described(subject: &Subject) -> Json {
    json!({ "file": subject.file, "function": subject.function, "root": subject.root })
}

fn goal_of(goal: &Goal) -> Json {
    match goal {
        Goal::Returns(value) => json!({ "kind": "Returns", "value": value }),
        Goal::Raises(class) => json!({ "kind": "Raises", "class": class }),
        Goal::RaisesAt { class, line } => {
            json!({ "kind": "Raises", "class": class, "line": line })
        }
        Goal::Reaches(line) => json!({ "kind": "Reaches", "line": line }),
        Goal::Where { line, predicate } => {
            json!({ "kind": "Where", "line": line, "predicate": predicate })
        }
        Goal::Differs(other) => json!({ "kind": "Differs", "subject": described(other) }),
        Goal::Any => json!({ "kind": "Any" }),
    }
}

/// Starts a process and tells it what to load; it does so while others are started.
fn opened(place: &Place, settings: &Json, seed: &str) -> Result<Conversation, ExecutionsError> {
    let spec = Spec::new(&place.python, &place.scratch)
        // `site` is run later, where the module may notice.
        .args(["-s", "-S"])
        .arg(place.plugin.join("ndbg_execute.py"))
        .env("PYTHONHASHSEED", seed)
        .env("PYTHONIOENCODING", "utf-8");
    let mut child = Conversation::start(&spec)?;
    send(&mut child, settings)?;
    Ok(child)
}

/// A process that executes one call, the `number`th of those that have to agree.
fn verifier(
    place: &Place,
    settings: &Json,
    number: usize,
) -> Result<Conversation, ExecutionsError> {
    let mut settings = settings.clone();
    settings["folder"] = json!(place.scratch.join(format!("calls-{number}")));
    settings["chance"] = json!(number);
    // Time is not what is verified: a new process is slower at first.
    settings["each"] = json!(4.0 * place.each.as_secs_f64());
    opened(place, &settings, &number.to_string())
}

fn ready(child: &Conversation, place: &Place) -> Result<Description, ExecutionsError> {
    let first: First = parsed(&receive(child, place, PATIENCE + place.patience)?)?;
    match (first.ready, first.problem) {
        (Some(description), _) => Ok(description),
        (None, Some(kind)) => Err(ExecutionsError::Problem {
            kind,
            text: first.text,
            near: first.near,
        }),
        (None, None) => Err(ExecutionsError::Gone("answers nonsense".into())),
    }
}

fn ask(child: &mut Conversation, calls: &[Call]) -> Result<(), ExecutionsError> {
    let wanted: Vec<_> = calls
        .iter()
        .map(|call| (&call.receiver, &call.arguments))
        .collect();
    send(child, &json!(wanted))
}

fn send(child: &mut Conversation, message: &Json) -> Result<(), ExecutionsError> {
    let line = serde_json::to_vec(message).map_err(|error| gone(&error))?;
    child
        .send(&line)
        .map_err(|_| ExecutionsError::Gone("has ended".into()))
}

fn answered(
    child: &Conversation,
    calls: &[Call],
    place: &Place,
) -> Result<Vec<Execution>, ExecutionsError> {
    let patience = PATIENCE
        + place.patience
        + 20 * place.each.max(Duration::from_millis(100)) * calls.len() as u32;
    let answers: Vec<Answer> = parsed(&receive(child, place, patience)?)?;
    if answers.len() != calls.len() {
        return Err(ExecutionsError::Gone("leaves out calls".into()));
    }
    answers.into_iter().map(execution).collect()
}

fn receive(
    child: &Conversation,
    place: &Place,
    patience: Duration,
) -> Result<Vec<u8>, ExecutionsError> {
    let end = Instant::now() + patience;
    loop {
        if place.cancel.is_set() {
            return Err(ExecutionsError::Cancelled);
        }
        match child.receive(LOOK) {
            Received::Line(line) => return Ok(line),
            Received::Nothing if Instant::now() < end => {}
            Received::Nothing => return Err(ExecutionsError::Gone("does not answer".into())),
            Received::Closed => return Err(ExecutionsError::Gone("has ended".into())),
        }
    }
}

fn parsed<T: serde::de::DeserializeOwned>(line: &[u8]) -> Result<T, ExecutionsError> {
    serde_json::from_slice(line).map_err(|error| gone(&error))
}

fn gone(error: &dyn std::fmt::Display) -> ExecutionsError {
    ExecutionsError::Gone(format!("answers nonsense: {error}"))
}

fn execution(answer: Answer) -> Result<Execution, ExecutionsError> {
    let (outcome, reached, distance, covered, seconds, other, raised) = answer;
    Ok(Execution {
        outcome: outcome_of(&outcome)?,
        reached,
        distance,
        covered,
        seconds,
        other: other.as_ref().map(outcome_of).transpose()?,
        raised,
    })
}

fn outcome_of(told: &Json) -> Result<Outcome, ExecutionsError> {
    let text = |at: usize| told[at].as_str().unwrap_or_default().to_owned();
    Ok(match told[0].as_str().unwrap_or_default() {
        "returned" => Outcome::Returned {
            text: text(1),
            cut: told[2].as_bool().unwrap_or_default(),
            left: told[3].as_str().map(str::to_owned),
        },
        "raised" => Outcome::Raised {
            class: text(1),
            message: text(2),
            line: told[3].as_u64().and_then(|line| line.try_into().ok()),
        },
        "long" => Outcome::TooLong,
        "killed" => Outcome::Killed,
        "unbuildable" => Outcome::Unbuildable(text(1)),
        "refused" => Outcome::Refused(text(1)),
        _ => return Err(ExecutionsError::Gone("answers nonsense: no outcome".into())),
    })
}

/// The folder that packages are imported from: the first one above a file that is none itself.
pub fn root_of(file: &Utf8Path) -> Option<Utf8PathBuf> {
    file.ancestors()
        .skip(1)
        .find(|folder| !folder.join("__init__.py").exists())
        .map(Utf8PathBuf::from)
}
