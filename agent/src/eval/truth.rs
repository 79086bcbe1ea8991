//! Runs of programs under the harness with a real interpreter.

use std::sync::Mutex;

use ndbg_simulator::Unavailable;
use ndbg_simulator::eval::{Statement, taken_apart};
use ndbg_simulator::grammar::step::{Effect, Operation};
use ndbg_simulator::harness::{self, Answer, Limits, Operations, Run};
use ndbg_tools::python::operations::Interpreter;

use super::programs::Source;

/// A run with all that was asked in it.
#[derive(Debug)]
pub struct Truth {
    /// The program.
    pub program: harness::Program,
    /// What happened.
    pub run: Run,
    /// Operations in the order in which they were asked, with their effects.
    pub asked: Vec<(Operation, Effect)>,
    /// Statements in the order in which they ran.
    pub statements: Vec<Statement>,
}

/// Notes what is asked.
struct Noting<'i> {
    interpreter: &'i Interpreter,
    asked: Mutex<Vec<(Operation, Effect)>>,
}

impl Operations for Noting<'_> {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        let answer = self.interpreter.perform(operation);
        if let Ok(mut asked) = self.asked.lock() {
            let effect = answer
                .as_ref()
                .map_or(Effect::Opaque, |answer| answer.effect.clone());
            asked.push((operation.clone(), effect));
        }
        answer
    }
}

/// The limits of all runs: what is longer is cut for models and for the truth alike.
pub fn limits() -> Limits {
    Limits {
        events: 2_000,
        operations: 2_000,
        ..Limits::default()
    }
}

impl Truth {
    /// Runs a program; the error is why it does not parse.
    ///
    /// # Errors
    /// The source is not Python, with its line.
    pub fn of(source: &Source, interpreter: &Interpreter) -> Result<Self, String> {
        let program = harness::Program::parse(&source.code, &source.call)
            .map_err(|error| error.to_string())?;
        let noting = Noting {
            interpreter,
            asked: Mutex::new(Vec::new()),
        };
        let run = harness::run(&program, &noting, limits());
        let asked = noting.asked.into_inner().unwrap_or_default();
        let statements = taken_apart(&program, &run.events, asked.len());
        Ok(Self {
            program,
            run,
            asked,
            statements,
        })
    }
}
