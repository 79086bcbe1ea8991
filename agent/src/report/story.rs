//! A run, folded from its events: what every renderer reads.

mod fold;

use std::collections::{BTreeMap, HashSet};

use camino::Utf8PathBuf;
use serde::Serialize;

use super::event::Sureness;
use crate::fix::divergence::Parting;
use crate::fix::frame_table::FrameTable;
use crate::outcome::Outcome;
use crate::plan::Looks;
use crate::plan::synthesis::oracle::Angelic;
use crate::plan::{Failure, Screened, SuspectFunction, SuspectStatement};
use crate::report::event::{BudgetFacts, Counts, Example, Level, Stages, VerifyStep};

/// A run, as far as it went.
#[derive(Debug, Default, Clone)]
pub struct Story {
    /// How it was started.
    pub start: Option<Start>,
    /// The tree that was worked on.
    pub tree: Option<Tree>,
    /// The interpreter.
    pub environment: Option<Environment>,
    /// The baseline runs.
    pub baseline_runs: Vec<BaselineRun>,
    /// The settled baseline.
    pub baseline: Option<Baseline>,
    /// The recorded spectra.
    pub spectra: Option<Spectra>,
    /// Suspicious functions, most suspicious first.
    pub functions: Vec<SuspectFunction>,
    /// Suspicious statements, most suspicious first.
    pub statements: Vec<SuspectStatement>,
    /// Planners that ran, with the candidates they had, when known.
    pub planners: Vec<(String, Option<usize>)>,
    /// What became of the candidates, by operator.
    pub tallies: BTreeMap<String, Tally>,
    /// Candidates run by file and function.
    pub tried_in: BTreeMap<(Utf8PathBuf, String), usize>,
    /// Near misses, nearest first; the best of them.
    pub near_misses: Vec<Tried>,
    /// Candidates that changed the symptom, crashed or hung; the first of each.
    pub telling: Vec<Tried>,
    /// Patches that passed the screening.
    pub plausible: Vec<PlausiblePatch>,
    /// The conversation with a language model, if there was one.
    pub conversation: Option<Conversation>,
    /// Calls that show the failure or tell patches apart.
    pub examples: Vec<Example>,
    /// Places where another value makes failing tests pass.
    pub angelic: Vec<Angelic>,
    /// How sure the verified patch is to be right.
    pub sureness: Option<Sureness>,
    /// What edits were foreseen to do.
    pub foreseen: Option<Looks>,
    /// Where the failing runs part from what was needed, the likeliest first.
    pub partings: Vec<Parting>,
    /// The frame of the likeliest one, state by state.
    pub frame: Option<FrameTable>,
    /// The last standing of the search.
    pub progress: Option<Progress>,
    /// Notes, in order.
    pub notes: Vec<Note>,
    /// Files that the patch was applied to in the user's tree.
    pub applied: Vec<Utf8PathBuf>,
    /// How it ended; none when the run was killed.
    pub end: Option<End>,
    /// Time of the events that mark the phases.
    pub clock: Clock,
}

/// How a run was started.
#[derive(Debug, Clone)]
pub struct Start {
    /// Version of the program.
    pub version: String,
    /// Command.
    pub command: String,
    /// The project folder.
    pub repo: Utf8PathBuf,
    /// Tests asked for.
    pub targets: Vec<String>,
    /// Where the artefacts are.
    pub run_dir: Utf8PathBuf,
    /// Limits.
    pub budget: BudgetFacts,
    /// Stages that were switched on, where something was to be fixed.
    pub stages: Option<Stages>,
}

/// The tree that was worked on.
#[derive(Debug, Clone, Serialize)]
pub struct Tree {
    /// `worktree` or `copy`.
    pub how: String,
    /// Base commit.
    pub base: Option<String>,
    /// Tracked files with uncommitted changes.
    pub changed: usize,
    /// Untracked files taken over.
    pub untracked: Vec<Utf8PathBuf>,
    /// What was left out, with the reason.
    pub left_out: Vec<String>,
}

/// The interpreter.
#[derive(Debug, Clone, Serialize)]
pub struct Environment {
    /// Its path.
    pub python: Utf8PathBuf,
    /// Its version.
    pub version: String,
    /// The rule that found it.
    pub rule: String,
    /// pytest's version.
    pub pytest: String,
    /// Whether this program made the environment.
    pub managed: bool,
    /// pytest plugins.
    pub plugins: Vec<String>,
}

/// A baseline run.
#[derive(Debug, Clone, Copy)]
pub struct BaselineRun {
    /// One-based.
    pub run: usize,
    /// Results.
    pub counts: Counts,
    /// Seconds.
    pub seconds: f64,
}

