//! The baseline: what fails, what passes and what is flaky on the untouched tree, and which lines
//! each test runs.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use ndbg_tools::python::pytest::{FailureRecord, Harness, Mode, TestOutcome, TestResult};

use super::budget::Budget;
use super::session::{Session, note};
use super::stop::Stop;
use super::target::Target;
use super::target_run;
use crate::outcome::Outcome;
use crate::plan::{Failure, Frame, Sides};
use crate::report::event::Counts;
use crate::report::{Event, Level, Reporter};

/// Seconds above which a target is not repeated as a whole.
pub(super) const SLOW: f64 = 4.0;

/// The settled baseline.
#[derive(Debug, Default)]
pub struct Baseline {
    /// Paths that pytest collects for the target, relative to the project; empty = all.
    pub paths: Vec<String>,
    /// Exact node ids of the target when it is less than whole files; none = everything there.
    pub select: Option<Vec<String>>,
    /// Further pytest arguments that the target needs (`--doctest-modules`).
    pub args: Vec<String>,
    /// Tests of the target that always failed.
    pub failing: Vec<Failure>,
    /// Tests of the target that flipped.
    pub flaky: Vec<String>,
    /// Tests that passed: the target's always, the others' in the recorded run.
    pub passing: BTreeSet<String>,
    /// Passing tests of the target.
    pub target_passing: BTreeSet<String>,
    /// Everything collected in the target.
    pub collected: BTreeSet<String>,
    /// Everything collected in the project's own choice of tests; empty when that run was cut short.
    pub project_collected: BTreeSet<String>,
    /// Whether a failing "test" is a file that cannot be collected.
    pub collection_fails: bool,
    /// Seconds by test.
    pub seconds: BTreeMap<String, f64>,
    /// Seconds of one target run.
    pub run_seconds: f64,
    /// Lines by test; the empty test is collection.
    pub coverage: BTreeMap<String, BTreeMap<Utf8PathBuf, Vec<usize>>>,
    /// The project's folder relative to pytest's root folder.
    pub prefix: Utf8PathBuf,
}

impl Baseline {
    /// Node ids of the failing tests.
    pub fn failing_ids(&self) -> Vec<String> {
        self.failing.iter().map(|f| f.test.clone()).collect()
    }

    /// Path, relative to the project, of the file that a node id starts with.
    pub fn file_of(&self, id: &str) -> String {
        let path = id.split("::").next().unwrap_or(id);
        camino::Utf8Path::new(path)
            .strip_prefix(&self.prefix)
            .map_or_else(|_| path.to_owned(), ToString::to_string)
    }
}

