//! The debugger of the grammar of the paper.

use std::borrow::Cow;
use std::sync::Arc;

use super::code::Code;
use super::mask::{FrameMask, Part};
use super::position::{Locals, Position, merged};
use super::{
    Start, TrajectoryModel, check_breakpoint, failed, has_value, predicted, unknown, value_of,
};
use crate::debugger::{Arrival, Stopped};
use crate::grammar::Special;
use crate::grammar::nd::{self, Answer, Event, Frame, Step, Trace, Values};
use crate::model::LanguageModel;
use crate::simulator::Unavailable;
use crate::state::{Action, EventKind, State};
use crate::trajectory::Direction;
use crate::transition::Inapplicable;

/// Events of one direction with their tokens.
const FORWARD: &[(Event, Special)] = &[
    (Event::Forward(EventKind::Call), Special::CallSep),
    (Event::Forward(EventKind::Line), Special::LineSep),
    (Event::Forward(EventKind::Return), Special::ReturnSep),
    (Event::Forward(EventKind::Exception), Special::ExceptionSep),
];
const INVERSE: &[(Event, Special)] = &[
    (Event::Inverse(EventKind::Call), Special::InvCallSep),
    (Event::Inverse(EventKind::Line), Special::InvLineSep),
    (Event::InverseLineCall, Special::InvLineCallSep),
    (Event::Inverse(EventKind::Return), Special::InvReturnSep),
    (
        Event::Inverse(EventKind::Exception),
        Special::InvExceptionSep,
    ),
];

/// Whether an action goes backwards.
pub fn is_inverse(action: &Action) -> bool {
    matches!(
        action,
        Action::InvStepInto | Action::InvStepOver | Action::InvStepCall
    )
}

/// The position of a state that is given.
pub fn begin<M: LanguageModel>(
    model: &TrajectoryModel<M>,
    start: &Start,
    direction: Direction,
) -> Result<Position, Unavailable> {
    let state = &start.state;
    let event = match direction {
        Direction::Forward => Event::Forward(state.event),
        Direction::Inverse => Event::Inverse(state.event),
    };
    let values = if has_value(state.event) {
        Values::Value(value_of(state).into())
    } else {
        whole(&state.locals)
    };
    let trace = Trace {
        context: start.code.as_str().into(),
        steps: vec![Step {
            frame: Frame {
                event,
                source: state.source.as_str().into(),
                values,
            },
            action: None,
        }],
        exit: None,
    };
    let tokens = model
        .model
        .vocabulary()
        .encode_segments(&nd::encode(&trace));
    let known = (!has_value(state.event)).then(|| state.locals.clone());
    Ok(Position {
        direction,
        tokens: tokens.map_err(|error| failed(&error))?.into(),
        event: state.event,
        calling: false,
        levels: Arc::new(vec![known]),
        unwound: None,
    })
}

/// What an action leads to.
pub fn step<M: LanguageModel>(
    model: &TrajectoryModel<M>,
    code: &Code,
    position: &Position,
    action: &Action,
) -> Result<Arrival<Position>, Unavailable> {
    applies(code, position, action)?;
    let prompt = asked(model, position, action)?;
    let mut mask = FrameMask::new(&model.tokens, code, forms(action));
    if let Action::Breakpoint(source) = action {
        let line = model.model.vocabulary().encode_text(source);
        mask = mask.at(&line.map_err(|error| failed(&error))?);
    }
    let stop = [Special::ActionSep, Special::TraceEnd].map(|special| model.tokens.id(special));
    let answer = model.ask(&prompt, &stop, &mask)?;
    let text = model
        .tokens
        .text(model.model.vocabulary(), &answer.tokens)?;
    let said = nd::decode_answer(&text)
        .map_err(|error| unknown(&format!("the model's answer is no state: {error}")))?;
    let trust = predicted(answer.unmasked_logprob());
    let frame = match said {
        Answer::Exit(exit) => return Ok(Arrival::Exited { exit, trust }),
        Answer::Frame(frame) => frame,
    };
    let (kind, calling) = event_of(frame.event);
    let (levels, locals) = known(position, action, &frame)?;
    let tokens = [&prompt, answer.without_stop(&stop)].concat();
    Ok(Arrival::Stopped(Stopped {
        position: Position {
            direction: position.direction,
            tokens: tokens.into(),
            event: kind,
            calling,
            levels: Arc::new(levels),
            unwound: None,
        },
        state: State {
            event: kind,
            locals,
            source: frame.source.into_owned(),
        },
        calling,
        trust,
    }))
}

