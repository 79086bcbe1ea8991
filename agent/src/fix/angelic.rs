//! Runs tests with other values put in, in a warm runner of its own.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use ndbg_tools::python::pytest::TestOutcome;
use ndbg_tools::python::warm::{Answer, Job, Patch, Stage, Status, WarmRunner};
use ndbg_tools::source::{Edit, SourceFile};

use super::baseline::Baseline;
use super::localize::Localization;
use super::session::{Session, note};
use crate::plan::synthesis::oracle::{Angelic, Found, Oracle, Question, Reply};
use crate::report::{Event, Level, Reporter};

/// Failing tests that are run.
const TESTS: usize = 6;
/// Passing tests that are run for a specification, and their seconds at baseline.
const PASSING: usize = 60;
const PASSING_SECONDS: f64 = 0.5;
/// How long the runner may take to get ready.
const STARTUP: Duration = Duration::from_mins(1);
/// What a question may take beyond its tests: growing expressions.
const GROWING: Duration = Duration::from_secs(8);
/// Share of the executions that a run may take in all.
const SHARE: f64 = 0.4;

/// The oracle of a run.
pub struct Angels<'a> {
    session: &'a Session,
    baseline: &'a Baseline,
    found: &'a Localization,
    files: &'a BTreeMap<Utf8PathBuf, SourceFile>,
    reporter: &'a Reporter,
    jobs: usize,
    until: Instant,
    most: u64,
    tests: Vec<String>,
    /// At stage collected, and at stage configured for what ran while tests were collected.
    runners: [Runner; 2],
    runs: Cell<u64>,
    deadline: Duration,
}

enum Runner {
    Unstarted,
    Running(WarmRunner),
    Unusable,
}

impl<'a> Angels<'a> {
    /// Nothing is started yet.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        session: &'a Session,
        baseline: &'a Baseline,
        found: &'a Localization,
        files: &'a BTreeMap<Utf8PathBuf, SourceFile>,
        reporter: &'a Reporter,
        jobs: usize,
        until: Instant,
        executions: u64,
        warm: bool,
    ) -> Self {
        let usable = warm && session.harness.interpreter.probe.fork && !baseline.collection_fails;
        let mut tests = baseline.failing_ids();
        tests.sort_by(|a, b| seconds(baseline, a).total_cmp(&seconds(baseline, b)));
        tests.truncate(TESTS);
        let runner = || {
            if usable {
                Runner::Unstarted
            } else {
                Runner::Unusable
            }
        };
        let slowest = tests.iter().map(|id| seconds(baseline, id)).sum::<f64>();
        Self {
            session,
            baseline,
            found,
            files,
            reporter,
            jobs: jobs.max(1),
            until,
            most: (executions as f64 * SHARE) as u64,
            tests,
            runners: [runner(), runner()],
            runs: Cell::new(0),
            deadline: Duration::from_secs_f64((slowest * 5.0 + 0.5).clamp(1.0, 5.0)),
        }
    }

    fn ready(&mut self, stage: Stage) -> bool {
        match self.runners[at(stage)] {
            Runner::Running(_) => return true,
            Runner::Unusable => return false,
            Runner::Unstarted => {}
        }
        let limit = STARTUP.min(self.until.saturating_duration_since(Instant::now()));
        let started = WarmRunner::start(
            &self.session.harness,
            stage,
            &self.baseline.paths,
            &self.baseline.args,
            self.jobs,
            limit,
            &self.session.cancel,
        );
        match started {
            Ok(runner) => {
                self.runners[at(stage)] = Runner::Running(runner);
                true
            }
            Err(error) => {
                let text = format!("no values can be put in: {error}");
                note(self.reporter, Level::Info, text, None);
                self.runners[at(stage)] = Runner::Unusable;
                false
            }
        }
    }

    /// Byte edits against the file on disk; the order of marks at one place is kept.
    fn patches(&self, marks: &[Edit]) -> Option<Vec<Patch>> {
        let file = self.files.get(&marks.first()?.file)?;
        let edits = marks
            .iter()
            .map(|edit| {
                Some((
                    file.byte_offset(edit.start),
                    file.byte_offset(edit.end),
                    file.encode(&edit.text)?,
                ))
            })
            .collect::<Option<_>>()?;
        Some(vec![Patch {
            file: marks.first()?.file.clone(),
            edits,
        }])
    }

    fn passing_of(&self, question: &Question) -> Vec<String> {
        let Some(key) = &question.passing_of else {
            return Vec::new();
        };
        // What it does not hold it would report as missing.
        let held = match &self.runners[at(Stage::Collected)] {
            Runner::Running(runner) => runner.tests.as_slice(),
            _ => &[],
        };
        let holds = |id: &String| held.is_empty() || held.contains(id);
        let covering = self.found.covering.get(key).into_iter().flatten();
        let mut ids: Vec<&String> = covering
            .filter(|id| self.baseline.passing.contains(*id) && holds(id))
            .collect();
        ids.sort_by(|a, b| seconds(self.baseline, a).total_cmp(&seconds(self.baseline, b)));
        let mut total = 0.0;
        ids.into_iter()
            .take(PASSING)
            .take_while(|id| {
                total += seconds(self.baseline, id);
                total <= PASSING_SECONDS
            })
            .cloned()
            .collect()
    }

    fn is_over(&self) -> bool {
        self.session.cancel.is_set() || Instant::now() >= self.until || self.runs.get() >= self.most
    }
}

