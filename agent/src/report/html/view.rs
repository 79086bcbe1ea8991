//! What the page shows, as text.

use std::cmp::Reverse;

use askama::Template;

use crate::outcome::Outcome;
use crate::plan::Failure;
use crate::report::event::{Level, VerifyStep};
use crate::report::html::diff::{self, Parts, Row};
use crate::report::leads::leads;
use crate::report::prose::{Span, spans};
use crate::report::sides::sides;
use crate::report::story::{Baseline, PlausiblePatch, Story, Tally, Tried};
use crate::report::timeline::{self, Ending};
use crate::report::visible::{first_lines, one_line, visible};
use crate::report::wording::{
    capital, duration, place_in_prose, plural, screened, sentence, title,
};
use crate::report::{facts, gaps, next};

/// Lines of a value and of pytest's text; rows of a ranking and of a list of candidates.
const VALUE_LINES: usize = 40;
const LONGREPR_LINES: usize = 200;
const RANKED: usize = 10;
const CANDIDATES: usize = 12;
const FAILURES: usize = 10;

/// A sentence, its code apart from its words.
type Prose = Vec<Span>;

#[derive(Template)]
#[template(path = "report.html")]
pub struct Page {
    /// Class that colours the page: `good`, `bad` or `warn`.
    tone: &'static str,
    outcome: &'static str,
    document: String,
    summary: Prose,
    numbers: Vec<Number>,
    exit: Option<String>,
    notes: Vec<Note>,
    baseline: Option<String>,
    failures: Vec<Symptom>,
    more_failures: Option<String>,
    flaky: Vec<String>,
    leads: Vec<Prose>,
    patch: Option<Patch>,
    verifications: Vec<Verification>,
    functions: Vec<Suspect>,
    statements: Vec<Suspect>,
    lanes: Vec<Lane>,
    ticks: Vec<Tick>,
    operators: Vec<Operator>,
    telling: Vec<Rejected>,
    near_misses: Vec<Rejected>,
    near_miss_note: Option<String>,
    limits: Vec<(String, bool)>,
    gaps: Vec<Prose>,
    environment: Vec<(String, Prose)>,
    version: String,
}

struct Number {
    value: String,
    name: &'static str,
    /// What it counts.
    meaning: &'static str,
}

struct Note {
    level: &'static str,
    tone: &'static str,
    text: Prose,
    hint: Option<Prose>,
}

struct Symptom {
    test: String,
    exception: String,
    at: Prose,
    message: String,
    op: String,
    sides: Vec<SideView>,
    lossy: bool,
    stack: Vec<Prose>,
    longrepr: String,
}

struct SideView {
    name: &'static str,
    tone: &'static str,
    head: String,
    mark: String,
    tail: String,
    left_out: Option<String>,
}

struct Patch {
    claim: Prose,
    rows: Vec<Row>,
    command: Option<String>,
    applied: Vec<String>,
}

struct Verification {
    verdict: &'static str,
    tone: &'static str,
    claim: Prose,
    reason: Prose,
    steps: Vec<Step>,
    /// The diff of a patch that was not taken.
    rows: Vec<Row>,
}

struct Step {
    passed: bool,
    what: Prose,
    detail: Prose,
    seconds: String,
}

struct Suspect {
    score: String,
    percent: String,
    at: Prose,
    why: Prose,
}

struct Lane {
    name: &'static str,
    stretches: Vec<Bar>,
    seconds: String,
}

struct Bar {
    x: String,
    width: String,
    tone: &'static str,
    title: String,
}

struct Tick {
    x: String,
    label: String,
    anchor: &'static str,
}

struct Operator {
    name: String,
    total: usize,
    /// Its share of the longest bar.
    percent: String,
    parts: Vec<Part>,
}

struct Part {
    class: &'static str,
    name: &'static str,
    count: usize,
}

struct Rejected {
    operator: String,
    claim: Prose,
    why: Prose,
    tests: Vec<String>,
}

