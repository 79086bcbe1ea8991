//! What a recording lacks, in words.

use ndbg_simulator::recording::Recording;

/// Lines for a person: why it ends early, what was not recorded, what else the recorder says.
pub fn gaps(run: &Recording, cut_off: Option<&str>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(reason) = cut_off {
        lines.push(format!("this is not all: {reason}"));
    }
    if let Some(end) = run.end() {
        if let Some(reason) = &end.truncated {
            lines.push(format!("this is not all: {}", in_words(reason)));
        }
        for (reason, count) in &end.dropped {
            lines.push(format!("not recorded: {count} × {}", in_words(reason)));
        }
    }
    lines.extend(run.notes().iter().map(|note| format!("note: {note}")));
    lines
}

fn in_words(reason: &str) -> &str {
    match reason {
        "max_events" => "the limit of events was reached (`--max-events`)",
        "tracer removed" => "the recorder lost its hook, as after a RecursionError",
        "tracer replaced" => "other code took the recorder's hook (`sys.settrace`)",
        "recursion" => "events without room on the stack",
        other => other,
    }
}
