//! `ndbg-agent bench run`: tasks of any format, in a results folder that can be gone on with.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ndbg_dataset::shard::Shard;
use ndbg_tasks::{Environments, Instance, Judge, formats};
use ndbg_tools::Cancel;

use super::attempt::{Attempts, attempt};
use super::fix_arguments;
use super::record::Record;
use super::results::{FORMAT, Header, Results, ResultsError, Store};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::visible::{ellipsize, visible};
use crate::report::wording::plural;

/// Letters of a line.
const WIDEST: usize = 200;
/// Least time for one run of a task's tests.
const JUDGE_LIMIT: Duration = Duration::from_mins(1);
/// Memory that tests may use when a patch is judged; the default of `fix`.
const JUDGE_MEMORY: u64 = 2048 << 20;

/// Settled arguments.
#[derive(Debug)]
pub struct BenchRun {
    pub tasks: Utf8PathBuf,
    pub out: Utf8PathBuf,
    pub jobs: usize,
    pub shard: Shard,
    pub repos: Option<Utf8PathBuf>,
    pub only: Vec<String>,
    pub limit: Option<usize>,
    pub max_time: Duration,
    pub hidden_share: f64,
    pub gold: bool,
    pub retry: bool,
    pub python: Option<Utf8PathBuf>,
    pub fix_arguments: Vec<String>,
    pub program: Utf8PathBuf,
    /// The same, where the user named it.
    pub program_named: Option<String>,
}

/// Runs the verb.
pub fn run(settings: &BenchRun, cancel: &Cancel) -> Result<Outcome, Stop> {
    fix_arguments::check(&settings.fix_arguments)?;
    let (instances, header) = read(settings)?;
    let (store, known) = Store::open(&settings.out, &header, settings.shard)?;
    let mine: Vec<&Instance> = instances
        .iter()
        .enumerate()
        .filter(|(place, _)| settings.shard.takes(*place))
        .map(|(_, instance)| instance)
        .collect();
    let again = |record: &Record| settings.retry && record.infrastructure.is_some();
    let todo: Vec<&Instance> = mine
        .iter()
        .filter(|instance| known.get(&instance.id).is_none_or(again))
        .copied()
        .collect();
    announce(settings, &header, mine.len(), mine.len() - todo.len());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let attempts = Attempts {
        program: settings.program.clone(),
        environments: Environments::new(settings.repos.clone(), settings.python.clone()),
        judge: Judge {
            deadline: JUDGE_LIMIT,
            memory_limit: Some(JUDGE_MEMORY),
        },
        max_time: settings.max_time,
        fix_jobs: (cores / settings.jobs).max(1),
        fix_arguments: settings.fix_arguments.clone(),
        gold: settings.gold,
    };
    let failed = work(&todo, &attempts, settings.jobs, &store, cancel);
    let results = store.summarise()?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    if cancel.is_set() {
        eprintln!("finished tasks are kept: the same command goes on");
        return Ok(Outcome::Interrupted);
    }
    conclude(settings, &results);
    let tried = |record: &&Record| record.infrastructure.is_none();
    Ok(if results.records.iter().filter(tried).count() == 0 {
        Outcome::Environment
    } else {
        Outcome::Fixed
    })
}

