//! Screening: every candidate is tried in the warm runner, or cold where it cannot be. Screening errs
//! towards failure; only the verifier says "fixed".

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::python::pytest::TestOutcome;
use ndbg_tools::python::warm::{
    Answer, Answered, Job, Patch, Stage, Status, WarmError, WarmRunner,
};
use ndbg_tools::source::SourceFile;

use serde_json::Value as Json;

use super::baseline::Baseline;
use super::cold::Cold;
use super::judge::{judge, symptom};
use super::session::{Session, note};
use super::stop::Stop;
use super::trial::Trial;
use crate::plan::search::with_files;
use crate::plan::{Candidate, Screened};
use crate::report::{Event, Level, Reporter};
use ndbg_tools::protected::is_test_name;

/// Most failing tests run per candidate; the verifier runs them all.
const MUST: usize = 30;
/// Most passing tests run per candidate, and their seconds at baseline.
const KEEP: usize = 400;
const KEEP_SECONDS: f64 = 1.5;
/// Failing tests in which a probe looks on, and their seconds at baseline: the quickest, and one in any case.
const LOOKED: usize = 6;
const LOOKED_SECONDS: f64 = 0.3;
/// The number of such a job.
const LOOK: u64 = u64::MAX;
/// How long a warm runner may take to get ready.
const STARTUP: Duration = Duration::from_mins(2);

/// A screened candidate.
#[derive(Debug)]
pub struct Result {
    /// The candidate.
    pub candidate: Candidate,
    /// What it showed.
    pub screened: Screened,
    /// `swap`, `reimport`, `cold` or `none`.
    pub how: String,
    /// Milliseconds.
    pub ms: f64,
}

/// Runs candidates, several at a time.
pub struct Screener<'a> {
    session: &'a Session,
    files: &'a BTreeMap<Utf8PathBuf, SourceFile>,
    reporter: &'a Reporter,
    must: Vec<String>,
    keep: Vec<String>,
    paths: Vec<String>,
    args: Vec<String>,
    jobs: usize,
    deadline: Duration,
    /// Seconds of the failing tests at baseline.
    expected: f64,
    /// What a process of its own may take on top: the interpreter starts and tests are collected.
    start_up: Duration,
    /// How each failing test fails at baseline, as the runner tells it.
    symptoms: BTreeMap<String, String>,
    collected: Runner,
    configured: Runner,
    in_flight: BTreeMap<u64, (Candidate, Stage)>,
    cold: VecDeque<Candidate>,
    /// Results of cold runs that nobody has asked for yet.
    done: VecDeque<Result>,
    /// Functions that ran while tests were collected: swapping their code comes too late.
    imported: BTreeSet<(Utf8PathBuf, String)>,
}

/// A warm runner that is started when it is needed first.
enum Runner {
    Unstarted,
    Running(WarmRunner),
    Unusable,
}

