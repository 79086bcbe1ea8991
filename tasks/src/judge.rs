//! Judging the patch for an [`Instance`]: the tests that it names, by the official rule of SWE-bench, and
//! tests that nobody has seen.
//!
//! *Resolved*, the official rule: every test of `FAIL_TO_PASS` passes, and every one of `PASS_TO_PASS`
//! passes or is skipped; an expected failure counts as passed, and an id that was cut off in the middle of
//! its parameters stands for the ids that begin with it, if they agree. The tests run here and not in
//! the container of the benchmark, so a test that fails here without any patch can never be
//! maintained: it makes a task unresolved by the rule, and is left out of *plausible*.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::git::GitError;
use ndbg_tools::process::Exit;
use ndbg_tools::python::pytest::{Cases, PytestError, Request, RunResults, TestOutcome};
use serde::{Deserialize, Serialize};

use crate::environments::Prepared;
use crate::grade::{Grade, same_tokens};
use crate::infrastructure::{Class, Infrastructure};
use crate::instance::{Instance, Required};
use crate::official::{is_prefix_of_any, maintained, passes, status};
use crate::test_names::{file_of, is_truncated, node_id};
use crate::tree::{Tree, TreeError, is_test_path};

/// Time for the tests of FAIL_TO_PASS without a patch; what takes longer counts as failing.
const FAILING: Duration = Duration::from_mins(2);
/// Time for all other tests without a patch.
const FIRST: Duration = Duration::from_mins(20);

/// Limits of the runs.
#[derive(Debug, Clone)]
pub struct Judge {
    /// Least time for one run of the tests; more where they are known to take long.
    pub deadline: Duration,
    /// Memory that tests may use beyond what the interpreter has at start.
    pub memory_limit: Option<u64>,
}

/// What is known of a task before any patch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Node ids of `FAIL_TO_PASS`.
    pub fail_to_pass: Vec<String>,
    /// Node ids of `PASS_TO_PASS`.
    pub pass_to_pass: Vec<String>,
    /// Node ids of hidden tests.
    pub hidden: Vec<String>,
    /// What a plausible patch must make pass; hidden tests are no part of it.
    pub required: Vec<String>,
    /// Tests of `PASS_TO_PASS` that fail here without any patch.
    pub broken_here: Vec<String>,
    /// Seconds of a run of the tests.
    pub seconds: f64,
}

impl Judge {
    /// What the tests do without a patch; read from the environment's folder when it is known.
    pub fn known(
        &self,
        instance: &Instance,
        prepared: &Prepared,
        tree: &Tree,
        cancel: &Cancel,
    ) -> Result<Known, Infrastructure> {
        let key = crate::digest::hex(&[&instance.fingerprint(), &tree.state(cancel)?]);
        let path = prepared.folder.join(format!("known-{key}.json"));
        if let Some(known) = fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        {
            return Ok(known);
        }
        let known = self.find_out(instance, prepared, tree, cancel)?;
        let text = serde_json::to_vec(&known).unwrap_or_default();
        // A cache that cannot be written costs time alone.
        let _ = fs::write(path, text);
        Ok(known)
    }

    fn find_out(
        &self,
        instance: &Instance,
        prepared: &Prepared,
        tree: &Tree,
        cancel: &Cancel,
    ) -> Result<Known, Infrastructure> {
        let named = Names::of(instance, tree, cancel)?;
        let mut known = Known {
            fail_to_pass: named.all(&instance.fail_to_pass)?,
            // A test that is gone is the task's affair: it fails when it is looked for.
            pass_to_pass: instance
                .pass_to_pass
                .iter()
                .map(|name| named.one(name).unwrap_or_else(|| name.clone()))
                .collect(),
            hidden: named.all(&instance.hidden.tests)?,
            ..Known::default()
        };
        let runner = self.runner(instance, prepared, tree, 0.0)?;
        if instance.required == Required::PassingWithReference {
            let reference = instance.reference.as_deref().unwrap_or_default();
            let mended = Tree::of(instance, prepared, cancel)?;
            mended.apply(reference, cancel).map_err(|error| {
                Infrastructure::new(
                    Class::Baseline,
                    format!("the known repair does not apply: {error}"),
                )
            })?;
            let runner = self.runner(instance, prepared, &mended, 0.0)?;
            let results = runner.run(&instance.paths, None, cancel)?;
            known.seconds = results.elapsed.as_secs_f64();
            known.required = passing(&results);
            if known.required.is_empty() {
                return Err(baseline("no test passes with the known repair", &results));
            }
            return Ok(known);
        }
        if instance.required == Required::Named {
            Self::named(&runner, tree, &mut known, cancel)?;
            return Ok(known);
        }
        let results = runner.run(&instance.paths, None, cancel)?;
        known.seconds = results.elapsed.as_secs_f64();
        if results.tests.is_empty() && results.collect_errors.is_empty() {
            return Err(baseline("no test runs", &results));
        }
        let mut required: BTreeSet<String> = known.fail_to_pass.iter().cloned().collect();
        required.extend(passing(&results));
        known.required = required
            .into_iter()
            .filter(|id| !known.hidden.contains(id))
            .collect();
        Ok(known)
    }