/// The tasks, and the header of their results.
fn read(settings: &BenchRun) -> Result<(Vec<Instance>, Header), Stop> {
    let read = formats::read(&settings.tasks).map_err(|error| {
        Stop::new(Outcome::Usage, error.to_string()).hint(error.hint().unwrap_or_default())
    })?;
    let mut instances = read.instances;
    for name in &settings.only {
        let known = instances.iter().map(|instance| instance.id.as_str());
        if !known.clone().any(|id| id == name) {
            let reason = read.unsupported.iter().find(|(id, _)| id == name);
            let hint = match reason {
                Some((_, reason)) => format!("it cannot be run: {reason}"),
                None => match crate::infer::near::near(name, known).first() {
                    Some(near) => format!("there is `{near}`"),
                    None => "check the name".into(),
                },
            };
            let text = format!("no task `{name}` in `{}`", settings.tasks);
            return Err(Stop::new(Outcome::Usage, text).hint(hint));
        }
    }
    if !settings.only.is_empty() {
        instances.retain(|instance| settings.only.contains(&instance.id));
    }
    if let Some(limit) = settings.limit {
        instances.truncate(limit);
    }
    for instance in &mut instances {
        instance.hide(settings.hidden_share);
    }
    let mut unsupported = read.unsupported;
    if settings.gold {
        let without = instances
            .iter()
            .filter(|instance| instance.reference.is_none());
        unsupported.extend(without.map(|one| (one.id.clone(), "has no known repair".to_owned())));
        instances.retain(|instance| instance.reference.is_some());
    }
    if instances.is_empty() {
        let text = format!("no task of `{}` can be run", settings.tasks);
        let reason = unsupported.first();
        let hint = reason.map_or_else(
            || "the file names no task".to_owned(),
            |(id, reason)| format!("{id}: {reason}"),
        );
        return Err(Stop::new(Outcome::Usage, text).hint(hint));
    }
    let option = |name: &str| fix_arguments::value(&settings.fix_arguments, name);
    let fingerprints: Vec<String> = instances.iter().map(Instance::fingerprint).collect();
    let header = Header {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        benchmark: settings.tasks.file_name().unwrap_or("tasks").to_owned(),
        digest: ndbg_tasks::digest::hex_of(fingerprints.iter().map(String::as_bytes)),
        planner: option("--planner").unwrap_or_else(|| "search".into()),
        model: option("--model"),
        simulator: option("--simulator").unwrap_or_else(|| "off".into()),
        max_time: settings.max_time.as_secs(),
        hidden_share: settings.hidden_share,
        gold: settings.gold,
        fix_arguments: settings.fix_arguments.clone(),
        tasks: instances
            .iter()
            .map(|instance| instance.id.clone())
            .collect(),
        unsupported,
        program: settings.program_named.clone(),
        python: settings.python.as_ref().map(ToString::to_string),
    };
    Ok((instances, header))
}

fn announce(settings: &BenchRun, header: &Header, mine: usize, done: usize) {
    let shard = settings.shard;
    let part = if shard == Shard::WHOLE {
        String::new()
    } else {
        format!(", {mine} of them in shard {}/{}", shard.index, shard.count)
    };
    let others = match header.unsupported.len() {
        0 => String::new(),
        1 => "; 1 cannot be run here".into(),
        n => format!("; {n} cannot be run here"),
    };
    eprintln!("{}{part}{others}", plural(header.tasks.len(), "task"));
    if done > 0 {
        eprintln!("{done} are done already");
    }
}

/// Works on the tasks with `jobs` threads; the error is one of the results folder.
fn work(
    tasks: &[&Instance],
    attempts: &Attempts,
    jobs: usize,
    store: &Store,
    cancel: &Cancel,
) -> Option<ResultsError> {
    let bar = ProgressBar::with_draw_target(Some(tasks.len() as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    if !tasks.is_empty() {
        bar.enable_steady_tick(Duration::from_millis(500));
    }
    let say = |line: &str| {
        // What tests and installations print is none of the terminal's business.
        let line = ellipsize(&visible(line), WIDEST, "…");
        // A hidden bar prints nothing.
        if bar.is_hidden() {
            eprintln!("{line}");
        } else {
            bar.println(&line);
        }
    };
    let next = AtomicUsize::new(0);
    let begun = Instant::now();
    let shared = Mutex::new((Standing::default(), None));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(tasks.len()) {
            scope.spawn(|| {
                while !cancel.is_set() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(number) else {
                        return;
                    };
                    let folder = store.task_folder(&task.id);
                    let mut note = |line: &str| say(&format!("  {}: {line}", task.id));
                    let Some(record) = attempt(attempts, task, &folder, &mut note, cancel) else {
                        return;
                    };
                    let written = store.add(&record);
                    let Ok(mut shared) = shared.lock() else {
                        return;
                    };
                    if let Err(error) = written {
                        shared.1 = Some(error);
                        cancel.set();
                        return;
                    }
                    let standing = &mut shared.0;
                    standing.add(&record);
                    let left = tasks.len() - standing.done;
                    let left = begun.elapsed().mul_f64(left as f64 / standing.done as f64);
                    say(&format!(
                        "[{:>3}/{}] {}",
                        standing.done,
                        tasks.len(),
                        line(&record)
                    ));
                    bar.set_position(standing.done as u64);
                    bar.set_message(format!("{standing}, about {} left", duration(left)));
                }
            });
        }
    });
    bar.finish_and_clear();
    shared.into_inner().ok().and_then(|(_, error)| error)
}