impl Page {
    pub fn new(story: &Story) -> Self {
        let outcome = story.end.as_ref().map(|end| end.outcome);
        let fixed = outcome == Some(Outcome::Fixed);
        let (failures, baseline, flaky) = match &story.baseline {
            Some(baseline) => (
                baseline
                    .failing
                    .iter()
                    .take(FAILURES)
                    .map(symptom)
                    .collect(),
                Some(tests(baseline)),
                baseline.flaky.iter().map(|test| one_line(test)).collect(),
            ),
            None => (Vec::new(), None, Vec::new()),
        };
        let hidden_failures = story.failing().len().saturating_sub(FAILURES);
        let summary = story.end.as_ref().map_or_else(
            || "the run ended before it could say how".to_owned(),
            |end| end.summary.clone(),
        );
        Self {
            tone: tone(outcome),
            outcome: title(outcome),
            document: format!(
                "{}: {}",
                title(outcome),
                one_line(&summary).replace('`', "")
            ),
            summary: prose(&capital(&summary)),
            numbers: numbers(story),
            exit: story
                .end
                .as_ref()
                .map(|end| format!("Exit code {}: {}", end.exit_code, end.outcome.meaning())),
            notes: story.notes.iter().map(note).collect(),
            baseline,
            failures,
            more_failures: (hidden_failures > 0)
                .then(|| plural(hidden_failures, "more failing test")),
            flaky,
            leads: if fixed {
                Vec::new()
            } else {
                leads(story).iter().map(|lead| prose(lead)).collect()
            },
            patch: patch(story),
            verifications: story.plausible.iter().map(verification).collect(),
            functions: story
                .functions
                .iter()
                .take(RANKED)
                .map(|function| {
                    let file = function.file.as_str();
                    let at = place_in_prose(&function.qualname, file, function.first_line);
                    suspect(function.score, &at, &function.reasons)
                })
                .collect(),
            statements: story
                .statements
                .iter()
                .take(RANKED)
                .map(|statement| {
                    let file = statement.file.as_str();
                    let at = place_in_prose(&statement.qualname, file, statement.first_line);
                    suspect(statement.score, &at, &statement.reasons)
                })
                .collect(),
            lanes: lanes(story),
            ticks: ticks(story),
            operators: operators(story),
            telling: story
                .telling
                .iter()
                .take(CANDIDATES)
                .map(rejected)
                .collect(),
            near_misses: story
                .near_misses
                .iter()
                .take(CANDIDATES)
                .map(rejected)
                .collect(),
            near_miss_note: (story.near_miss_count() > CANDIDATES)
                .then(|| format!("The nearest {CANDIDATES} of {}.", story.near_miss_count())),
            limits: gaps::limits(story)
                .into_iter()
                .map(|limit| (capital(&limit.text), limit.reached))
                .collect(),
            gaps: gaps::not_tried(story)
                .iter()
                .map(|gap| prose(&capital(gap)))
                .collect(),
            environment: facts::environment(story)
                .into_iter()
                .map(|(name, text)| (name.into_owned(), prose(&text)))
                .collect(),
            version: story
                .start
                .as_ref()
                .map_or(String::new(), |start| one_line(&start.version)),
        }
    }
}

/// "1 failing, 41 passing of 43 collected".
fn tests(baseline: &Baseline) -> String {
    let mut parts = Vec::new();
    for (count, name) in [
        (baseline.failing.len(), "failing"),
        (baseline.flaky.len(), "flaky"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {name}"));
        }
    }
    parts.push(format!("{} passing", baseline.passing));
    format!("{} of {} collected", parts.join(", "), baseline.collected)
}

const fn tone(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Fixed | Outcome::NothingToFix) => "good",
        Some(Outcome::NotFixed | Outcome::Usage | Outcome::Environment) => "bad",
        Some(Outcome::Flaky | Outcome::Budget | Outcome::Interrupted) | None => "warn",
    }
}

fn prose(sentence: &str) -> Prose {
    spans(&one_line(sentence))
}

