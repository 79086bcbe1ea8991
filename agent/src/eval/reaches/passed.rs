//! Lines that a call passes in new processes, told by Python itself: the judge of whoever proposes calls.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use ndbg_tools::process::{Conversation, Received, Spec};
use ndbg_tools::python::executions::Subject;
use serde_json::{Value as Json, json};

use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;

const PROGRAM: &str = include_str!("passed.py");
/// Orders of sets of texts that a line has to be passed in.
const SEEDS: [&str; 2] = ["1", "2"];
/// Seconds that a call may take.
const SECONDS: f64 = 5.0;
/// Time for an import.
const LOADING: Duration = Duration::from_mins(1);
const LOOK: Duration = Duration::from_millis(100);

/// How a call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As a person writes it.
    Call,
    /// A method's name with its object as the first argument.
    Unbound,
}

/// Processes that run calls of one function.
#[derive(Debug)]
pub struct Judge<'r> {
    reality: &'r Reality,
    children: Vec<Conversation>,
}

impl<'r> Judge<'r> {
    /// Starts them.
    ///
    /// # Errors
    /// They do not start, or the module cannot be imported.
    pub fn start(subject: &Subject, reality: &'r Reality) -> Result<Self, Stop> {
        let runner = &reality.runner;
        let broken = |error: String| Stop::new(Outcome::Environment, error);
        let folder = runner.scratch.join("passed");
        let program = folder.join("passed.py");
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&program, PROGRAM))
            .map_err(|error| broken(format!("`{program}`: {error}")))?;
        let mut judge = Self {
            reality,
            children: Vec::new(),
        };
        for seed in SEEDS {
            let work = folder.join(seed);
            fs::create_dir_all(&work).map_err(|error| broken(format!("`{work}`: {error}")))?;
            let spec = Spec::new(&runner.python, &work)
                .arg("-s")
                .arg(&program)
                .env("PYTHONHASHSEED", seed)
                .env("PYTHONDONTWRITEBYTECODE", "1");
            let mut child =
                Conversation::start(&spec).map_err(|error| broken(error.to_string()))?;
            let settings = json!({
                "plugin": runner.plugin, "file": subject.file, "root": subject.root,
                "function": subject.function, "memory": runner.memory_limit, "folder": work,
                "seconds": SECONDS,
            });
            send(&mut child, &settings)?;
            judge.children.push(child);
        }
        for child in &judge.children {
            let first = judge.receive(child, LOADING)?;
            if let Some(problem) = first["problem"].as_str() {
                return Err(Stop::new(Outcome::Usage, problem));
            }
        }
        Ok(judge)
    }

    /// Lines that a call passes in every process.
    ///
    /// # Errors
    /// A process is gone, or an interruption.
    pub fn lines(&mut self, form: Form, call: &str) -> Result<BTreeSet<usize>, Stop> {
        let form = match form {
            Form::Call => "call",
            Form::Unbound => "unbound",
        };
        for child in &mut self.children {
            send(child, &json!([form, call]))?;
        }
        let mut all: Option<BTreeSet<usize>> = None;
        for child in &self.children {
            let told = self.receive(child, Duration::from_secs_f64(4.0 * SECONDS))?;
            let lines = told.as_array().into_iter().flatten();
            let lines: BTreeSet<usize> = lines
                .filter_map(|line| line.as_u64()?.try_into().ok())
                .collect();
            all = Some(match all {
                Some(others) => others.intersection(&lines).copied().collect(),
                None => lines,
            });
        }
        Ok(all.unwrap_or_default())
    }

    fn receive(&self, child: &Conversation, patience: Duration) -> Result<Json, Stop> {
        let end = Instant::now() + patience;
        let gone = |why: &str| {
            let message = format!("the process that tells lines {why}");
            Stop::new(Outcome::Environment, message)
        };
        loop {
            if self.reality.runner.cancel.is_set() {
                return Err(Stop::interrupted());
            }
            match child.receive(LOOK) {
                Received::Line(line) => {
                    return serde_json::from_slice(&line).map_err(|_| gone("answers nonsense"));
                }
                Received::Nothing if Instant::now() < end => {}
                Received::Nothing => return Err(gone("does not answer")),
                Received::Closed => return Err(gone("has ended")),
            }
        }
    }
}

fn send(child: &mut Conversation, message: &Json) -> Result<(), Stop> {
    child
        .send(message.to_string().as_bytes())
        .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))
}
