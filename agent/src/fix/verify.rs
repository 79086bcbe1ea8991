//! The verifier: the only one who says "fixed" (design, invariant 4).
//!
//! A fresh worktree at the base, the patch written into it, the project's own pytest options: the
//! target passes twice, what passed at baseline passes, nothing collected is lost, and nothing is
//! imported from elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8PathBuf;
use ndbg_tools::process::Exit;
use ndbg_tools::python::pytest::{Cases, Harness, Request, RunResults, TestOutcome};
use ndbg_tools::source::{SourceFile, apply_edits, unified_diff};
use ndbg_tools::worktree::Worktree;

use super::baseline::Baseline;
use super::budget::Budget;
use super::session::Session;
use super::stop::Stop;
use super::tampering::tampering;
use crate::plan::Candidate;
use crate::report::event::VerifyStep;
use crate::report::{Event, Reporter};
use ndbg_tools::protected::is_protected;

/// A patch as contents.
#[derive(Debug, Clone)]
pub struct Change {
    /// File relative to the project's folder.
    pub file: Utf8PathBuf,
    /// Contents at the base.
    pub before: Vec<u8>,
    /// Contents with the patch.
    pub after: Vec<u8>,
}

/// What the verifier believes.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Whether the patch is believed.
    pub accepted: bool,
    /// Why, in a line.
    pub reason: String,
}

/// The contents that a candidate leads to.
pub fn changes(
    candidate: &Candidate,
    files: &BTreeMap<Utf8PathBuf, SourceFile>,
) -> Result<Vec<Change>, String> {
    let names: BTreeSet<&Utf8PathBuf> = candidate.edits.iter().map(|e| &e.file).collect();
    let mut out = Vec::new();
    for name in names {
        let file = files
            .get(name)
            .ok_or_else(|| format!("`{name}` is no file of the project"))?;
        let after = apply_edits(file, &candidate.edits).map_err(|error| error.to_string())?;
        out.push(Change {
            file: name.clone(),
            before: file.bytes().to_vec(),
            after,
        });
    }
    Ok(out)
}

/// The unified diff of changes, paths relative to the root of the repository.
pub fn diff(session: &Session, changes: &[Change]) -> Vec<u8> {
    let mut out = Vec::new();
    for change in changes {
        let path = session.project.sub.join(&change.file);
        out.extend(unified_diff(&path, &change.before, &change.after));
    }
    out
}

/// Verifies a candidate's changes. `covering` are tests that passed at baseline and run a changed
/// function.
pub fn verify(
    session: &Session,
    baseline: &Baseline,
    candidate: &Candidate,
    changes: &[Change],
    covering: &BTreeSet<String>,
    budget: &mut Budget,
    reporter: &Reporter,
) -> Result<Verdict, Stop> {
    let mut steps = Steps {
        id: candidate.id,
        reporter,
    };
    // What runs the tests cannot be asked whether it was changed.
    let tampered = changes.iter().find_map(|change| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        tampering(&text(&change.before), &text(&change.after))
    });
    if let Some(name) = tampered {
        let reason = format!("reaches into what runs the tests, or other processes: `{name}`");
        reporter.emit(Event::Verdict {
            id: candidate.id,
            accepted: false,
            reason: reason.clone(),
        });
        return Ok(Verdict {
            accepted: false,
            reason,
        });
    }
    let verdict = run_steps(session, baseline, changes, covering, budget, &mut steps)?;
    reporter.emit(Event::Verdict {
        id: candidate.id,
        accepted: verdict.accepted,
        reason: verdict.reason.clone(),
    });
    Ok(verdict)
}

struct Steps<'a> {
    id: u64,
    reporter: &'a Reporter,
}

impl Steps<'_> {
    fn report(&mut self, step: String, failure: Option<&str>, detail: String, seconds: f64) {
        self.reporter.emit(Event::Verify {
            id: self.id,
            step: VerifyStep {
                step,
                passed: failure.is_none(),
                detail: failure.map_or(detail, str::to_owned),
                seconds,
            },
        });
    }
}

fn rejected(reason: impl Into<String>) -> Verdict {
    Verdict {
        accepted: false,
        reason: reason.into(),
    }
}

