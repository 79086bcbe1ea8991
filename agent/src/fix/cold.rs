//! Cold screening: a pytest process for one candidate. Slow, but it works everywhere.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use ndbg_tools::process::Exit;
use ndbg_tools::python::pytest::{Mode, Request, TestOutcome};
use ndbg_tools::python::warm::Answered;
use ndbg_tools::source::{SourceFile, apply_edits};

use super::judge::judge;
use super::screen::Result as Screening;
use super::session::Session;
use super::stop::Stop;
use crate::plan::{Candidate, Screened};

/// What every cold run shares.
pub struct Cold<'a> {
    /// The opened project.
    pub session: &'a Session,
    /// Files that may be edited.
    pub files: &'a BTreeMap<Utf8PathBuf, SourceFile>,
    /// Failing tests.
    pub must: &'a [String],
    /// Passing tests.
    pub keep: &'a [String],
    /// Paths to collect.
    pub paths: &'a [String],
    /// Further pytest arguments.
    pub args: &'a [String],
    /// Time that a process may take.
    pub deadline: Duration,
    /// How each failing test fails at baseline.
    pub symptoms: &'a BTreeMap<String, String>,
}

impl Cold<'_> {
    /// Runs one candidate in a pytest process of its own, the patched bytes in place of the files.
    pub fn run(&self, candidate: Candidate) -> std::result::Result<Screening, Stop> {
        let started = Instant::now();
        let mut overlay = BTreeMap::new();
        for edit in &candidate.edits {
            let Some(file) = self.files.get(&edit.file) else {
                continue;
            };
            match apply_edits(file, &candidate.edits) {
                Ok(bytes) => {
                    overlay.insert(edit.file.clone(), bytes);
                }
                Err(error) => {
                    let screened = Screened::Invalid {
                        reason: error.to_string(),
                    };
                    return Ok(Screening {
                        candidate,
                        screened,
                        how: "none".into(),
                        ms: 0.0,
                    });
                }
            }
        }
        // Of a file that could not be collected no test is known by name.
        let select = self.must.iter().all(|id| id.contains("::")).then(|| {
            let ids = self.must.iter().chain(self.keep);
            ids.cloned().collect()
        });
        let request = Request {
            mode: Mode::Run,
            neutral: true,
            select,
            args: self.args.to_vec(),
            deadline: self.deadline,
            overlay,
            ..Request::run(self.paths.to_vec())
        };
        let run = self.session.harness.run(&request, &self.session.cancel)?;
        let mut results: Vec<Answered> = run
            .tests
            .iter()
            .map(|(id, test)| Answered {
                test: id.clone(),
                outcome: test.outcome,
                exception: test
                    .failure
                    .as_ref()
                    .and_then(|f| f.exc.as_ref())
                    .map(|e| e.kind.clone()),
                message: test
                    .failure
                    .as_ref()
                    .and_then(|f| f.exc.as_ref())
                    .map(|e| e.message.clone()),
                sides: test
                    .failure
                    .as_ref()
                    .and_then(|f| f.assertion.as_ref())
                    .map(|a| (a.left.clone(), a.right.clone())),
            })
            .collect();
        for error in &run.collect_errors {
            results.push(Answered {
                test: error.id.clone(),
                outcome: TestOutcome::Failed,
                exception: error.failure.exc.as_ref().map(|e| e.kind.clone()),
                message: error.failure.exc.as_ref().map(|e| e.message.clone()),
                sides: None,
            });
        }
        // A file that could not be collected is "fixed" when it holds tests that pass.
        for id in self.must {
            let of_file = |r: &&Answered| r.test.starts_with(&format!("{id}::"));
            if !id.contains("::")
                && results.iter().any(|r| of_file(&r))
                && results
                    .iter()
                    .filter(of_file)
                    .all(|r| r.outcome != TestOutcome::Failed)
            {
                results.push(Answered {
                    test: id.clone(),
                    outcome: TestOutcome::Passed,
                    exception: None,
                    message: None,
                    sides: None,
                });
            }
        }
        let screened = if run.exit == Exit::TimedOut {
            Screened::TimedOut
        } else if let Exit::Signal(_) = run.exit {
            Screened::Crashed {
                how: run.exit.to_string(),
            }
        } else {
            judge(self.must, self.symptoms, &results, run.complete)
        };
        Ok(Screening {
            candidate,
            screened,
            how: "cold".into(),
            ms: started.elapsed().as_secs_f64() * 1000.0,
        })
    }
}
