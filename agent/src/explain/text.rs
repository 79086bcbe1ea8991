//! An explanation as text that reads well at 80 columns, without colour.

use ndbg_tools::protected::is_protected;

use crate::explain::{Explained, Explanation, Line};
use crate::fix::divergence::Parting;
use crate::fix::frame_table::{FrameTable, Held};
use crate::plan::Frame;
use crate::report::columns::columns;
use crate::report::look::{Look, Role};
use crate::report::sides::sides;
use crate::report::terminal::page::Page;
use crate::report::visible::{ellipsize, first_lines, one_line, visible, wrap};
use crate::report::wording::{capital, known_by, plural};

/// Lines of a message and of a value.
const MESSAGE: usize = 6;
const VALUE: usize = 8;
/// Tests that are told in full, other places, suspicious lines.
const TESTS: usize = 3;
const OTHERS: usize = 4;
const LINES: usize = 5;
/// What the columns of the steps keep when they are cut.
const LEAST: [usize; 6] = [1, 4, 20, 15, 9, 15];
/// Longest value within a sentence.
const INLINE: usize = 44;
/// Steps of the frame before the divergence, and after it.
const BEFORE: usize = 11;
const AFTER: usize = 1;

/// The explanation for people.
pub fn text(explanation: &Explanation, look: &Look) -> String {
    let mut page = Page::new(look);
    for explained in explanation.tests.iter().take(TESTS) {
        symptom(&mut page, explained);
        match &explained.divergence {
            Some(found) => {
                divergence(&mut page, explained, found);
                way(&mut page, explained);
                if let Some(frame) = &explained.frame {
                    steps(&mut page, frame);
                }
                others(&mut page, explained);
            }
            None => {
                page.heading("No divergence");
                let why = explained.no_divergence.as_deref().unwrap_or_default();
                page.body(2, &format!("{}.", capital(&one_line(why))), VALUE);
            }
        }
    }
    if explanation.tests.len() > TESTS {
        let more = plural(explanation.tests.len() - TESTS, "more failing test");
        page.out.push('\n');
        page.body(
            0,
            &format!("{more}; `--test ID` explains one of them."),
            VALUE,
        );
    }
    let is_missing = |one: &Explained| one.divergence.is_none();
    if explanation.tests.iter().take(TESTS).any(is_missing) {
        suspicious(&mut page, &explanation.suspicious.statements);
    }
    page.out.trim_start_matches('\n').to_owned()
}

fn symptom(page: &mut Page<'_>, explained: &Explained) {
    let failure = &explained.symptom;
    page.out.push('\n');
    page.id("", &failure.test);
    let mut what = if failure.exception.is_empty() {
        "fails".to_owned()
    } else {
        format!("fails with {}", failure.exception)
    };
    if let Some(frame) = failure.frames.last() {
        what = format!(
            "{what} in {}, {}:{}",
            frame.function, frame.file, frame.line
        );
    }
    page.body(2, &one_line(&what), VALUE);
    match sides(failure) {
        Some(named) => {
            value(page, named.first.0, named.first.1);
            value(page, named.second.0, named.second.1);
            if named.op != "==" {
                page.entry("compared by", Role::Label, named.op);
            }
        }
        None => {
            let message = visible(&failure.message);
            for line in first_lines(&message, MESSAGE).0 {
                page.body(4, line, 2);
            }
        }
    }
}

/// A value with its name, on a line where that is long enough.
fn value(page: &mut Page<'_>, name: &str, text: &str) {
    let text = visible(text);
    let mut label = name;
    for line in first_lines(&text, VALUE).0 {
        let line = ellipsize(line, page.look.width - 14, page.look.ellipsis());
        page.labelled(label, Role::Label, &line);
        label = "";
    }
}

fn divergence(page: &mut Page<'_>, explained: &Explained, found: &Parting) {
    page.heading("Where it parts from what was needed");
    let at = format!(
        "{} in {}, {}:{}",
        found.part.replace('`', ""),
        found.function,
        found.file,
        found.line
    );
    page.body(2, &capital_of_words(&at, &found.part), VALUE);
    value(page, "recorded", &found.recorded);
    value(page, "needed", &found.needed);
    page.entry("known", Role::Label, &known_by(found));
    page.out.push('\n');
    for line in &explained.source {
        let mark = if line.line == found.line { ">" } else { " " };
        let text = format!(
            "{mark} {:>5}  {}",
            line.line,
            visible(&line.text).replace('\n', " ")
        );
        let text = ellipsize(text.trim_end(), page.look.width - 2, page.look.ellipsis());
        let role = if line.line == found.line {
            Role::Strong
        } else {
            Role::Dim
        };
        let text = page.look.paint(role, &text).into_owned();
        page.line("  ", &text);
    }
}

/// Names stay as they are written; words get a capital.
fn capital_of_words(text: &str, part: &str) -> String {
    if part.starts_with('`') {
        one_line(text)
    } else {
        capital(&one_line(text))
    }
}

fn way(page: &mut Page<'_>, explained: &Explained) {
    page.heading("From the assertion to there");
    let failure = &explained.symptom;
    let mut number = 1;
    // The assertion that the walk begins at.
    let asserted = |frame: &&Frame| is_protected(&frame.file);
    if let Some(frame) = failure.frames.iter().rev().find(asserted) {
        let said = failure.message.lines().next().unwrap_or_default();
        point(
            page,
            number,
            &format!("{}:{} ", frame.file, frame.line),
            said,
        );
        number += 1;
    }
    for one in &explained.way {
        let at = format!("{}:{} in {}: ", one.file, one.line, one.function);
        let text = parted(page, one);
        point(page, number, &at, &text);
        number += 1;
    }
}

