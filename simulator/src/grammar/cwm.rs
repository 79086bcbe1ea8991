//! The grammar of the released CWM weights: every state of a run, forwards, nothing skipped.
//!
//! ```text
//! TRACE := <|begin_of_text|><|trace_context_start|>CONTEXT<|frame_sep|>
//!          { FRAME <|frame_sep|> } <|end_of_text|>
//! FRAME := (<|call_sep|> | <|line_sep|>) LOCALS <|action_sep|> SRC
//!        | (<|return_sep|> | <|exception_sep|>) <|action_sep|> SRC <|arg_sep|> VALUE
//! ```
//! LOCALS names every variable and prints an unchanged one as `".."`; SRC keeps its newline.

mod decode;
mod encode;
mod write;

pub use decode::{decode, decode_frame};
pub use encode::{encode, prompt};
pub use write::{mark_entry, strip_addresses, trace};

use std::borrow::Cow;

use super::special::Special;
use crate::state::EventKind;

/// What marks the entry's `def` line in the context.
pub const START_OF_TRACE: &str = "  # << START_OF_TRACE";

/// The special tokens of the grammar with their ids in the released vocabulary.
pub const TOKENS: &[(Special, u32)] = &[
    (Special::BeginOfText, 128_000),
    (Special::EndOfText, 128_001),
    (Special::FrameSep, 128_100),
    (Special::ActionSep, 128_101),
    (Special::ReturnSep, 128_102),
    (Special::CallSep, 128_103),
    (Special::LineSep, 128_104),
    (Special::ExceptionSep, 128_105),
    (Special::ArgSep, 128_106),
    (Special::TraceContextStart, 128_107),
];

/// A variable and the text of its value; none when it did not change.
///
/// A value whose text is `..` cannot be told from an unchanged one. No literal reads so.
pub type Binding<'a> = (Cow<'a, str>, Option<Cow<'a, str>>);

/// What a frame shows of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values<'a> {
    /// All local variables.
    Locals(Vec<Binding<'a>>),
    /// The value that is returned or raised.
    Value(Cow<'a, str>),
}

/// A state as it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Event; a return and an exception have a value, the others locals.
    pub event: EventKind,
    /// The source line with its indentation, without its end.
    pub source: Cow<'a, str>,
    /// Values.
    pub values: Values<'a>,
}

/// A trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace<'a> {
    /// Source code; the entry's `def` line is marked.
    pub context: Cow<'a, str>,
    /// States.
    pub frames: Vec<Frame<'a>>,
    /// Whether the entry was left; false for a trace that goes on.
    pub ended: bool,
}

fn has_value(event: EventKind) -> bool {
    matches!(event, EventKind::Return | EventKind::Exception)
}

fn special(event: EventKind) -> Special {
    match event {
        EventKind::Call => Special::CallSep,
        EventKind::Line => Special::LineSep,
        EventKind::Return => Special::ReturnSep,
        EventKind::Exception => Special::ExceptionSep,
    }
}
