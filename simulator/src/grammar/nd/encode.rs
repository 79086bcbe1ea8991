//! Traces as segments.

use super::{Event, Frame, Trace, Values, exit_special};
use crate::grammar::json;
use crate::grammar::segment::{Role, Segment, Segments};
use crate::grammar::special::Special;
use crate::state::{Action, EventKind};

/// A trace as segments. The first state is given, so only those after it count for the loss.
pub fn encode<'a>(trace: &'a Trace<'_>) -> Vec<Segment<'a>> {
    let mut out = Segments::default();
    out.done.reserve(trace.steps.len() * 8 + 8);
    out.special(Special::BeginOfText, Role::Context, false);
    out.special(Special::TraceContextStart, Role::Context, false);
    out.text(&*trace.context, Role::Context, false);
    for (index, step) in trace.steps.iter().enumerate() {
        let loss = index > 0;
        // After an action a state or an exit must follow: there is nothing to predict yet.
        out.special(Special::FrameSep, Role::State, false);
        frame(&step.frame, loss, &mut out);
        let Some(action) = &step.action else { break };
        // It ends the state, which the model has to know; what is done next is the user's choice.
        out.special(Special::ActionSep, Role::State, loss);
        self::action(action, &mut out);
    }
    if let Some(exit) = trace.exit {
        out.special(Special::FrameSep, Role::State, false);
        out.special(exit_special(exit), Role::State, true);
        out.special(Special::TraceEnd, Role::State, true);
        out.special(Special::EndOfText, Role::State, true);
    }
    out.done
}

/// A trace whose last step has an action, up to where a model has to answer.
pub fn prompt<'a>(trace: &'a Trace<'_>) -> Vec<Segment<'a>> {
    let mut out = Segments {
        done: encode(trace),
    };
    out.special(Special::FrameSep, Role::State, false);
    out.done
}

/// One state, as an answer has it.
pub fn encode_frame<'a>(frame: &'a Frame<'_>) -> Vec<Segment<'a>> {
    let mut out = Segments::default();
    self::frame(frame, true, &mut out);
    out.done
}

fn frame<'a>(frame: &'a Frame<'_>, loss: bool, out: &mut Segments<'a>) {
    out.special(frame.event.special(), Role::State, loss);
    // The only event with its locals first.
    if frame.event == Event::Forward(EventKind::Line) {
        out.special(Special::ArgSep, Role::State, loss);
        out.text(values(&frame.values), Role::State, loss);
        out.special(Special::SrcSep, Role::State, loss);
        out.text(&*frame.source, Role::State, loss);
    } else {
        out.special(Special::SrcSep, Role::State, loss);
        out.text(&*frame.source, Role::State, loss);
        out.special(Special::ArgSep, Role::State, loss);
        out.text(values(&frame.values), Role::State, loss);
    }
}

fn values(values: &Values<'_>) -> String {
    let mut out = String::with_capacity(64);
    match values {
        Values::Value(value) => json::write_string(value, &mut out),
        Values::Locals { elided, shown } => {
            let mut first = true;
            out.push('{');
            if *elided {
                json::write_member(&mut first, "..", "..", &mut out);
            }
            for (name, value) in shown {
                json::write_member(&mut first, name, value, &mut out);
            }
            out.push('}');
        }
    }
    out
}

fn action<'a>(action: &'a Action, out: &mut Segments<'a>) {
    let special = match action {
        Action::StepInto => Special::StepInto,
        Action::StepOver => Special::StepOver,
        Action::StepReturn => Special::StepReturn,
        Action::Breakpoint(_) => Special::Breakpoint,
        Action::Continue => Special::Continue,
        Action::InvStepInto => Special::InvStepInto,
        Action::InvStepOver => Special::InvStepOver,
        Action::InvStepCall => Special::InvStepCall,
    };
    out.special(special, Role::Action, false);
    if let Action::Breakpoint(source) = action {
        out.text(source, Role::Action, false);
    }
}
