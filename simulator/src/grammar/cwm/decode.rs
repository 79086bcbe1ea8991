//! Text as traces. Total: what is not of the grammar is an error with its place.

use std::borrow::Cow;

use super::{Frame, Trace, Values, has_value};
use crate::grammar::lexer::{DecodeError, Lexer};
use crate::grammar::special::Special;
use crate::state::EventKind;

/// Reads a whole trace.
pub fn decode(text: &str) -> Result<Trace<'_>, DecodeError> {
    let mut lexer = Lexer::new(text);
    lexer.expect(Special::BeginOfText, "expected `<|begin_of_text|>`")?;
    lexer.expect(
        Special::TraceContextStart,
        "expected `<|trace_context_start|>`",
    )?;
    let mut trace = Trace {
        context: lexer.ordinary(),
        ..Trace::default()
    };
    lexer.expect(Special::FrameSep, "expected `<|frame_sep|>`")?;
    while !lexer.is_at_end() {
        if lexer.accept(Special::EndOfText) {
            if !lexer.is_at_end() {
                return Err(lexer.error("text after the end of the trace"));
            }
            trace.ended = true;
        } else {
            trace.frames.push(frame(&mut lexer)?);
            lexer.expect(Special::FrameSep, "expected `<|frame_sep|>`")?;
        }
    }
    Ok(trace)
}

/// Reads what a model said after a prompt: one frame, with or without the token that ends it.
pub fn decode_frame(text: &str) -> Result<Frame<'_>, DecodeError> {
    let mut lexer = Lexer::new(text);
    let frame = frame(&mut lexer)?;
    lexer.accept(Special::FrameSep);
    if lexer.is_at_end() {
        Ok(frame)
    } else {
        Err(lexer.error("text after the end of the frame"))
    }
}

fn frame<'a>(lexer: &mut Lexer<'a>) -> Result<Frame<'a>, DecodeError> {
    let wrong = lexer.error("expected a state");
    let event = match lexer.take() {
        Some(Special::CallSep) => EventKind::Call,
        Some(Special::LineSep) => EventKind::Line,
        Some(Special::ReturnSep) => EventKind::Return,
        Some(Special::ExceptionSep) => EventKind::Exception,
        _ => return Err(wrong),
    };
    let (source, values) = if has_value(event) {
        let source = source(lexer)?;
        lexer.expect(Special::ArgSep, "expected `<|arg_sep|>`")?;
        (source, Values::Value(lexer.string()?.into()))
    } else {
        let bindings = lexer.object()?.into_iter().map(|(name, value)| {
            let value = (value != "..").then_some(value);
            (name, value)
        });
        let values = Values::Locals(bindings.collect());
        (source(lexer)?, values)
    };
    Ok(Frame {
        event,
        source,
        values,
    })
}

/// The last line of a file may lack its end.
fn source<'a>(lexer: &mut Lexer<'a>) -> Result<Cow<'a, str>, DecodeError> {
    lexer.expect(Special::ActionSep, "expected `<|action_sep|>`")?;
    Ok(match lexer.ordinary() {
        Cow::Borrowed(text) => text.strip_suffix('\n').unwrap_or(text).into(),
        Cow::Owned(text) => text.strip_suffix('\n').unwrap_or(&text).to_owned().into(),
    })
}