fn numbers(story: &Story) -> Vec<Number> {
    let mut numbers = Vec::new();
    let mut number = |value: String, name, meaning| {
        numbers.push(Number {
            value,
            name,
            meaning,
        });
    };
    if story.executed() > 0 {
        number(
            story.executed().to_string(),
            "candidates",
            "run while screening",
        );
        number(
            story.plausible.len().to_string(),
            "plausible",
            "pass the failing tests",
        );
        number(
            story.verified().to_string(),
            "verified",
            "passed every step",
        );
    }
    if let Some(end) = &story.end
        && end.test_runs > 0
    {
        number(
            end.test_runs.to_string(),
            "test runs",
            "processes and forks",
        );
    }
    number(duration(story.seconds()), "time", "wall clock of the run");
    numbers
}

fn note(note: &crate::report::story::Note) -> Note {
    Note {
        level: note.level.name(),
        tone: match note.level {
            Level::Info => "plain",
            Level::Warning => "warn",
            Level::Error => "bad",
        },
        text: prose(&note.text),
        hint: note.hint.as_deref().map(prose),
    }
}

fn symptom(failure: &Failure) -> Symptom {
    let at = failure.frames.last().map_or(String::new(), |frame| {
        place_in_prose(&frame.function, frame.file.as_str(), frame.line)
    });
    let named = sides(failure);
    Symptom {
        test: one_line(&failure.test),
        exception: one_line(&failure.exception),
        at: prose(&at),
        // Both sides say better what `assert a == b` says.
        message: if named.is_some() && failure.message.starts_with("assert ") {
            String::new()
        } else {
            cut(&failure.message, VALUE_LINES).0
        },
        op: named
            .as_ref()
            .map_or(String::new(), |named| one_line(named.op)),
        lossy: named.as_ref().is_some_and(|named| named.lossy),
        sides: named.map_or(Vec::new(), |named| side_views(named.first, named.second)),
        stack: failure
            .frames
            .iter()
            .map(|frame| {
                let file = frame.file.as_str();
                prose(&place_in_prose(&frame.function, file, frame.line))
            })
            .collect(),
        longrepr: cut(&failure.longrepr, LONGREPR_LINES).0,
    }
}

/// Both sides, with what differs marked where they are alike.
fn side_views(first: (&'static str, &str), second: (&'static str, &str)) -> Vec<SideView> {
    let ((one, one_left), (other, other_left)) =
        (cut(first.1, VALUE_LINES), cut(second.1, VALUE_LINES));
    let whole = |text: &String| -> Parts { [text.clone(), String::new(), String::new()] };
    let (one, other) =
        diff::difference(&one, &other).unwrap_or_else(|| (whole(&one), whole(&other)));
    [(first.0, one, one_left), (second.0, other, other_left)]
        .into_iter()
        .map(|(name, [head, mark, tail], left_out)| SideView {
            name,
            tone: match name {
                "expected" => "good",
                "actual" => "bad",
                _ => "plain",
            },
            head,
            mark,
            tail,
            left_out: (left_out > 0).then(|| format!("{} more", plural(left_out, "line"))),
        })
        .collect()
}

/// The first lines, and how many were left out.
fn cut(text: &str, max: usize) -> (String, usize) {
    let text = visible(text);
    let (lines, left_out) = first_lines(&text, max);
    (lines.join("\n"), left_out)
}

fn patch(story: &Story) -> Option<Patch> {
    if story.diff().is_empty() {
        return None;
    }
    Some(Patch {
        claim: story.accepted().map_or(Vec::new(), claim),
        rows: diff::rows(story.diff()),
        command: next::apply_in_project(story).map(|command| one_line(&command)),
        applied: story
            .applied
            .iter()
            .map(|file| one_line(file.as_str()))
            .collect(),
    })
}

fn claim(patch: &PlausiblePatch) -> Prose {
    match &patch.tried {
        Some(tried) => prose(&sentence(tried)),
        None => prose(&patch.claim),
    }
}

