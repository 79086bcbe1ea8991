//! The repository without any bug: which tests pass, and what they run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::python::pytest::{Harness, Mode, Request, RunResults, TestOutcome};

use super::conceal::conceal;
use super::run::{SeedError, SeedSettings};
use crate::tree::Tree;

/// Limit of one run of all tests.
const SUITE_LIMIT: Duration = Duration::from_mins(15);

/// The settled baseline.
#[derive(Debug)]
pub struct Baseline {
    /// Tests that passed in every run.
    pub passing: BTreeSet<String>,
    /// All tests collected.
    pub collected: BTreeSet<String>,
    /// Tests taken out, since they fail without any bug.
    pub put_aside: Vec<String>,
    /// Test files taken out, since they cannot be collected.
    pub uncollectable: Vec<String>,
    /// pytest arguments that keep the put-aside tests away.
    pub args: Vec<String>,
    /// Seconds by test.
    pub seconds: BTreeMap<String, f64>,
    /// Seconds of all tests.
    pub suite_seconds: f64,
    /// Passing tests by file and line.
    pub coverage: BTreeMap<Utf8PathBuf, BTreeMap<usize, BTreeSet<String>>>,
}

/// Runs all tests until what is left passes; changes `tree` by taking out what does not.
pub fn establish(
    tree: &Tree,
    settings: &SeedSettings,
    cancel: &Cancel,
    say: &mut dyn FnMut(&str),
) -> Result<(Baseline, Harness), SeedError> {
    let mut harness = tree.harness(&settings.interpreter, &[], settings.memory_limit)?;
    let mut baseline = Baseline {
        passing: BTreeSet::new(),
        collected: BTreeSet::new(),
        put_aside: Vec::new(),
        uncollectable: Vec::new(),
        args: Vec::new(),
        seconds: BTreeMap::new(),
        suite_seconds: 0.0,
        coverage: BTreeMap::new(),
    };
    let mut failing = BTreeSet::new();
    // Taking tests out may uncover others that fail: the rounds end when nothing does.
    for round in 0..4 {
        let results = suite(&harness, settings, Mode::Run, cancel)?;
        if results.tests.is_empty() && results.collect_errors.is_empty() {
            return Err(SeedError::NoTests(results.tail));
        }
        if round == 0 && results.rootdir.as_deref() != Some(tree.top()) {
            // Node ids have to start at the repository for tasks to be told apart by them.
            tree.write(Utf8Path::new("pytest.ini"), b"[pytest]\n")?;
            say("wrote an empty pytest.ini: without it, pytest's root is another folder");
            continue;
        }
        let bad: BTreeSet<String> = results
            .tests
            .iter()
            .filter(|(_, test)| test.outcome == TestOutcome::Failed)
            .map(|(id, _)| id.clone())
            .collect();
        if bad.is_empty() && results.collect_errors.is_empty() {
            if !results.complete {
                return Err(SeedError::NoTests(results.tail));
            }
            baseline.suite_seconds = results.elapsed.as_secs_f64();
            settle(&mut baseline, &harness, settings, &results, cancel)?;
            return Ok((baseline, harness));
        }
        for error in &results.collect_errors {
            let file = error.id.split("::").next().unwrap_or(&error.id);
            let path = tree.top().join(file);
            say(&format!("put aside: {file} cannot be collected"));
            std::fs::remove_file(&path).map_err(crate::tree::TreeError::io(path))?;
            baseline.uncollectable.push(file.to_owned());
        }
        if !bad.is_empty() {
            say(&format!("put aside: {} tests fail", bad.len()));
            baseline.put_aside.extend(bad.iter().cloned());
            failing.extend(bad.iter().cloned());
            let all = results.collected.iter().cloned().collect();
            let hidden = conceal(tree.top(), &bad, &all, true);
            for (file, bytes) in &hidden.files {
                tree.write(file, bytes)?;
            }
            baseline.put_aside.extend(hidden.also);
            baseline.args.extend(hidden.args);
            harness.args.clone_from(&baseline.args);
        }
    }
    Err(SeedError::Unstable(failing.into_iter().take(3).collect()))
}

/// Two more runs: one for tests that pass by chance, one for coverage.
fn settle(
    baseline: &mut Baseline,
    harness: &Harness,
    settings: &SeedSettings,
    first: &RunResults,
    cancel: &Cancel,
) -> Result<(), SeedError> {
    let second = suite(harness, settings, Mode::Run, cancel)?;
    let third = suite(harness, settings, Mode::Spectrum, cancel)?;
    let passed = |results: &RunResults, id: &String| {
        let test = results.tests.get(id);
        test.is_some_and(|test| test.outcome == TestOutcome::Passed)
    };
    baseline.collected = first.collected.iter().cloned().collect();
    baseline.passing = first
        .tests
        .keys()
        .filter(|id| [first, &second, &third].iter().all(|run| passed(run, id)))
        .cloned()
        .collect();
    if baseline.passing.is_empty() {
        return Err(SeedError::NoTests(third.tail));
    }
    for (id, test) in &first.tests {
        baseline.seconds.insert(id.clone(), test.seconds);
    }
    for (id, files) in third.coverage {
        if !baseline.passing.contains(&id) {
            continue;
        }
        for (file, lines) in files {
            let known = baseline.coverage.entry(file).or_default();
            for line in lines {
                known.entry(line).or_default().insert(id.clone());
            }
        }
    }
    Ok(())
}

fn suite(
    harness: &Harness,
    settings: &SeedSettings,
    mode: Mode,
    cancel: &Cancel,
) -> Result<RunResults, SeedError> {
    let mut request = Request::run(settings.paths.clone());
    request.mode = mode;
    request.deadline = SUITE_LIMIT;
    Ok(harness.run(&request, cancel)?)
}