/// "`total` was 3 instead of 4".
fn parted(page: &Page<'_>, one: &Parting) -> String {
    let short = |text: &str| ellipsize(&one_line(text), INLINE, page.look.ellipsis());
    let (part, recorded) = (&one.part, short(&one.recorded));
    format!("{part} was {recorded} instead of {}", short(&one.needed))
}

fn point(page: &mut Page<'_>, number: usize, at: &str, text: &str) {
    let text = one_line(&format!("{at}{text}"));
    let lines = wrap(&text, page.look.width - 6);
    for (row, line) in lines.iter().take(3).enumerate() {
        let lead = if row == 0 {
            format!("{number:>3}.  ")
        } else {
            " ".repeat(6)
        };
        page.line(&lead, line);
    }
}

fn steps(page: &mut Page<'_>, frame: &FrameTable) {
    let from = frame.diverges_at.saturating_sub(BEFORE);
    let until = (frame.diverges_at + 1 + AFTER).min(frame.steps.len());
    let all = frame.left_out.0 + frame.steps.len() + frame.left_out.1;
    let first = frame.left_out.0 + from + 1;
    page.heading(&format!(
        "Steps {first} to {} of {all} of {}",
        frame.left_out.0 + until,
        one_line(&frame.function)
    ));
    let joined = |held: &[Held]| {
        let all: Vec<String> = held.iter().map(ToString::to_string).collect();
        one_line(&all.join(", "))
    };
    let mut rows = vec![
        ["", "line", "source", "recorded", "predicted", "needed"]
            .map(String::from)
            .to_vec(),
    ];
    for (number, step) in frame.steps.iter().enumerate().take(until).skip(from) {
        let mark = if number == frame.diverges_at { ">" } else { "" };
        rows.push(vec![
            mark.to_owned(),
            step.line.to_string(),
            one_line(&step.source),
            joined(&step.recorded),
            // Wide values twice would leave no room for the source.
            if !step.predicted.is_empty() && step.predicted == step.recorded {
                "the same".to_owned()
            } else {
                joined(&step.predicted)
            },
            joined(&step.needed),
        ]);
    }
    for line in columns(&rows, &LEAST, page.look.width - 2, page.look.ellipsis()) {
        page.line("  ", &line);
    }
}

fn others(page: &mut Page<'_>, explained: &Explained) {
    if explained.others.is_empty() {
        return;
    }
    page.heading("Or elsewhere");
    for one in explained.others.iter().take(OTHERS) {
        let at = format!("{}:{} in {}: ", one.file, one.line, one.function);
        let text = format!("{at}{} ({})", parted(page, one), known_by(one));
        page.body(2, &one_line(&text), 4);
    }
}

fn suspicious(page: &mut Page<'_>, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    page.heading("The most suspicious lines");
    for (rank, line) in lines.iter().take(LINES).enumerate() {
        let statement = &line.statement;
        let at = one_line(&format!(
            "{:.2}  {}:{}  {}",
            statement.score, statement.file, statement.first_line, line.source
        ));
        let lead = format!("{:>3}.  ", rank + 1);
        let room = page.look.width - lead.len();
        page.line(&lead, &ellipsize(&at, room, page.look.ellipsis()));
        page.body(12, &one_line(&statement.reasons.join(", ")), 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Suspicious;
    use crate::fix::frame_table::{SourceLine, Step};
    use crate::plan::{Failure, SuspectStatement};

    /// Clears the screen, reverses the reading order, begins a line.
    const BAD: &str = "a\x1b[2J\u{202e}\r\n::error::b";

    fn hostile(has_divergence: bool) -> Explained {
        let bad = || BAD.to_owned();
        let parting = Parting {
            test: bad(),
            file: BAD.into(),
            line: 2,
            function: bad(),
            part: format!("`{BAD}`"),
            recorded: bad(),
            needed: bad(),
            needed_known: true,
            visit: None,
            confidence: 0.5,
            provenance: bad(),
            ends_here: true,
        };
        let held = || vec![Held::new(BAD, BAD)];
        let step = Step {
            line: 2,
            source: bad(),
            recorded: held(),
            predicted: held(),
            needed: held(),
            confidence: None,
        };
        let frame = FrameTable {
            test: bad(),
            file: BAD.into(),
            function: bad(),
            steps: vec![step],
            diverges_at: 0,
            left_out: (0, 0),
            source: Vec::new(),
            predicted_by: None,
        };
        Explained {
            symptom: Failure {
                test: bad(),
                exception: bad(),
                message: bad(),
                frames: vec![Frame {
                    file: "test_a\x1b.py".into(),
                    line: 1,
                    function: bad(),
                }],
                ..Failure::default()
            },
            divergence: has_divergence.then(|| parting.clone()),
            no_divergence: (!has_divergence).then(bad),
            source: vec![SourceLine {
                line: 2,
                text: bad(),
            }],
            way: vec![parting.clone()],
            others: vec![parting],
            frame: Some(frame),
        }
    }

    #[test]
    fn text_of_the_repository_cannot_act() {
        let statement = SuspectStatement {
            file: BAD.into(),
            qualname: BAD.into(),
            first_line: 1,
            last_line: 1,
            score: 0.5,
            ochiai: 0.5,
            reasons: vec![BAD.into()],
        };
        let explanation = Explanation {
            format: super::super::FORMAT,
            simulator: None,
            tests: vec![hostile(true), hostile(false)],
            suspicious: Suspicious {
                functions: Vec::new(),
                statements: vec![Line {
                    statement,
                    source: BAD.into(),
                }],
            },
        };
        let text = text(&explanation, &Look::PLAIN);
        assert!(!text.contains(['\x1b', '\r', '\u{202e}']), "{text}");
        let is_command = |line: &str| line.trim_start().starts_with("::");
        assert!(!text.lines().any(is_command), "{text}");
    }
}