/// See [`TrajectoryModel::score`].
pub fn score<M: LanguageModel>(
    model: &TrajectoryModel<M>,
    code: &Code,
    position: &Position,
    action: &Action,
    next: &State,
    calling: bool,
) -> Result<f64, Unavailable> {
    applies(code, position, action)?;
    let prompt = asked(model, position, action)?;
    let event = match position.direction {
        Direction::Forward => Event::Forward(next.event),
        Direction::Inverse if calling => Event::InverseLineCall,
        Direction::Inverse => Event::Inverse(next.event),
    };
    let mut printed = vec![if event.has_value() {
        Values::Value(value_of(next).into())
    } else {
        whole(&next.locals)
    }];
    let whole_only = event.has_value() || (next.event == EventKind::Call && !calling);
    if let Some(known) = position.known().filter(|_| !whole_only) {
        let changed = next.locals.iter().filter(|local| !known.contains(local));
        let shown: Vec<_> = changed.map(binding).collect();
        if shown.len() < next.locals.len() {
            printed.push(Values::Locals {
                elided: true,
                shown,
            });
        }
    }
    let end = model.tokens.id(Special::ActionSep);
    let encode = |values: Values<'_>| {
        let frame = Frame {
            event,
            source: next.source.as_str().into(),
            values,
        };
        let tokens = model
            .model
            .vocabulary()
            .encode_segments(&nd::encode_frame(&frame));
        let mut tokens = tokens.map_err(|error| failed(&error))?;
        tokens.push(end);
        Ok(tokens)
    };
    let answers: Vec<Vec<u32>> = printed
        .into_iter()
        .map(encode)
        .collect::<Result<_, Unavailable>>()?;
    let scores = model
        .model
        .score(&prompt, &answers)
        .map_err(|error| failed(&error))?;
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most.is_infinite() {
        return Ok(most);
    }
    let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
    Ok(most + sum.ln())
}

/// The text up to where the model answers.
fn asked<M: LanguageModel>(
    model: &TrajectoryModel<M>,
    position: &Position,
    action: &Action,
) -> Result<Vec<u32>, Unavailable> {
    let id = |special| model.tokens.id(special);
    let mut prompt = position.tokens.to_vec();
    prompt.push(id(Special::ActionSep));
    prompt.push(id(action_token(action)));
    if let Action::Breakpoint(source) = action {
        let line = model.model.vocabulary().encode_text(source);
        prompt.extend(line.map_err(|error| failed(&error))?);
    }
    prompt.push(id(Special::FrameSep));
    Ok(prompt)
}

fn applies(code: &Code, position: &Position, action: &Action) -> Result<(), Unavailable> {
    if is_inverse(action) != (position.direction == Direction::Inverse) {
        return Err(unknown("a trajectory of a model goes one way"));
    }
    match action {
        Action::StepReturn if position.event == EventKind::Return => {
            Err(Inapplicable::AtReturn.into())
        }
        Action::InvStepCall if position.event == EventKind::Call && !position.calling => {
            Err(Inapplicable::AtCall.into())
        }
        Action::Breakpoint(source) => check_breakpoint(code, source),
        _ => Ok(()),
    }
}

fn action_token(action: &Action) -> Special {
    match action {
        Action::StepInto => Special::StepInto,
        Action::StepOver => Special::StepOver,
        Action::StepReturn => Special::StepReturn,
        Action::Breakpoint(_) => Special::Breakpoint,
        Action::Continue => Special::Continue,
        Action::InvStepInto => Special::InvStepInto,
        Action::InvStepOver => Special::InvStepOver,
        Action::InvStepCall => Special::InvStepCall,
    }
}

fn event_of(event: Event) -> (EventKind, bool) {
    match event {
        Event::Forward(kind) | Event::Inverse(kind) => (kind, false),
        Event::InverseLineCall => (EventKind::Line, true),
    }
}