    /// What the tests that a task names do without a patch. Those that fail because of the bug run apart: they may
    /// never end.
    fn named(
        runner: &Runner,
        tree: &Tree,
        known: &mut Known,
        cancel: &Cancel,
    ) -> Result<(), Infrastructure> {
        let run = |ids: &[String], limit: Duration| {
            let runner = Runner {
                harness: runner.harness.clone(),
                deadline: limit,
            };
            runner.run(&files(tree, ids), exact(ids), cancel)
        };
        let failing = run(&known.fail_to_pass, FAILING)?;
        let hangs = failing.exit == Exit::TimedOut;
        let nothing = failing.tests.is_empty() && failing.all.is_empty();
        if nothing && failing.collect_errors.is_empty() && !hangs {
            return Err(baseline("no test of FAIL_TO_PASS runs", &failing));
        }
        let collected =
            |id: &String| status(&failing, id).is_some() || is_prefix_of_any(id, &failing);
        let in_broken_file = |id: &String| {
            let mut errors = failing.collect_errors.iter();
            errors.any(|error| file_of(id) == file_of(&error.id))
        };
        let gone = |id: &&String| !collected(id) && !in_broken_file(id);
        if let (Some(id), false) = (known.fail_to_pass.iter().find(gone), hangs) {
            return Err(baseline(&format!("{id} is not among the tests"), &failing));
        }
        if known.fail_to_pass.iter().all(|id| passes(&failing, id)) {
            return Err(baseline(
                "every test of FAIL_TO_PASS passes here without a patch",
                &failing,
            ));
        }
        known.seconds = failing.elapsed.as_secs_f64();
        if known.pass_to_pass.is_empty() {
            known.required = visible(known);
            return Ok(());
        }
        let results = run(&known.pass_to_pass, runner.deadline)?;
        if results.exit == Exit::TimedOut {
            let text = format!(
                "the tests of PASS_TO_PASS do not end within {} s without a patch",
                runner.deadline.as_secs()
            );
            return Err(baseline(&text, &results));
        }
        known.seconds += results.elapsed.as_secs_f64();
        known.required = visible(known);
        for id in &known.pass_to_pass {
            if maintained(&results, id) {
                known.required.push(id.clone());
            } else {
                known.broken_here.push(id.clone());
            }
        }
        Ok(())
    }

