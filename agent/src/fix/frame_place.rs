//! The event of a recording that a parting is about.

use ndbg_simulator::EventKind;
use ndbg_simulator::literal;
use ndbg_simulator::recording::{BoundaryKind, EventId, Recording};

use super::divergence::Parting;

/// Events with the line and the function of a parting that are looked at.
const LOOKED_AT: usize = 5_000;

/// The state before the statement of a parting: the visit that it names, where the statement did what was
/// recorded; else the last one in its test where it did, or the last one at that line.
pub fn event_of(recording: &Recording, parting: &Parting) -> Option<EventId> {
    let visited = parting.visit.and_then(|visit| {
        let kinds = [EventKind::Line, EventKind::Call];
        let mut found = kinds.iter().filter_map(|kind| {
            let at_line = |id: &EventId| {
                let event = recording.event(*id);
                event.kind == *kind
                    && event.line as usize == parting.line
                    && recording.file_of(*id).name == parting.file.as_str()
                    && test_of(recording, *id).is_none_or(|test| test == parting.test)
            };
            recording.events().filter(at_line).nth(visit)
        });
        found.find(|id| did(recording, *id, parting))
    });
    if visited.is_some() {
        return visited;
    }
    let is_there = |id: &EventId| {
        let event = recording.event(*id);
        matches!(event.kind, EventKind::Line | EventKind::Call)
            && event.line as usize == parting.line
            && recording.function(event.activation) == parting.function
            && recording.file_of(*id).name == parting.file.as_str()
            // A recording without borders is of one test.
            && test_of(recording, *id).is_none_or(|test| test == parting.test)
    };
    let mut last = None;
    for id in recording.events().rev().filter(is_there).take(LOOKED_AT) {
        if did(recording, id, parting) {
            return Some(id);
        }
        last = last.or(Some(id));
    }
    last
}

/// The event that ends what the statement at `id` did.
pub fn end_of(recording: &Recording, id: EventId) -> EventId {
    recording.next_in_activation(id).unwrap_or(id)
}

/// Whether the statement at `id` did what a parting says was recorded, as far as that can be seen.
fn did(recording: &Recording, id: EventId, parting: &Parting) -> bool {
    let is_it = |text: &str| {
        text == parting.recorded
            || literal::parse(text).is_ok_and(|held| held.to_string() == parting.recorded)
    };
    if parting.part == "the returned value" {
        let activation = recording.activation_of(id);
        let value = recording.event(activation.last).value;
        // It is the last thing that this activation did.
        return end_of(recording, id) == activation.last
            && value.is_some_and(|value| is_it(recording.text(value)));
    }
    let (name, at) = if let Some(name) = name_after(&parting.part, "argument ") {
        (name, id)
    } else if let Some(name) = name_after(&parting.part, "") {
        (name, end_of(recording, id))
    } else {
        // A condition leaves nothing behind but where it went.
        let next = recording.next_in_activation(id);
        let way = next.and_then(|next| branch(recording, id, next));
        return way.is_none_or(|way| way == parting.recorded);
    };
    let held = |at: EventId| {
        let mut changes = recording.event(at).changes.iter();
        let found = changes.find(|change| recording.text(change.name) == name);
        found.and_then(|change| change.value)
    };
    // Arguments are bound by the call or by the event after it.
    let value = held(at).or_else(|| held(end_of(recording, id)));
    value.is_some_and(|value| is_it(recording.text(value)))
}

/// Which way a condition at `id` went: into what is indented below it, or not; none for other statements.
pub fn branch(recording: &Recording, id: EventId, next: EventId) -> Option<&'static str> {
    let line = recording.source_line(id);
    let is_condition = ["if ", "if(", "elif ", "elif(", "while ", "while("]
        .iter()
        .any(|word| line.trim_start().starts_with(word));
    if !is_condition || recording.kind(id) != EventKind::Line {
        return None;
    }
    let indent = |text: &str| text.len() - text.trim_start().len();
    let (from, to) = (recording.event(id).line, recording.event(next).line);
    // An `else` is not below it, though what follows that is indented as well. A bracket may close the condition.
    let leaves = |text: &str| {
        indent(text) <= indent(line) && !text.trim_start().starts_with([')', ']', '}', '#'])
    };
    let file = recording.file_of(id);
    let is_inside = to > from
        && !(from + 1..=to)
            .map(|between| file.line(between))
            .filter(|text| !text.trim().is_empty())
            .any(leaves);
    Some(if is_inside { "True" } else { "False" })
}

/// The name between backticks behind `lead`.
pub fn name_after<'p>(part: &'p str, lead: &str) -> Option<&'p str> {
    part.strip_prefix(lead)?
        .strip_prefix('`')?
        .strip_suffix('`')
}

/// The test that an event belongs to.
fn test_of(recording: &Recording, id: EventId) -> Option<&str> {
    let boundaries = recording.boundaries();
    let until = boundaries.partition_point(|boundary| boundary.at <= id);
    let mut before = boundaries[..until].iter().rev();
    let last = before.find(|boundary| boundary.kind == BoundaryKind::Test)?;
    Some(&last.name)
}
