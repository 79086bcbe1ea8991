//! What a pytest process said over the side channel.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::Deserialize;
use serde_json::Value as Json;

use super::Harness;
use crate::process::Exit;

/// How a test ended, its phases taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestOutcome {
    /// Passed, or failed as expected.
    Passed,
    /// Failed in any phase.
    Failed,
    /// Skipped.
    Skipped,
}

/// A test's result.
#[derive(Debug, Clone)]
pub struct TestResult {
    /// How it ended.
    pub outcome: TestOutcome,
    /// Seconds of all phases.
    pub seconds: f64,
    /// The first failure.
    pub failure: Option<FailureRecord>,
    /// Whether its tear-down was reported: without it the process ended in the middle of the test.
    ended: bool,
}

#[cfg(test)]
impl TestResult {
    pub(super) fn ended(outcome: TestOutcome) -> Self {
        Self {
            outcome,
            seconds: 0.0,
            failure: None,
            ended: true,
        }
    }
}

/// A failure as the plugin reports it; also of a collector.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct FailureRecord {
    /// Exception.
    #[serde(default)]
    pub exc: Option<ExceptionRecord>,
    /// Stack, outermost first, absolute paths.
    #[serde(default)]
    pub frames: Vec<FrameRecord>,
    /// Both sides of a comparison.
    #[serde(default)]
    pub assertion: Option<AssertionRecord>,
    /// pytest's text.
    #[serde(default)]
    pub longrepr: Option<String>,
}

/// An exception.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ExceptionRecord {
    /// Type, qualified unless builtin.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// Message, capped.
    #[serde(default)]
    pub message: String,
}

/// A stack frame.
#[derive(Debug, Clone, Deserialize)]
pub struct FrameRecord {
    /// Absolute path.
    pub file: String,
    /// One-based.
    pub line: usize,
    /// Function name.
    #[serde(default)]
    pub func: String,
}

/// Both sides of a comparison.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct AssertionRecord {
    /// Operator.
    #[serde(default)]
    pub op: String,
    /// Left side.
    #[serde(default)]
    pub left: String,
    /// Right side.
    #[serde(default)]
    pub right: String,
    /// Whether a side is abbreviated.
    #[serde(default)]
    pub lossy: bool,
}

/// A collector that failed.
#[derive(Debug, Clone)]
pub struct CollectError {
    /// Node id of the collector.
    pub id: String,
    /// What went wrong.
    pub failure: FailureRecord,
}

/// Locals seen before a line ran.
#[derive(Debug, Clone)]
pub struct ValueRecord {
    /// Test.
    pub test: String,
    /// File relative to the project.
    pub file: Utf8PathBuf,
    /// One-based line.
    pub line: usize,
    /// Values by name, as the recorder writes them.
    pub locals: Json,
}

/// A call: what went in and what came out.
#[derive(Debug, Clone)]
pub struct CallRecord {
    /// Test.
    pub test: String,
    /// File relative to the project.
    pub file: Utf8PathBuf,
    /// Function name.
    pub function: String,
    /// Arguments, result and exception, as the recorder writes them.
    pub text: String,
}

/// Everything a run said.
#[derive(Debug, Clone)]
pub struct RunResults {
    /// pytest's root folder.
    pub rootdir: Option<Utf8PathBuf>,
    /// pytest's version.
    pub pytest: String,
    /// Node ids after selection, in run order.
    pub collected: Vec<String>,
    /// Node ids before selection.
    pub all: Vec<String>,
    /// Results by node id.
    pub tests: BTreeMap<String, TestResult>,
    /// Collectors that failed.
    pub collect_errors: Vec<CollectError>,
    /// Lines by file (relative to the project) and test; the empty test is collection.
    pub coverage: Vec<(String, BTreeMap<Utf8PathBuf, Vec<usize>>)>,
    /// Recorded values.
    pub values: Vec<ValueRecord>,
    /// Recorded calls, in order of their returns.
    pub calls: Vec<CallRecord>,
    /// Modules imported from the user's own checkout.
    pub foreign: Vec<String>,
    /// What the plugin wants said.
    pub notes: Vec<String>,
    /// Whether the session stopped at its soft limit.
    pub stopped: bool,
    /// Whether first and last record and the exit code agree.
    pub complete: bool,
    /// How the process ended.
    pub exit: Exit,
    /// Last lines of its output, for messages.
    pub tail: String,
    /// Wall-clock time.
    pub elapsed: Duration,
}

impl RunResults {
    /// Makes a failure of every test in whose middle the process ended: a set-up that passed is no
    /// test that passed.
    pub(super) fn fail_unended(&mut self) {
        let message = format!(
            "the process ended in the middle of the test ({})",
            self.exit
        );
        let unended = self.tests.values_mut().filter(|test| !test.ended);
        for test in unended.filter(|test| test.outcome != TestOutcome::Failed) {
            test.outcome = TestOutcome::Failed;
            test.failure = Some(FailureRecord {
                exc: Some(ExceptionRecord {
                    kind: "Crash".into(),
                    message: message.clone(),
                }),
                ..FailureRecord::default()
            });
        }
    }

    /// The test in whose middle the process ended, if it was in one.
    pub fn unended(&self) -> Option<&str> {
        let mut running = self.tests.iter().filter(|(_, test)| !test.ended);
        running.next().map(|(id, _)| id.as_str())
    }