impl Angels<'_> {
    /// The answers of one runner; none where it cannot mark these places.
    fn ask_at(
        &mut self,
        stage: Stage,
        patches: &[Patch],
        questions: &[Question],
    ) -> Option<Vec<Option<Reply>>> {
        if !self.ready(stage) {
            return None;
        }
        let mut replies: Vec<Option<Reply>> = vec![None; questions.len()];
        let (mut next, mut waiting) = (0, 0);
        let mut is_cold = false;
        while next < questions.len() || waiting > 0 {
            while next < questions.len() && waiting < 2 * self.jobs && !is_cold && !self.is_over() {
                let job = self.job(next as u64, &questions[next], patches);
                let probe = questions[next].probe();
                let Runner::Running(runner) = &mut self.runners[at(stage)] else {
                    return Some(replies);
                };
                if runner.submit_probing(&job, &probe).is_err() {
                    self.runners[at(stage)] = Runner::Unusable;
                    return Some(replies);
                }
                next += 1;
                waiting += 1;
            }
            if waiting == 0 || self.session.cancel.is_set() {
                break;
            }
            let Runner::Running(runner) = &mut self.runners[at(stage)] else {
                return Some(replies);
            };
            match runner.receive(Duration::from_millis(50)) {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    waiting -= 1;
                    if let Status::Cold(_) = answer.status {
                        is_cold = true;
                    } else {
                        self.runs.set(self.runs.get() + 1);
                    }
                    if let Some(slot) = replies.get_mut(answer.id as usize) {
                        *slot = read(&answer, &questions[answer.id as usize]);
                    }
                }
                Err(_) => {
                    self.runners[at(stage)] = Runner::Unusable;
                    return Some(replies);
                }
            }
        }
        (!is_cold).then_some(replies)
    }

    fn job(&self, id: u64, question: &Question, patches: &[Patch]) -> Job {
        let growing = question
            .passing_of
            .as_ref()
            .map_or(Duration::ZERO, |_| GROWING);
        Job {
            id,
            patches: patches.to_vec(),
            must: question.tests.clone(),
            keep: self.passing_of(question),
            deadline: self.deadline + growing,
        }
    }
}

fn at(stage: Stage) -> usize {
    match stage {
        Stage::Collected => 0,
        Stage::Configured => 1,
    }
}

fn seconds(baseline: &Baseline, id: &str) -> f64 {
    baseline.seconds.get(id).copied().unwrap_or_default()
}

impl Oracle for Angels<'_> {
    fn tests(&self) -> &[String] {
        &self.tests
    }

    fn ask(&mut self, marks: &[Edit], questions: &[Question]) -> Vec<Option<Reply>> {
        let Some(patches) = self.patches(marks) else {
            return vec![None; questions.len()];
        };
        match self.ask_at(Stage::Collected, &patches, questions) {
            Some(replies) => replies,
            None => (self.ask_at(Stage::Configured, &patches, questions))
                .unwrap_or_else(|| vec![None; questions.len()]),
        }
    }

    fn runs(&self) -> u64 {
        self.runs.get()
    }

    fn is_spent(&self) -> bool {
        self.is_over()
            || self
                .runners
                .iter()
                .all(|runner| matches!(runner, Runner::Unusable))
    }

    fn announce(&self, angelic: Angelic) {
        self.reporter.emit(Event::Angelic(angelic));
    }
}

fn read(answer: &Answer, question: &Question) -> Option<Reply> {
    if answer.status != Status::Done {
        return None;
    }
    let of = |id: &String| question.tests.contains(id);
    let passed = |outcome: TestOutcome| outcome == TestOutcome::Passed;
    Some(Reply {
        passed: answer
            .results
            .iter()
            .filter(|r| of(&r.test) && passed(r.outcome))
            .map(|r| r.test.clone())
            .collect(),
        sides: answer
            .results
            .iter()
            .filter(|r| of(&r.test))
            .filter_map(|r| Some((r.test.clone(), r.sides.clone()?)))
            .collect(),
        found: serde_json::from_value::<Found>(answer.probe.clone()).unwrap_or_default(),
    })
}
