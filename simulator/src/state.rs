//! States and actions of the decision process (arXiv 2603.09951, section 3).

use serde::{Deserialize, Serialize};

/// What made the interpreter stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A function was called.
    Call,
    /// A line is about to run.
    Line,
    /// A function returns.
    Return,
    /// An exception was raised or passes through.
    Exception,
}

/// A program state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Event.
    pub event: EventKind,
    /// Local variables as `repr` text, in order; for a return or an exception its value alone.
    pub locals: Vec<(String, String)>,
    /// The source line with its indentation.
    pub source: String,
}

/// A debugger action. The inverse ones run backwards in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// To the next state, into calls.
    StepInto,
    /// To the next state of this level, or one level up.
    StepOver,
    /// To the return of this level.
    StepReturn,
    /// To the first future state at this source line.
    Breakpoint(String),
    /// To the end.
    Continue,
    /// Backwards into the callee, from its return.
    InvStepInto,
    /// Backwards over calls.
    InvStepOver,
    /// Back to the call of this level: its inputs.
    InvStepCall,
}
