//! The frame in which a run diverges, as a table of states: a row for each line that was executed, with what it
//! did, what a model predicts that it does, and what would have been needed.

use std::fmt;

use camino::Utf8PathBuf;
use ndbg_simulator::EventKind;
use ndbg_simulator::recording::{ActivationId, EventId, Leave, Recording};
use serde::{Deserialize, Serialize};

use super::divergence::Parting;
use super::frame_place::{branch, event_of, name_after};
use super::frame_predicted;
use crate::eval::Predictor;

/// Rows kept before and after the one that diverges.
const BEFORE: usize = 150;
const AFTER: usize = 49;
/// Source lines kept around it.
const SOURCE: usize = 120;
/// Longest value and source line, in characters.
const LONGEST: usize = 160;

/// The table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameTable {
    /// The failing test.
    pub test: String,
    /// File, relative to the project.
    pub file: Utf8PathBuf,
    /// The function.
    pub function: String,
    /// Executed lines, in order; the call comes first.
    pub steps: Vec<Step>,
    /// Number of the step that diverges, from 0.
    pub diverges_at: usize,
    /// Steps left out before the first and after the last one.
    pub left_out: (usize, usize),
    /// The function's source as far as it was executed.
    pub source: Vec<SourceLine>,
    /// Who predicted; none where nobody was asked.
    pub predicted_by: Option<String>,
}

/// One executed line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// One-based line.
    pub line: usize,
    /// Its text, without indentation.
    pub source: String,
    /// What changed.
    pub recorded: Vec<Held>,
    /// What a model says that would change, from the recorded state; empty where it was not asked or not sure.
    pub predicted: Vec<Held>,
    /// What would have been needed, where that is known.
    pub needed: Vec<Held>,
    /// How sure the prediction is, 0 to 1.
    pub confidence: Option<f64>,
}

/// What a line did to a variable; or under `return`, `raise` and `if`, which name no variable, what it returned,
/// what it raised, and which way its condition went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The variable.
    pub name: String,
    /// Its value as Python writes it, cut where it is long.
    pub value: String,
}

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLine {
    /// One-based.
    pub line: usize,
    /// Its text.
    pub text: String,
}

impl Held {
    /// A value, cut where it is long.
    pub fn new(name: &str, value: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: clipped(value),
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value } = self;
        match name.as_str() {
            "return" => write!(out, "returns {value}"),
            "raise" => write!(out, "raises {value}"),
            "if" => write!(out, "condition {value}"),
            _ => write!(out, "{name} = {value}"),
        }
    }
}

/// The frame of the likeliest divergence; none where the recording does not show it.
pub fn frame_table(
    recording: &Recording,
    partings: &[Parting],
    predictor: Option<&dyn Predictor>,
) -> Option<FrameTable> {
    let found = partings.iter().find(|one| one.ends_here)?;
    let at = event_of(recording, found)?;
    let activation = recording.event(at).activation;
    let all = rows(recording, activation);
    let here = all.iter().rposition(|&row| row <= at)?;
    let from = here.saturating_sub(BEFORE);
    let until = (here + 1 + AFTER).min(all.len());
    let mut steps: Vec<Step> = (from..until)
        .map(|row| step(recording, all[row], all.get(row + 1).copied()))
        .collect();
    for parting in partings.iter().filter(|one| one.test == found.test) {
        // Most points are no statement of this frame.
        let Some(event) = event_of(recording, parting) else {
            continue;
        };
        let row = all.iter().rposition(|&row| row <= event);
        if let Some(row) = row
            && recording.event(event).activation == activation
            && (from..until).contains(&row)
        {
            need(&mut steps[row - from], parting);
        }
    }
    let mut table = FrameTable {
        test: found.test.clone(),
        file: found.file.clone(),
        function: found.function.clone(),
        source: source(recording, at, &steps, found.line),
        steps,
        diverges_at: here - from,
        left_out: (from, all.len() - until),
        predicted_by: None,
    };
    if let Some(predictor) = predictor {
        let events = &all[from..until];
        frame_predicted::predict(recording, events, &mut table, predictor);
    }
    Some(table)
}

/// The call and the lines of an activation: what a row begins with.
fn rows(recording: &Recording, activation: ActivationId) -> Vec<EventId> {
    let first = recording.activation(activation).first;
    std::iter::successors(Some(first), |&id| recording.next_in_activation(id))
        .filter(|&id| matches!(recording.kind(id), EventKind::Call | EventKind::Line))
        .collect()
}