impl<'a> Screener<'a> {
    /// Prepares screening and starts the first warm runner.
    #[allow(clippy::too_many_arguments)]
    pub fn start(
        session: &'a Session,
        baseline: &Baseline,
        covering: &BTreeSet<String>,
        imported: BTreeSet<(Utf8PathBuf, String)>,
        files: &'a BTreeMap<Utf8PathBuf, SourceFile>,
        reporter: &'a Reporter,
        jobs: usize,
        warm: bool,
    ) -> std::result::Result<Self, Stop> {
        session.tree.restore(&session.cancel)?;
        let must = cheapest(baseline, baseline.failing_ids().iter(), MUST, f64::INFINITY);
        let own = baseline.target_passing.iter();
        let others = covering
            .iter()
            .filter(|id| !baseline.target_passing.contains(*id));
        let under = |paths: &[String], file: &str| {
            paths.iter().any(|p| {
                file == p || p == "." || file.strip_prefix(p).is_some_and(|r| r.starts_with('/'))
            })
        };
        let mut paths = baseline.paths.clone();
        // A module named on the command line is rewritten by pytest, and its code cannot be swapped
        // then: doctests of the source files are left to the verifier.
        let named = |id: &&String| {
            let file = baseline.file_of(id);
            let name = Utf8Path::new(&file).file_name().unwrap_or_default();
            paths.is_empty() || under(&paths, &file) || is_test_name(name)
        };
        let ids = own.chain(others).filter(named);
        let keep = cheapest(baseline, ids, KEEP, KEEP_SECONDS);
        if !paths.is_empty() {
            for id in &keep {
                let file = baseline.file_of(id);
                if !under(&paths, &file) && session.tree.folder().join(&file).exists() {
                    paths.push(file);
                }
            }
        }
        let seconds: f64 = must
            .iter()
            .chain(&keep)
            .filter_map(|id| baseline.seconds.get(id))
            .sum();
        let usable = warm && session.harness.interpreter.probe.fork;
        let runner = || {
            if usable {
                Runner::Unstarted
            } else {
                Runner::Unusable
            }
        };
        let mut screener = Self {
            expected: must
                .iter()
                .filter_map(|id| baseline.seconds.get(id))
                .sum::<f64>(),
            session,
            files,
            reporter,
            must,
            keep,
            paths,
            args: baseline.args.clone(),
            jobs: jobs.max(1),
            deadline: Duration::from_secs_f64((seconds * 5.0 + 0.5).max(1.0)),
            start_up: Duration::from_secs_f64((baseline.run_seconds * 4.0).max(5.0)),
            symptoms: BTreeMap::new(),
            collected: runner(),
            configured: runner(),
            in_flight: BTreeMap::new(),
            cold: VecDeque::new(),
            done: VecDeque::new(),
            imported,
        };
        if baseline.collection_fails {
            screener.collected = Runner::Unusable;
        }
        let first = if baseline.collection_fails {
            Stage::Configured
        } else {
            Stage::Collected
        };
        if !screener.ready(first)? && !screener.ready(Stage::Configured)? {
            if warm {
                let text = "the warm runner cannot be used here: every candidate runs in a process of its own";
                note(reporter, Level::Warning, text.into(), None);
            }
            for failure in &baseline.failing {
                let sides = failure
                    .sides
                    .as_ref()
                    .map(|s| (s.left.clone(), s.right.clone()));
                let text = symptom(
                    Some(&failure.exception),
                    Some(&failure.message),
                    sides.as_ref(),
                );
                screener.symptoms.insert(failure.test.clone(), text);
            }
        }
        Ok(screener)
    }

    /// Failing tests run per candidate.
    pub fn must(&self) -> &[String] {
        &self.must
    }

    /// Passing tests run when all of those pass.
    pub fn keep(&self) -> &[String] {
        &self.keep
    }

    /// Candidates that can be taken on now.
    pub fn room(&self) -> usize {
        // One job waits behind each running one, so that the runner never idles.
        (2 * self.jobs).saturating_sub(self.in_flight.len() + self.cold.len() + self.done.len())
    }

