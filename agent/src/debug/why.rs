//! The last write of a value.

use ndbg_simulator::recording::{ActivationId, EventId, Recording, TextId};

/// Where a variable got the value that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The event whose line wrote it; the call itself for an argument.
    pub by: EventId,
    /// The first event that sees the value.
    pub seen: EventId,
    /// The value before; none when the name was not bound.
    pub before: Option<TextId>,
    /// The value after; none when the name was unbound.
    pub after: Option<TextId>,
    /// Whether it came in with the call.
    pub argument: bool,
    /// The name under which a callee changed the same object, when one did.
    pub through: Option<String>,
}

/// The last write of `name` in the frame of `at`, up to `at`. None for a name that was never bound.
pub fn last_write(run: &Recording, at: EventId, name: &str) -> Option<Write> {
    let changed = |id: EventId| {
        run.event(id)
            .changes
            .iter()
            .copied()
            .find(|change| run.text(change.name) == name)
    };
    let mut now = at;
    loop {
        let change = changed(now);
        let previous = run.previous_in_frame(now);
        if run.is_first_of_frame(now) {
            let change = change?;
            return Some(Write {
                by: run.activation_of(now).parent_event.unwrap_or(now),
                seen: now,
                before: None,
                after: change.value,
                argument: true,
                through: None,
            });
        }
        let previous = previous?;
        if let Some(change) = change {
            let before = run.locals(previous).get(run, name);
            let before_value = before.and_then(|held| held.value);
            let same = before
                .is_some_and(|held| held.value == change.value && (held.serial == change.serial));
            // A resume lists everything, changed or not.
            if !same {
                let serial = change.serial;
                let inner = (serial != 0 && before.is_some_and(|held| held.serial == serial))
                    .then(|| writer_inside(run, previous, now, serial))
                    .flatten();
                let (by, through) = inner.map_or((previous, None), |(by, name)| (by, Some(name)));
                return Some(Write {
                    by,
                    seen: now,
                    before: before_value,
                    after: change.value,
                    argument: false,
                    through,
                });
            }
        }
        now = previous;
    }
}

/// The last line of a call made between two events that changed the object with a serial, and the
/// name that the object has there.
fn writer_inside(
    run: &Recording,
    from: EventId,
    until: EventId,
    serial: u32,
) -> Option<(EventId, String)> {
    let ancestor = run.event(from).activation;
    (from.0 + 1..until.0).rev().map(EventId).find_map(|id| {
        let event = run.event(id);
        let previous = run.previous_in_frame(id)?;
        if run.is_first_of_frame(id) || !descends(run, event.activation, ancestor) {
            return None;
        }
        let change = event
            .changes
            .iter()
            .find(|change| change.serial == serial)?;
        let held = run.locals(previous).get(run, run.text(change.name))?;
        (held.serial == serial && held.value != change.value)
            .then(|| (previous, run.text(change.name).to_owned()))
    })
}

fn descends(run: &Recording, activation: ActivationId, ancestor: ActivationId) -> bool {
    let mut at = Some(activation);
    while let Some(id) = at {
        if id == ancestor {
            return true;
        }
        at = run.activation(id).parent;
    }
    false
}