fn verification(patch: &PlausiblePatch) -> Verification {
    let (verdict, tone) = match &patch.verdict {
        Some(verdict) if verdict.accepted => ("Verified", "good"),
        Some(_) => ("Rejected", "bad"),
        None => ("Not settled", "warn"),
    };
    Verification {
        verdict,
        tone,
        claim: claim(patch),
        reason: patch
            .verdict
            .as_ref()
            .map_or(Vec::new(), |verdict| prose(&capital(&verdict.reason))),
        steps: patch.steps.iter().map(step).collect(),
        rows: if patch.is_accepted() {
            Vec::new()
        } else {
            diff::rows(&patch.diff)
        },
    }
}

fn step(step: &VerifyStep) -> Step {
    Step {
        passed: step.passed,
        what: prose(&step.step),
        detail: prose(&step.detail),
        seconds: duration(step.seconds),
    }
}

fn suspect(score: f64, at: &str, reasons: &[String]) -> Suspect {
    Suspect {
        score: format!("{score:.2}"),
        percent: format!("{:.1}", score.clamp(0.0, 1.0) * 100.0),
        at: prose(at),
        why: prose(&reasons.join("; ")),
    }
}

fn percent(at: f64, story: &Story) -> f64 {
    (at / story.clock.last.max(f64::MIN_POSITIVE) * 100.0).clamp(0.0, 100.0)
}

fn lanes(story: &Story) -> Vec<Lane> {
    timeline::lanes(story)
        .into_iter()
        .map(|lane| Lane {
            name: lane.name,
            seconds: duration(lane.seconds()),
            stretches: lane
                .stretches
                .iter()
                .map(|stretch| {
                    let (from, to) = (percent(stretch.from, story), percent(stretch.to, story));
                    // What took no time took place.
                    let width = (to - from).max(0.5);
                    let took = duration(stretch.to - stretch.from);
                    Bar {
                        x: format!("{:.2}", from.min(100.0 - width)),
                        width: format!("{width:.2}"),
                        tone: match stretch.ending {
                            Ending::Done => "plain",
                            Ending::Accepted => "good",
                            Ending::Rejected => "bad",
                        },
                        title: format!(
                            "{}: {took}, from {}",
                            match stretch.ending {
                                Ending::Done => lane.name,
                                Ending::Accepted => "Verified",
                                Ending::Rejected => "Rejected",
                            },
                            duration(stretch.from)
                        ),
                    }
                })
                .collect(),
        })
        .collect()
}

fn ticks(story: &Story) -> Vec<Tick> {
    timeline::ticks(story.clock.last)
        .into_iter()
        .map(|tick| {
            let x = percent(tick, story);
            Tick {
                x: format!("{x:.2}"),
                label: if tick == 0.0 {
                    "0".to_owned()
                } else {
                    duration(tick)
                },
                anchor: match x {
                    x if x < 3.0 => "start",
                    x if x > 95.0 => "end",
                    _ => "middle",
                },
            }
        })
        .collect()
}

fn operators(story: &Story) -> Vec<Operator> {
    let most = story.tallies.values().map(Tally::total).max().unwrap_or(1);
    let mut operators: Vec<Operator> = story
        .tallies
        .iter()
        .map(|(name, tally)| Operator {
            name: one_line(name),
            total: tally.total(),
            percent: format!("{:.1}", tally.total() as f64 / most.max(1) as f64 * 100.0),
            parts: tally
                .parts()
                .into_iter()
                .map(|(name, count)| Part {
                    class: match name {
                        "plausible" => "plausible",
                        "near miss" => "near",
                        "changed symptom" => "changed",
                        "same failure" => "same",
                        _ => "dead",
                    },
                    name,
                    count,
                })
                .collect(),
        })
        .collect();
    operators.sort_by_key(|operator| Reverse(operator.total));
    operators
}

fn rejected(tried: &Tried) -> Rejected {
    Rejected {
        operator: one_line(&tried.operator),
        claim: prose(&sentence(tried)),
        why: prose(&capital(&screened(&tried.result))),
        tests: tried
            .in_the_way()
            .take(3)
            .map(|test| one_line(test))
            .collect(),
    }
}
