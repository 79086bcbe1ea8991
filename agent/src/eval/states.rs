//! `eval states`: from recorded states back to the arguments of their calls, beside the arguments that were recorded.

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_dataset::random::Random;
use ndbg_simulator::EventKind;
use ndbg_simulator::eval::Tally;
use ndbg_simulator::recording::{EventId, Recording};
use ndbg_tools::Cancel;
use ndbg_tools::trace as recordings;
use serde::Serialize;
use serde_json::json;

use super::page::{Page, Section};
use super::table::{Table, percent, range};
use super::{Evaluated, Evaluation, Progress};
use crate::fix::settings::ProjectSettings;
use crate::fix::stop::Stop;
use crate::infer::{self, Past, Settings, Sources};
use crate::model::Reality;
use crate::outcome::Outcome;
use crate::report::Reporter;
use crate::trace::{self, Focus, Subject};

/// Answers of each state.
const ANSWERS: usize = 5;
/// Executions for each state; the time ends sooner.
const EXECUTIONS: usize = 200_000;
/// Events of a recording, and memory of the tests.
const EVENTS: u64 = 300_000;
const MEMORY: u64 = 2 << 30;
/// Draws for each state that is wanted: many events are in test files or in functions within others.
const DRAWS: usize = 40;

/// What is evaluated.
#[derive(Debug, Clone)]
pub struct StatesSettings {
    /// Projects with tests.
    pub repos: Vec<Utf8PathBuf>,
    /// States of each project.
    pub count: usize,
    /// Seconds for each state.
    pub seconds: f64,
    /// Draws states, and all that is drawn in the search.
    pub seed: u64,
    /// Interpreter that runs tests and calls.
    pub python: Option<Utf8PathBuf>,
}

/// What became of a state.
#[derive(Debug, Serialize)]
struct Entry {
    project: Utf8PathBuf,
    function: String,
    event: u32,
    kind: &'static str,
    /// The recorded call; none where an argument was not recorded whole.
    recorded: Option<String>,
    answers: Vec<(String, f64)>,
    /// Place of the recorded call among the answers, from 1.
    place: Option<usize>,
    /// Whether the state's own variables, taken as arguments, are the recorded call.
    copied: bool,
    executions: usize,
    seconds: f64,
}

/// Evaluates.
///
/// # Errors
/// No project, no tests, or an interruption.
pub fn states(
    settings: &StatesSettings,
    reporter: &Reporter,
    cancel: &Cancel,
    progress: &mut Progress<'_>,
) -> Evaluated {
    let broken = |error: std::io::Error| Stop::new(Outcome::Environment, error.to_string());
    let scratch = tempfile::tempdir().map_err(broken)?;
    let scratch = Utf8PathBuf::from_path_buf(scratch.path().to_owned()).unwrap_or_default();
    let of = settings.repos.len() * settings.count;
    let mut entries: Vec<Entry> = Vec::with_capacity(of);
    for (number, repo) in settings.repos.iter().enumerate() {
        progress("tests", number, settings.repos.len());
        let out = scratch.join(format!("{number}.ndbg"));
        let opened = recorded(settings, repo, &out, reporter, cancel)?;
        let reality = Reality::within(
            settings.python.as_deref(),
            std::slice::from_ref(repo),
            cancel,
        )?;
        let mut random = Random::of(settings.seed, number as u64);
        let mut taken = 0;
        for _ in 0..DRAWS * settings.count {
            if taken == settings.count || opened.recording.is_empty() {
                break;
            }
            let event = EventId(random.below(opened.recording.len()) as u32);
            if let Some(entry) = entry(settings, repo, &opened.recording, event, &reality)? {
                progress("states", entries.len(), of);
                entries.push(entry);
                taken += 1;
            }
        }
    }
    if entries.is_empty() {
        return Err(Stop::new(
            Outcome::Environment,
            "the tests run no function of these projects that can be called by itself",
        ));
    }
    Ok(shown(settings, &entries))
}

