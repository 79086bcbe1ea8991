//! What a model is told about a failure, within a number of tokens.
//!
//! When it is too much, things are left out in a fixed order: near misses, the details of recorded calls, pytest's
//! own report, recorded calls, source beyond the three, then the two most suspicious functions; last of all long
//! functions are cut down to the lines around their most suspicious statements. Nothing is cut blindly.

use std::fmt::Write as _;

use minijinja::{Value, context};
use ndbg_providers::estimate_tokens;
use ndbg_simulator::EventKind;
use ndbg_simulator::recording::{ActivationId, Entry, EventId, Recording};

use super::prompt::{PromptError, Prompts};
use crate::debug::call_line;
use crate::plan::{Candidate, Facts, Failure, Feedback, Screened, SuspectFunction};

/// How much is told.
#[derive(Debug, Clone, Copy)]
struct Measure {
    misses: usize,
    /// Changed variables told of each call.
    changes: usize,
    report: usize,
    calls: usize,
    functions: usize,
    /// Lines of a function beyond which it is cut.
    lines: usize,
}

/// How many measures there are.
pub const LEVELS: usize = 8;
/// From all to the least, in the order in which things are left out.
const MEASURES: [Measure; LEVELS] = [
    Measure {
        misses: 8,
        changes: 24,
        report: 40,
        calls: 12,
        functions: 8,
        lines: 400,
    },
    Measure {
        misses: 2,
        changes: 24,
        report: 40,
        calls: 12,
        functions: 6,
        lines: 250,
    },
    Measure {
        misses: 0,
        changes: 8,
        report: 30,
        calls: 8,
        functions: 6,
        lines: 200,
    },
    Measure {
        misses: 0,
        changes: 0,
        report: 24,
        calls: 6,
        functions: 4,
        lines: 150,
    },
    Measure {
        misses: 0,
        changes: 0,
        report: 0,
        calls: 4,
        functions: 3,
        lines: 120,
    },
    Measure {
        misses: 0,
        changes: 0,
        report: 0,
        calls: 0,
        functions: 3,
        lines: 80,
    },
    Measure {
        misses: 0,
        changes: 0,
        report: 0,
        calls: 0,
        functions: 2,
        lines: 50,
    },
    Measure {
        misses: 0,
        changes: 0,
        report: 0,
        calls: 0,
        functions: 1,
        lines: 30,
    },
];
/// Failing tests that are told, and lines of a message.
const TESTS: usize = 3;
const MESSAGE: usize = 12;
/// Characters of a value, of a line.
const VALUE: usize = 400;
const SHORT: usize = 60;
/// Suspicious lines that are listed; functions that are named without their source.
const STATEMENTS: usize = 8;
const NAMED: usize = 12;

/// What there is to tell.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// Failing tests, code, suspiciousness.
    pub facts: &'a Facts,
    /// The recorded failing tests.
    pub recording: Option<&'a Recording>,
    /// What was tried before.
    pub tried: &'a [Feedback],
}

/// The facts in at most so many tokens, as far as that can be; `from` leaves out more from the start. Also how
/// much was left out, for a call that goes on from there.
///
/// # Errors
/// A template.
pub fn render(
    prompts: &Prompts,
    told: &Told<'_>,
    tokens: u64,
    from: usize,
) -> Result<(String, usize), PromptError> {
    let mut last = None;
    for (level, measure) in MEASURES
        .iter()
        .enumerate()
        .skip(from.min(MEASURES.len() - 1))
    {
        let text = prompts.render("facts.txt", values(told, *measure))?;
        let fits = estimate_tokens(text.len()) <= tokens;
        last = Some((text, level));
        if fits {
            break;
        }
    }
    last.ok_or_else(|| PromptError {
        name: "facts.txt".into(),
        message: "nothing to tell".into(),
    })
}

fn values(told: &Told<'_>, measure: Measure) -> Value {
    let facts = told.facts;
    let tests: Vec<Value> = facts
        .failures
        .iter()
        .take(TESTS)
        .map(|failure| test(failure, measure))
        .collect();
    let shown = facts.functions.iter().take(measure.functions);
    let functions: Vec<Value> = shown
        .filter_map(|function| source(facts, function, measure))
        .collect();
    let named: Vec<String> = facts
        .functions
        .iter()
        .skip(measure.functions)
        .take(NAMED)
        .map(|function| {
            format!(
                "`{}` ({}:{})",
                function.qualname, function.file, function.first_line
            )
        })
        .collect();
    let statements: Vec<String> = facts
        .statements
        .iter()
        .take(STATEMENTS)
        .map(|statement| {
            format!(
                "{}:{} ({:.2})",
                statement.file, statement.first_line, statement.score
            )
        })
        .collect();
    context! {
        tests => tests,
        more_tests => facts.failures.len().saturating_sub(TESTS),
        functions => functions,
        named => named.join(", "),
        statements => statements.join(", "),
        calls => told.recording.map(|recording| calls(recording, facts, measure)).unwrap_or_default(),
        misses => misses(told.tried, measure.misses),
    }
}

