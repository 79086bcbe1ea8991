//! Trying a mutant: do the tests notice it, and which?

use std::collections::BTreeSet;
use std::time::Duration;

use ndbg_tools::Cancel;
use ndbg_tools::process::Exit;
use ndbg_tools::python::pytest::{Harness, PytestError, Request, RunResults, TestOutcome};

use super::baseline::Baseline;
use super::files_of;

/// Most seconds, as measured without a bug, of the tests that look at a mutant first.
const QUICK: f64 = 10.0;
/// A mutant that hangs is tried test by test; with more tests than this it is not worth it.
const MOST_SINGLE: usize = 8;

/// What the tests said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// Every test passes.
    Survived,
    /// The program cannot even be imported, or takes the interpreter down: nobody would commit that.
    Broken,
    /// It loops for ever, and that is not wanted or takes too long to look into.
    Hung,
    /// These tests fail because of it.
    Caught {
        /// Node ids.
        tests: Vec<String>,
        /// Whether one of them does not end.
        hangs: bool,
    },
}

/// Runs the tests of a tree that holds a mutant.
#[derive(Debug)]
pub struct Trier<'a> {
    pub harness: &'a Harness,
    pub baseline: &'a Baseline,
    pub paths: &'a [String],
    pub cancel: &'a Cancel,
}

impl Trier<'_> {
    /// Tries the mutant in the tree. `covering` are the tests that run the changed code; `may_hang`
    /// says whether a mutant that loops for ever is wanted.
    pub fn trial(&self, covering: &BTreeSet<String>, may_hang: bool) -> Result<Trial, PytestError> {
        let quick = self.quick(covering);
        let seconds: f64 = quick.iter().map(|id| self.seconds(id)).sum();
        let first = self.run(Some(&quick), self.deadline(seconds))?;
        match read(&first, quick.iter()) {
            Reading::Passed => return Ok(Trial::Survived),
            Reading::Broken => return Ok(Trial::Broken),
            Reading::Hung if may_hang => return self.one_by_one(covering),
            Reading::Hung => return Ok(Trial::Hung),
            Reading::Failed(_) => {}
        }
        // Other tests may be hit, too: through data files, or lines that only the mutant runs.
        let all = self.run(None, self.suite_deadline())?;
        Ok(match read(&all, self.baseline.passing.iter()) {
            Reading::Failed(tests) => Trial::Caught {
                tests,
                hangs: false,
            },
            Reading::Hung if may_hang => return self.one_by_one(covering),
            Reading::Hung => Trial::Hung,
            Reading::Passed => Trial::Survived,
            Reading::Broken => Trial::Broken,
        })
    }

    /// The covering tests, fastest first, as many as run within [`QUICK`], and one at least.
    fn quick(&self, covering: &BTreeSet<String>) -> Vec<String> {
        let mut ids: Vec<&String> = covering.iter().collect();
        ids.sort_by(|a, b| self.seconds(a).total_cmp(&self.seconds(b)).then(a.cmp(b)));
        let mut total = 0.0;
        let mut out = Vec::new();
        for id in ids {
            total += self.seconds(id);
            if total > QUICK && !out.is_empty() {
                break;
            }
            out.push(id.clone());
        }
        out
    }

    fn seconds(&self, id: &str) -> f64 {
        self.baseline.seconds.get(id).copied().unwrap_or(0.0)
    }

    /// The limit for tests that take `seconds` without a bug. It is generous: on a busy machine a
    /// short one would take slow runs for endless loops, and other bugs would be picked.
    fn deadline(&self, seconds: f64) -> Duration {
        let tests: f64 = self.baseline.seconds.values().sum();
        let start = (self.baseline.suite_seconds - tests).max(0.0);
        Duration::from_secs_f64(30.0 + 5.0 * (start + seconds))
    }

    fn suite_deadline(&self) -> Duration {
        Duration::from_secs_f64(30.0 + 5.0 * self.baseline.suite_seconds)
    }

    fn run(
        &self,
        select: Option<&[String]>,
        deadline: Duration,
    ) -> Result<RunResults, PytestError> {
        let paths = select.map_or_else(|| self.paths.to_vec(), files_of);
        let mut request = Request::run(paths);
        request.select = select.map(<[String]>::to_vec);
        request.deadline = deadline;
        self.harness.run(&request, self.cancel)
    }

    /// For a mutant that hangs: each covering test in a process of its own, then all others together.
    fn one_by_one(&self, covering: &BTreeSet<String>) -> Result<Trial, PytestError> {
        if covering.len() > MOST_SINGLE {
            return Ok(Trial::Hung);
        }
        let (mut caught, mut hangs) = (Vec::new(), false);
        for id in covering {
            let deadline = self.deadline(self.seconds(id));
            let results = self.run(Some(std::slice::from_ref(id)), deadline)?;
            match read(&results, std::iter::once(id)) {
                Reading::Passed => {}
                Reading::Failed(_) => caught.push(id.clone()),
                Reading::Hung => {
                    hangs = true;
                    caught.push(id.clone());
                }
                Reading::Broken => return Ok(Trial::Broken),
            }
        }
        let rest: Vec<String> = self
            .baseline
            .passing
            .iter()
            .filter(|id| !caught.contains(id))
            .cloned()
            .collect();
        if caught.is_empty() || rest.is_empty() {
            return Ok(Trial::Hung);
        }
        let results = self.run(Some(&rest), self.suite_deadline())?;
        Ok(match read(&results, rest.iter()) {
            Reading::Passed => Trial::Caught {
                tests: caught,
                hangs,
            },
            Reading::Broken => Trial::Broken,
            Reading::Failed(_) | Reading::Hung => Trial::Hung,
        })
    }
}

/// What one run showed.
enum Reading {
    Passed,
    Failed(Vec<String>),
    Hung,
    Broken,
}

/// What a run says about the tests `wanted`.
fn read<'a>(results: &RunResults, wanted: impl Iterator<Item = &'a String>) -> Reading {
    if !results.collect_errors.is_empty() {
        return Reading::Broken;
    }
    if results.exit == Exit::TimedOut {
        return Reading::Hung;
    }
    if !results.complete {
        return Reading::Broken;
    }
    let mut failed = Vec::new();
    for id in wanted {
        match results.tests.get(id) {
            Some(test) if test.outcome == TestOutcome::Failed => failed.push(id.clone()),
            Some(_) => {}
            // Tests are made from the program's data: its loss is no failure that one can see.
            None => return Reading::Broken,
        }
    }
    if failed.is_empty() {
        Reading::Passed
    } else {
        Reading::Failed(failed)
    }
}
