//! Text as traces. Total: what is not of the grammar is an error with its place.

use std::borrow::Cow;

use super::{Answer, Event, Frame, Step, Trace, Values, exit_of, is_inverse};
use crate::grammar::lexer::{DecodeError, Lexer};
use crate::grammar::special::Special;
use crate::state::{Action, EventKind};
use crate::transition::Exit;

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
    // A trace has one direction, that of its first state.
    let mut inverse = None;
    while !lexer.is_at_end() {
        lexer.expect(Special::FrameSep, "expected `<|frame_sep|>`")?;
        let at = lexer.clone();
        match answer(&mut lexer)? {
            Answer::Exit(exit) => {
                same(&mut inverse, exit == Exit::Entry, &at)?;
                trace.exit = Some(exit);
                lexer.expect(Special::TraceEnd, "expected `<|trace_end|>`")?;
                lexer.expect(Special::EndOfText, "expected `<|end_of_text|>`")?;
                if !lexer.is_at_end() {
                    return Err(lexer.error("text after the end of the trace"));
                }
            }
            Answer::Frame(frame) => {
                same(&mut inverse, frame.event.is_inverse(), &at)?;
                if lexer.is_at_end() {
                    let action = None;
                    trace.steps.push(Step { frame, action });
                    break;
                }
                lexer.expect(Special::ActionSep, "expected `<|action_sep|>`")?;
                let at = lexer.clone();
                let action = action(&mut lexer)?;
                same(&mut inverse, is_inverse(&action), &at)?;
                let action = Some(action);
                trace.steps.push(Step { frame, action });
            }
        }
    }
    Ok(trace)
}

/// Reads what a model said after a prompt: one state or exit, with or without the tokens that end it.
pub fn decode_answer(text: &str) -> Result<Answer<'_>, DecodeError> {
    let mut lexer = Lexer::new(text);
    let answer = answer(&mut lexer)?;
    match answer {
        Answer::Frame(_) => {
            lexer.accept(Special::ActionSep);
        }
        Answer::Exit(_) => {
            let _ = lexer.accept(Special::TraceEnd) && lexer.accept(Special::EndOfText);
        }
    }
    if lexer.is_at_end() {
        Ok(answer)
    } else {
        Err(lexer.error("text after the end of the answer"))
    }
}

fn same(inverse: &mut Option<bool>, this: bool, at: &Lexer<'_>) -> Result<(), DecodeError> {
    if *inverse.get_or_insert(this) == this {
        Ok(())
    } else {
        Err(at.error("both directions in one trace"))
    }
}

fn answer<'a>(lexer: &mut Lexer<'a>) -> Result<Answer<'a>, DecodeError> {
    let wrong = lexer.error("expected a state or an exit");
    let Some(special) = lexer.take() else {
        return Err(wrong);
    };
    if let Some(exit) = exit_of(special) {
        return Ok(Answer::Exit(exit));
    }
    let event = Event::of(special).ok_or(wrong)?;
    let (source, values) = if event == Event::Forward(EventKind::Line) {
        let values = values(lexer, event)?;
        (source(lexer)?, values)
    } else {
        (source(lexer)?, values(lexer, event)?)
    };
    Ok(Answer::Frame(Frame {
        event,
        source,
        values,
    }))
}

fn source<'a>(lexer: &mut Lexer<'a>) -> Result<Cow<'a, str>, DecodeError> {
    lexer.expect(Special::SrcSep, "expected `<|src_sep|>`")?;
    Ok(lexer.ordinary())
}

fn values<'a>(lexer: &mut Lexer<'a>, event: Event) -> Result<Values<'a>, DecodeError> {
    lexer.expect(Special::ArgSep, "expected `<|arg_sep|>`")?;
    if event.has_value() {
        return Ok(Values::Value(lexer.string()?.into()));
    }
    let at = lexer.clone();
    let mut shown = lexer.object()?;
    let elided = shown
        .first()
        .is_some_and(|(name, value)| name == ".." && value == "..");
    if elided {
        shown.remove(0);
    }
    if shown.iter().any(|(name, _)| name == "..") {
        return Err(at.error("`..` is only the first name, with `..` as its value"));
    }
    Ok(Values::Locals { elided, shown })
}

fn action(lexer: &mut Lexer<'_>) -> Result<Action, DecodeError> {
    let wrong = lexer.error("expected an action");
    Ok(match lexer.take() {
        Some(Special::StepInto) => Action::StepInto,
        Some(Special::StepOver) => Action::StepOver,
        Some(Special::StepReturn) => Action::StepReturn,
        Some(Special::Continue) => Action::Continue,
        Some(Special::Breakpoint) => Action::Breakpoint(lexer.ordinary().into_owned()),
        Some(Special::InvStepInto) => Action::InvStepInto,
        Some(Special::InvStepOver) => Action::InvStepOver,
        Some(Special::InvStepCall) => Action::InvStepCall,
        _ => return Err(wrong),
    })
}
