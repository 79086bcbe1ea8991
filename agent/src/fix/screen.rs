//! Screening: every candidate is tried in the warm runner, or cold where it cannot be. Screening errs
//! towards failure; only the verifier says "fixed".

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use ndbg_tools::python::pytest::{Mode, Request, TestOutcome};
use ndbg_tools::python::warm::{
    Answer, Answered, Job, Patch, Stage, Status, WarmError, WarmRunner,
};
use ndbg_tools::source::{SourceFile, apply_edits};

use super::baseline::Baseline;
use super::session::{Session, note};
use super::stop::Stop;
use crate::plan::{Candidate, Screened};
use crate::report::{Event, Level, Reporter};

/// Most failing tests run per candidate; the verifier runs them all.
const MUST: usize = 30;
/// Most passing tests run per candidate, and their seconds at baseline.
const KEEP: usize = 400;
const KEEP_SECONDS: f64 = 1.5;
/// How long a warm runner may take to get ready.
const STARTUP: Duration = Duration::from_secs(120);

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
    /// How each failing test fails at baseline, as the runner tells it.
    symptoms: BTreeMap<String, String>,
    collected: Runner,
    configured: Runner,
    in_flight: BTreeMap<u64, (Candidate, Stage)>,
    cold: VecDeque<Candidate>,
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
        let must = cheapest(baseline, baseline.failing_ids().iter(), MUST, f64::INFINITY);
        let own = baseline.target_passing.iter();
        let others = covering
            .iter()
            .filter(|id| !baseline.target_passing.contains(*id));
        let keep = cheapest(baseline, own.chain(others), KEEP, KEEP_SECONDS);
        let mut paths = baseline.paths.clone();
        if !paths.is_empty() {
            for id in &keep {
                let file = baseline.file_of(id);
                let known = paths
                    .iter()
                    .any(|p| file == *p || file.starts_with(&format!("{p}/")) || p == ".");
                if !known && session.tree.folder().join(&file).exists() {
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
            session,
            files,
            reporter,
            must,
            keep,
            paths,
            args: baseline.args.clone(),
            jobs: jobs.max(1),
            deadline: Duration::from_secs_f64((seconds * 5.0 + 0.5).max(1.0)),
            symptoms: BTreeMap::new(),
            collected: runner(),
            configured: runner(),
            in_flight: BTreeMap::new(),
            cold: VecDeque::new(),
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
            note(
                reporter,
                Level::Warning,
                "the warm runner cannot be used here: every candidate runs in a process of its own"
                    .into(),
                None,
            );
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

    /// Candidates that can be taken on now.
    pub fn room(&self) -> usize {
        // One job waits behind each running one, so that the runner never idles.
        (2 * self.jobs).saturating_sub(self.in_flight.len() + self.cold.len())
    }

    /// Whether nothing is running.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.cold.is_empty()
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
            Ok(runner) => self.trial(runner, stage),
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

    /// Runs the unpatched tree in the new runner: the failing tests must fail and the passing ones
    /// pass there too, or its answers mean nothing.
    fn trial(
        &mut self,
        mut runner: WarmRunner,
        stage: Stage,
    ) -> std::result::Result<WarmRunner, WarmError> {
        let mut ask = |must: Vec<String>, keep: Vec<String>| {
            let job = Job {
                id: u64::MAX,
                patches: Vec::new(),
                must,
                keep,
                deadline: self.deadline * 4,
            };
            runner.submit(&job)?;
            let until = Instant::now() + self.deadline * 5 + Duration::from_secs(10);
            loop {
                if self.session.cancel.is_set() || Instant::now() > until {
                    return Err(WarmError::Ended("no answer to the trial run".into()));
                }
                if let Some(answer) = runner.receive(Duration::from_millis(50))? {
                    return Ok(answer);
                }
            }
        };
        let failing = ask(self.must.clone(), Vec::new())?;
        if failing.status != Status::Done {
            return Err(WarmError::Ended(format!(
                "the trial run ended with {:?}",
                failing.status
            )));
        }
        let passed: BTreeSet<&String> = failing
            .results
            .iter()
            .filter(|r| r.outcome != TestOutcome::Failed)
            .map(|r| &r.test)
            .collect();
        if let Some(first) = passed.first() {
            return Err(WarmError::Ended(format!("`{first}` does not fail there")));
        }
        // Passing tests that fail in the runner would reject every candidate.
        let keep = ask(Vec::new(), self.keep.clone())?;
        let mut bad: BTreeSet<String> = failed_tests(&keep.results);
        let mut answered = keep;
        while !bad.is_empty() && stage == Stage::Collected && self.keep.len() > bad.len() {
            self.keep.retain(|id| !bad.contains(id));
            answered = ask(Vec::new(), self.keep.clone())?;
            bad = failed_tests(&answered.results);
        }
        self.keep.retain(|id| !bad.contains(id));
        if self.symptoms.is_empty() {
            for result in &failing.results {
                self.symptoms
                    .insert(result.test.clone(), symptom_of(result));
            }
        }
        let ms = failing.ms + answered.ms;
        self.deadline = Duration::from_secs_f64((ms / 1000.0 * 4.0).max(1.0))
            .max(self.deadline.min(Duration::from_secs(3)));
        Ok(runner)
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

    /// Runs the next cold candidates side by side and returns the first result; the others queue up
    /// behind it as answers of their own.
    fn run_cold(&mut self) -> std::result::Result<Option<Result>, Stop> {
        let Some(candidate) = self.cold.pop_front() else {
            return Ok(None);
        };
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
                    return Ok(Some(Result {
                        candidate,
                        screened,
                        how: "none".into(),
                        ms: 0.0,
                    }));
                }
            }
        }
        let select: Vec<String> = self.must.iter().chain(&self.keep).cloned().collect();
        let request = Request {
            mode: Mode::Run,
            neutral: true,
            select: Some(select),
            args: self.args.clone(),
            deadline: self.deadline + Duration::from_secs(5),
            overlay,
            ..Request::run(self.paths.clone())
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
        for id in &self.must {
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
        let screened = if run.exit == ndbg_tools::process::Exit::TimedOut {
            Screened::TimedOut
        } else if let ndbg_tools::process::Exit::Signal(_) = run.exit {
            Screened::Crashed {
                how: run.exit.to_string(),
            }
        } else {
            judge(&self.must, &self.symptoms, &results, run.complete)
        };
        Ok(Some(Result {
            candidate,
            screened,
            how: "cold".into(),
            ms: started.elapsed().as_secs_f64() * 1000.0,
        }))
    }
}

/// What results mean. `complete` = everything that was to run did run.
fn judge(
    must: &[String],
    symptoms: &BTreeMap<String, String>,
    results: &[Answered],
    complete: bool,
) -> Screened {
    let passed = |id: &String| {
        let mut of_id = results.iter().filter(|r| r.test == *id).peekable();
        of_id.peek().is_some() && of_id.all(|r| r.outcome == TestOutcome::Passed)
    };
    let (fixed, failing): (Vec<String>, Vec<String>) = must.iter().cloned().partition(passed);
    let broken: Vec<String> = results
        .iter()
        .filter(|r| r.outcome == TestOutcome::Failed && !must.contains(&r.test))
        .map(|r| r.test.clone())
        .collect();
    if failing.is_empty() && broken.is_empty() && complete {
        return Screened::Plausible;
    }
    if !fixed.is_empty() {
        return Screened::NearMiss {
            fixed,
            failing,
            broken,
        };
    }
    let changed = results.iter().find(|r| {
        must.contains(&r.test)
            && symptoms
                .get(&r.test)
                .is_some_and(|before| *before != symptom_of(r))
    });
    match changed {
        Some(result) => Screened::Changed {
            symptom: symptom_of(result),
        },
        None => Screened::Unchanged,
    }
}

fn failed_tests(results: &[Answered]) -> BTreeSet<String> {
    let failed = results.iter().filter(|r| r.outcome == TestOutcome::Failed);
    failed.map(|r| r.test.clone()).collect()
}

fn symptom_of(result: &Answered) -> String {
    symptom(
        result.exception.as_deref(),
        result.message.as_deref(),
        result.sides.as_ref(),
    )
}

/// A failure in a line.
fn symptom(
    exception: Option<&str>,
    message: Option<&str>,
    sides: Option<&(String, String)>,
) -> String {
    if let Some((left, right)) = sides {
        return format!("{left} instead of {right}")
            .chars()
            .take(200)
            .collect();
    }
    let first = message.and_then(|m| m.lines().next()).unwrap_or_default();
    format!("{}: {first}", exception.unwrap_or("failed"))
        .chars()
        .take(200)
        .collect()
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
