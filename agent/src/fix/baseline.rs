//! The baseline: what fails, what passes and what is flaky on the untouched tree, and which lines
//! each test runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8PathBuf;
use ndbg_tools::process::Exit;
use ndbg_tools::python::pytest::{
    FailureRecord, Harness, Mode, Request, RunResults, TestOutcome, TestResult,
};

use super::budget::Budget;
use super::protected::is_test_name;
use super::session::{Session, note};
use super::stop::Stop;
use super::target::{Target, matches_nothing};
use crate::outcome::Outcome;
use crate::plan::{Failure, Frame, Sides};
use crate::report::event::Counts;
use crate::report::{Event, Level, Reporter};

/// Seconds above which a target is not repeated as a whole.
const SLOW: f64 = 4.0;

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
        paths: unique_paths(targets),
        ..Baseline::default()
    };
    if targets.iter().any(|t| t.inside.is_some()) {
        select(session, targets, &mut baseline, budget)?;
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
        let results = target_run(session, targets, &mut baseline, again.as_ref(), budget)?;
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
            baseline.prefix = prefix(&session.harness, &results);
            check_collected(targets, &baseline, &results)?;
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

fn unique_paths(targets: &[Target]) -> Vec<String> {
    let mut paths = Vec::new();
    for target in targets {
        let path = if target.path.as_str().is_empty() {
            ".".to_owned()
        } else {
            target.path.to_string()
        };
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Collects, to learn which node ids a target inside a file means: running a whole large file for one
/// test would cost more than everything else. A file that cannot be collected is left to the run.
fn select(
    session: &Session,
    targets: &[Target],
    baseline: &mut Baseline,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let request = Request {
        args: vec!["--collect-only".into(), "-q".into()],
        neutral: true,
        deadline: budget.cap(Duration::from_secs(300)),
        ..Request::run(baseline.paths.clone())
    };
    let results = session.harness.run(&request, &session.cancel)?;
    budget.test_runs += 1;
    if !results.collect_errors.is_empty() || !results.complete || results.all.is_empty() {
        return Ok(());
    }
    baseline.prefix = prefix(&session.harness, &results);
    check_collected(targets, baseline, &results)?;
    let held = |id: &&String| targets.iter().any(|t| t.holds(id, &baseline.prefix));
    baseline.select = Some(results.all.iter().filter(held).cloned().collect());
    Ok(())
}

/// One run of the target with the project's own options.
fn target_run(
    session: &Session,
    targets: &[Target],
    baseline: &mut Baseline,
    only: Option<&Vec<String>>,
    budget: &mut Budget,
) -> Result<RunResults, Stop> {
    let request = |args: &[String]| Request {
        args: args.to_vec(),
        select: only.or(baseline.select.as_ref()).cloned(),
        deadline: budget.cap(Duration::from_secs(600)),
        ..Request::run(baseline.paths.clone())
    };
    let mut results = session
        .harness
        .run(&request(&baseline.args), &session.cancel)?;
    let mut used = 1;
    // A module that is no test file can only be meant for its doctests.
    let modules = targets.iter().any(|t| {
        let name = t.path.file_name().unwrap_or_default();
        t.path.extension() == Some("py") && !is_test_name(name)
    });
    let nothing = results.tests.is_empty() && results.collect_errors.is_empty();
    if nothing && modules && baseline.args.is_empty() {
        let args = vec!["--doctest-modules".to_owned()];
        results = session.harness.run(&request(&args), &session.cancel)?;
        used += 1;
        if !results.tests.is_empty() {
            baseline.args = args;
        }
    }
    budget.test_runs += used;
    if results.exit == Exit::TimedOut {
        return Err(Stop::new(
            Outcome::Budget,
            format!(
                "the baseline run did not end within {:.1} s",
                results.elapsed.as_secs_f64()
            ),
        )
        .hint("name fewer tests with `--test`, or raise `--max-time`"));
    }
    if !results.foreign.is_empty() {
        let first = results.foreign.first().cloned().unwrap_or_default();
        return Err(Stop::new(
            Outcome::Environment,
            format!("the tests import from your checkout, not from the worktree: {first}"),
        )
        .hint("an editable install points there; use `--install`, or an environment without it"));
    }
    // Code 0 is no success either: the code under test may have ended the process.
    if nothing && !results.complete {
        let message = format!("pytest ended with {} before any test ran", results.exit);
        return Err(Stop::new(Outcome::Environment, message).hint(last_lines(&results)));
    }
    Ok(results)
}

fn last_lines(results: &RunResults) -> String {
    let lines: Vec<&str> = results.tail.lines().rev().take(4).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}

fn check_collected(
    targets: &[Target],
    baseline: &Baseline,
    results: &RunResults,
) -> Result<(), Stop> {
    let ids: Vec<String> = if results.all.is_empty() {
        results.tests.keys().cloned().collect()
    } else {
        results.all.clone()
    };
    for target in targets {
        let test = ids.iter().any(|id| target.holds(id, &baseline.prefix));
        let error = results
            .collect_errors
            .iter()
            .any(|e| target.holds(&e.id, &baseline.prefix));
        // When nothing could be collected, the error may hide the test that is meant.
        let hidden = ids.is_empty() && !results.collect_errors.is_empty();
        if !test && !error && !hidden {
            return Err(if ids.is_empty() && target.inside.is_none() {
                Stop::new(Outcome::Environment, format!("no tests were collected in `{}`", target.path))
                    .hint("pytest collects `test_*.py` and `*_test.py` files, functions named `test*` and classes named `Test*`")
            } else {
                matches_nothing(target, &ids)
            });
        }
    }
    Ok(())
}

/// The project's folder relative to pytest's root folder.
fn prefix(harness: &Harness, results: &RunResults) -> Utf8PathBuf {
    results
        .rootdir
        .as_deref()
        .and_then(|root| harness.folder.strip_prefix(root).ok())
        .map(camino::Utf8Path::to_owned)
        .unwrap_or_default()
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

/// Records line coverage per test: first of the target, then, while it is cheap, of everything that
/// the project collects by itself.
pub fn record_spectra(
    session: &Session,
    baseline: &mut Baseline,
    budget: &mut Budget,
    reporter: &Reporter,
) -> Result<(), Stop> {
    let started = budget.elapsed();
    let mut partial = false;
    let run =
        |paths: Vec<String>, args: Vec<String>, select: Option<Vec<String>>, soft: Duration| {
            let request = Request {
                mode: Mode::Spectrum,
                select,
                neutral: true,
                args,
                soft_limit: Some(soft),
                deadline: soft + Duration::from_secs(5),
                ..Request::run(paths)
            };
            session.harness.run(&request, &session.cancel)
        };
    session.tree.restore(&session.cancel)?;
    let mut soft = budget.cap(Duration::from_secs(120));
    if baseline.run_seconds > SLOW && !baseline.collection_fails {
        // What fails must have its lines, whatever the limit cuts off later.
        let failing = baseline.failing_ids();
        let first = run(
            baseline.paths.clone(),
            baseline.args.clone(),
            Some(failing),
            soft,
        )?;
        budget.test_runs += 1;
        absorb(baseline, &first);
        budget.check()?;
        soft = budget.cap((budget.left() / 8).min(Duration::from_secs(30)));
    }
    let target = run(
        baseline.paths.clone(),
        baseline.args.clone(),
        baseline.select.clone(),
        soft,
    )?;
    budget.test_runs += 1;
    partial |= target.stopped || target.exit == Exit::TimedOut;
    absorb(baseline, &target);
    if !baseline.paths.is_empty() {
        budget.check()?;
        session.tree.restore(&session.cancel)?;
        // Other tests only sharpen the ranking: they must not eat the budget.
        let soft = budget.cap((budget.left() / 8).min(Duration::from_secs(30)));
        let all = run(Vec::new(), Vec::new(), None, soft)?;
        budget.test_runs += 1;
        let cut = all.stopped || all.exit == Exit::TimedOut || !all.complete;
        partial |= cut;
        let failing: BTreeSet<String> = baseline.failing_ids().into_iter().collect();
        for (id, test) in &all.tests {
            if test.outcome == TestOutcome::Passed
                && !failing.contains(id)
                && !baseline.flaky.contains(id)
                && !baseline.collected.contains(id)
            {
                baseline.passing.insert(id.clone());
                baseline.seconds.insert(id.clone(), test.seconds);
            }
        }
        if !cut {
            baseline.project_collected = all.collected.iter().cloned().collect();
        }
        absorb(baseline, &all);
    } else if !partial {
        baseline.project_collected = target.collected.iter().cloned().collect();
    }
    let mut lines: BTreeSet<(&Utf8PathBuf, usize)> = BTreeSet::new();
    for files in baseline.coverage.values() {
        for (file, covered) in files {
            lines.extend(covered.iter().map(|line| (file, *line)));
        }
    }
    reporter.emit(Event::Spectra {
        tests: baseline.coverage.keys().filter(|id| !id.is_empty()).count(),
        lines: lines.len(),
        partial,
        seconds: budget.elapsed().saturating_sub(started).as_secs_f64(),
    });
    Ok(())
}

fn absorb(baseline: &mut Baseline, results: &RunResults) {
    for (id, files) in &results.coverage {
        let known = baseline.coverage.entry(id.clone()).or_default();
        for (file, lines) in files {
            let all = known.entry(file.clone()).or_default();
            all.extend(lines);
            all.sort_unstable();
            all.dedup();
        }
    }
}
