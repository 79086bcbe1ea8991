//! The warm runner: a pytest process that has collected its tests and forks once per candidate.

use std::time::{Duration, Instant};

use base64::Engine as _;
use camino::Utf8PathBuf;
use serde_json::{Value as Json, json};

use super::pytest::{Harness, PytestError, TestOutcome};
use crate::cancel::Cancel;
use crate::process::{Conversation, ProcessError, Received};

/// How far the process goes before it forks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Tests collected: code objects of functions are swapped. The fastest.
    Collected,
    /// Configuration loaded: patched modules are imported anew, tests collected in the child.
    Configured,
}

impl Stage {
    /// Name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collected => "collected",
            Self::Configured => "configured",
        }
    }
}

/// A patch of one file: byte ranges of the file on disk and their new bytes.
#[derive(Debug, Clone)]
pub struct Patch {
    /// File relative to the project's folder.
    pub file: Utf8PathBuf,
    /// Start, end, new bytes.
    pub edits: Vec<(usize, usize, Vec<u8>)>,
}

/// What to run for one candidate.
#[derive(Debug, Clone)]
pub struct Job {
    /// Number, unique among the jobs in flight.
    pub id: u64,
    /// Patches; none = the tree as it is.
    pub patches: Vec<Patch>,
    /// Node ids that failed at baseline; all are run.
    pub must: Vec<String>,
    /// Node ids that passed; run when all of `must` pass, up to the first failure.
    pub keep: Vec<String>,
    /// Wall-clock limit.
    pub deadline: Duration,
}

/// One test of an answer.
#[derive(Debug, Clone)]
pub struct Answered {
    /// Node id.
    pub test: String,
    /// How it ended.
    pub outcome: TestOutcome,
    /// Exception type.
    pub exception: Option<String>,
    /// Message, capped.
    pub message: Option<String>,
    /// Both sides of a failed comparison.
    pub sides: Option<(String, String)>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Ran to its end.
    Done,
    /// Killed at its deadline.
    TimedOut,
    /// Took its process down.
    Crashed(String),
    /// Cannot be tried this way.
    Cold(String),
    /// Does not compile, or changes nothing.
    Invalid(String),
}

/// The answer to a job.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The job's number.
    pub id: u64,
    /// How it ended.
    pub status: Status,
    /// `swap`, `reimport` or `none`.
    pub how: String,
    /// Results in run order; partial unless done.
    pub results: Vec<Answered>,
    /// Milliseconds.
    pub ms: f64,
    /// What a probe found; null without one.
    pub probe: Json,
}

/// A running warm runner.
#[derive(Debug)]
pub struct WarmRunner {
    talk: Conversation,
    folder: Utf8PathBuf,
    /// Node ids that it holds (stage collected).
    pub tests: Vec<String>,
    /// Time to get ready.
    pub startup: Duration,
}