    /// Judges `patch`, a unified diff with paths relative to the top of the repository.
    pub fn judge(
        &self,
        instance: &Instance,
        prepared: &Prepared,
        known: &Known,
        patch: &[u8],
        cancel: &Cancel,
    ) -> Result<Grade, Infrastructure> {
        let official = instance.required == Required::Named;
        // Without hidden tests nothing is said.
        let hides = !instance.hidden.is_empty();
        let failed = |reason: String| Grade {
            plausible: false,
            resolved: official.then_some(false),
            correct: hides.then_some(false),
            original: Some(false),
            reason: Some(reason),
        };
        if patch.iter().all(u8::is_ascii_whitespace) {
            return Ok(failed("no patch".into()));
        }
        let tree = Tree::of(instance, prepared, cancel)?;
        let touched = match tree.touched(patch, cancel) {
            Ok(touched) => touched,
            Err(TreeError::Git(GitError::Failed { message, .. })) => {
                return Ok(failed(format!("no unified diff: {message}")));
            }
            Err(other) => return Err(other.into()),
        };
        if let Some(test) = touched.iter().find(|path| is_test_path(path)) {
            return Ok(failed(format!("changes the tests: {test}")));
        }
        match tree.apply(patch, cancel) {
            Ok(()) => {}
            Err(TreeError::Git(GitError::Failed { message, .. })) => {
                return Ok(failed(format!("does not apply: {message}")));
            }
            Err(other) => return Err(other.into()),
        }
        let mut grade = Grade {
            original: original(instance, prepared, &tree, &touched, cancel),
            ..Grade::default()
        };
        for (to, from) in &instance.hidden.files {
            let bytes = fs::read(from).map_err(|error| {
                Infrastructure::new(Class::TestPatch, format!("{from}: {error}"))
            })?;
            tree.write(to, &bytes)?;
        }
        let hidden_files: Vec<String> = instance
            .hidden
            .files
            .iter()
            .map(|(to, _)| to.to_string())
            .collect();
        let mut ids: Vec<String> = known.required.clone();
        ids.extend(known.fail_to_pass.iter().cloned());
        ids.extend(known.pass_to_pass.iter().cloned());
        ids.extend(known.hidden.iter().cloned());
        let (mut paths, select) = match instance.required {
            Required::Named => (files(&tree, &ids), exact(&ids)),
            _ => (instance.paths.clone(), None),
        };
        if !paths.is_empty() {
            paths.extend(hidden_files.iter().cloned());
        }
        let runner = self.runner(instance, prepared, &tree, known.seconds)?;
        let results = runner.run(&paths, select, cancel)?;
        let reason = missing(known, &results);
        grade.plausible = reason.is_none();
        if official {
            grade.resolved = Some(
                results.complete
                    && known.fail_to_pass.iter().all(|id| passes(&results, id))
                    && known.pass_to_pass.iter().all(|id| maintained(&results, id)),
            );
        }
        if let Some(reason) = reason {
            grade.correct = hides.then_some(false);
            grade.reason = Some(reason);
            return Ok(grade);
        }
        if hides {
            let reason = hidden(instance, known, &results);
            grade.correct = Some(reason.is_none());
            grade.reason = reason;
        }
        if grade.resolved == Some(false) && grade.reason.is_none() {
            let not = known
                .pass_to_pass
                .iter()
                .filter(|id| !maintained(&results, id));
            let not: Vec<&String> = not.collect();
            let first = not.first().map_or("a test", |id| id.as_str());
            grade.reason = Some(format!(
                "not resolved: {first} of PASS_TO_PASS does not pass, as it did not without the patch ({} in all)",
                not.len()
            ));
        }
        Ok(grade)
    }

    fn runner(
        &self,
        instance: &Instance,
        prepared: &Prepared,
        tree: &Tree,
        seconds: f64,
    ) -> Result<Runner, Infrastructure> {
        let mut harness = tree.harness(
            &prepared.interpreter,
            &instance.pytest_args,
            self.memory_limit,
        )?;
        harness.env.clone_from(&instance.env);
        let known = Duration::from_secs_f64(30.0 + 5.0 * seconds.clamp(0.0, 7200.0));
        Ok(Runner {
            harness,
            // Nothing is known of the first run: suites of large projects take long.
            deadline: if seconds > 0.0 {
                self.deadline.max(known)
            } else {
                self.deadline.max(FIRST)
            },
        })
    }
}

struct Runner {
    harness: ndbg_tools::python::pytest::Harness,
    deadline: Duration,
}

impl Runner {
    fn run(
        &self,
        paths: &[String],
        select: Option<Vec<String>>,
        cancel: &Cancel,
    ) -> Result<RunResults, Infrastructure> {
        let mut request = Request::run(paths.to_vec());
        request.deadline = self.deadline;
        request.select = select;
        self.harness
            .run(&request, cancel)
            .map_err(|error: PytestError| {
                if error.is_cancelled() {
                    Infrastructure::interrupted()
                } else {
                    Infrastructure::new(Class::Baseline, error.to_string())
                }
            })
    }
}

/// Tests of FAIL_TO_PASS that a tool may see.
fn visible(known: &Known) -> Vec<String> {
    let all = known.fail_to_pass.iter();
    all.filter(|id| !known.hidden.contains(id))
        .cloned()
        .collect()
}

/// What a name of a test means in a tree.
struct Names {
    files: BTreeSet<Utf8PathBuf>,
    changed: Vec<Utf8PathBuf>,
}

impl Names {
    fn of(instance: &Instance, tree: &Tree, cancel: &Cancel) -> Result<Self, Infrastructure> {
        let all = [
            &instance.fail_to_pass,
            &instance.pass_to_pass,
            &instance.hidden.tests,
        ];
        let plain = all
            .iter()
            .all(|names| names.iter().all(|name| name.contains("::")));
        Ok(Self {
            files: if plain {
                BTreeSet::new()
            } else {
                tree.python_files(cancel)?
            },
            changed: instance.changed_tests(),
        })
    }

    fn one(&self, name: &str) -> Option<String> {
        node_id(name, &self.files, &self.changed)
    }

