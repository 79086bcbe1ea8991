//! Traces as segments.

use super::{Frame, Trace, Values, special};
use crate::grammar::json;
use crate::grammar::segment::{Role, Segment, Segments};
use crate::grammar::special::Special;

/// A trace as segments. The first state is given, so only those after it count for the loss.
pub fn encode<'a>(trace: &'a Trace<'_>) -> Vec<Segment<'a>> {
    let mut out = Segments::default();
    out.done.reserve(trace.frames.len() * 6 + 6);
    out.special(Special::BeginOfText, Role::Context, false);
    out.special(Special::TraceContextStart, Role::Context, false);
    out.text(&*trace.context, Role::Context, false);
    out.special(Special::FrameSep, Role::Context, false);
    for (index, frame) in trace.frames.iter().enumerate() {
        let loss = index > 0;
        self::frame(frame, loss, &mut out);
        out.special(Special::FrameSep, Role::State, loss);
    }
    if trace.ended {
        out.special(Special::EndOfText, Role::State, true);
    }
    out.done
}

/// A trace up to where the model has to say the next frame. With `event`, up to behind the token
/// that begins it: after a call, forcing a return is how this grammar skips what was called.
pub fn prompt<'a>(
    trace: &'a Trace<'_>,
    event: Option<crate::state::EventKind>,
) -> Vec<Segment<'a>> {
    let mut out = Segments {
        done: encode(trace),
    };
    if let Some(event) = event {
        out.special(special(event), Role::State, false);
    }
    out.done
}

fn frame<'a>(frame: &'a Frame<'_>, loss: bool, out: &mut Segments<'a>) {
    out.special(special(frame.event), Role::State, loss);
    let mut text = String::with_capacity(64);
    match &frame.values {
        Values::Locals(bindings) => {
            let mut first = true;
            text.push('{');
            for (name, value) in bindings {
                json::write_member(
                    &mut first,
                    name,
                    value.as_deref().unwrap_or(".."),
                    &mut text,
                );
            }
            text.push('}');
            out.text(text, Role::State, loss);
            source(frame, loss, out);
        }
        Values::Value(value) => {
            source(frame, loss, out);
            out.special(Special::ArgSep, Role::State, loss);
            json::write_string(value, &mut text);
            out.text(text, Role::State, loss);
        }
    }
}

fn source<'a>(frame: &'a Frame<'_>, loss: bool, out: &mut Segments<'a>) {
    out.special(Special::ActionSep, Role::State, loss);
    out.text(format!("{}\n", frame.source), Role::State, loss);
}
