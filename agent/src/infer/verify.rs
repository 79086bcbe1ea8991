//! Running found calls again, each time in a new process: only what agrees is an answer.

use std::time::{Duration, Instant};

use ndbg_tools::python::executions::{Call, Execution, Outcome as Ended};

use super::ending::Ending;
use super::genes::Genes;
use super::process::Process;
use super::run::Found;
use crate::fix::stop::Stop;

/// Times that a found call is run again, each in a new process.
pub const RUNS: usize = 3;
/// Of functions in whose source there is something that differs from run to run, and after one call did.
pub const RUNS_OF_UNSTEADY: usize = 10;
/// Found calls that are tried before the function counts as one that does not repeat itself.
const TRIED: usize = 8;
/// What further answers may take beyond the end of the budget.
const LATE: Duration = Duration::from_millis(500);

/// A call that did not do in new processes what it did while searching.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsteady {
    /// The call.
    pub call: String,
    /// What it did in each new process.
    pub outcomes: Vec<Ended>,
    /// Whether it did the same in all of them: then earlier calls were what made it do something else.
    pub is_same: bool,
}

/// What checks calls, and what it has seen.
pub struct Checking<'a> {
    /// The call of values.
    pub call_of: &'a dyn Fn(&Genes) -> Call,
    /// The call as it is written, given what it did.
    pub text_of: &'a dyn Fn(&Call, &Ended) -> String,
    /// Runs that have to agree.
    pub runs: usize,
    /// The end of the budget.
    pub end: Instant,
    /// What the runs of one call may take.
    pub patience: Duration,
    /// The first call that did not do it again; one that differed from itself comes before others.
    pub unsteady: Option<Unsteady>,
}

impl Checking<'_> {
    /// Whether calls did something only after others.
    pub fn depends_on_others(&self) -> bool {
        self.unsteady.as_ref().is_some_and(|seen| seen.is_same)
    }

    /// Calls that do it again and again, `most` of them.
    ///
    /// # Errors
    /// No process, or an interruption.
    pub fn checked(
        &mut self,
        process: &mut Process,
        calls: &[(Genes, Option<f64>)],
        most: usize,
    ) -> Result<Vec<Found>, Stop> {
        let mut found: Vec<Found> = Vec::new();
        for (tried, (genes, probability)) in calls.iter().take(TRIED.max(most)).enumerate() {
            let is_late = Instant::now() > self.end + LATE;
            if found.len() >= most || (tried > 0 && is_late) {
                break;
            }
            let call = (self.call_of)(genes);
            let until = Instant::now() + self.patience;
            let Some(runs) = process.verify(&call, self.runs, Some(until))? else {
                continue;
            };
            let agree = runs.iter().all(|run| same(run, &runs[0]));
            let reached = |run: &Execution| run.reached && Ending::of(run).tells();
            if agree && runs.iter().all(reached) {
                found.extend(runs.into_iter().next().map(|run| Found {
                    call: (self.text_of)(&call, &run.outcome),
                    parts: call,
                    outcome: run.outcome,
                    other: run.other,
                    runs: self.runs,
                    probability: *probability,
                }));
                continue;
            }
            if !agree {
                // Whatever made it differ may make others differ that did not so far.
                self.runs = RUNS_OF_UNSTEADY;
            }
            if self
                .unsteady
                .as_ref()
                .is_none_or(|seen| seen.is_same && !agree)
            {
                self.unsteady = Some(Unsteady {
                    call: (self.text_of)(&call, &runs[0].outcome),
                    outcomes: runs.into_iter().map(|run| run.outcome).collect(),
                    is_same: agree,
                });
            }
        }
        Ok(found)
    }
}

/// Whether two runs ended alike.
fn same(one: &Execution, other: &Execution) -> bool {
    let others = match (&one.other, &other.other) {
        (Some(one), Some(other)) => same_end(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    one.reached == other.reached && others && same_end(&one.outcome, &other.outcome)
}

/// Whether two calls ended alike; lines and texts of exceptions may hold addresses.
fn same_end(one: &Ended, other: &Ended) -> bool {
    match (one, other) {
        (Ended::Raised { class, .. }, Ended::Raised { class: second, .. }) => class == second,
        _ => one == other,
    }
}