/// What the line at `id` did, up to where the line at `next` begins.
fn step(recording: &Recording, id: EventId, next: Option<EventId>) -> Step {
    let event = recording.event(id);
    let source = recording.source_line(id).trim();
    let mut recorded: Vec<Held> = Vec::new();
    let mut note = |held: Held| {
        recorded.retain(|known| known.name != held.name);
        recorded.push(held);
    };
    let changed = |at: EventId, note: &mut dyn FnMut(Held)| {
        for change in recording.event(at).changes {
            let name = recording.text(change.name);
            // Iterators of comprehensions have names that no source has.
            if !name.starts_with('.') {
                let value = change
                    .value
                    .map_or("(deleted)", |value| recording.text(value));
                note(Held::new(name, value));
            }
        }
    };
    if event.kind == EventKind::Call {
        changed(id, &mut note);
    }
    let mut at = id;
    while let Some(later) = recording.next_in_activation(at) {
        at = later;
        // Arguments are all there is at a call.
        if event.kind != EventKind::Call {
            changed(at, &mut note);
        }
        if Some(at) == next {
            break;
        }
        let later = recording.event(at);
        let value = later.value.map_or("", |value| recording.text(value));
        match (later.kind, later.leave) {
            (EventKind::Exception, _) => {
                let kind = later.exception.map_or("", |kind| recording.text(kind));
                note(Held::new("raise", &format!("{kind}: {value}")));
            }
            (EventKind::Return, Some(Leave::Unwind)) => {}
            (EventKind::Return, _) => note(Held::new("return", value)),
            _ => {}
        }
    }
    let way = next.and_then(|next| branch(recording, id, next));
    if let Some(way) = way {
        recorded.push(Held::new("if", way));
    }
    Step {
        line: event.line as usize,
        source: clipped(source),
        recorded,
        predicted: Vec::new(),
        needed: Vec::new(),
        confidence: None,
    }
}

/// Notes what a parting says was needed of a step.
fn need(step: &mut Step, parting: &Parting) {
    let name = match parting.part.as_str() {
        "the returned value" => "return",
        "the condition" => "if",
        part => match name_after(part, "argument ").or_else(|| name_after(part, "")) {
            Some(name) => name,
            None => return,
        },
    };
    // The likeliest one comes first.
    if step.needed.iter().all(|known| known.name != name) {
        step.needed.push(Held::new(name, &parting.needed));
    }
    if step.recorded.iter().all(|known| known.name != name) {
        step.recorded.push(Held::new(name, &parting.recorded));
    }
}

/// The lines of a frame, from its first to its last executed one.
fn source(recording: &Recording, at: EventId, steps: &[Step], middle: usize) -> Vec<SourceLine> {
    let file = recording.file_of(at);
    let lines = || steps.iter().map(|step| step.line);
    let first = lines().min().unwrap_or(middle);
    let last = lines().max().unwrap_or(middle);
    let first = first.max(middle.saturating_sub(SOURCE / 2));
    let last = last.min(first + SOURCE);
    (first..=last)
        .map(|line| SourceLine {
            line,
            text: clipped(file.line(u32::try_from(line).unwrap_or(u32::MAX))),
        })
        .collect()
}

/// A text of at most [`LONGEST`] characters.
fn clipped(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(LONGEST - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use ndbg_simulator::Unavailable;
    use ndbg_simulator::grammar::step::Operation;
    use ndbg_simulator::harness::{self, Answer, Limits, Operations, Program};

    use super::*;

    const SOURCE: &str = "\
def f(a):
    if a:
        b = [1]
    else:
        b = [2]
    return b
";

    /// Nothing of [`SOURCE`] has to be asked.
    struct Nobody;

    impl Operations for Nobody {
        fn perform(&self, _: &Operation) -> Result<Answer, Unavailable> {
            Err(Unavailable::Off)
        }
    }

    fn parting(part: &str, line: usize, recorded: &str, needed: &str, ends_here: bool) -> Parting {
        Parting {
            test: "test_f.py::test_f".into(),
            file: "f.py".into(),
            line,
            function: "f".into(),
            part: part.into(),
            recorded: recorded.into(),
            needed: needed.into(),
            needed_known: true,
            visit: None,
            confidence: 0.5,
            provenance: "derived".into(),
            ends_here,
        }
    }

    fn shown(held: &[Held]) -> String {
        let all: Vec<String> = held.iter().map(ToString::to_string).collect();
        all.join(", ")
    }

    #[test]
    fn a_row_says_what_a_line_did_and_what_was_needed() {
        let program = Program::parse(SOURCE, "f(0)").expect("parses");
        let run = harness::run(&program, &Nobody, Limits::default());
        let recording = harness::recording(&program, &run, "f.py").expect("is whole");
        let partings = [
            parting("the condition", 2, "False", "True", true),
            parting("`b`", 5, "[2]", "[1]", false),
            parting("the returned value", 6, "[2]", "[1]", false),
        ];
        let table = frame_table(&recording, &partings, None).expect("is found");
        let rows: Vec<String> = table
            .steps
            .iter()
            .map(|step| {
                let (recorded, needed) = (shown(&step.recorded), shown(&step.needed));
                format!("{} {}: {recorded}; {needed}", step.line, step.source)
            })
            .collect();
        assert_eq!(
            rows,
            [
                "1 def f(a):: a = 0; ",
                "2 if a:: condition False; condition True",
                "5 b = [2]: b = [2]; b = [1]",
                "6 return b: returns [2]; returns [1]",
            ]
        );
        assert_eq!((table.diverges_at, table.left_out), (1, (0, 0)));
        assert_eq!(table.source.len(), 6);
    }
}
