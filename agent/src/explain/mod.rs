//! Why tests fail, without a patch: the symptom, where the run parts from what was needed, and the way there.

mod text;
mod way;
mod why;

use std::cell::Cell;
use std::collections::HashSet;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::recording::Recording;
use ndbg_tools::Cancel;
use serde::Serialize;

use crate::fix::budget::Budget;
use crate::fix::divergence::Parting;
use crate::fix::frame_table::{FrameTable, SourceLine, frame_table};
use crate::fix::localize::Localization;
use crate::fix::settings::ProjectSettings;
use crate::fix::stop::Stop;
use crate::fix::{self, Diverged};
use crate::model::Named;
use crate::plan::{Failure, SuspectFunction, SuspectStatement};
use crate::report::Reporter;

pub use text::text;

/// Version of the JSON document; raised when a field changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// Lines of source shown before and after one that matters.
const AROUND: usize = 3;

/// Why tests fail.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// [`FORMAT`].
    pub format: u32,
    /// Who was asked what rules do not say; none where nothing was recorded.
    pub simulator: Option<String>,
    /// The failing tests.
    pub tests: Vec<Explained>,
    /// Suspicious functions and statements, the most suspicious first.
    pub suspicious: Suspicious,
}

/// The rankings.
#[derive(Debug, Serialize)]
pub struct Suspicious {
    /// Functions.
    pub functions: Vec<SuspectFunction>,
    /// Statements.
    pub statements: Vec<Line>,
}

/// A suspicious statement with its first line.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The statement.
    #[serde(flatten)]
    pub statement: SuspectStatement,
    /// Text of its first line, without indentation.
    pub source: String,
}

/// Why one test fails.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// What fails, and how.
    pub symptom: Failure,
    /// Where the run parts from what was needed; the likeliest place.
    pub divergence: Option<Parting>,
    /// Why there is none.
    pub no_divergence: Option<String>,
    /// Source around it.
    pub source: Vec<SourceLine>,
    /// The points on the way from the failed assertion to it; it is the last one.
    pub way: Vec<Parting>,
    /// Other places where the run may part.
    pub others: Vec<Parting>,
    /// The frame in which it diverges, state by state.
    pub frame: Option<FrameTable>,
}

/// Runs the failing tests, records them, and puts together why they fail.
///
/// # Errors
/// As for [`fix::investigate`]: nothing to explain, among others.
pub fn explain(
    settings: &ProjectSettings,
    simulator: Option<&Named>,
    top: usize,
    budget: &mut Budget,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<Explanation, Stop> {
    let (session, baseline, mut found) = fix::investigate(settings, budget, reporter, cancel)?;
    let recorded = Cell::new(0);
    let deadline = Instant::now() + budget.left();
    let walked = simulator.and_then(|simulator| {
        fix::walk(
            simulator, &session, &baseline, &mut found, deadline, &recorded, reporter, cancel,
        )
    });
    budget.test_runs += recorded.get();
    let (opened, diverged) = walked.unzip();
    let run = opened.as_ref().map(|opened| &opened.recording);
    let diverged = diverged.unwrap_or_default();
    if cancel.is_set() {
        return Err(Stop::interrupted());
    }
    let tests = baseline
        .failing
        .iter()
        .map(|failure| {
            let mut told = explained(failure, run, &diverged);
            if told.divergence.is_none() {
                told.no_divergence = Some(if simulator.is_none() {
                    "no simulator: the run was not recorded".to_owned()
                } else if run.is_none() && Instant::now() >= deadline {
                    "the failing run could not be recorded within the time limit (`--max-time`)"
                        .to_owned()
                } else {
                    why::not(failure, run, baseline.collection_fails)
                });
            }
            told
        })
        .collect();
    Ok(Explanation {
        format: FORMAT,
        simulator: run.and(simulator).map(ToString::to_string),
        tests,
        suspicious: Suspicious {
            functions: found.functions.iter().take(top).cloned().collect(),
            statements: found
                .statements
                .iter()
                .take(top)
                .map(|statement| Line {
                    statement: statement.clone(),
                    source: line_of(&found, &statement.file, statement.first_line),
                })
                .collect(),
        },
    })
}

/// One failing test.
fn explained(failure: &Failure, run: Option<&Recording>, diverged: &Diverged) -> Explained {
    let own = |one: &&Parting| one.test == failure.test;
    let partings: Vec<Parting> = diverged.partings.iter().filter(own).cloned().collect();
    let divergence = partings.iter().find(|one| one.ends_here).cloned();
    let (mut way, mut source, mut frame) = (Vec::new(), Vec::new(), None);
    if let (Some(run), Some(end)) = (run, &divergence) {
        way = way::way(run, &partings, end);
        source = around(run, &end.file, end.line);
        let told = diverged.frame.as_ref();
        frame = match told.filter(|frame| frame.test == failure.test) {
            Some(frame) => Some(frame.clone()),
            // Predictions are made for the likeliest one of all tests only: they take time.
            None => frame_table(run, &partings, None),
        };
    }
    // One statement may have been passed often.
    let place = |one: &Parting| {
        (
            one.file.clone(),
            one.line,
            one.part.clone(),
            one.needed.clone(),
        )
    };
    let mut told: HashSet<_> = divergence.iter().map(place).collect();
    let is_other = |one: &&Parting| one.ends_here && told.insert(place(one));
    Explained {
        symptom: failure.clone(),
        no_divergence: None,
        source,
        way,
        others: partings.iter().filter(is_other).cloned().collect(),
        frame,
        divergence,
    }
}

/// Lines around one, as they were when the run was recorded.
fn around(run: &Recording, file: &Utf8PathBuf, line: usize) -> Vec<SourceLine> {
    let Some(file) = run.files().iter().find(|held| held.name == file.as_str()) else {
        return Vec::new();
    };
    let last = (line + AROUND).min(file.line_count() as usize);
    (line.saturating_sub(AROUND).max(1)..=last)
        .map(|line| SourceLine {
            line,
            text: file
                .line(u32::try_from(line).unwrap_or(u32::MAX))
                .to_owned(),
        })
        .collect()
}

/// A line of a file that was localised, without indentation.
fn line_of(found: &Localization, file: &Utf8Path, line: usize) -> String {
    let syntax = found.files.get(file);
    syntax.map_or_else(String::new, |syntax| {
        syntax.file().line_text(line).trim().to_owned()
    })
}