    /// Numbers of passed, failed and skipped tests; collectors that failed count as failed.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |outcome| self.tests.values().filter(|t| t.outcome == outcome).count();
        (
            count(TestOutcome::Passed),
            count(TestOutcome::Failed) + self.collect_errors.len(),
            count(TestOutcome::Skipped),
        )
    }
}

/// Makes sense of the records that carry the token; files become relative to the harness's folder.
pub(super) fn parse(harness: &Harness, bytes: &[u8], token: &str) -> RunResults {
    let mut out = RunResults {
        rootdir: None,
        pytest: String::new(),
        collected: Vec::new(),
        all: Vec::new(),
        tests: BTreeMap::new(),
        collect_errors: Vec::new(),
        coverage: Vec::new(),
        values: Vec::new(),
        calls: Vec::new(),
        foreign: Vec::new(),
        notes: Vec::new(),
        stopped: false,
        complete: false,
        exit: Exit::Code(0),
        tail: String::new(),
        elapsed: Duration::ZERO,
    };
    let mut starter = None;
    for record in records(bytes, token) {
        match record["t"].as_str().unwrap_or_default() {
            "start" => {
                starter = record["pid"].as_i64();
                out.rootdir = record["rootdir"].as_str().map(Utf8PathBuf::from);
                out.pytest = text(&record["pytest"]);
            }
            "collected" => {
                out.collected = strings(&record["ids"]);
                out.all = strings(&record["all"]);
            }
            "collect_error" => out.collect_errors.push(CollectError {
                id: text(&record["id"]),
                failure: serde_json::from_value(record).unwrap_or_default(),
            }),
            "report" => merge_report(&mut out.tests, record),
            "cov" => {
                let mut files = BTreeMap::new();
                for (file, lines) in record["files"].as_object().into_iter().flatten() {
                    if let Some(file) = harness.relative(file) {
                        let lines = lines.as_array().into_iter().flatten();
                        let lines = lines.filter_map(Json::as_u64).map(|n| n as usize);
                        files.insert(file, lines.collect());
                    }
                }
                out.coverage.push((text(&record["id"]), files));
            }
            "value" => {
                if let Some(file) = record["file"].as_str().and_then(|f| harness.relative(f)) {
                    out.values.push(ValueRecord {
                        test: text(&record["id"]),
                        file,
                        line: record["line"].as_u64().unwrap_or(0) as usize,
                        locals: record["locals"].clone(),
                    });
                }
            }
            "ret" => {
                if let Some(file) = record["file"].as_str().and_then(|f| harness.relative(f)) {
                    out.calls.push(CallRecord {
                        test: text(&record["id"]),
                        file,
                        function: text(&record["func"]),
                        text: call_text(&record),
                    });
                }
            }
            "modules" => {
                let foreign = record["foreign"].as_array().into_iter().flatten();
                out.foreign = foreign
                    .map(|m| format!("{} ({})", text(&m["name"]), text(&m["file"])))
                    .collect();
            }
            "note" | "internal" => out.notes.push(text(&record["message"])),
            "finish" => {
                out.stopped = record["stopped"].as_bool().unwrap_or(false);
                let same = record["pid"]
                    .as_i64()
                    .is_none_or(|pid| Some(pid) == starter);
                out.complete = starter.is_some() && same;
            }
            _ => {}
        }
    }
    out
}

/// Argument and result texts of a call and its exception, without the attributes of objects.
fn call_text(record: &Json) -> String {
    let mut parts = Vec::new();
    for (name, value) in record["args"].as_object().into_iter().flatten() {
        parts.push(format!("{name}={}", text(&value["v"])));
    }
    let result = text(&record["value"]["v"]);
    parts.push(format!("-> {result} {}", text(&record["exc"])));
    parts.join(", ")
}

/// Whole records that carry the token; a line cut off by a killed process is no record.
fn records<'a>(bytes: &'a [u8], token: &'a str) -> impl Iterator<Item = Json> + 'a {
    bytes
        .split(|&b| b == b'\n')
        .filter_map(|line| serde_json::from_slice::<Json>(line).ok())
        .filter(move |record| record["k"].as_str() == Some(token))
}

/// The exit code that the last record says.
pub(super) fn finish_code(bytes: &[u8], token: &str) -> Option<i64> {
    records(bytes, token)
        .filter(|record| record["t"] == "finish")
        .last()
        .and_then(|record| record["exit"].as_i64())
}

fn merge_report(tests: &mut BTreeMap<String, TestResult>, record: Json) {
    let failed = record["outcome"] == "failed";
    let skipped = record["outcome"] == "skipped" && !record["xfail"].as_bool().unwrap_or(false);
    let test = tests.entry(text(&record["id"])).or_insert(TestResult {
        outcome: TestOutcome::Passed,
        seconds: 0.0,
        failure: None,
        ended: false,
    });
    test.ended |= record["when"] == "teardown";
    test.seconds += record["duration"].as_f64().unwrap_or(0.0);
    if failed {
        test.outcome = TestOutcome::Failed;
        if test.failure.is_none() {
            test.failure = Some(serde_json::from_value(record).unwrap_or_default());
        }
    } else if skipped && test.outcome == TestOutcome::Passed {
        test.outcome = TestOutcome::Skipped;
    }
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn strings(value: &Json) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}
