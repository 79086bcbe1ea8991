//! Runs of the tests that the user names: which node ids they mean, and what can go wrong with them.

use std::time::Duration;

use camino::Utf8PathBuf;
use ndbg_tools::process::Exit;
use ndbg_tools::python::pytest::{Harness, Mode, Request, RunResults};

use super::baseline::Baseline;
use super::budget::Budget;
use super::session::Session;
use super::stop::Stop;
use super::target::{Target, matches_nothing};
use crate::outcome::Outcome;
use ndbg_tools::protected::is_test_name;

/// The paths that pytest collects for targets.
pub fn unique_paths(targets: &[Target]) -> Vec<String> {
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
pub fn select(
    session: &Session,
    targets: &[Target],
    baseline: &mut Baseline,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let request = Request {
        args: vec!["--collect-only".into(), "-q".into()],
        neutral: true,
        deadline: budget.cap(Duration::from_mins(5)),
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

/// One run of the target; with the project's own options unless something is recorded.
pub fn run(
    session: &Session,
    targets: &[Target],
    baseline: &mut Baseline,
    only: Option<&Vec<String>>,
    mode: &Mode,
    budget: &mut Budget,
) -> Result<RunResults, Stop> {
    let request = |args: &[String]| Request {
        args: args.to_vec(),
        neutral: *mode != Mode::Run,
        mode: mode.clone(),
        select: only.or(baseline.select.as_ref()).cloned(),
        deadline: budget.cap(Duration::from_mins(10)),
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
        let seconds = results.elapsed.as_secs_f64();
        let message = format!("the run of the target did not end within {seconds:.1} s");
        return Err(match results.unended() {
            Some(id) => Stop::new(
                Outcome::Budget,
                format!("{message}; `{id}` was still running"),
            )
            .hint("give it a timeout of its own if it cannot end, or raise `--max-time`"),
            None => Stop::new(Outcome::Budget, message)
                .hint("name fewer tests with `--test`, or raise `--max-time`"),
        });
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

/// Refuses a target that holds no test.
pub fn check_collected(
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
pub fn prefix(harness: &Harness, results: &RunResults) -> Utf8PathBuf {
    results
        .rootdir
        .as_deref()
        .and_then(|root| harness.folder.strip_prefix(root).ok())
        .map(camino::Utf8Path::to_owned)
        .unwrap_or_default()
}
