//! The frame that diverges on the page: a table of states that the reader steps through.
//!
//! The page runs no script. The steps are radio buttons, so that arrow keys go from one to the next and the browser
//! brings it into view; which bar with which neighbours is shown, and which line of source is marked, follows from
//! the checked one by style rules that are written here.

use std::fmt::Write as _;

use crate::fix::frame_table::{FrameTable, Held, Step};
use crate::report::html::view::{Prose, prose};
use crate::report::visible::{one_line, visible};
use crate::report::wording::{place_in_prose, plural};

pub struct Frame {
    pub title: Prose,
    /// Style rules that the checked step decides about.
    pub rules: String,
    pub source: Vec<Line>,
    pub steps: Vec<Row>,
    /// What is left out, who predicted.
    pub remarks: Vec<String>,
    pub is_predicted: bool,
}

pub struct Line {
    pub number: usize,
    pub text: String,
    pub diverges: bool,
}

pub struct Row {
    /// From 1, as on the page.
    pub number: usize,
    pub previous: Option<usize>,
    pub next: Option<usize>,
    pub line: usize,
    pub source: String,
    pub recorded: Vec<Cell>,
    pub predicted: Vec<Cell>,
    pub sure: Option<String>,
    pub needed: Vec<Cell>,
    pub diverges: bool,
    /// What a screen reader says.
    pub label: String,
    /// "Step 3 of 12".
    pub count: String,
}

/// A value, and whether it is another one than was recorded; a recorded one, than was needed.
pub struct Cell {
    pub text: String,
    pub differs: bool,
}

/// The table of a frame.
pub fn frame(table: &FrameTable) -> Frame {
    let before = table.left_out.0;
    let all = before + table.steps.len() + table.left_out.1;
    let last = table.steps.len().saturating_sub(1);
    let steps: Vec<Row> = table
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let number = before + index + 1;
            let diverges = index == table.diverges_at;
            let is_it = if diverges { ", diverges" } else { "" };
            Row {
                number,
                previous: (index > 0).then(|| number - 1),
                next: (index < last).then_some(number + 1),
                line: step.line,
                source: one_line(&step.source),
                recorded: cells(&step.recorded, |held| differs(&step.needed, held)),
                predicted: cells(&step.predicted, |held| differs(&step.recorded, held)),
                sure: step
                    .confidence
                    .filter(|_| !step.predicted.is_empty())
                    .map(percent),
                needed: cells(&step.needed, |_| false),
                diverges,
                label: format!("Step {number}, line {}{is_it}", step.line),
                count: format!("Step {number} of {all}"),
            }
        })
        .collect();
    let here = table.steps.get(table.diverges_at).map(|step| step.line);
    Frame {
        title: prose(&place_in_prose(
            &table.function,
            table.file.as_str(),
            here.unwrap_or_default(),
        )),
        rules: rules(&steps),
        source: table
            .source
            .iter()
            .map(|held| Line {
                number: held.line,
                text: visible(&held.text),
                diverges: Some(held.line) == here,
            })
            .collect(),
        remarks: remarks(table),
        is_predicted: table
            .steps
            .iter()
            .any(|step: &Step| !step.predicted.is_empty()),
        steps,
    }
}

fn cells(held: &[Held], differs: impl Fn(&Held) -> bool) -> Vec<Cell> {
    held.iter()
        .map(|one| Cell {
            text: one_line(&one.to_string()),
            differs: differs(one),
        })
        .collect()
}

/// Whether one of the same name has another value.
fn differs(others: &[Held], held: &Held) -> bool {
    let mut same = others.iter().filter(|other| other.name == held.name);
    same.any(|other| other.value != held.value)
}

/// Never rounded up to certainty.
fn percent(confidence: f64) -> String {
    format!("{:.0} %", (confidence * 100.0).floor())
}

fn remarks(table: &FrameTable) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(name) = &table.predicted_by {
        remarks.push(format!(
            "Predicted by {}, each step from the recorded state; empty where it was not asked or not sure, marked where something else was recorded.",
            one_line(name)
        ));
    }
    for (count, place) in [(table.left_out.0, "before"), (table.left_out.1, "after")] {
        if count > 0 {
            remarks.push(format!("{} {place} these left out.", plural(count, "step")));
        }
    }
    remarks
}

/// What is shown when a step is the checked one. Numbers only: nothing of the repository is in it.
fn rules(steps: &[Row]) -> String {
    let mut rules = String::new();
    let mut lines: Vec<usize> = Vec::new();
    for step in steps {
        let number = step.number;
        let _ = writeln!(
            rules,
            ".frame:has(#step-{number}:checked) .bar-{number} {{ display: flex; }}"
        );
        lines.push(step.line);
    }
    lines.sort_unstable();
    lines.dedup();
    for line in lines {
        let _ = writeln!(
            rules,
            ".frame:has(.on-{line}:checked) .line-{line} {{ background: var(--plain-soft); box-shadow: inset 3px 0 var(--plain); }}"
        );
    }
    rules
}