fn run_steps(
    session: &Session,
    baseline: &Baseline,
    changes: &[Change],
    covering: &BTreeSet<String>,
    budget: &mut Budget,
    steps: &mut Steps<'_>,
) -> Result<Verdict, Stop> {
    if changes.iter().all(|c| c.before == c.after) {
        return Ok(rejected("the patch is empty"));
    }
    if let Some(change) = changes.iter().find(|c| is_protected(&c.file)) {
        return Ok(rejected(format!("`{}` is protected", change.file)));
    }
    let tree = Worktree::checkout(
        &session.scratch,
        &session.project,
        &session.base,
        &session.cancel,
    )?;
    for change in changes {
        let there = std::fs::read(tree.folder().join(&change.file)).unwrap_or_default();
        if there != change.before {
            return Ok(rejected(format!(
                "`{}` is not what it was at the base",
                change.file
            )));
        }
        tree.write(&change.file, &change.after)?;
    }
    let harness = session.harness.for_tree(&tree);
    for run in 1..=2 {
        budget.check()?;
        if run > 1 {
            // What the first run did to the tree must not decide about the second.
            tree.restore(&session.cancel)?;
            for change in changes {
                tree.write(&change.file, &change.after)?;
            }
        }
        let request = Request {
            args: baseline.args.clone(),
            select: baseline.select.clone(),
            deadline: limit(baseline.run_seconds),
            ..Request::run(baseline.paths.clone())
        };
        let results = harness.run(&request, &session.cancel)?;
        budget.test_runs += 1;
        let failure = target_failure(baseline, &results);
        let seconds = results.elapsed.as_secs_f64();
        steps.report(
            format!("target tests, run {run} of 2"),
            failure.as_deref(),
            counts(&results),
            seconds,
        );
        if let Some(reason) = failure {
            return Ok(rejected(reason));
        }
    }
    if baseline.paths.is_empty() {
        return Ok(accepted(
            "the whole suite passes twice, nothing that passed fails",
        ));
    }
    let others: BTreeSet<&String> = baseline
        .passing
        .difference(&baseline.target_passing)
        .collect();
    if others.is_empty() {
        return Ok(accepted(
            "the target passes twice; the project has no other passing tests",
        ));
    }
    regression(
        session, &harness, baseline, &others, covering, budget, steps,
    )
}

fn accepted(reason: &str) -> Verdict {
    Verdict {
        accepted: true,
        reason: reason.to_owned(),
    }
}

/// Runs the tests beyond the target: everything when it is affordable, else those that cover the
/// change.
fn regression(
    session: &Session,
    harness: &Harness,
    baseline: &Baseline,
    others: &BTreeSet<&String>,
    covering: &BTreeSet<String>,
    budget: &mut Budget,
    steps: &mut Steps<'_>,
) -> Result<Verdict, Stop> {
    let cost = |ids: &mut dyn Iterator<Item = &String>| -> f64 {
        ids.filter_map(|id| baseline.seconds.get(id)).sum()
    };
    let near: BTreeSet<&String> = covering.iter().filter(|id| others.contains(id)).collect();
    let everything = cost(&mut others.iter().copied());
    let affordable = !baseline.project_collected.is_empty()
        && Duration::from_secs_f64(everything * 2.0 + 5.0)
            < budget.left().max(Duration::from_secs(30));
    let (ids, paths, step) = if affordable {
        (
            others.clone(),
            Vec::new(),
            format!("whole suite, {} other tests", others.len()),
        )
    } else if near.is_empty() {
        return Ok(accepted(
            "the target passes twice; no other test runs the changed code",
        ));
    } else {
        let files: BTreeSet<String> = near.iter().map(|id| baseline.file_of(id)).collect();
        let step = format!("{} other tests that run the changed code", near.len());
        let paths = files.into_iter().collect();
        (near.clone(), paths, step)
    };
    budget.check()?;
    let request = Request {
        select: (!affordable).then(|| ids.iter().map(|id| (*id).clone()).collect()),
        deadline: limit(cost(&mut ids.iter().copied()) + baseline.run_seconds),
        ..Request::run(paths)
    };
    let results = harness.run(&request, &session.cancel)?;
    budget.test_runs += 1;
    let mut failure = None;
    let known = |id: &str| {
        baseline.project_collected.contains(id)
            || baseline.collected.contains(id)
            || baseline.passing.contains(id)
    };
    let cases = Cases::of(&results, known);
    let broken = cases.not_passed(ids.iter().copied());
    if !broken.is_empty() {
        // The recorded run had plugins switched off: only what passes at the base under the
        // project's own options counts against the patch.
        let confirmed = passes_at_base(session, baseline, &broken, budget)?;
        if let Some(first) = confirmed.first() {
            failure = Some(format!("breaks `{first}`{}", and_more(confirmed.len() - 1)));
        }
    }
    if failure.is_none() && affordable {
        let beyond = baseline.project_collected.iter();
        let beyond = beyond.filter(|id| !baseline.collected.contains(*id));
        let lost = cases.not_collected(beyond).into_iter().next();
        if let Some(lost) = lost
            && results.complete
        {
            failure = Some(format!("`{lost}` is no longer collected"));
        }
    }
    steps.report(
        step,
        failure.as_deref(),
        counts(&results),
        results.elapsed.as_secs_f64(),
    );
    Ok(match failure {
        Some(reason) => rejected(reason),
        None if affordable => {
            accepted("the target passes twice and the whole suite shows no regression")
        }
        None => {
            accepted("the target passes twice and every test that runs the changed code passes")
        }
    })
}