fn test(failure: &Failure, measure: Measure) -> Value {
    let stack: Vec<String> = failure
        .frames
        .iter()
        .map(|frame| format!("`{}` {}:{}", frame.function, frame.file, frame.line))
        .collect();
    let sides = failure.sides.as_ref();
    context! {
        id => failure.test,
        exception => failure.exception,
        message => steady(&lines(&failure.message, MESSAGE)),
        op => sides.map(|sides| sides.op.clone()),
        left => sides.map(|sides| steady(&cut(&sides.left, VALUE))),
        right => sides.map(|sides| steady(&cut(&sides.right, VALUE))),
        lossy => sides.is_some_and(|sides| sides.lossy),
        stack => stack.join(" > "),
        report => if measure.report > 0 { steady(&lines(&failure.longrepr, measure.report)) } else { String::new() },
    }
}

fn source(facts: &Facts, function: &SuspectFunction, measure: Measure) -> Option<Value> {
    let syntax = facts.files.get(&function.file)?;
    let file = syntax.file();
    let count = function.last_line + 1 - function.first_line.min(function.last_line);
    let text = if count <= measure.lines {
        (function.first_line..=function.last_line)
            .map(|line| file.line_text(line).trim_end_matches(['\n', '\r']))
            .collect::<Vec<_>>()
            .join("\n")
    } else {
        around(facts, function, measure.lines)
    };
    Some(context! {
        place => format!("`{}` in {}", function.qualname, function.file),
        first => function.first_line,
        last => function.last_line,
        score => format!("{:.2}", function.score),
        source => text,
    })
}

/// The first lines of a long function and those around its most suspicious statements.
fn around(facts: &Facts, function: &SuspectFunction, limit: usize) -> String {
    let Some(syntax) = facts.files.get(&function.file) else {
        return String::new();
    };
    let file = syntax.file();
    let mut kept = std::collections::BTreeSet::from([function.first_line, function.first_line + 1]);
    let within = facts.statements.iter().filter(|statement| {
        statement.file == function.file
            && (function.first_line..=function.last_line).contains(&statement.first_line)
    });
    for statement in within {
        let from = statement
            .first_line
            .saturating_sub(4)
            .max(function.first_line);
        let to = (statement.last_line + 4).min(function.last_line);
        if kept.len() + (to + 1 - from) > limit && kept.len() > 2 {
            break;
        }
        kept.extend(from..=to);
    }
    let mut text = String::new();
    let mut before = function.first_line.saturating_sub(1);
    for line in kept.into_iter().filter(|line| *line <= function.last_line) {
        if line > before + 1 {
            let _ = writeln!(
                text,
                "# … lines {} to {} are not shown …",
                before + 1,
                line - 1
            );
        }
        let _ = writeln!(
            text,
            "{}",
            file.line_text(line).trim_end_matches(['\n', '\r'])
        );
        before = line;
    }
    if before < function.last_line {
        let _ = writeln!(
            text,
            "# … lines {} to {} are not shown …",
            before + 1,
            function.last_line
        );
    }
    text
}

/// Calls of the functions shown, the last ones of each first: a failure is nearer to them.
fn calls(recording: &Recording, facts: &Facts, measure: Measure) -> String {
    if measure.calls == 0 {
        return String::new();
    }
    let mut chosen: Vec<ActivationId> = Vec::new();
    let each = (measure.calls / measure.functions.max(1)).max(2);
    for function in facts.functions.iter().take(measure.functions) {
        let of_it = (0..recording.activations().len())
            .rev()
            .map(|number| ActivationId(number as u32))
            .filter(|&id| {
                let activation = recording.activation(id);
                activation.entry == Entry::Call
                    && recording.function(id) == function.qualname
                    && recording.file_of(activation.first).name == function.file.as_str()
            });
        chosen.extend(of_it.take(each));
    }
    chosen.truncate(measure.calls);
    chosen.sort();
    let mut text = String::new();
    for id in chosen {
        let _ = writeln!(text, "{}", call_line(recording, id, 0).trim_start());
        let mut at = recording.activation(id).first;
        let mut told = 0;
        while told < measure.changes {
            let Some(next) = recording.next_in_frame(at) else {
                break;
            };
            if let Some(line) = changed(recording, at, next) {
                let _ = writeln!(text, "  {line}");
                told += 1;
            }
            at = next;
        }
    }
    text
}