/// Why a warm runner does not work.
#[derive(Debug, thiserror::Error)]
pub enum WarmError {
    /// The process could not be run.
    #[error(transparent)]
    Pytest(#[from] PytestError),
    /// It ended, or did not get ready in time; the text is its last words.
    #[error("the warm runner ended: {0}")]
    Ended(String),
}

impl WarmRunner {
    /// Starts a runner for the tests under `paths` and waits until it is ready.
    pub fn start(
        harness: &Harness,
        stage: Stage,
        paths: &[String],
        args: &[String],
        jobs: usize,
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<Self, WarmError> {
        let started = Instant::now();
        let mut config = harness.config(true);
        config["mode"] = json!("serve");
        config["stage"] = json!(stage.name());
        config["jobs"] = json!(jobs);
        config["select"] = Json::Null;
        config["token"] = json!("warm");
        config["results"] = json!(harness.tmp.join("warm-results.jsonl"));
        let spec = harness.spec(&config, paths, args)?;
        let talk = Conversation::start(&spec).map_err(PytestError::from)?;
        let mut runner = Self {
            talk,
            folder: harness.folder.clone(),
            tests: Vec::new(),
            startup: Duration::ZERO,
        };
        loop {
            if cancel.is_set() {
                return Err(PytestError::from(ProcessError::Cancelled).into());
            }
            match runner.talk.receive(Duration::from_millis(50)) {
                Received::Line(line) => {
                    let Ok(message) = serde_json::from_slice::<Json>(&line) else {
                        continue;
                    };
                    if message["t"] == "ready" {
                        let ids = message["ids"].as_array().into_iter().flatten();
                        runner.tests = ids
                            .filter_map(|id| id.as_str().map(str::to_owned))
                            .collect();
                        runner.startup = started.elapsed();
                        return Ok(runner);
                    }
                }
                Received::Nothing if started.elapsed() < limit => {}
                Received::Nothing => return Err(runner.ended("not ready in time")),
                Received::Closed => return Err(runner.ended("")),
            }
        }
    }

    fn ended(self, why: &str) -> WarmError {
        let stderr = self.talk.finish();
        let text = String::from_utf8_lossy(&stderr).into_owned();
        let last: Vec<&str> = text
            .lines()
            .rev()
            .filter(|l| !l.trim().is_empty())
            .take(3)
            .collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        WarmError::Ended(if last.is_empty() {
            why.to_owned()
        } else {
            last.join(" / ")
        })
    }

    /// Sends a job. Answers come in the order in which jobs end.
    pub fn submit(&mut self, job: &Job) -> Result<(), WarmError> {
        self.submit_probing(job, &Json::Null)
    }

    /// Sends a job whose child looks at places of the program, or puts other values in there: `probe` is what
    /// `ndbg_angelic.Probe` reads, and the job's patches mark the places.
    pub fn submit_probing(&mut self, job: &Job, probe: &Json) -> Result<(), WarmError> {
        let engine = base64::engine::general_purpose::STANDARD;
        let patches: Vec<Json> = job
            .patches
            .iter()
            .map(|patch| {
                let edits: Vec<Json> = patch
                    .edits
                    .iter()
                    .map(|(start, end, bytes)| json!([start, end, engine.encode(bytes)]))
                    .collect();
                json!({"file": self.folder.join(&patch.file), "edits": edits})
            })
            .collect();
        let message = json!({
            "id": job.id,
            "patches": patches,
            "must": job.must,
            "keep": job.keep,
            "deadline_ms": job.deadline.as_millis() as u64,
            "how": "auto",
            "probe": probe,
        });
        self.talk
            .send(message.to_string().as_bytes())
            .map_err(|error| WarmError::Ended(error.to_string()))
    }

    /// The next answer, waiting at most `timeout`; none when there is none yet.
    pub fn receive(&mut self, timeout: Duration) -> Result<Option<Answer>, WarmError> {
        match self.talk.receive(timeout) {
            Received::Nothing => Ok(None),
            Received::Closed => Err(WarmError::Ended("its process is gone".into())),
            Received::Line(line) => Ok(serde_json::from_slice::<Json>(&line)
                .ok()
                .and_then(|message| parse_answer(&message))),
        }
    }

    /// Ends the runner and all its children.
    pub fn finish(self) {
        self.talk.finish();
    }
}

fn parse_answer(message: &Json) -> Option<Answer> {
    if message["t"] != "result" && message["t"] != "error" {
        return None;
    }
    let reason = message["reason"]
        .as_str()
        .or_else(|| message["message"].as_str())
        .unwrap_or_default()
        .to_owned();
    let status = match message["status"].as_str().unwrap_or("cold") {
        "done" => Status::Done,
        "timeout" => Status::TimedOut,
        "crash" => Status::Crashed(reason),
        "invalid" => Status::Invalid(reason),
        _ => Status::Cold(reason),
    };
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let results = message["results"].as_array().into_iter().flatten();
    Some(Answer {
        id: message["id"].as_u64()?,
        status,
        how: text(&message["how"]).unwrap_or_else(|| "none".into()),
        results: results
            .map(|row| Answered {
                test: text(&row[0]).unwrap_or_default(),
                outcome: match row[1].as_str() {
                    Some("passed") => TestOutcome::Passed,
                    Some("skipped") => TestOutcome::Skipped,
                    _ => TestOutcome::Failed,
                },
                exception: text(&row[2]),
                message: text(&row[3]),
                sides: text(&row[4][0]).zip(text(&row[4][1])),
            })
            .collect(),
        ms: message["ms"].as_f64().unwrap_or(0.0),
        probe: message["probe"].clone(),
    })
}