/// The settled baseline.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// Tests that always failed.
    pub failing: Vec<Failure>,
    /// Tests that failed in some runs.
    pub flaky: Vec<String>,
    /// Tests that always passed.
    pub passing: usize,
    /// Tests collected.
    pub collected: usize,
}

/// The recorded spectra.
#[derive(Debug, Clone, Copy)]
pub struct Spectra {
    /// Tests with a spectrum.
    pub tests: usize,
    /// Lines seen.
    pub lines: usize,
    /// Whether the recording was cut short.
    pub partial: bool,
    /// Seconds.
    pub seconds: f64,
}

/// What became of an operator's candidates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Passed the screening.
    pub plausible: usize,
    /// Made some failing tests pass, or broke others.
    pub near_misses: usize,
    /// Failed in another way.
    pub changed: usize,
    /// Failed as before.
    pub unchanged: usize,
    /// Did not end in time.
    pub timed_out: usize,
    /// Killed the interpreter.
    pub crashed: usize,
    /// Did not compile or changed nothing.
    pub invalid: usize,
}

impl Tally {
    /// Candidates in all.
    pub const fn total(&self) -> usize {
        self.plausible
            + self.near_misses
            + self.changed
            + self.unchanged
            + self.timed_out
            + self.crashed
            + self.invalid
    }

    /// The non-zero parts, best first, with their names.
    pub fn parts(&self) -> Vec<(&'static str, usize)> {
        let near_misses = if self.near_misses == 1 {
            "near miss"
        } else {
            "near misses"
        };
        [
            ("plausible", self.plausible),
            (near_misses, self.near_misses),
            ("changed symptom", self.changed),
            ("same failure", self.unchanged),
            ("timed out", self.timed_out),
            ("crashed", self.crashed),
            ("invalid", self.invalid),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect()
    }

    fn count(&mut self, result: &Screened) {
        let part = match result {
            Screened::Plausible => &mut self.plausible,
            Screened::NearMiss { .. } => &mut self.near_misses,
            Screened::Changed { .. } => &mut self.changed,
            Screened::Unchanged => &mut self.unchanged,
            Screened::TimedOut => &mut self.timed_out,
            Screened::Crashed { .. } => &mut self.crashed,
            Screened::Invalid { .. } => &mut self.invalid,
        };
        *part += 1;
    }
}

/// A candidate that was screened.
#[derive(Debug, Clone, Serialize)]
pub struct Tried {
    /// Its number.
    pub id: u64,
    /// Operator.
    pub operator: String,
    /// What it believes.
    pub claim: String,
    /// File edited first.
    pub file: Utf8PathBuf,
    /// Line edited first.
    pub line: usize,
    /// Function edited first.
    pub qualname: String,
    /// What it showed.
    pub result: Screened,
}

/// A patch that passed the screening, and its verification.
#[derive(Debug, Clone)]
pub struct PlausiblePatch {
    /// The candidate's number.
    pub id: u64,
    /// What it believes.
    pub claim: String,
    /// Candidates run until then.
    pub executed: u64,
    /// Its diff.
    pub diff: String,
    /// The candidate, where its own event was seen.
    pub tried: Option<Tried>,
    /// When it was found.
    pub at: f64,
    /// Steps of the verification.
    pub steps: Vec<VerifyStep>,
    /// The verdict, once there is one.
    pub verdict: Option<Verdict>,
}

/// A verdict.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Whether the patch is believed.
    pub accepted: bool,
    /// Why.
    pub reason: String,
    /// When.
    pub at: f64,
}

/// How the search stands.
#[derive(Debug, Clone)]
pub struct Progress {
    /// Candidates run.
    pub executed: u64,
    /// Candidates known in all.
    pub planned: Option<u64>,
    /// The best so far.
    pub best: Option<String>,
}

/// A conversation with a language model.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Conversation {
    /// The model.
    pub model: String,
    /// Rounds.
    pub rounds: usize,
    /// Replies.
    pub replies: usize,
    /// Tokens of prompts, those from a cache among them.
    pub prompt_tokens: u64,
    /// Of them, from a cache.
    pub cached_tokens: u64,
    /// Tokens of replies.
    pub completion_tokens: u64,
    /// Whether some of these are estimates.
    pub estimated: bool,
    /// US dollars; none where the price is not known.
    pub cost: Option<f64>,
    /// Seconds that replies took.
    pub seconds: f64,
    /// Questions that the model asked.
    pub queries: usize,
    /// Answers that could not be used.
    pub unusable: usize,
    /// Hypotheses, in order.
    pub hypotheses: Vec<Supposed>,
}

