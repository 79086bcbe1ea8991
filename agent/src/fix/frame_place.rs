//! The event of a recording that a parting is about.

use ndbg_simulator::EventKind;
use ndbg_simulator::literal;
use ndbg_simulator::recording::{BoundaryKind, EventId, Recording};

use super::divergence::Parting;

/// Events with the line and the function of a parting that are looked at.
const LOOKED_AT: usize = 5_000;

/// The state before the statement of a parting: the last one in its test where that did what was recorded, else
/// the last one at that line.
pub fn event_of(recording: &Recording, parting: &Parting) -> Option<EventId> {
    let is_there = |id: &EventId| {
        let event = recording.event(*id);
        matches!(event.kind, EventKind::Line | EventKind::Call)
            && event.line as usize == parting.line
            && recording.function(event.activation) == parting.function
            && recording.file_of(*id).name == parting.file.as_str()
            && test_of(recording, *id) == Some(parting.test.as_str())
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
        // A condition leaves nothing behind.
        return true;
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
