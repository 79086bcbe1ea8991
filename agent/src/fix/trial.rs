//! The trial of a new warm runner: what it must show before any candidate is believed to it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use ndbg_tools::Cancel;
use ndbg_tools::python::pytest::TestOutcome;
use ndbg_tools::python::warm::{Job, Status, WarmError, WarmRunner};

use super::judge::{failed_tests, symptom_of};

/// Most trial runs of the passing tests.
const TRIALS: usize = 20;

/// What a trial looks at, and what it settles.
pub struct Trial<'a> {
    /// Failing tests.
    pub must: &'a [String],
    /// Passing tests; those that do not pass in the runner go.
    pub keep: &'a mut Vec<String>,
    /// How each failing test fails; filled by the first trial.
    pub symptoms: &'a mut BTreeMap<String, String>,
    /// Time that a candidate may take; set to fit what the trial took.
    pub deadline: &'a mut Duration,
    /// Set by Ctrl-C.
    pub cancel: &'a Cancel,
}

impl Trial<'_> {
    /// Runs the unpatched tree in the new runner: the failing tests must fail and the passing ones
    /// pass there too, or its answers mean nothing.
    pub fn run(self, mut runner: WarmRunner) -> Result<WarmRunner, WarmError> {
        let Self {
            must,
            keep,
            symptoms,
            deadline,
            cancel,
        } = self;
        let mut ask = |must: Vec<String>, keep: Vec<String>| {
            let job = Job {
                id: u64::MAX,
                patches: Vec::new(),
                must,
                keep,
                deadline: *deadline * 4,
            };
            runner.submit(&job)?;
            let until = Instant::now() + *deadline * 5 + Duration::from_secs(10);
            loop {
                if cancel.is_set() || Instant::now() > until {
                    return Err(WarmError::Ended("no answer to the trial run".into()));
                }
                if let Some(answer) = runner.receive(Duration::from_millis(50))? {
                    return Ok(answer);
                }
            }
        };
        let failing = ask(must.to_vec(), Vec::new())?;
        if failing.status != Status::Done {
            return Err(WarmError::Ended(format!(
                "the trial run ended with {:?}",
                failing.status
            )));
        }
        let passed: BTreeSet<&String> = failing
            .results
            .iter()
            .filter(|r| r.outcome != TestOutcome::Failed)
            .map(|r| &r.test)
            .collect();
        if let Some(first) = passed.first() {
            return Err(WarmError::Ended(format!("`{first}` does not fail there")));
        }
        // Passing tests that fail in the runner would reject every candidate.
        // So would those that pass once and spoil the tree for the next time: run until all of them
        // pass twice in a row.
        let mut answered = ask(Vec::new(), keep.clone())?;
        let (mut clean, mut rounds) = (0, 0);
        while clean < 2 && !keep.is_empty() {
            rounds += 1;
            if rounds > TRIALS {
                // Too much differs here; the verifier runs them all anyway.
                keep.clear();
                break;
            }
            let bad = failed_tests(&answered.results);
            if bad.is_empty() {
                clean += 1;
            } else {
                clean = 0;
                keep.retain(|id| !bad.contains(id));
            }
            if clean < 2 {
                answered = ask(Vec::new(), keep.clone())?;
            }
        }
        if symptoms.is_empty() {
            for result in &failing.results {
                symptoms.insert(result.test.clone(), symptom_of(result));
            }
        }
        let ms = failing.ms + answered.ms;
        *deadline = Duration::from_secs_f64((ms / 1000.0 * 4.0).max(1.0))
            .max((*deadline).min(Duration::from_secs(3)));
        Ok(runner)
    }
}