fn recorded(
    settings: &StatesSettings,
    repo: &Utf8Path,
    out: &Utf8Path,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<recordings::Opened, Stop> {
    let tracing = trace::Settings {
        project: ProjectSettings::as_it_is(repo.to_owned(), settings.python.clone(), Some(MEMORY)),
        subject: Subject::Tests,
        focus: Focus::parse(&[]),
        states: true,
        max_events: EVENTS,
        out: out.to_owned(),
        command: Vec::new(),
        limit: std::time::Duration::from_mins(5),
        input: false,
        twice: false,
    };
    trace::record(&tracing, reporter, cancel)?;
    Ok(recordings::open(out)?)
}

/// One state; none where its code is a test's or cannot be called.
fn entry(
    settings: &StatesSettings,
    repo: &Utf8Path,
    recording: &Recording,
    event: EventId,
    reality: &Reality,
) -> Result<Option<Entry>, Stop> {
    let kind = match recording.event(event).kind {
        EventKind::Line => "line",
        EventKind::Return => "return",
        EventKind::Call | EventKind::Exception => return Ok(None),
    };
    let file = recording.file_of(event).name.clone();
    if ndbg_tools::protected::is_protected(Utf8Path::new(&file)) {
        return Ok(None);
    }
    let Ok(state) = infer::state(recording, event.index(), repo) else {
        return Ok(None);
    };
    let calls = infer::calls(recording, &file, &state.subject.function, Some(state.frame));
    let asked = Settings {
        subject: state.subject.clone(),
        goal: state.goal.clone(),
        sources: Sources {
            search: true,
            model: false,
        },
        seconds: settings.seconds,
        executions: EXECUTIONS,
        call_seconds: infer::CALL_SECONDS,
        count: ANSWERS,
        seed: settings.seed,
    };
    let past = Past {
        calls: &calls,
        state: Some(&state),
    };
    let inferred = match infer::infer_from(&asked, None, &reality.runner, past) {
        // What cannot be imported or called cannot be explained, either: it is no state to count.
        Err(stop) if stop.outcome == Outcome::Usage => return Ok(None),
        other => other?,
    };
    let recorded = inferred
        .explained
        .as_ref()
        .and_then(|explained| explained.recorded_call.clone());
    let answers: Vec<(String, f64)> = inferred
        .found
        .iter()
        .map(|found| (found.call.clone(), found.probability.unwrap_or_default()))
        .collect();
    Ok(Some(Entry {
        project: repo.to_owned(),
        function: state.subject.function.clone(),
        event: event.0,
        kind,
        place: recorded
            .as_ref()
            .and_then(|call| answers.iter().position(|(answer, _)| answer == call))
            .map(|at| at + 1),
        copied: state.call.as_ref().is_some_and(|call| {
            call.0.iter().all(|(name, text)| {
                let held = state.names.0.iter().find(|(other, _)| other == name);
                held.is_some_and(|(_, held)| held == text)
            })
        }),
        recorded,
        answers,
        executions: inferred.executions,
        seconds: inferred.seconds,
    }))
}

fn shown(settings: &StatesSettings, entries: &[Entry]) -> Evaluation {
    // Only where the recorded call can be written is there something to compare with.
    let comparable: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.recorded.is_some())
        .collect();
    let explained: Tally = entries
        .iter()
        .map(|entry| !entry.answers.is_empty())
        .collect();
    let first: Tally = comparable
        .iter()
        .map(|entry| entry.place == Some(1))
        .collect();
    let among: Tally = comparable
        .iter()
        .map(|entry| entry.place.is_some())
        .collect();
    let copied: Tally = comparable.iter().map(|entry| entry.copied).collect();
    let answered: Vec<&&Entry> = comparable
        .iter()
        .filter(|entry| !entry.answers.is_empty())
        .collect();
    let claimed =
        answered.iter().map(|entry| entry.answers[0].1).sum::<f64>() / answered.len().max(1) as f64;
    let right = answered
        .iter()
        .filter(|entry| entry.place == Some(1))
        .count() as f64
        / answered.len().max(1) as f64;
    let mut table = Table::new(&["", "share", "95 %", "of"]);
    for (name, tally) in [
        ("explained by a verified call", explained),
        ("the recorded call comes first", first),
        ("it is among five", among),
        ("the state's own values are it", copied),
    ] {
        table.row([
            name.into(),
            percent(tally.share()),
            range(tally.interval()),
            tally.of.to_string(),
        ]);
    }
    Evaluation {
        page: Page {
            title: "From recorded states back to arguments".into(),
            facts: vec![
                ("projects".into(), settings.repos.len().to_string()),
                ("states".into(), format!("{}, drawn from their tests' recordings", entries.len())),
                ("time".into(), format!("at most {} s a state", settings.seconds)),
            ],
            sections: vec![Section {
                title: "States".into(),
                prose: vec![
                    "A state is that before a line, or a return. The recorded call is not shown to the \
                     search; it is compared where all its arguments were recorded whole"
                        .into(),
                    format!(
                        "The first answers claim {} in the mean, and {} of them are the recorded call",
                        percent(Some(claimed)),
                        percent(Some(right))
                    ),
                ],
                table: Some(table),
                plots: Vec::new(),
            }],
        },
        json: json!({
            "format": 1,
            "evaluation": "states",
            "seconds": settings.seconds,
            "seed": settings.seed,
            "explained": explained,
            "first": first,
            "among_five": among,
            "copied": copied,
            "claimed": claimed,
            "right": right,
            "states": entries,
        }),
        answers: Vec::new(),
    }
}
