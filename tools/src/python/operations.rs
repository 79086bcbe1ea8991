//! A real interpreter that performs the operations of the step grammar.

use std::sync::Mutex;
use std::time::Duration;

use camino::Utf8Path;
use ndbg_simulator::Unavailable;
use ndbg_simulator::grammar::step::{Effect, Operation};
use ndbg_simulator::harness::{Answer, Operations};
use serde::Deserialize;
use thiserror::Error;

use crate::process::{Conversation, ProcessError, Received, Spec};

/// Each operation has a deadline of its own in the child, which does not hold within one long
/// instruction of the interpreter, such as a huge power: then the child is replaced.
const PATIENCE: Duration = Duration::from_secs(5);
const EACH: Duration = Duration::from_millis(550);

/// Why operations could not be performed; one that fails is no error.
#[derive(Debug, Error)]
pub enum OperationsError {
    /// The process.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// It ended, or does not answer.
    #[error("the interpreter that performs operations {0}")]
    Gone(&'static str),
    /// What it wrote.
    #[error("the interpreter that performs operations answers nonsense: {0}")]
    Nonsense(String),
}

/// A child process that performs operations.
#[derive(Debug)]
pub struct Interpreter {
    spec: Spec,
    child: Mutex<Conversation>,
}

#[derive(Deserialize)]
struct Reply {
    result: Option<String>,
    after: Option<String>,
    raises: Option<(String, String)>,
}

impl Interpreter {
    /// Starts `python`; `plugin` is the folder of our Python side, `scratch` an empty one.
    pub fn start(
        python: &Utf8Path,
        plugin: &Utf8Path,
        scratch: &Utf8Path,
    ) -> Result<Self, OperationsError> {
        let spec = Spec::new(python, scratch)
            .arg("-s")
            .arg(plugin.join("ndbg_operations.py"))
            .env("PYTHONHASHSEED", "0")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PYTHONIOENCODING", "utf-8");
        let child = Mutex::new(Conversation::start(&spec)?);
        Ok(Self { spec, child })
    }

    /// The effects of operations, in their order. One in which the child dies or hangs is opaque.
    pub fn perform_all(&self, operations: &[Operation]) -> Result<Vec<Effect>, OperationsError> {
        match self.asked(operations) {
            Err(OperationsError::Gone(_)) => {
                let mut child = self.child.lock().map_err(|_| broken())?;
                *child = Conversation::start(&self.spec)?;
                drop(child);
                if operations.len() == 1 {
                    return Ok(vec![Effect::Opaque]);
                }
                let (first, second) = operations.split_at(operations.len() / 2);
                let mut effects = self.perform_all(first)?;
                effects.extend(self.perform_all(second)?);
                Ok(effects)
            }
            other => other,
        }
    }

    fn asked(&self, operations: &[Operation]) -> Result<Vec<Effect>, OperationsError> {
        let wanted: Vec<_> = operations
            .iter()
            .map(|operation| (&operation.expression, &operation.operands))
            .collect();
        let line =
            serde_json::to_vec(&wanted).map_err(|e| OperationsError::Nonsense(e.to_string()))?;
        let mut child = self.child.lock().map_err(|_| broken())?;
        child
            .send(&line)
            .map_err(|_| OperationsError::Gone("has ended"))?;
        let patience = PATIENCE + EACH * operations.len() as u32;
        let line = match child.receive(patience) {
            Received::Line(line) => line,
            Received::Nothing => return Err(OperationsError::Gone("does not answer")),
            Received::Closed => return Err(OperationsError::Gone("has ended")),
        };
        let replies: Vec<Reply> = serde_json::from_slice(&line)
            .map_err(|error| OperationsError::Nonsense(error.to_string()))?;
        if replies.len() != operations.len() {
            return Err(OperationsError::Nonsense(
                "another number of effects".into(),
            ));
        }
        Ok(replies.into_iter().map(effect).collect())
    }
}

fn broken() -> OperationsError {
    OperationsError::Gone("was left in an unknown state")
}

fn effect(reply: Reply) -> Effect {
    match (reply.result, reply.raises) {
        (Some(result), _) => Effect::Gives {
            result,
            after: reply.after,
        },
        (None, Some((kind, message))) => Effect::Raises { kind, message },
        (None, None) => Effect::Opaque,
    }
}

impl Operations for Interpreter {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        let effects = self
            .perform_all(std::slice::from_ref(operation))
            .map_err(|error| Unavailable::Unknown(error.to_string()))?;
        let effect = effects.into_iter().next().unwrap_or(Effect::Opaque);
        Ok(Answer {
            effect,
            log_probability: 0.0,
        })
    }
}
