//! The report for programs: one object.

use camino::Utf8PathBuf;
use serde::Serialize;

use super::event::Sureness;
use crate::fix::divergence::Parting;
use crate::fix::frame_table::FrameTable;
use crate::outcome::Outcome;
use crate::plan::Looks;
use crate::plan::synthesis::oracle::Angelic;
use crate::plan::{Failure, SuspectFunction, SuspectStatement};
use crate::report::ReportError;
use crate::report::event::{Example, VerifyStep};
use crate::report::gaps;
use crate::report::story::{Conversation, Environment, Note, Story, Tally, Tree, Tried};

/// Version of the format; raised when a field changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// What the numbers of a report count.
pub const DEFINITIONS: [(&str, &str); 5] = [
    (
        "plausible",
        "patches that pass the failing tests and the tests run beside them while screening",
    ),
    (
        "verified",
        "plausible patches that passed every verification step; that says nothing about inputs no \
         test covers",
    ),
    ("executions", "candidates run while screening"),
    (
        "test_runs",
        "test processes and forks in all, baseline and verification among them",
    ),
    ("seconds", "wall clock of the run"),
];

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    version: Option<&'a str>,
    command: Option<&'a str>,
    repo: Option<&'a Utf8PathBuf>,
    targets: &'a [String],
    /// None when the run was killed.
    outcome: Option<Outcome>,
    exit_code: Option<u8>,
    summary: Option<&'a str>,
    /// None when nothing was verified.
    patch: Option<Patch<'a>>,
    applied: &'a [Utf8PathBuf],
    plausible: usize,
    verified: usize,
    executions: u64,
    test_runs: Option<u64>,
    seconds: f64,
    definitions: serde_json::Map<String, serde_json::Value>,
    failing_tests: &'a [Failure],
    flaky_tests: &'a [String],
    passing_tests: Option<usize>,
    collected_tests: Option<usize>,
    ranking: Ranking<'a>,
    tried: Vec<OperatorTally<'a>>,
    near_misses: &'a [Tried],
    verification: Vec<Verification<'a>>,
    examples: &'a [Example],
    angelic: &'a [Angelic],
    divergence: &'a [Parting],
    /// None without a verified patch.
    sureness: Option<&'a Sureness>,
    /// None when no run was looked at for it.
    foreseen: Option<&'a Looks>,
    /// The frame of the first of them, state by state.
    divergence_frame: Option<&'a FrameTable>,
    /// None when no language model was asked.
    conversation: Option<&'a Conversation>,
    limits_reached: Vec<String>,
    not_tried: Vec<String>,
    notes: &'a [Note],
    tree: Option<&'a Tree>,
    environment: Option<&'a Environment>,
}

#[derive(Serialize)]
struct Patch<'a> {
    /// The exact bytes, beside the report.
    file: &'static str,
    /// The diff, with U+FFFD for what is not UTF-8.
    text: &'a str,
}

#[derive(Serialize)]
struct Ranking<'a> {
    functions: &'a [SuspectFunction],
    statements: &'a [SuspectStatement],
}

#[derive(Serialize)]
struct OperatorTally<'a> {
    operator: &'a str,
    total: usize,
    #[serde(flatten)]
    tally: Tally,
}

#[derive(Serialize)]
struct Verification<'a> {
    id: u64,
    claim: &'a str,
    executed_before: u64,
    accepted: Option<bool>,
    reason: Option<&'a str>,
    steps: &'a [VerifyStep],
    diff: &'a str,
}

/// The report of a run.
pub fn render(story: &Story) -> Result<String, ReportError> {
    let start = story.start.as_ref();
    let end = story.end.as_ref();
    let baseline = story.baseline.as_ref();
    let report = Report {
        format: FORMAT,
        version: start.map(|start| start.version.as_str()),
        command: start.map(|start| start.command.as_str()),
        repo: start.map(|start| &start.repo),
        targets: start.map_or(&[], |start| &start.targets),
        outcome: end.map(|end| end.outcome),
        exit_code: end.map(|end| end.exit_code),
        summary: end.map(|end| end.summary.as_str()),
        patch: (!story.diff().is_empty()).then(|| Patch {
            file: "patch.diff",
            text: story.diff(),
        }),
        applied: &story.applied,
        plausible: story.plausible.len(),
        verified: story.verified(),
        executions: story.executed(),
        test_runs: end.map(|end| end.test_runs),
        seconds: story.seconds(),
        definitions: DEFINITIONS
            .into_iter()
            .map(|(name, meaning)| (name.to_owned(), meaning.into()))
            .collect(),
        failing_tests: story.failing(),
        flaky_tests: baseline.map_or(&[], |baseline| &baseline.flaky),
        passing_tests: baseline.map(|baseline| baseline.passing),
        collected_tests: baseline.map(|baseline| baseline.collected),
        ranking: Ranking {
            functions: &story.functions,
            statements: &story.statements,
        },
        tried: story
            .tallies
            .iter()
            .map(|(operator, tally)| OperatorTally {
                operator,
                total: tally.total(),
                tally: *tally,
            })
            .collect(),
        near_misses: &story.near_misses,
        verification: story
            .plausible
            .iter()
            .map(|patch| Verification {
                id: patch.id,
                claim: &patch.claim,
                executed_before: patch.executed,
                accepted: patch.verdict.as_ref().map(|verdict| verdict.accepted),
                reason: patch
                    .verdict
                    .as_ref()
                    .map(|verdict| verdict.reason.as_str()),
                steps: &patch.steps,
                diff: &patch.diff,
            })
            .collect(),
        examples: &story.examples,
        angelic: &story.angelic,
        divergence: &story.partings,
        sureness: story.sureness.as_ref(),
        foreseen: story.foreseen.as_ref(),
        divergence_frame: story.frame.as_ref(),
        conversation: story.conversation.as_ref(),
        limits_reached: gaps::limits(story)
            .into_iter()
            .filter(|limit| limit.reached)
            .map(|limit| limit.text)
            .collect(),
        not_tried: gaps::not_tried(story),
        notes: &story.notes,
        tree: story.tree.as_ref(),
        environment: story.environment.as_ref(),
    };
    let mut text = serde_json::to_string_pretty(&report).map_err(|source| ReportError::Render {
        what: "report.json",
        source: Box::new(source),
    })?;
    text.push('\n');
    Ok(text)
}