    /// Whether nothing is running.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.cold.is_empty() && self.done.is_empty()
    }

    /// Seconds that a candidate takes, before one has run.
    pub fn expected_seconds(&self) -> f64 {
        self.expected
    }

    /// Runs a few failing tests as they are while a probe looks on, at most so long; what it saw, and the seconds
    /// that it took. None where the warm runner cannot do it.
    pub fn look(
        &mut self,
        mut probe: Json,
        seconds: &dyn Fn(&str) -> f64,
        limit: Duration,
    ) -> std::result::Result<(Option<Json>, f64), Stop> {
        let begun = Instant::now();
        if !matches!(self.collected, Runner::Running(_)) {
            return Ok((None, 0.0));
        }
        let folder = self.session.harness.folder.clone();
        with_files(&mut probe, |file| folder.join(file));
        let mut total = 0.0;
        let tests: Vec<String> = (self.must.iter().take(LOOKED))
            .take_while(|id| {
                let first = total == 0.0;
                total += seconds(id).max(1e-6);
                first || total <= LOOKED_SECONDS
            })
            .cloned()
            .collect();
        let job = Job {
            id: LOOK,
            patches: Vec::new(),
            must: tests,
            keep: Vec::new(),
            deadline: (self.deadline * 2 + Duration::from_secs(8)).min(limit),
        };
        let Runner::Running(runner) = &mut self.collected else {
            return Ok((None, 0.0));
        };
        if runner.submit_probing(&job, &probe).is_err() {
            self.lose(Stage::Collected);
            return Ok((None, 0.0));
        }
        loop {
            if self.session.cancel.is_set() {
                return Err(Stop::interrupted());
            }
            let Runner::Running(runner) = &mut self.collected else {
                return Ok((None, 0.0));
            };
            match runner.receive(Duration::from_millis(50)) {
                Ok(None) => {}
                Ok(Some(answer)) if answer.id == LOOK => {
                    let seen = (answer.status == Status::Done).then_some(answer.probe);
                    return Ok((seen, begun.elapsed().as_secs_f64()));
                }
                // A candidate that was under way.
                Ok(Some(answer)) => {
                    if let Some(result) = self.take(&answer)? {
                        self.done.push_back(result);
                    }
                }
                Err(_) => {
                    self.lose(Stage::Collected);
                    return Ok((None, 0.0));
                }
            }
        }
    }

    /// Takes a candidate on.
    pub fn submit(&mut self, candidate: Candidate) -> std::result::Result<(), Stop> {
        let late = self
            .imported
            .contains(&(candidate.file.clone(), candidate.qualname.clone()));
        let stage = if late || candidate.qualname.is_empty() {
            Stage::Configured
        } else {
            Stage::Collected
        };
        self.send(candidate, stage)
    }

    fn send(&mut self, candidate: Candidate, stage: Stage) -> std::result::Result<(), Stop> {
        let Some(patches) = self.patches(&candidate) else {
            self.cold.push_back(candidate);
            return Ok(());
        };
        for stage in [stage, Stage::Configured] {
            if !self.ready(stage)? {
                continue;
            }
            let job = Job {
                id: candidate.id,
                patches: patches.clone(),
                must: self.must.clone(),
                keep: self.keep.clone(),
                deadline: self.deadline,
            };
            if let Runner::Running(runner) = self.runner(stage) {
                let sent = runner.submit(&job);
                if sent.is_ok() {
                    self.in_flight.insert(candidate.id, (candidate, stage));
                    return Ok(());
                }
                self.lose(stage);
            }
        }
        self.cold.push_back(candidate);
        Ok(())
    }

    /// The next result; none when nothing is running or the time is over.
    pub fn next(&mut self, until: Instant) -> std::result::Result<Option<Result>, Stop> {
        loop {
            if self.session.cancel.is_set() {
                return Err(Stop::interrupted());
            }
            if let Some(result) = self.done.pop_front() {
                return Ok(Some(result));
            }
            if self.is_idle() || Instant::now() >= until {
                return Ok(None);
            }
            if self.in_flight.is_empty() || self.cold.len() >= self.jobs {
                return self.run_cold();
            }
            let both = [Stage::Collected, Stage::Configured]
                .into_iter()
                .filter(|stage| self.in_flight.values().any(|(_, s)| s == stage))
                .collect::<Vec<_>>();
            let wait = Duration::from_millis(if both.len() > 1 { 2 } else { 50 });
            for stage in both {
                let Runner::Running(runner) = self.runner(stage) else {
                    self.lose(stage);
                    continue;
                };
                match runner.receive(wait) {
                    Ok(None) => {}
                    Ok(Some(answer)) => {
                        if let Some(result) = self.take(&answer)? {
                            return Ok(Some(result));
                        }
                    }
                    Err(_) => self.lose(stage),
                }
            }
        }
    }

    fn take(&mut self, answer: &Answer) -> std::result::Result<Option<Result>, Stop> {
        let Some((candidate, stage)) = self.in_flight.remove(&answer.id) else {
            return Ok(None);
        };
        if let Status::Cold(_) = answer.status {
            match stage {
                Stage::Collected => self.send(candidate, Stage::Configured)?,
                Stage::Configured => self.cold.push_back(candidate),
            }
            return Ok(None);
        }
        // A file that could not be collected is collected now: what its tests do, whichever they
        // are, only a run of its own tells.
        let collects =
            |r: &Answered| !r.test.contains("::") && r.exception.as_deref() == Some("NotCollected");
        if answer.results.iter().any(collects) {
            self.cold.push_back(candidate);
            return Ok(None);
        }
        Ok(Some(Result {
            screened: self.classify(answer),
            candidate,
            how: answer.how.clone(),
            ms: answer.ms,
        }))
    }

    fn classify(&self, answer: &Answer) -> Screened {
        match &answer.status {
            Status::Invalid(reason) => {
                return Screened::Invalid {
                    reason: reason.clone(),
                };
            }
            Status::Done => {}
            Status::TimedOut | Status::Crashed(_) | Status::Cold(_) => {
                if !answer
                    .results
                    .iter()
                    .any(|r| r.outcome == TestOutcome::Passed && self.must.contains(&r.test))
                {
                    return match &answer.status {
                        Status::Crashed(how) => Screened::Crashed { how: how.clone() },
                        _ => Screened::TimedOut,
                    };
                }
            }
        }
        judge(
            &self.must,
            &self.symptoms,
            &answer.results,
            answer.status == Status::Done,
        )
    }

    fn runner(&mut self, stage: Stage) -> &mut Runner {
        match stage {
            Stage::Collected => &mut self.collected,
            Stage::Configured => &mut self.configured,
        }
    }

    /// Gives a dead runner up; what it had in flight runs cold.
    fn lose(&mut self, stage: Stage) {
        *self.runner(stage) = Runner::Unusable;
        let lost: Vec<u64> = self
            .in_flight
            .iter()
            .filter(|(_, (_, s))| *s == stage)
            .map(|(id, _)| *id)
            .collect();
        for id in lost {
            if let Some((candidate, _)) = self.in_flight.remove(&id) {
                self.cold.push_back(candidate);
            }
        }
        note(
            self.reporter,
            Level::Warning,
            format!("the warm runner ({}) was lost", stage.name()),
            None,
        );
    }

    /// Whether the runner of a stage works; starts it first if need be.
    fn ready(&mut self, stage: Stage) -> std::result::Result<bool, Stop> {
        match self.runner(stage) {
            Runner::Running(_) => return Ok(true),
            Runner::Unusable => return Ok(false),
            Runner::Unstarted => {}
        }
        let session = self.session;
        let started = WarmRunner::start(
            &session.harness,
            stage,
            &self.paths,
            &self.args,
            self.jobs,
            STARTUP,
            &session.cancel,
        );
        let outcome = match started {
            Ok(runner) => Trial {
                must: &self.must,
                keep: &mut self.keep,
                symptoms: &mut self.symptoms,
                deadline: &mut self.deadline,
                cancel: &session.cancel,
            }
            .run(runner),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(runner) => {
                self.reporter.emit(Event::WarmReady {
                    stage: stage.name().into(),
                    tests: self.must.len() + self.keep.len(),
                    seconds: runner.startup.as_secs_f64(),
                });
                *self.runner(stage) = Runner::Running(runner);
                Ok(true)
            }
            Err(WarmError::Pytest(error)) if error.is_cancelled() => Err(Stop::interrupted()),
            Err(error) => {
                note(
                    self.reporter,
                    Level::Info,
                    format!("warm runner ({}): {error}", stage.name()),
                    None,
                );
                *self.runner(stage) = Runner::Unusable;
                Ok(false)
            }
        }
    }

    /// The candidate's edits as byte ranges of the files on disk.
    fn patches(&self, candidate: &Candidate) -> Option<Vec<Patch>> {
        let mut patches: Vec<Patch> = Vec::new();
        for edit in &candidate.edits {
            let file = self.files.get(&edit.file)?;
            let range = (
                file.byte_offset(edit.start),
                file.byte_offset(edit.end),
                file.encode(&edit.text)?,
            );
            match patches.iter_mut().find(|p| p.file == edit.file) {
                Some(patch) => patch.edits.push(range),
                None => patches.push(Patch {
                    file: edit.file.clone(),
                    edits: vec![range],
                }),
            }
        }
        for patch in &mut patches {
            patch.edits.sort();
        }
        Some(patches)
    }

    /// Runs the next cold candidates side by side and returns the first result; the others wait for
    /// the next call.
    fn run_cold(&mut self) -> std::result::Result<Option<Result>, Stop> {
        let count = self.jobs.min(self.cold.len());
        let batch: Vec<Candidate> = self.cold.drain(..count).collect();
        let cold = Cold {
            session: self.session,
            files: self.files,
            must: &self.must,
            keep: &self.keep,
            paths: &self.paths,
            args: &self.args,
            deadline: self.deadline + self.start_up,
            symptoms: &self.symptoms,
        };
        let done: Vec<std::result::Result<Result, Stop>> = std::thread::scope(|scope| {
            let running: Vec<_> = batch
                .into_iter()
                .map(|candidate| scope.spawn(|| cold.run(candidate)))
                .collect();
            running
                .into_iter()
                .filter_map(|thread| thread.join().ok())
                .collect()
        });
        for result in done {
            self.done.push_back(result?);
        }
        Ok(self.done.pop_front())
    }
}

/// Up to `count` tests, the quickest first, within `seconds` in all.
fn cheapest<'i>(
    baseline: &Baseline,
    ids: impl Iterator<Item = &'i String>,
    count: usize,
    seconds: f64,
) -> Vec<String> {
    let mut timed: Vec<(f64, &String)> = ids
        .map(|id| (baseline.seconds.get(id).copied().unwrap_or(0.0), id))
        .collect();
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut total = 0.0;
    timed
        .into_iter()
        .take(count)
        .take_while(|(cost, _)| {
            total += cost;
            total <= seconds
        })
        .map(|(_, id)| id.clone())
        .collect()
}