/// How a run stands.
#[derive(Debug, Default)]
struct Standing {
    done: usize,
    plausible: usize,
    failed: usize,
}

impl Standing {
    fn add(&mut self, record: &Record) {
        self.done += 1;
        self.plausible += usize::from(record.plausible);
        self.failed += usize::from(record.infrastructure.is_some());
    }
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} solved", self.plausible)?;
        if self.failed > 0 {
            write!(f, ", {} not tried", self.failed)?;
        }
        Ok(())
    }
}

/// "40 s", "12 min", "3 h 20 min".
fn duration(time: Duration) -> String {
    let minutes = (time.as_secs() + 30) / 60;
    match (time.as_secs(), minutes) {
        (seconds, _) if seconds < 90 => format!("{seconds} s"),
        (_, minutes) if minutes < 90 => format!("{minutes} min"),
        (_, minutes) => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// A task's result for people who wait.
fn line(record: &Record) -> String {
    if let Some(failure) = &record.infrastructure {
        let text = failure.message.lines().next().unwrap_or_default();
        return format!(
            "{}: not tried ({}): {text}",
            record.task,
            failure.class.word()
        );
    }
    let verdict = match (record.plausible, record.correct) {
        (true, Some(true)) => "plausible and correct",
        (true, Some(false)) => "plausible, but wrong",
        (true, None) => "plausible",
        (false, _) => "not solved",
    };
    let resolved = match record.resolved {
        Some(true) if record.plausible => ", resolved",
        Some(false) if record.plausible => ", not resolved",
        _ => "",
    };
    let mut out = format!("{}: {verdict}{resolved}", record.task);
    if record.ending != super::record::Ending::NotRun {
        let _ = write!(out, ", {:.1} s", record.seconds);
    }
    if !record.plausible || record.resolved == Some(false) {
        let why = record
            .reason
            .as_deref()
            .filter(|reason| *reason != "no patch");
        let why = why
            .unwrap_or(&record.summary)
            .lines()
            .next()
            .unwrap_or_default();
        if !why.is_empty() {
            out += " — ";
            out += why;
        }
    }
    out
}

fn conclude(settings: &BenchRun, results: &Results) {
    let records = &results.records;
    let tried: Vec<&Record> = records
        .iter()
        .filter(|r| r.infrastructure.is_none())
        .collect();
    let count = |test: fn(&Record) -> bool| tried.iter().filter(|record| test(record)).count();
    println!(
        "tasks done               {:>6} of {}",
        records.len(),
        results.header.tasks.len()
    );
    println!(
        "plausible                {:>6} of {}",
        count(|r| r.plausible),
        tried.len()
    );
    let judged = count(|r| r.correct.is_some());
    if judged > 0 {
        println!(
            "correct                  {:>6} of {judged} with hidden tests",
            count(|r| r.plausible && r.correct == Some(true))
        );
    }
    if count(|r| r.resolved.is_some()) > 0 {
        println!(
            "resolved (SWE-bench's rule, judged here)  {} of {}",
            count(|r| r.resolved == Some(true)),
            count(|r| r.resolved.is_some())
        );
    }
    let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records {
        if let Some(failure) = &record.infrastructure {
            *classes.entry(failure.class.word()).or_default() += 1;
        }
    }
    if !classes.is_empty() {
        let list: Vec<String> = classes
            .iter()
            .map(|(class, n)| format!("{class} {n}"))
            .collect();
        println!(
            "not tried                {:>6} ({})",
            records.len() - tried.len(),
            list.join(", ")
        );
    }
    eprintln!("report: ndbg-agent bench report {}", settings.out);
}

impl From<ResultsError> for Stop {
    fn from(error: ResultsError) -> Self {
        let outcome = match &error {
            ResultsError::Io { .. } | ResultsError::Locked { .. } => Outcome::Environment,
            _ => Outcome::Usage,
        };
        Self::new(outcome, error.to_string()).hint(error.hint().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(duration(Duration::from_secs(40)), "40 s");
        assert_eq!(duration(Duration::from_secs(700)), "12 min");
        assert_eq!(duration(Duration::from_mins(200)), "3 h 20 min");
    }
}