/// What the line of one event changed, as the next event of its frame sees it.
fn changed(recording: &Recording, at: EventId, next: EventId) -> Option<String> {
    let event = recording.event(next);
    if event.kind == EventKind::Exception {
        let kind = event.exception.map_or("", |text| recording.text(text));
        return Some(format!("line {}: raises {kind}", event.line));
    }
    let line = recording.event(at).line;
    let changes: Vec<String> = event
        .changes
        .iter()
        .filter_map(|change| {
            let value = recording.text(change.value?);
            Some(format!(
                "{} = {}",
                recording.text(change.name),
                cut(value, SHORT)
            ))
        })
        .collect();
    (!changes.is_empty()).then(|| format!("line {line}: {}", changes.join(", ")))
}

/// What came nearest, the fewest edits first. An edit that is told is not told again together with others that
/// bring nothing more.
fn misses(tried: &[Feedback], most: usize) -> Vec<String> {
    let left = |feedback: &Feedback| match &feedback.screened {
        Screened::NearMiss {
            failing, broken, ..
        } => Some(failing.len() + broken.len()),
        _ => None,
    };
    let mut near: Vec<(usize, usize, &Feedback)> = tried
        .iter()
        .filter_map(|feedback| Some((left(feedback)?, feedback.candidate.edits.len(), feedback)))
        .collect();
    near.sort_by(|a, b| {
        let by_score = b.2.candidate.base.total_cmp(&a.2.candidate.base);
        (a.0, a.1).cmp(&(b.0, b.1)).then(by_score)
    });
    let mut told: Vec<&Feedback> = Vec::new();
    for (_, _, feedback) in near {
        let is_more = told.iter().any(|shown| {
            let edits = &feedback.candidate.edits;
            shown.screened == feedback.screened
                && shown
                    .candidate
                    .edits
                    .iter()
                    .all(|edit| edits.contains(edit))
        });
        if !is_more {
            told.push(feedback);
        }
        if told.len() >= most {
            break;
        }
    }
    let told = told.into_iter().take(most);
    told.map(|feedback| {
        let Candidate {
            file, line, claim, ..
        } = &feedback.candidate;
        format!("{file}:{line}: {claim}: {}", outcome(&feedback.screened))
    })
    .collect()
}

/// What a candidate's run showed, for a model.
pub fn outcome(screened: &Screened) -> String {
    match screened {
        Screened::Plausible => "passed at first, but not when it was verified".into(),
        Screened::NearMiss {
            failing,
            broken,
            fixed,
        } => {
            let mut text = format!("{} failing tests pass now", fixed.len());
            if !failing.is_empty() {
                let _ = write!(text, "; still failing: {}", few(failing));
            }
            if !broken.is_empty() {
                let _ = write!(text, "; broken: {}", few(broken));
            }
            text
        }
        Screened::Changed { symptom } => {
            format!("fails in another way: {}", steady(&cut(symptom, VALUE)))
        }
        Screened::Unchanged => "the failure is the same as before".into(),
        Screened::TimedOut => "does not end".into(),
        Screened::Crashed { how } => format!("ends the interpreter: {how}"),
        Screened::Invalid { reason } => format!("is no valid Python, or changes nothing: {reason}"),
    }
}

fn few(names: &[String]) -> String {
    let mut text = names.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 3 {
        let _ = write!(text, " and {} more", names.len() - 3);
    }
    text
}

fn lines(text: &str, most: usize) -> String {
    let count = text.lines().count();
    let mut kept: Vec<&str> = text.lines().take(most).collect();
    if count > most {
        kept.push("…");
    }
    kept.into_iter()
        .map(|line| cut(line, VALUE))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A text without what differs from run to run: addresses of objects, and numbers of pytest's temporary folders.
/// What is asked twice is asked in the same words.
pub fn steady(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, mark, is_part)) = [
        (
            " at 0x",
            (|c: char| c.is_ascii_hexdigit()) as fn(char) -> bool,
        ),
        ("/pytest-", |c: char| c.is_ascii_digit()),
    ]
    .into_iter()
    .filter_map(|(mark, is_part)| Some((rest.find(mark)?, mark, is_part)))
    .min_by_key(|(at, ..)| *at)
    {
        let end = at + mark.len();
        out.push_str(&rest[..end]);
        rest = &rest[end..];
        let digits = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if digits > 0 {
            out.push('…');
        }
        rest = &rest[digits..];
    }
    out + rest
}

/// The beginning of a text.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
