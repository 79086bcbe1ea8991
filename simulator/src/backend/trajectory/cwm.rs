//! The debugger of the grammar of CWM: the next state, and what is made of many of those.

use std::sync::Arc;

use super::code::Code;
use super::mask::{FrameMask, Part};
use super::position::{Locals, Position};
use super::{
    Start, TrajectoryModel, check_breakpoint, failed, has_value, predicted, unknown, value_of,
};
use crate::debugger::{Arrival, Stopped};
use crate::grammar::Special;
use crate::grammar::cwm::{self, Frame, Trace, Values, mark_entry};
use crate::model::{LanguageModel, Mask};
use crate::simulator::Unavailable;
use crate::state::{Action, EventKind, State};
use crate::trajectory::Direction;
use crate::transition::{Exit, Inapplicable};

/// The position of a state that is given.
pub fn begin<M: LanguageModel>(
    model: &TrajectoryModel<M>,
    start: &Start,
    direction: Direction,
) -> Result<Position, Unavailable> {
    if direction == Direction::Inverse {
        return Err(no_way_back());
    }
    let state = &start.state;
    let locals = state.locals.iter();
    let locals = locals.map(|(name, value)| (name.as_str().into(), Some(value.as_str().into())));
    let values = if has_value(state.event) {
        Values::Value(value_of(state).into())
    } else {
        Values::Locals(locals.collect())
    };
    let trace = Trace {
        context: mark_entry(&start.code, &state.source).into(),
        frames: vec![Frame {
            event: state.event,
            source: state.source.as_str().into(),
            values,
        }],
        ended: false,
    };
    // With the token that ends a state: it stands between any two.
    let tokens = model
        .model
        .vocabulary()
        .encode_segments(&cwm::prompt(&trace, None));
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

/// A state and what it took to get there.
struct Reached {
    at: Stopped<Position>,
    /// Logarithm of the probability of all that was said.
    logprob: f64,
}

/// What comes after a state.
enum Next {
    State(Box<Reached>),
    /// The trace ends: logarithm of the probability of that.
    End(f64),
}

/// What an action leads to.
pub fn step<M: LanguageModel>(
    model: &TrajectoryModel<M>,
    code: &Code,
    position: &Position,
    action: &Action,
) -> Result<Arrival<Position>, Unavailable> {
    let depth = position.levels.len();
    let at_return = position.event == EventKind::Return;
    match action {
        Action::InvStepInto | Action::InvStepOver | Action::InvStepCall => Err(no_way_back()),
        Action::StepReturn if at_return => Err(Inapplicable::AtReturn.into()),
        Action::StepInto => walk(model, code, position, usize::MAX, |_| true),
        // From a return the nearest level above goes on.
        Action::StepOver => {
            let most = if at_return { (depth - 1).max(1) } else { depth };
            walk(model, code, position, most, |_| true)
        }
        // At a call its return may be asked for at once.
        Action::StepReturn if position.event == EventKind::Call => {
            match next(model, code, position, Some(EventKind::Return))? {
                Next::State(reached) => Ok(arrived(*reached)),
                Next::End(_) => Err(unknown("the trace ends before the level returns")),
            }
        }
        Action::StepReturn => walk(model, code, position, depth, |reached| {
            reached.at.state.event == EventKind::Return && reached.at.position.levels.len() == depth
        }),
        Action::Breakpoint(source) => {
            check_breakpoint(code, source)?;
            walk(model, code, position, usize::MAX, |reached| {
                reached.at.state.source == *source
            })
        }
        Action::Continue => walk(model, code, position, 1, |_| false),
    }
}

/// Goes from state to state, past all that is called deeper than `most` levels, to the first one that
/// is wanted.
fn walk<M: LanguageModel>(
    model: &TrajectoryModel<M>,
    code: &Code,
    position: &Position,
    most: usize,
    wanted: impl Fn(&Reached) -> bool,
) -> Result<Arrival<Position>, Unavailable> {
    let mut now = position.clone();
    let mut logprob = 0.0;
    let mut forced = None;
    for _ in 0..model.states {
        let mut reached = match next(model, code, &now, forced)? {
            Next::State(reached) => *reached,
            Next::End(end) => {
                if now.event != EventKind::Return || now.levels.len() != 1 {
                    return Err(unknown("the trace ends before the entry returns"));
                }
                // The grammar does not name exits, but how the entry was left can be seen.
                let exit = match now.unwound {
                    Some(true) => Exit::Error,
                    Some(false) => Exit::Normal,
                    None => return Err(unknown("how the entry was left was skipped")),
                };
                return Ok(Arrival::Exited {
                    exit,
                    trust: predicted(logprob + end),
                });
            }
        };
        logprob += reached.logprob;
        reached.logprob = logprob;
        // What was called too deep returns at once, and that is passed, too.
        let deep = reached.at.position.levels.len() > most;
        forced = (deep && reached.at.state.event == EventKind::Call).then_some(EventKind::Return);
        if !deep && wanted(&reached) {
            return Ok(arrived(reached));
        }
        now = reached.at.position;
    }
    Err(unknown(&format!(
        "it takes more than {} states",
        model.states
    )))
}

fn arrived(mut reached: Reached) -> Arrival<Position> {
    reached.at.trust = predicted(reached.logprob);
    Arrival::Stopped(reached.at)
}

/// The next state, of an event if one is forced.
fn next<M: LanguageModel>(
    model: &TrajectoryModel<M>,
    code: &Code,
    position: &Position,
    forced: Option<EventKind>,
) -> Result<Next, Unavailable> {
    let id = |special| model.tokens.id(special);
    let mut prompt = position.tokens.to_vec();
    let mut mask = FrameMask::new(&model.tokens, code, forms(forced));
    if let Some(event) = forced {
        prompt.push(id(special(event)));
        mask = mask.begun();
    }
    let stop = [Special::FrameSep, Special::EndOfText].map(id);
    let mask: &dyn Mask = &mask;
    let answer = model.ask(&prompt, &stop, mask)?;
    let logprob = answer.unmasked_logprob();
    if answer.tokens == [id(Special::EndOfText)] {
        return Ok(Next::End(logprob));
    }
    prompt.extend(&answer.tokens);
    let said = &prompt[position.tokens.len()..];
    let text = model.tokens.text(model.model.vocabulary(), said)?;
    let frame = cwm::decode_frame(&text)
        .map_err(|error| unknown(&format!("the model's answer is no state: {error}")))?;
    let (levels, locals) = known(position, &frame)?;
    let event = frame.event;
    let seen = event == EventKind::Return && forced.is_none();
    Ok(Next::State(Box::new(Reached {
        at: Stopped {
            position: Position {
                direction: position.direction,
                tokens: prompt.into(),
                event,
                calling: false,
                levels: Arc::new(levels),
                unwound: seen.then_some(position.event == EventKind::Exception),
            },
            state: State {
                event,
                locals,
                source: frame.source.into_owned(),
            },
            calling: false,
            trust: predicted(logprob),
        },
        logprob,
    })))
}

fn special(event: EventKind) -> Special {
    match event {
        EventKind::Call => Special::CallSep,
        EventKind::Line => Special::LineSep,
        EventKind::Return => Special::ReturnSep,
        EventKind::Exception => Special::ExceptionSep,
    }
}

fn forms(forced: Option<EventKind>) -> Vec<(Special, Vec<Part>)> {
    let (source, end) = (
        Part::Token(Special::ActionSep),
        Part::Token(Special::FrameSep),
    );
    let form = |event: EventKind| {
        let parts = if has_value(event) {
            vec![
                source,
                Part::Line {
                    values_follow: true,
                },
                Part::Value,
                end,
            ]
        } else {
            let locals = Part::Locals { elides: false };
            vec![
                locals,
                source,
                Part::Line {
                    values_follow: false,
                },
            ]
        };
        (special(event), parts)
    };
    if let Some(event) = forced {
        return vec![form(event)];
    }
    let events = [
        EventKind::Call,
        EventKind::Line,
        EventKind::Return,
        EventKind::Exception,
    ];
    events
        .map(form)
        .into_iter()
        .chain([(Special::EndOfText, Vec::new())])
        .collect()
}

/// The levels and the locals (or the value) at a state.
fn known(
    position: &Position,
    frame: &Frame<'_>,
) -> Result<(Vec<Option<Locals>>, Locals), Unavailable> {
    let mut levels = position.levels.as_ref().clone();
    if position.event == EventKind::Return {
        levels.pop();
        // What a return frees may be called once more.
        if levels.is_empty() && frame.event != EventKind::Call {
            return Err(unknown("the model goes on behind the return of the entry"));
        }
    }
    match &frame.values {
        Values::Value(value) => Ok((levels, vec![(String::new(), value.clone().into_owned())])),
        Values::Locals(bindings) => {
            let before = if frame.event == EventKind::Call {
                None
            } else {
                levels.pop().flatten()
            };
            let mut locals = Locals::new();
            for (name, value) in bindings {
                let held = || {
                    before
                        .as_ref()?
                        .iter()
                        .find(|held| held.0 == **name)
                        .map(|held| &*held.1)
                };
                let value = value.as_deref().or_else(held);
                let value = value
                    .ok_or_else(|| unknown("the model's answer leaves out what was never said"))?;
                locals.push((name.to_string(), value.to_owned()));
            }
            levels.push(Some(locals.clone()));
            Ok((levels, locals))
        }
    }
}

fn no_way_back() -> Unavailable {
    unknown("the grammar of CWM has no way back: it only knows the next state")
}
