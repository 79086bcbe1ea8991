//! The grammar of the paper: states and actions by turns, forwards or backwards.
//!
//! ```text
//! TRACE  := <|begin_of_text|><|trace_context_start|> CODE { <|frame_sep|> STATE <|action_sep|> ACTION }
//!           <|frame_sep|> EXIT <|trace_end|><|end_of_text|>
//! ```
//! A trace without an exit is one that goes on: it stops after a state, or, as a prompt, after an
//! action. Nothing marks that stop, so that no model learns to end a trace there.

mod decode;
mod encode;
mod write;

pub use decode::{decode, decode_answer};
pub use encode::{encode, encode_frame, prompt};
pub use write::trace;

use std::borrow::Cow;

use super::special::Special;
use crate::state::{Action, EventKind};
use crate::transition::Exit;

/// The event of a state as the grammar names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Forwards.
    Forward(EventKind),
    /// Backwards.
    Inverse(EventKind),
    /// The duplicate of an event that called, backwards: `inv_line_call`.
    InverseLineCall,
}

impl Event {
    /// Whether it belongs to a trace that runs backwards.
    pub fn is_inverse(self) -> bool {
        !matches!(self, Self::Forward(_))
    }

    /// Whether its state shows one value instead of locals.
    pub fn has_value(self) -> bool {
        matches!(
            self,
            Self::Forward(EventKind::Return | EventKind::Exception)
                | Self::Inverse(EventKind::Return | EventKind::Exception)
        )
    }

    fn special(self) -> Special {
        match self {
            Self::Forward(EventKind::Call) => Special::CallSep,
            Self::Forward(EventKind::Line) => Special::LineSep,
            Self::Forward(EventKind::Return) => Special::ReturnSep,
            Self::Forward(EventKind::Exception) => Special::ExceptionSep,
            Self::Inverse(EventKind::Call) => Special::InvCallSep,
            Self::Inverse(EventKind::Line) => Special::InvLineSep,
            Self::Inverse(EventKind::Return) => Special::InvReturnSep,
            Self::Inverse(EventKind::Exception) => Special::InvExceptionSep,
            Self::InverseLineCall => Special::InvLineCallSep,
        }
    }

    fn of(special: Special) -> Option<Self> {
        Some(match special {
            Special::CallSep => Self::Forward(EventKind::Call),
            Special::LineSep => Self::Forward(EventKind::Line),
            Special::ReturnSep => Self::Forward(EventKind::Return),
            Special::ExceptionSep => Self::Forward(EventKind::Exception),
            Special::InvCallSep => Self::Inverse(EventKind::Call),
            Special::InvLineSep => Self::Inverse(EventKind::Line),
            Special::InvReturnSep => Self::Inverse(EventKind::Return),
            Special::InvExceptionSep => Self::Inverse(EventKind::Exception),
            Special::InvLineCallSep => Self::InverseLineCall,
            _ => return None,
        })
    }
}

/// A variable and the text of its value.
pub type Binding<'a> = (Cow<'a, str>, Cow<'a, str>);

/// What a state shows of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values<'a> {
    /// Local variables.
    Locals {
        /// Whether there are others, which did not change: the leading `"..": ".."`.
        elided: bool,
        /// Those that are shown.
        shown: Vec<Binding<'a>>,
    },
    /// The value that is returned or raised.
    Value(Cow<'a, str>),
}

/// A state as it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Event; decides which [`Values`] it has.
    pub event: Event,
    /// The source line with its indentation, without its end.
    pub source: Cow<'a, str>,
    /// Values.
    pub values: Values<'a>,
}

/// A state and what was done in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<'a> {
    /// The state.
    pub frame: Frame<'a>,
    /// The action; only the last step of a trace may lack it.
    pub action: Option<Action>,
}

/// A trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace<'a> {
    /// CODE.
    pub context: Cow<'a, str>,
    /// States and actions.
    pub steps: Vec<Step<'a>>,
    /// Where it leaves; none for a trace that goes on.
    pub exit: Option<Exit>,
}

/// What a model says after an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<'a> {
    /// A state.
    Frame(Frame<'a>),
    /// An exit.
    Exit(Exit),
}

/// The special tokens of the grammar, in the order of [`Special::ALL`]: all of them.
pub const TOKENS: &[Special] = Special::ALL;

/// The line that makes the CODE of a forward trace callable: its last one.
pub fn main_line(function: &str, arguments: &str) -> String {
    format!("def main(): return {function}({arguments})")
}

fn is_inverse(action: &Action) -> bool {
    matches!(
        action,
        Action::InvStepInto | Action::InvStepOver | Action::InvStepCall
    )
}

fn exit_special(exit: Exit) -> Special {
    match exit {
        Exit::Normal => Special::ExitNormal,
        Exit::Error => Special::ExitError,
        Exit::Never => Special::ExitNever,
        Exit::Entry => Special::InvExitEntry,
    }
}

fn exit_of(special: Special) -> Option<Exit> {
    Some(match special {
        Special::ExitNormal => Exit::Normal,
        Special::ExitError => Exit::Error,
        Special::ExitNever => Exit::Never,
        Special::InvExitEntry => Exit::Entry,
        _ => return None,
    })
}
