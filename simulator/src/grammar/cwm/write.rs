//! Scopes as traces.

use std::borrow::Cow;

use super::{Frame, START_OF_TRACE, Trace, Values};
use crate::recording::{ActivationId, EventId, Locals, TextId};
use crate::state::Action;
use crate::state::EventKind;
use crate::transition::{Destination, Node};
use crate::tree::Tree;

/// Marks the entry in a context: the first line that reads as its `def` does.
pub fn mark_entry(context: &str, def: &str) -> String {
    let mut out = String::with_capacity(context.len() + START_OF_TRACE.len());
    let mut marked = false;
    for line in context.split_inclusive('\n') {
        let text = line.trim_end_matches(['\r', '\n']);
        out.push_str(text);
        if !marked && text == def {
            out.push_str(START_OF_TRACE);
            marked = true;
        }
        out.push_str(&line[text.len()..]);
    }
    out
}

/// A value's text without the addresses of objects: ` at 0x…`.
pub fn strip_addresses(text: &str) -> Cow<'_, str> {
    const AT: &str = " at 0x";
    if !text.contains(AT) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(AT) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let digits = from[AT.len()..]
            .bytes()
            .take_while(u8::is_ascii_hexdigit)
            .count();
        if digits == 0 {
            out.push_str(AT);
        }
        rest = &from[AT.len() + digits..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The first `cap` states of a scope as a trace over `context`, in which the entry is marked.
pub fn trace<'f>(tree: &Tree<'f>, context: impl Into<Cow<'f, str>>, cap: usize) -> Trace<'f> {
    let mut levels: Vec<Known> = Vec::new();
    let frames: Vec<_> = tree
        .events()
        .take(cap)
        .map(|event| frame(tree, event, &mut levels))
        .collect();
    let last = tree.events().nth(frames.len().saturating_sub(1));
    let ended = last.is_some_and(|event| {
        let next = tree.step(Node::at(event), &Action::StepInto);
        matches!(next, Ok(Destination::Exit(_)))
    });
    Trace {
        context: context.into(),
        frames,
        ended,
    }
}

/// A level whose locals were printed.
struct Known {
    activation: ActivationId,
    at: EventId,
    locals: Locals,
}

fn frame<'f>(tree: &Tree<'f>, id: EventId, levels: &mut Vec<Known>) -> Frame<'f> {
    let recording = tree.recording();
    let event = recording.event(id);
    let text = |id: TextId| strip_addresses(recording.text(id));
    let values = match event.kind {
        EventKind::Return | EventKind::Exception => {
            if event.kind == EventKind::Return {
                // Never printed again; a loop of calls must not keep the locals of each.
                levels.retain(|known| known.activation != event.activation);
            }
            Values::Value(event.value.map(text).unwrap_or_default())
        }
        EventKind::Call | EventKind::Line => {
            let changed = changed(tree, id, levels);
            let locals = levels.last().map(|known| &known.locals);
            let bindings = locals.into_iter().flatten().map(|bound| {
                let new = changed.contains(&bound.name);
                let value = bound.value.filter(|_| new).map(text);
                (recording.text(bound.name).into(), value)
            });
            Values::Locals(bindings.collect())
        }
    };
    Frame {
        event: event.kind,
        source: recording.source_line(id).into(),
        values,
    }
}

/// Brings the level of an event up to date, on top of `levels`; the names that changed.
fn changed(tree: &Tree<'_>, id: EventId, levels: &mut Vec<Known>) -> Vec<TextId> {
    let recording = tree.recording();
    let activation = recording.event(id).activation;
    let mut names = Vec::new();
    if let Some(index) = levels
        .iter()
        .rposition(|known| known.activation == activation)
    {
        levels.truncate(index + 1);
        let known = &mut levels[index];
        while known.at < id {
            let Some(next) = recording.next_in_activation(known.at) else {
                break;
            };
            let changes = recording.event(next).changes;
            known.locals.apply(changes);
            names.extend(changes.iter().map(|change| change.name));
            known.at = next;
        }
    } else {
        let locals = tree.forest().locals(id);
        names.extend(locals.iter().map(|bound| bound.name));
        levels.push(Known {
            activation,
            at: id,
            locals,
        });
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{mark_entry, strip_addresses};

    #[test]
    fn addresses_go_and_everything_else_stays() {
        let text = "[<A object at 0x7f00ab>, 'at 0x', ' at 0xzz']";
        assert_eq!(strip_addresses(text), "[<A object>, 'at 0x', ' at 0xzz']");
    }

    #[test]
    fn only_the_first_matching_line_is_marked() {
        let marked = mark_entry("x\ndef f():\r\n    1\ndef f():\n", "def f():");
        assert_eq!(
            marked,
            "x\ndef f():  # << START_OF_TRACE\r\n    1\ndef f():\n"
        );
    }
}
