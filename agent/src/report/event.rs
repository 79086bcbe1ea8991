//! Everything that happens in a run, as one enum. Renderers see nothing else.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::fix::divergence::Parting;
use crate::fix::frame_table::FrameTable;
use crate::outcome::Outcome;
use crate::plan::Looks;
use crate::plan::llm::Exchange;
use crate::plan::synthesis::oracle::Angelic;
use crate::plan::{Failure, Screened, SuspectFunction, SuspectStatement};

/// Version of the event format; raised when a field changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// An event with its time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Stamped {
    /// Seconds since the run started.
    pub at: f64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// How loud a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Worth knowing.
    Info,
    /// May change the result.
    Warning,
    /// Ends the run.
    Error,
}

impl Level {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// JSON has no infinity and serde writes `null` for it; such a line must stay readable.
fn null_is_infinite<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|value| value.unwrap_or(f64::INFINITY))
}

/// Limits of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BudgetFacts {
    /// Wall clock, in seconds; infinite when there is no limit, `null` in JSON.
    #[serde(deserialize_with = "null_is_infinite")]
    pub seconds: f64,
    /// Test executions: candidates screened plus verification runs.
    pub executions: u64,
}

/// Which stages of a fix were switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // Each is a switch of its own.
pub struct Stages {
    /// Edit operators.
    pub search: bool,
    /// Pairs of edits.
    pub pairs: bool,
    /// Other values put in, and synthesis from them.
    pub synthesis: bool,
    /// The walk back from the failed assertion.
    pub simulator: bool,
    /// A language model.
    pub model: bool,
}

/// Test counts of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Tests that passed, expected failures among them.
    pub passed: usize,
    /// Tests that failed, errors in set-up, tear-down and collection among them.
    pub failed: usize,
    /// Tests that were skipped.
    pub skipped: usize,
}

/// What one step of a verification showed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VerifyStep {
    /// What was run: "target tests, run 1 of 2", "12 tests that cover the change", …
    pub step: String,
    /// Whether it held.
    pub passed: bool,
    /// Counts, or the first thing that did not hold.
    pub detail: String,
    /// Seconds it took.
    pub seconds: f64,
}

/// A call that shows something; every version was run with it in new processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Example {
    /// What it shows.
    pub shows: Shows,
    /// File of the function, relative to the project.
    pub file: Utf8PathBuf,
    /// The function.
    pub function: String,
    /// The call, as Python reads it; none where no call was found.
    pub call: Option<String>,
    /// Versions with what they do: "returns 3".
    pub results: Vec<VersionResult>,
    /// Other patches that it compares the verified one with, in words.
    pub beside: Option<String>,
    /// Calls executed to find it.
    pub executions: usize,
    /// Seconds.
    pub seconds: f64,
}

/// What an example shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// The failure, as small as it gets.
    Failure,
    /// That two plausible patches are not the same.
    Difference,
}

/// How sure a verified patch is to be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surety {
    /// Look at it closely.
    Low,
    /// Look at it.
    Middle,
    /// All that can be said speaks for it.
    High,
}

/// The judgement on a verified patch: no probability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sureness {
    /// How sure.
    pub level: Surety,
    /// Why, in words.
    pub reasons: Vec<String>,
}

/// What one version does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionResult {
    /// `before`, `patched`, or what the other patch believes.
    pub version: String,
    /// "returns 3", "raises KeyError: 'x'".
    pub result: String,
}