/// Which of `ids` pass on the untouched tree with the project's own options.
fn passes_at_base(
    session: &Session,
    baseline: &Baseline,
    ids: &[&String],
    budget: &mut Budget,
) -> Result<Vec<String>, Stop> {
    let tree = Worktree::checkout(
        &session.scratch,
        &session.project,
        &session.base,
        &session.cancel,
    )?;
    let harness = session.harness.for_tree(&tree);
    let files: BTreeSet<String> = ids.iter().map(|id| baseline.file_of(id)).collect();
    let request = Request {
        select: Some(ids.iter().map(|id| (*id).clone()).collect()),
        deadline: limit(baseline.run_seconds + 60.0),
        ..Request::run(files.into_iter().collect())
    };
    let results = harness.run(&request, &session.cancel)?;
    budget.test_runs += 1;
    Ok(ids
        .iter()
        .filter(|id| {
            results
                .tests
                .get(**id)
                .is_some_and(|t| t.outcome == TestOutcome::Passed)
        })
        .map(|id| (*id).clone())
        .collect())
}

/// Why a target run does not count as passed.
fn target_failure(baseline: &Baseline, results: &RunResults) -> Option<String> {
    if results.exit == Exit::TimedOut {
        return Some("the target tests did not end in time".into());
    }
    if let Some(module) = results.foreign.first() {
        return Some(format!("imports from outside the worktree: {module}"));
    }
    if !results.complete {
        return Some(format!("pytest ended early ({})", results.exit));
    }
    if let Some(error) = results.collect_errors.first() {
        return Some(format!("`{}` cannot be collected", error.id));
    }
    for failure in &baseline.failing {
        let id = &failure.test;
        let passes = match results.tests.get(id) {
            Some(test) => test.outcome == TestOutcome::Passed,
            // A file that could not be collected: now every test in it must pass.
            None if !id.contains("::") || !baseline.coverage.contains_key(id) => {
                let inside = |name: &String| {
                    name.starts_with(&format!("{id}::")) || name.starts_with(&format!("{id}/"))
                };
                let mut tests = results
                    .tests
                    .iter()
                    .filter(|(name, _)| inside(name))
                    .peekable();
                tests.peek().is_some() && tests.all(|(_, t)| t.outcome != TestOutcome::Failed)
            }
            None => false,
        };
        if !passes {
            return Some(format!("`{id}` still fails"));
        }
    }
    let cases = Cases::of(results, |id| baseline.collected.contains(id));
    let broken = cases.not_passed(baseline.target_passing.iter());
    if let Some(id) = broken.first() {
        return Some(format!("breaks `{id}`"));
    }
    let failing: BTreeSet<&String> = baseline.failing.iter().map(|f| &f.test).collect();
    let there = baseline.collected.iter();
    let there = there.filter(|id| !failing.contains(id) && id.contains("::"));
    let lost = cases.not_collected(there).into_iter().next();
    lost.map(|id| format!("`{id}` is no longer collected"))
}

fn counts(results: &RunResults) -> String {
    let (passed, failed, skipped) = results.counts();
    let mut parts = vec![format!("{passed} passed")];
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    if skipped > 0 {
        parts.push(format!("{skipped} skipped"));
    }
    parts.join(", ")
}

fn and_more(count: usize) -> String {
    if count == 0 {
        String::new()
    } else {
        format!(" and {count} more")
    }
}

/// A generous limit for a run that took `seconds` at baseline.
fn limit(seconds: f64) -> Duration {
    Duration::from_secs_f64((seconds * 5.0 + 10.0).min(3600.0))
}
