//! `ndbg-agent bench tasks`.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use camino::Utf8PathBuf;
use ndbg_tasks::{GradeError, Grader, Task};
use ndbg_tools::Cancel;
use ndbg_tools::process::ProcessError;

use super::interpreter;
use super::log::{Header, Log};
use super::measure::Measure;
use super::record::Record;
use super::table;
use crate::outcome::Outcome;

/// Least time for one run of a task's tests when a patch is graded.
const GRADE_LIMIT: Duration = Duration::from_mins(1);
/// Memory that tests may use when a patch is graded; the default of `fix`.
const GRADE_MEMORY: u64 = 2048 << 20;

/// Settled arguments.
#[derive(Debug)]
pub struct TasksRun {
    pub tasks: Utf8PathBuf,
    pub hidden: Option<Utf8PathBuf>,
    pub only: Vec<String>,
    pub max_time: Duration,
    pub jobs: usize,
    pub json: Option<Utf8PathBuf>,
    pub python: Option<Utf8PathBuf>,
    pub runs: Option<Utf8PathBuf>,
    pub program: Utf8PathBuf,
}

/// Runs the verb.
pub fn run(settings: &TasksRun, cancel: &Cancel) -> anyhow::Result<Outcome> {
    let mut tasks = Task::list(&settings.tasks, settings.hidden.as_deref())?;
    if !settings.only.is_empty() {
        for name in &settings.only {
            if !tasks.iter().any(|task| task.name == *name) {
                eprintln!("error: no task `{name}` in `{}`", settings.tasks);
                return Ok(Outcome::Usage);
            }
        }
        tasks.retain(|task| settings.only.contains(&task.name));
    }
    let interpreter = match interpreter::choose(settings.python.as_deref(), None, cancel) {
        Ok(interpreter) => interpreter,
        Err(stop) => return Ok(super::said(&stop)),
    };
    let header = Header::new(settings.max_time.as_secs());
    let (log, known) = match &settings.json {
        Some(path) => {
            let (log, known) = Log::open(path, &header)?;
            (Some(log), known)
        }
        None => (None, Vec::new()),
    };
    let mut results: BTreeMap<String, Record> = known
        .into_iter()
        .filter(|record| tasks.iter().any(|task| task.name == record.task))
        .map(|record| (record.task.clone(), record))
        .collect();
    if !results.is_empty() {
        eprintln!(
            "{} of {} tasks are done already",
            results.len(),
            tasks.len()
        );
    }
    let todo: Vec<&Task> = tasks
        .iter()
        .filter(|task| !results.contains_key(&task.name))
        .collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let measure = Measure {
        program: settings.program.clone(),
        max_time: settings.max_time,
        fix_jobs: (cores / settings.jobs).max(1),
        runs: settings.runs.clone(),
        grader: Grader {
            interpreter,
            deadline: GRADE_LIMIT,
            memory_limit: Some(GRADE_MEMORY),
        },
    };
    let new = all(&todo, &measure, settings.jobs, log, cancel);
    let failed = new.iter().filter(|result| result.is_err()).count();
    for record in new.into_iter().flatten() {
        results.insert(record.task.clone(), record);
    }
    let records: Vec<Record> = results.into_values().collect();
    if !records.is_empty()
        && let Err(stop) = crate::cli::print(table::render(&records).as_bytes())
    {
        return Ok(super::said(&stop));
    }
    Ok(if cancel.is_set() {
        Outcome::Interrupted
    } else if failed > 0 {
        Outcome::Environment
    } else {
        Outcome::Fixed
    })
}

/// Runs the tasks on `jobs` threads. What cannot be run or graded at all is an error of that task.
fn all(
    tasks: &[&Task],
    measure: &Measure,
    jobs: usize,
    log: Option<Log>,
    cancel: &Cancel,
) -> Vec<anyhow::Result<Record>> {
    let next = AtomicUsize::new(0);
    let shared = Mutex::new((log, Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(tasks.len()) {
            scope.spawn(|| {
                while !cancel.is_set() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(number) else {
                        return;
                    };
                    let mut result = measure.task(task, cancel);
                    if cancel.is_set() || result.as_ref().is_err_and(is_cancelled) {
                        return;
                    }
                    let Ok(mut shared) = shared.lock() else {
                        return;
                    };
                    if let (Ok(record), Some(log)) = (&result, &mut shared.0)
                        && let Err(error) = log.add(record)
                    {
                        result = Err(error);
                    }
                    let place = format!("[{:>3}/{}]", number + 1, tasks.len());
                    match &result {
                        Ok(record) => eprintln!("{place} {}", line(record)),
                        Err(error) => eprintln!("{place} {}: error: {error:#}", task.name),
                    }
                    shared.1.push(result.map_err(|error| anyhow!("{error:#}")));
                }
            });
        }
    });
    shared
        .into_inner()
        .map_or_else(|_| Vec::new(), |(_, all)| all)
}

fn is_cancelled(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<ProcessError>(),
        Some(ProcessError::Cancelled)
    ) || error
        .downcast_ref::<GradeError>()
        .is_some_and(GradeError::is_cancelled)
}

/// A task's result for people who wait.
fn line(record: &Record) -> String {
    let verdict = match (record.plausible, record.correct) {
        (true, Some(true)) => ", correct",
        (true, Some(false)) => ", plausible but wrong",
        (true, None) => ", plausible",
        (false, _) => "",
    };
    let mut out = format!(
        "{}: {}{verdict}, {} candidates, {:.1} s",
        record.task,
        record.ending.word(),
        record.executions,
        record.seconds
    );
    if !record.plausible && !record.summary.is_empty() {
        out += " — ";
        out += record.summary.lines().next().unwrap_or_default();
    }
    out
}