/// What happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The first event of every run.
    RunStarted {
        /// [`FORMAT`].
        format: u32,
        /// Version of this program.
        version: String,
        /// Command, for example `fix`.
        command: String,
        /// The project folder.
        repo: Utf8PathBuf,
        /// Tests asked for; empty means whatever fails.
        targets: Vec<String>,
        /// Where the artefacts are written.
        run_dir: Utf8PathBuf,
        /// Limits.
        budget: BudgetFacts,
        /// Stages that were switched on; none where nothing is fixed, and in older recordings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stages: Option<Stages>,
    },
    /// The tree that is worked on.
    Tree {
        /// `worktree` or `copy`.
        how: String,
        /// Commit that holds the base contents, uncommitted changes included.
        base: Option<String>,
        /// Tracked files taken over with uncommitted changes.
        changed: usize,
        /// Untracked files taken over.
        untracked: Vec<Utf8PathBuf>,
        /// What was left out, with the reason.
        left_out: Vec<String>,
    },
    /// The interpreter that runs the tests.
    Environment {
        /// Path of the interpreter.
        python: Utf8PathBuf,
        /// Its version, `3.11.7`.
        version: String,
        /// The rule that found it, in words.
        rule: String,
        /// pytest's version.
        pytest: String,
        /// Whether the environment is one that this program made.
        managed: bool,
        /// pytest plugins installed there.
        plugins: Vec<String>,
    },
    /// One baseline run ended.
    BaselineRun {
        /// One-based.
        run: usize,
        /// How many there will be.
        of: usize,
        /// Results.
        counts: Counts,
        /// Seconds.
        seconds: f64,
    },
    /// The baseline is settled.
    Baseline {
        /// Tests that always failed.
        failing: Vec<Failure>,
        /// Tests that passed in some runs and failed in others.
        flaky: Vec<String>,
        /// Number of tests that always passed.
        passing: usize,
        /// Number of tests collected.
        collected: usize,
    },
    /// Line coverage per test was recorded.
    Spectra {
        /// Tests with a spectrum.
        tests: usize,
        /// Lines seen by any of them.
        lines: usize,
        /// Whether the time limit cut the recording short.
        partial: bool,
        /// Seconds.
        seconds: f64,
    },
    /// The ranking, most suspicious first; capped. The last one of a run counts.
    Localized {
        /// Functions.
        functions: Vec<SuspectFunction>,
        /// Statements.
        statements: Vec<SuspectStatement>,
    },
    /// Where the failing runs part from what was needed, the likeliest first; the lines are ranked anew.
    Divergence {
        /// Statements whose effect would have had to be another one.
        partings: Vec<Parting>,
        /// The frame of the likeliest one, state by state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        frame: Option<FrameTable>,
    },
    /// A warm runner is ready.
    WarmReady {
        /// `collected` or `configured`.
        stage: String,
        /// Tests it holds.
        tests: usize,
        /// Seconds to get there.
        seconds: f64,
    },
    /// A planner starts.
    PlanStarted {
        /// Its name.
        planner: String,
        /// Candidates it has, when known.
        planned: Option<usize>,
    },
    /// A candidate was screened.
    Candidate {
        /// Its number.
        id: u64,
        /// Operator.
        operator: String,
        /// What it believes.
        claim: String,
        /// File edited first.
        file: Utf8PathBuf,
        /// Line edited first.
        line: usize,
        /// Function edited first.
        qualname: String,
        /// `swap`, `reimport`, `cold` or `none`.
        how: String,
        /// Milliseconds.
        ms: f64,
        /// What it showed.
        result: Screened,
    },
    /// How the search stands; at most a few a second.
    Progress {
        /// Candidates run.
        executed: u64,
        /// Candidates known in all, when known.
        planned: Option<u64>,
        /// Candidates per second.
        #[serde(deserialize_with = "null_is_infinite")]
        rate: f64,
        /// The best so far, in words.
        best: Option<String>,
    },
    /// A candidate passed the screening and goes to the verifier.
    Plausible {
        /// Its number.
        id: u64,
        /// What it believes.
        claim: String,
        /// Candidates run until then.
        executed: u64,
        /// Its diff, lossily decoded.
        diff: String,
    },
    /// One step of a verification ended.
    Verify {
        /// The candidate.
        id: u64,
        /// What was run and what came out.
        #[serde(flatten)]
        step: VerifyStep,
    },
    /// A verification ended.
    Verdict {
        /// The candidate.
        id: u64,
        /// Whether it is believed.
        accepted: bool,
        /// Why, in a line.
        reason: String,
    },
    /// Something of the conversation with a language model.
    Model(Exchange),
    /// A call shows the failure, or tells plausible patches apart.
    Example(Example),
    /// Failing tests pass with another value put in at a place; no patch yet.
    Angelic(Angelic),
    /// How sure the verified patch is to be right.
    Sure(Sureness),
    /// What edits were foreseen to do, so far.
    Foreseen(Looks),
    /// Something a reader should know.
    Note {
        /// How loud.
        level: Level,
        /// One line.
        text: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The verified patch was written to the user's tree, as asked.
    Applied {
        /// Files written, relative to the project root.
        files: Vec<Utf8PathBuf>,
    },
    /// The last event of every run.
    Finished {
        /// How it ended.
        outcome: Outcome,
        /// The process's exit code.
        exit_code: u8,
        /// One line for people.
        summary: String,
        /// Candidates run.
        executed: u64,
        /// Test processes and forks in all, verification included.
        test_runs: u64,
        /// Seconds.
        seconds: f64,
        /// The verified diff, lossily decoded; empty when there is none.
        diff: String,
    },
}
