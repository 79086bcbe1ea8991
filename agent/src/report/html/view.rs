//! What the page shows, as text.

use askama::Template;

use crate::outcome::Outcome;
use crate::report::event::{Level, VerifyStep};
use crate::report::html::charts::{self, Lane, Operator, Tick};
use crate::report::html::diff::{self, Row};
use crate::report::html::frame::{Frame, frame};
use crate::report::html::symptom::{Symptom, symptom};
use crate::report::leads::leads;
use crate::report::prose::{Span, spans};
use crate::report::story::{Baseline, PlausiblePatch, Story, Tried};
use crate::report::visible::one_line;
use crate::report::wording::{
    angelic, capital, conversation, duration, example, heading, parting, place_in_prose, plural,
    screened, sentence, supposed, sure,
};
use crate::report::{facts, gaps, next};

/// Rows of a ranking and of a list of candidates, failing tests.
const RANKED: usize = 10;
const CANDIDATES: usize = 12;
const FAILURES: usize = 10;

/// A sentence, its code apart from its words.
pub type Prose = Vec<Span>;

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
    examples: Vec<Prose>,
    angelic: Vec<Prose>,
    sureness: Option<Prose>,
    divergence: Vec<Prose>,
    frame: Option<Frame>,
    conversation: Option<Talk>,
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

struct Rejected {
    operator: String,
    claim: Prose,
    why: Prose,
    tests: Vec<String>,
}

impl Page {
    pub fn new(story: &Story) -> Self {
        let outcome = story.end.as_ref().map(|end| end.outcome);
        let fixed = outcome == Some(Outcome::Fixed) && !story.is_explanation();
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
            outcome: heading(story),
            document: format!(
                "{}: {}",
                heading(story),
                one_line(&summary).replace('`', "")
            ),
            summary: prose(&capital(&summary)),
            numbers: numbers(story),
            exit: story
                .end
                .as_ref()
                .filter(|_| !story.is_explanation())
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
            examples: story
                .examples
                .iter()
                .map(|shown| prose(&capital(&example(shown))))
                .collect(),
            sureness: story
                .sureness
                .as_ref()
                .map(|found| prose(&capital(&sure(found)))),
            divergence: story
                .divergences()
                .into_iter()
                .take(RANKED)
                .map(|found| prose(&capital(&parting(found))))
                .collect(),
            frame: story.frame.as_ref().map(frame),
            angelic: story
                .angelic
                .iter()
                .take(RANKED)
                .map(|found| prose(&capital(&angelic(found))))
                .collect(),
            conversation: story.conversation.as_ref().map(|held| Talk {
                facts: prose(&format!("{}.", conversation(held))),
                rows: held
                    .hypotheses
                    .iter()
                    .take(2 * RANKED)
                    .map(|one| Supposition {
                        round: one.round,
                        claim: prose(&one.claim),
                        prediction: one.prediction.as_deref().map(one_line),
                        outcome: prose(&supposed(one)),
                    })
                    .collect(),
            }),
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
            lanes: charts::lanes(story),
            ticks: charts::ticks(story),
            operators: charts::operators(story),
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

/// The conversation with a model.
pub struct Talk {
    facts: Prose,
    rows: Vec<Supposition>,
}

/// A hypothesis of a model.
pub struct Supposition {
    round: usize,
    claim: Prose,
    prediction: Option<String>,
    outcome: Prose,
}

pub fn prose(sentence: &str) -> Prose {
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
