//! The first recording pass: line coverage per test.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::Utf8PathBuf;
use ndbg_tools::process::Exit;
use ndbg_tools::python::pytest::{Mode, Request, RunResults, TestOutcome};

use super::baseline::{Baseline, SLOW};
use super::budget::Budget;
use super::session::Session;
use super::stop::Stop;
use crate::report::{Event, Reporter};

/// Records line coverage per test: first of the target, then, while it is cheap, of everything that
/// the project collects by itself.
pub fn record(
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
    let mut soft = budget.cap(Duration::from_mins(2));
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