    fn all(&self, names: &[String]) -> Result<Vec<String>, Infrastructure> {
        names
            .iter()
            .map(|name| {
                self.one(name).ok_or_else(|| {
                    Infrastructure::new(
                        Class::TestNames,
                        format!("no file is found for the test `{name}`"),
                    )
                })
            })
            .collect()
    }
}

/// Files of `ids` that exist: pytest runs nothing at all when one does not.
fn files(tree: &Tree, ids: &[String]) -> Vec<String> {
    let files: BTreeSet<&Utf8Path> = ids.iter().map(|id| file_of(id)).collect();
    let there = files
        .into_iter()
        .filter(|file| tree.top().join(file).exists());
    there.map(Utf8Path::to_string).collect()
}

/// Exact ids to run; none when one of them is no exact id.
fn exact(ids: &[String]) -> Option<Vec<String>> {
    ids.iter()
        .all(|id| id.contains("::") && !is_truncated(id))
        .then(|| ids.to_vec())
}

fn passing(results: &RunResults) -> Vec<String> {
    let passed = results
        .tests
        .iter()
        .filter(|(_, test)| test.outcome == TestOutcome::Passed);
    passed.map(|(id, _)| id.clone()).collect()
}

/// The first required test that does not hold, in words.
fn missing(known: &Known, results: &RunResults) -> Option<String> {
    let required = &known.required;
    let all: BTreeSet<&str> = required
        .iter()
        .chain(&known.hidden)
        .map(String::as_str)
        .collect();
    let cases = Cases::of(results, |id| all.contains(id));
    let bad: Vec<&String> = cases
        .not_passed(required.iter())
        .into_iter()
        .filter(|id| known.fail_to_pass.contains(id) || !maintained(results, id))
        .collect();
    if let Some(id) = bad.first() {
        return Some(match status(results, id) {
            Some(TestOutcome::Skipped) => format!("{id} is skipped"),
            Some(_) => format!("{id} fails"),
            None if results.complete => format!("{id} is gone"),
            None => format!("{id} did not run ({})", results.exit),
        });
    }
    (!results.complete).then(|| format!("the tests did not end properly ({})", results.exit))
}

/// The first hidden test that does not pass, in words.
fn hidden(instance: &Instance, known: &Known, results: &RunResults) -> Option<String> {
    if let Some(id) = known.hidden.iter().find(|id| !passes(results, id)) {
        return Some(format!("hidden: {id} fails"));
    }
    if known.hidden.is_empty() {
        let files: BTreeSet<&Utf8Path> = instance
            .hidden
            .files
            .iter()
            .map(|(to, _)| to.as_path())
            .collect();
        if let Some(error) = results
            .collect_errors
            .iter()
            .find(|error| files.contains(file_of(&error.id)))
        {
            return Some(format!("hidden: {} cannot be collected", error.id));
        }
        let mut seen = results
            .tests
            .iter()
            .filter(|(id, _)| files.contains(file_of(id)))
            .peekable();
        if seen.peek().is_none() {
            return Some("hidden: nothing was collected".into());
        }
        let bad = seen.find(|(_, test)| test.outcome != TestOutcome::Passed);
        return bad.map(|(id, _)| format!("hidden: {id} fails"));
    }
    None
}

/// Whether the patched files are those of the known repair, token by token.
fn original(
    instance: &Instance,
    prepared: &Prepared,
    patched: &Tree,
    touched: &[Utf8PathBuf],
    cancel: &Cancel,
) -> Option<bool> {
    let reference = instance.reference.as_deref()?;
    let mended = Tree::of(instance, prepared, cancel).ok()?;
    let mut files: BTreeSet<Utf8PathBuf> = touched.iter().cloned().collect();
    files.extend(mended.touched(reference, cancel).ok()?);
    mended.apply(reference, cancel).ok()?;
    Some(files.iter().all(|file| {
        let read = |tree: &Tree| fs::read(tree.top().join(file)).ok();
        match (read(&mended), read(patched)) {
            (Some(a), Some(b)) => same_tokens(&a, &b),
            (None, None) => true,
            _ => false,
        }
    }))
}

fn baseline(what: &str, results: &RunResults) -> Infrastructure {
    let detail = results.collect_errors.first().map_or_else(
        || results.tail.clone(),
        |error| {
            error
                .failure
                .longrepr
                .clone()
                .unwrap_or_else(|| error.id.clone())
        },
    );
    let detail: Vec<&str> = detail.lines().rev().take(3).collect();
    let detail: Vec<&str> = detail.into_iter().rev().collect();
    Infrastructure::new(
        Class::Baseline,
        format!("{what} ({}): {}", results.exit, detail.join(" | ")),
    )
}
