//! One pass over a recording that knows the locals at every event without putting them together anew.

use std::collections::HashMap;
use std::ops::Range;

use ndbg_simulator::EventKind;
use ndbg_simulator::recording::{EventId, FrameId, Leave, Locals, Recording};

/// Calls `visit` with each event of a range and its locals, until it answers false.
pub fn scan(run: &Recording, range: Range<u32>, mut visit: impl FnMut(EventId, &Locals) -> bool) {
    let mut frames: HashMap<FrameId, Locals> = HashMap::new();
    for id in range.map(EventId) {
        let event = run.event(id);
        let frame = run.activation(event.activation).frame;
        let locals = match frames.entry(frame) {
            std::collections::hash_map::Entry::Occupied(held) => {
                let locals = held.into_mut();
                if event.kind == EventKind::Call {
                    // A resume lists everything.
                    *locals = Locals::default();
                }
                locals.apply(event.changes);
                locals
            }
            std::collections::hash_map::Entry::Vacant(empty) => empty.insert(run.locals(id)),
        };
        if !visit(id, locals) {
            return;
        }
        if event.kind == EventKind::Return && event.leave != Some(Leave::Yield) {
            frames.remove(&frame);
        }
    }
}
