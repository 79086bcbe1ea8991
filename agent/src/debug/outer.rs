//! Variables of a caller while a callee runs.
//!
//! A frame's own events show its variables as they were when it last ran. What a callee has done since to
//! an object that they share shows in the callee's variables: the newest text of an object counts.

use ndbg_simulator::recording::{Change, EventId, Locals, Recording};

/// Locals of the frame of `outer`, with what was done to their objects up to `now`.
pub fn locals(run: &Recording, outer: EventId, now: EventId) -> Locals {
    let mut locals = run.locals(outer);
    let newer: Vec<Change> = locals
        .iter()
        .filter(|held| held.serial != 0)
        .filter_map(|held| {
            let seen = newest(run, held.serial, outer, now)?;
            (seen.value != held.value).then_some(Change {
                value: seen.value,
                ..*held
            })
        })
        .collect();
    locals.apply(&newer);
    locals
}

/// The newest text of an object between two events, `after` not included.
fn newest(run: &Recording, serial: u32, after: EventId, until: EventId) -> Option<Change> {
    (after.0 + 1..=until.0).rev().find_map(|id| {
        let changes = run.event(EventId(id)).changes.iter();
        changes
            .copied()
            .find(|change| change.serial == serial && change.value.is_some())
    })
}