/// A hypothesis of a model.
#[derive(Debug, Clone, Serialize)]
pub struct Supposed {
    /// Round, from 1.
    pub round: usize,
    /// In a sentence.
    pub claim: String,
    /// Its place.
    pub file: String,
    /// One-based.
    pub line: usize,
    /// What it predicted, and what the recording says of that.
    pub prediction: Option<String>,
    /// See there.
    pub verdict: Option<Verdicted>,
    /// Why it was not tried.
    pub dropped: Option<String>,
}

/// What a recording says of a prediction.
pub type Verdicted = crate::plan::llm::Verdict;

/// A note.
#[derive(Debug, Clone, Serialize)]
pub struct Note {
    /// How loud.
    pub level: Level,
    /// One line.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct End {
    /// How.
    pub outcome: Outcome,
    /// The exit code.
    pub exit_code: u8,
    /// One line for people.
    pub summary: String,
    /// Candidates run.
    pub executed: u64,
    /// Test processes and forks in all.
    pub test_runs: u64,
    /// Seconds.
    pub seconds: f64,
    /// The verified diff; empty when there is none.
    pub diff: String,
}

/// When the phases of a run began and ended, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    /// The environment is known.
    pub environment: Option<f64>,
    /// The baseline is settled.
    pub baseline: Option<f64>,
    /// The ranking is known.
    pub localized: Option<f64>,
    /// The first planner started.
    pub planned: Option<f64>,
    /// The last candidate was screened, or the last standing told.
    pub screened: Option<f64>,
    /// The last event.
    pub last: f64,
}

impl Story {
    /// The failing tests.
    pub fn failing(&self) -> &[Failure] {
        self.baseline
            .as_ref()
            .map_or(&[], |baseline| &baseline.failing)
    }

    /// The patch that the verifier believes, the last one where there are several.
    pub fn accepted(&self) -> Option<&PlausiblePatch> {
        self.plausible
            .iter()
            .rev()
            .find(|patch| patch.is_accepted())
    }

    /// Where the runs part, the likeliest first; a place that several runs passed, or one often, is there once.
    pub fn divergences(&self) -> Vec<&Parting> {
        let mut told = HashSet::new();
        let place = |one: &Parting| {
            let values = (one.recorded.clone(), one.needed.clone());
            (one.file.clone(), one.line, one.part.clone(), values)
        };
        let ends = self.partings.iter().filter(|one| one.ends_here);
        ends.filter(|one| told.insert(place(one))).collect()
    }

    /// Patches that pass every test they were verified with.
    pub fn verified(&self) -> usize {
        self.plausible
            .iter()
            .filter(|patch| patch.is_accepted())
            .count()
    }

    /// Whether it ended as it should and was never meant to change anything.
    pub fn is_explanation(&self) -> bool {
        let is_asked = |start: &Start| start.command == "explain";
        let is_done = |end: &End| end.outcome == Outcome::Fixed;
        self.start.as_ref().is_some_and(is_asked) && self.end.as_ref().is_some_and(is_done)
    }

    /// The verified diff; empty when there is none.
    pub fn diff(&self) -> &str {
        self.end.as_ref().map_or("", |end| &end.diff)
    }

    /// Candidates run.
    pub fn executed(&self) -> u64 {
        match (&self.end, &self.progress) {
            (Some(end), _) => end.executed,
            (None, Some(progress)) => progress.executed.max(self.screened()),
            (None, None) => self.screened(),
        }
    }

    /// Candidates with a result.
    fn screened(&self) -> u64 {
        self.tallies
            .values()
            .map(|tally| tally.total() as u64)
            .sum()
    }

    /// Seconds that the run took, as far as it is known.
    pub fn seconds(&self) -> f64 {
        self.end.as_ref().map_or(self.clock.last, |end| end.seconds)
    }

    /// Near misses in all, those that were not kept among them.
    pub fn near_miss_count(&self) -> usize {
        self.tallies.values().map(|tally| tally.near_misses).sum()
    }
}

impl Tried {
    /// Tests that keep a near miss from being plausible.
    pub fn in_the_way(&self) -> impl Iterator<Item = &String> {
        let (failing, broken) = match &self.result {
            Screened::NearMiss {
                failing, broken, ..
            } => (failing.as_slice(), broken.as_slice()),
            _ => (&[][..], &[][..]),
        };
        failing.iter().chain(broken)
    }
}

impl PlausiblePatch {
    /// Whether the verifier believes it.
    pub fn is_accepted(&self) -> bool {
        self.verdict
            .as_ref()
            .is_some_and(|verdict| verdict.accepted)
    }
}