/// Establishes the baseline.
pub fn establish(
    session: &Session,
    targets: &[Target],
    runs: usize,
    budget: &mut Budget,
    reporter: &Reporter,
) -> Result<Baseline, Stop> {
    let mut baseline = Baseline {
        paths: target_run::unique_paths(targets),
        ..Baseline::default()
    };
    if targets.iter().any(|t| t.inside.is_some()) {
        target_run::select(session, targets, &mut baseline, budget)?;
    }
    let mut outcomes: BTreeMap<String, Vec<TestOutcome>> = BTreeMap::new();
    let mut failures: BTreeMap<String, FailureRecord> = BTreeMap::new();
    // Whether later runs ran nothing new: `--lf` and its like leave out what passed before. What is
    // left out has not varied.
    let mut narrowing = true;
    let runs = runs.max(1);
    let mut again: Option<Vec<String>> = None;
    for run in 1..=runs {
        budget.check()?;
        if run > 1 {
            session.tree.restore(&session.cancel)?;
        }
        let results = target_run::run(
            session,
            targets,
            &mut baseline,
            again.as_ref(),
            &Mode::Run,
            budget,
        )?;
        let (passed, failed, skipped) = results.counts();
        reporter.emit(Event::BaselineRun {
            run,
            of: runs,
            counts: Counts {
                passed,
                failed,
                skipped,
            },
            seconds: results.elapsed.as_secs_f64(),
        });
        if run == 1 {
            for text in &results.notes {
                note(reporter, Level::Info, text.clone(), None);
            }
            baseline.prefix = target_run::prefix(&session.harness, &results);
            target_run::check_collected(targets, &baseline, &results)?;
        }
        if run == 1 {
            baseline.run_seconds = results.elapsed.as_secs_f64();
        }
        // Repeating a slow suite would cost more than the search: only what fails is run again.
        let fails = |(id, test): (&String, &TestResult)| {
            (test.outcome == TestOutcome::Failed).then(|| id.clone())
        };
        let failed: Vec<String> = results.tests.iter().filter_map(fails).collect();
        if baseline.run_seconds > SLOW && !failed.is_empty() && results.collect_errors.is_empty() {
            again = Some(failed);
        }
        for (id, test) in results.tests {
            if !targets.is_empty() && !targets.iter().any(|t| t.holds(&id, &baseline.prefix)) {
                continue;
            }
            *baseline.seconds.entry(id.clone()).or_default() = test.seconds;
            narrowing &= run == 1 || outcomes.contains_key(&id);
            outcomes.entry(id.clone()).or_default().push(test.outcome);
            if let Some(failure) = test.failure {
                failures.insert(id, failure);
            }
        }
        for error in results.collect_errors {
            let id = error.id.clone();
            outcomes
                .entry(id.clone())
                .or_default()
                .push(TestOutcome::Failed);
            failures.insert(id, error.failure);
            baseline.collection_fails = true;
        }
    }
    for (id, seen) in &outcomes {
        baseline.collected.insert(id.clone());
        let failed = seen.iter().filter(|o| **o == TestOutcome::Failed).count();
        let ran = if narrowing { seen.len() } else { runs };
        if failed == ran {
            let record = failures.get(id).cloned().unwrap_or_default();
            baseline.failing.push(failure(&session.harness, id, record));
        } else if failed > 0 || seen.len() < ran {
            baseline.flaky.push(id.clone());
        } else if seen.iter().all(|o| *o == TestOutcome::Passed) {
            baseline.target_passing.insert(id.clone());
            baseline.passing.insert(id.clone());
        }
    }
    reporter.emit(Event::Baseline {
        failing: baseline.failing.clone(),
        flaky: baseline.flaky.clone(),
        passing: baseline.passing.len(),
        collected: baseline.collected.len(),
    });
    if baseline.failing.is_empty() {
        return Err(nothing_fails(&baseline, runs));
    }
    Ok(baseline)
}

fn nothing_fails(baseline: &Baseline, runs: usize) -> Stop {
    if let Some(first) = baseline.flaky.first() {
        let message = format!(
            "the target is flaky: {} of {} tests passed in some of {runs} runs and failed in others (`{first}`)",
            baseline.flaky.len(),
            baseline.collected.len()
        );
        return Stop::new(Outcome::Flaky, message).hint(
            "make the test deterministic first, or name the tests that always fail with `--test`",
        );
    }
    if baseline.collected.is_empty() {
        return Stop::new(Outcome::Environment, "no tests were collected").hint(
            "name a test file with `--test`, or check `testpaths` in the pytest configuration",
        );
    }
    let message = format!(
        "nothing to fix: no test failed ({} passed in {runs} {})",
        baseline.passing.len(),
        if runs == 1 { "run" } else { "runs" }
    );
    Stop::new(Outcome::NothingToFix, message)
}

fn failure(harness: &Harness, id: &str, record: FailureRecord) -> Failure {
    let exception = record.exc.unwrap_or_default();
    Failure {
        test: id.to_owned(),
        exception: exception.kind,
        message: exception
            .message
            .lines()
            .take(20)
            .collect::<Vec<_>>()
            .join("\n"),
        sides: record.assertion.map(|a| Sides {
            op: a.op,
            left: a.left,
            right: a.right,
            lossy: a.lossy,
        }),
        frames: record
            .frames
            .into_iter()
            .filter_map(|f| {
                Some(Frame {
                    file: harness.relative(&f.file)?,
                    line: f.line,
                    function: f.func,
                })
            })
            .collect(),
        longrepr: record.longrepr.unwrap_or_default(),
    }
}
