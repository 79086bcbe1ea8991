//! Prints a recording: its call tree, or the states of one frame, a page at a time.

use std::io::{self, Write};

use ndbg_simulator::EventKind;
use ndbg_simulator::recording::{ActivationId, BoundaryKind, EventId, Leave, Recording};
use ndbg_tools::trace::Opened;
use serde_json::json;

use super::gaps::gaps;
use crate::debug::{call_line, is_named, raised, stop_lines};

/// What is shown.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only calls of this function and what they call.
    pub function: Option<String>,
    /// The states of the call that holds this event.
    pub event: Option<usize>,
    /// Deepest level of the tree.
    pub depth: usize,
    /// Lines, or events, that are left out first.
    pub skip: usize,
    /// Most lines, or events, that are shown.
    pub limit: usize,
}

/// Writes the call tree, or one frame's states. An error names an event that does not exist.
pub fn show(
    opened: &Opened,
    filter: &Filter,
    json: bool,
    out: &mut impl Write,
) -> io::Result<bool> {
    let run = &opened.recording;
    if let Some(number) = filter.event {
        let Some(id) = run.find_event(number) else {
            return Ok(false);
        };
        let frame = run.activation_of(id);
        let events = events_of(run, frame.first);
        page(events, filter, out, "events", |id, out| {
            if json {
                writeln!(out, "{}", event_json(run, id))
            } else {
                out.write_all(stop_lines(run, id).as_bytes())
            }
        })?;
        return Ok(true);
    }
    if !json {
        header(opened, out)?;
    }
    let nodes = Nodes::new(run, filter);
    let mut shown = None;
    page(nodes, filter, out, "calls", |(level, id), out| {
        if json {
            return writeln!(out, "{}", call_json(run, id, level));
        }
        let test = test_of(run, run.activation(id).first);
        if test != shown {
            shown = test;
            writeln!(out, "{}", test.unwrap_or("outside of tests"))?;
        }
        writeln!(out, "{}", call_line(run, id, level))
    })?;
    Ok(true)
}

fn header(opened: &Opened, out: &mut impl Write) -> io::Result<()> {
    let run = &opened.recording;
    writeln!(
        out,
        "{} events, {} calls, {} functions, Python {}",
        run.len(),
        run.frame_count(),
        run.codes().len(),
        opened.meta.python
    )?;
    for line in gaps(run, opened.cut_off.as_deref()) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)
}

/// The test or program that an event belongs to.
fn test_of(run: &Recording, id: EventId) -> Option<&str> {
    let boundaries = run.boundaries();
    let until = boundaries.partition_point(|boundary| boundary.at <= id);
    let mut before = boundaries[..until].iter().rev();
    let last = before.find(|boundary| boundary.kind != BoundaryKind::Phase)?;
    Some(&last.name)
}

fn events_of(run: &Recording, first: EventId) -> impl Iterator<Item = EventId> + '_ {
    std::iter::successors(Some(first), |&id| run.next_in_activation(id))
}

/// Shows one page of `items` and says what is left.
fn page<T, W: Write>(
    items: impl Iterator<Item = T>,
    filter: &Filter,
    out: &mut W,
    what: &str,
    mut show: impl FnMut(T, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    let mut items = items.skip(filter.skip);
    for item in items.by_ref().take(filter.limit) {
        show(item, out)?;
    }
    let left = items.count();
    if left > 0 {
        eprintln!(
            "… {left} more {what}: `--skip {}` shows the next ones",
            filter.skip + filter.limit
        );
    }
    Ok(())
}

/// Calls in the order of the run, with their levels below where the filter begins.
struct Nodes<'r> {
    run: &'r Recording,
    filter: &'r Filter,
    next: u32,
    /// Levels of calls that are shown or lie below one that is.
    levels: Vec<Option<usize>>,
}

impl<'r> Nodes<'r> {
    fn new(run: &'r Recording, filter: &'r Filter) -> Self {
        Self {
            run,
            filter,
            next: 0,
            levels: Vec::with_capacity(run.activations().len()),
        }
    }
}

impl Iterator for Nodes<'_> {
    type Item = (usize, ActivationId);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(activation) = self.run.activations().get(self.next as usize) {
            let id = ActivationId(self.next);
            self.next += 1;
            let above = activation
                .parent
                .and_then(|parent| self.levels[parent.index()]);
            let level = match (&self.filter.function, above) {
                (_, Some(above)) => Some(above + 1),
                (Some(name), None) => is_named(self.run.function(id), name).then_some(0),
                (None, None) => Some(0),
            };
            self.levels.push(level);
            if let Some(level) = level
                && level <= self.filter.depth
            {
                return Some((level, id));
            }
        }
        None
    }
}

fn call_json(run: &Recording, id: ActivationId, level: usize) -> serde_json::Value {
    let activation = run.activation(id);
    let last = run.event(activation.last);
    json!({
        "level": level,
        "function": run.function(id),
        "file": run.file_of(activation.first).name,
        "line": run.event(activation.first).line,
        "first_event": activation.first.0,
        "last_event": activation.last.0,
        "arguments": changes_json(run, activation.first),
        "value": last.value.map(|value| run.text(value)),
        "returned": last.kind == EventKind::Return && last.leave != Some(Leave::Unwind),
        "exception": (last.leave == Some(Leave::Unwind)).then(|| raised(run, id)).flatten(),
        "leave": last.leave.map(|leave| format!("{leave:?}").to_lowercase()),
    })
}

fn event_json(run: &Recording, id: EventId) -> serde_json::Value {
    let event = run.event(id);
    json!({
        "event": id.0,
        "kind": event.kind,
        "line": event.line,
        "source": run.source_line(id),
        "changes": changes_json(run, id),
        "value": event.value.map(|value| run.text(value)),
        "exception": event.exception.map(|kind| run.text(kind)),
    })
}

fn changes_json(run: &Recording, id: EventId) -> serde_json::Value {
    let changes = run.event(id).changes;
    let entries = changes.iter().map(|change| {
        let value = change.value.map(|value| {
            json!({"text": run.text(value), "lossy": run.is_lossy(value), "object": change.serial})
        });
        (run.text(change.name).to_owned(), value.unwrap_or_default())
    });
    serde_json::Value::Object(entries.collect())
}