/// What an action can lead to.
fn forms(action: &Action) -> Vec<(Special, Vec<Part>)> {
    let (events, exits): (&[(Event, Special)], &[Special]) = match action {
        Action::StepInto => (FORWARD, &[Special::ExitNormal, Special::ExitError]),
        Action::StepOver | Action::Breakpoint(_) => (
            FORWARD,
            &[Special::ExitNormal, Special::ExitError, Special::ExitNever],
        ),
        Action::StepReturn => (&FORWARD[2..3], &[Special::ExitNever]),
        Action::Continue => (
            &[],
            &[Special::ExitNormal, Special::ExitError, Special::ExitNever],
        ),
        Action::InvStepInto | Action::InvStepOver => (INVERSE, &[Special::InvExitEntry]),
        Action::InvStepCall => (&INVERSE[..1], &[]),
    };
    let events = events
        .iter()
        .map(|&(event, special)| (special, parts(event)));
    let exits = exits
        .iter()
        .map(|&exit| (exit, vec![Part::Token(Special::TraceEnd)]));
    events.chain(exits).collect()
}

/// What follows an event's token.
fn parts(event: Event) -> Vec<Part> {
    let call = matches!(event_of(event), (EventKind::Call, false));
    let values = if event.has_value() {
        Part::Value
    } else {
        Part::Locals { elides: !call }
    };
    let (arguments, source) = (Part::Token(Special::ArgSep), Part::Token(Special::SrcSep));
    if event == Event::Forward(EventKind::Line) {
        return vec![
            arguments,
            values,
            source,
            Part::Line {
                values_follow: false,
            },
        ];
    }
    vec![
        source,
        Part::Line {
            values_follow: true,
        },
        values,
        Part::Token(Special::ActionSep),
    ]
}

/// What a reader knows at a state, and the locals (or the value) that the state has.
fn known(
    position: &Position,
    action: &Action,
    frame: &Frame<'_>,
) -> Result<(Vec<Option<Locals>>, Locals), Unavailable> {
    let (kind, _) = event_of(frame.event);
    let mut levels = match position.direction {
        // Locals that are left out are always those of the level that was shown last.
        Direction::Forward => vec![position.levels.last().cloned().flatten()],
        Direction::Inverse => levels_behind(position, action, kind),
    };
    match &frame.values {
        Values::Value(value) => {
            // Behind a return everything is shown again.
            if position.direction == Direction::Forward && kind == EventKind::Return {
                levels = vec![None];
            }
            Ok((levels, vec![(String::new(), value.clone().into_owned())]))
        }
        Values::Locals { elided, shown } => {
            let shown: Locals = shown
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect();
            let before = levels.pop().flatten();
            let locals = match (elided, before) {
                (false, _) => shown,
                (true, Some(before)) => merged(&before, &shown),
                (true, None) if position.direction == Direction::Inverse => shown,
                (true, None) => {
                    return Err(unknown("the model's answer leaves out what was never said"));
                }
            };
            levels.push(Some(locals.clone()));
            Ok((levels, locals))
        }
    }
}

/// The levels at an event of some kind that was reached backwards.
///
/// From the duplicate of an event that called one comes into what was called; from a call to what
/// called, or, where one line called twice, into what was called before.
fn levels_behind(position: &Position, action: &Action, kind: EventKind) -> Vec<Option<Locals>> {
    let mut levels = position.levels.as_ref().clone();
    let into = *action == Action::InvStepInto;
    let at_call =
        position.event == EventKind::Call && !position.calling && *action != Action::InvStepCall;
    if at_call {
        levels.pop();
    }
    let down = into && (position.calling || (at_call && kind == EventKind::Return));
    if down || levels.is_empty() {
        levels.push(None);
    }
    levels
}

fn binding((name, value): &(String, String)) -> (Cow<'_, str>, Cow<'_, str>) {
    (name.as_str().into(), value.as_str().into())
}

fn whole(locals: &Locals) -> Values<'_> {
    let shown = locals.iter().map(binding).collect();
    Values::Locals {
        elided: false,
        shown,
    }
}
