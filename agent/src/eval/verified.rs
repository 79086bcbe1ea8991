//! `eval cruxeval --verified`: inputs that were run before they counted, by who proposed them.

use camino::Utf8PathBuf;
use ndbg_simulator::eval::Tally;
use ndbg_tools::python::executions::{Call, Executor, Goal, Subject};
use serde::Serialize;
use serde_json::json;

use super::crosshair::CrossHair;
use super::cruxeval::CruxSettings;
use super::inputs;
use super::items::{self, Item};
use super::pace::{pace, place};
use super::page::{Page, Section};
use super::predictor::Predictor;
use super::table::{Table, percent, range};
use super::{Evaluated, Evaluation, Progress};
use crate::fix::stop::Stop;
use crate::infer::{self, Settings, Sources};
use crate::model::Reality;
use crate::outcome::Outcome;

/// Executions for an item at most; the time ends sooner.
const EXECUTIONS: usize = 1_000_000;
/// Runs in new processes that an input of CrossHair's has to stand, like ours.
const RUNS: usize = 2;

/// Who proposes.
const WAYS: [(&str, Sources); 3] = [
    (
        "search and model",
        Sources {
            search: true,
            model: true,
        },
    ),
    (
        "search alone",
        Sources {
            search: true,
            model: false,
        },
    ),
    (
        "model alone",
        Sources {
            search: false,
            model: true,
        },
    ),
];

/// How items are solved.
#[derive(Debug, Clone)]
pub struct VerifiedSettings {
    /// Seconds for each item.
    pub seconds: f64,
    /// Where CrossHair is.
    pub crosshair: Option<Utf8PathBuf>,
    /// Items that CrossHair gets at most, the first ones.
    pub crosshair_count: usize,
}

/// What became of an item.
#[derive(Debug, Clone, Serialize)]
struct Solved {
    id: String,
    /// The verified call.
    call: Option<String>,
    executions: usize,
    seconds: f64,
    source: Option<&'static str>,
    /// Whether the output as the input does it, too.
    one_guess: bool,
}

#[derive(Debug, Serialize)]
struct Way {
    proposed_by: &'static str,
    solved: Tally,
    /// Of the items that one guess does not solve.
    hard: Tally,
    median_seconds: f64,
    p95_seconds: f64,
    median_executions: usize,
    p95_executions: usize,
    items: Vec<Solved>,
}

/// Evaluates.
///
/// # Errors
/// A file that is not right, no interpreter, or an interruption.
pub fn verified(
    settings: &CruxSettings,
    search: &VerifiedSettings,
    predictor: &dyn Predictor,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Evaluated {
    let seconds = search.seconds;
    // Before all that takes time.
    let crosshair = match &search.crosshair {
        Some(path) => {
            let runner = &reality.runner;
            Some(CrossHair::find(path, &runner.scratch, &runner.cancel)?)
        }
        None => None,
    };
    let mut read = items::read(&settings.data, true)?;
    let of = read.len();
    read.truncate(settings.count.unwrap_or(usize::MAX));
    read.retain(|item| ndbg_simulator::literal::parse(&item.output).is_ok());
    if read.is_empty() {
        let message = format!("no item of `{}` is left", settings.data);
        return Err(Stop::new(Outcome::Usage, message).hint("`output` has to be a literal"));
    }
    let guesses: Vec<(&Item, String)> = read
        .iter()
        .map(|item| (item, item.output.clone()))
        .collect();
    let count = guesses.len();
    let by_guess = inputs::checked(&guesses, &reality.runner, &mut |done, _| {
        progress("one guess", done, count);
    })?;
    let pace = pace(reality)?;
    let mut ways = Vec::new();
    for (name, sources) in WAYS {
        if sources.model && !predictor.runs_backwards() {
            continue;
        }
        let mut solved = Vec::with_capacity(count);
        for (done, item) in read.iter().enumerate() {
            progress(name, done, count);
            solved.push(one(
                settings,
                item,
                seconds,
                sources,
                predictor,
                reality,
                by_guess[done],
            )?);
        }
        ways.push(way(name, solved));
    }
    let beside = match &crosshair {
        Some(crosshair) => {
            let most = search.crosshair_count.min(count);
            let solved = by_crosshair(
                &read[..most],
                &by_guess,
                crosshair,
                seconds,
                reality,
                progress,
            )?;
            Some(way("CrossHair", solved))
        }
        None => None,
    };
    let name = settings.data.file_name().unwrap_or(settings.data.as_str());
    Ok(Evaluation {
        page: Page {
            title: format!("CRUXEval inputs, verified, with {}", predictor.name()),
            facts: vec![
                (
                    "data".into(),
                    format!("{name}, {count} of {of} items; types of arguments are unknown"),
                ),
                (
                    "an input".into(),
                    "counts if three runs in new processes return the output".into(),
                ),
                (
                    "time".into(),
                    format!(
                        "at most {seconds} s an item on one core, start of Python {} included",
                        reality.version
                    ),
                ),
                (
                    "context".into(),
                    "from the paper (arXiv 2603.09951), unverified, the whole set: 53.6 by 1.8 \
                     billion parameters, 66.5 by 32 billion"
                        .into(),
                ),
            ],
            sections: sections(&ways, &by_guess, beside.as_ref(), crosshair.as_ref()),
        },
        json: json!({
            "format": 1,
            "evaluation": "cruxeval, inputs, verified",
            "model": predictor.name(),
            "python": reality.version,
            "data": name,
            "items": count,
            "seconds": seconds,
            "seed": settings.seed,
            "one_guess": by_guess.iter().copied().collect::<Tally>(),
            "ways": ways,
            "crosshair": crosshair.as_ref().map(|crosshair| json!({
                "version": crosshair.version, "way": beside,
            })),
            "executions_per_second": pace,
        }),
        answers: Vec::new(),
    })
}

fn one(
    settings: &CruxSettings,
    item: &Item,
    seconds: f64,
    sources: Sources,
    predictor: &dyn Predictor,
    reality: &Reality,
    one_guess: bool,
) -> Result<Solved, Stop> {
    let settings = Settings {
        subject: written(item, reality)?,
        goal: Goal::Returns(item.output.clone()),
        sources,
        seconds,
        executions: EXECUTIONS,
        count: 1,
        seed: settings.seed,
        call_seconds: infer::CALL_SECONDS,
    };
    let inferred = match infer::infer(&settings, Some(predictor), reality) {
        // An item that cannot be imported is one that is not solved.
        Err(stop) if stop.outcome == Outcome::Usage => None,
        other => Some(other?),
    };
    Ok(Solved {
        id: item.id.clone(),
        call: inferred
            .as_ref()
            .and_then(|inferred| Some(inferred.found.first()?.call.clone())),
        executions: inferred.as_ref().map_or(0, |inferred| inferred.executions),
        seconds: inferred.as_ref().map_or(0.0, |inferred| inferred.seconds),
        source: inferred.as_ref().and_then(|inferred| inferred.source),
        one_guess,
    })
}

/// The function of an item, in a file.
fn written(item: &Item, reality: &Reality) -> Result<Subject, Stop> {
    let folder = reality.runner.scratch.join("item");
    let file = folder.join("item.py");
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, &item.code));
    written.map_err(|error| Stop::new(Outcome::Environment, format!("`{file}`: {error}")))?;
    Ok(Subject {
        file,
        function: "f".into(),
        root: Some(folder),
    })
}

/// What CrossHair makes of items, judged like our own calls.
fn by_crosshair(
    items: &[Item],
    by_guess: &[bool],
    crosshair: &CrossHair,
    seconds: f64,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Result<Vec<Solved>, Stop> {
    let mut solved = Vec::with_capacity(items.len());
    for (done, (item, one_guess)) in items.iter().zip(by_guess).enumerate() {
        progress("CrossHair", done, items.len());
        let said = crosshair.arguments(&item.code, &item.input, &item.output, seconds)?;
        let call = match said.answer {
            Some(arguments) if returns(item, &arguments, reality)? => {
                Some(format!("f({arguments})"))
            }
            _ => None,
        };
        solved.push(Solved {
            id: item.id.clone(),
            source: call.is_some().then_some("CrossHair"),
            call,
            executions: 0,
            seconds: said.seconds,
            one_guess: *one_guess,
        });
    }
    Ok(solved)
}

/// Whether runs in new processes return the output.
fn returns(item: &Item, arguments: &str, reality: &Reality) -> Result<bool, Stop> {
    let subject = written(item, reality)?;
    let goal = Goal::Returns(item.output.clone());
    let call = Call {
        receiver: None,
        arguments: arguments.to_owned(),
    };
    let runs = Executor::start(&place(reality), &subject, &goal)
        .and_then(|mut executor| executor.verify(&call, RUNS))
        .map_err(Stop::from);
    match runs {
        Err(stop) if stop.outcome == Outcome::Interrupted => Err(stop),
        Err(_) => Ok(false),
        Ok(runs) => Ok(runs.len() == RUNS && runs.iter().all(|run| run.reached)),
    }
}

fn way(proposed_by: &'static str, items: Vec<Solved>) -> Way {
    let mut seconds: Vec<f64> = items.iter().map(|item| item.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let mut executions: Vec<usize> = items.iter().map(|item| item.executions).collect();
    executions.sort_unstable();
    let at = |share: f64| ((items.len() as f64 * share).ceil() as usize).clamp(1, items.len()) - 1;
    let hard = items.iter().filter(|item| !item.one_guess);
    Way {
        proposed_by,
        solved: items.iter().map(|item| item.call.is_some()).collect(),
        hard: hard.map(|item| item.call.is_some()).collect(),
        median_seconds: seconds[at(0.5)],
        p95_seconds: seconds[at(0.95)],
        median_executions: executions[at(0.5)],
        p95_executions: executions[at(0.95)],
        items,
    }
}

fn sections(
    ways: &[Way],
    by_guess: &[bool],
    beside: Option<&Way>,
    crosshair: Option<&CrossHair>,
) -> Vec<Section> {
    let mut sections = vec![section(ways, by_guess)];
    if let (Some(beside), Some(crosshair)) = (beside, crosshair) {
        sections.push(compared(ways, beside, crosshair));
    }
    sections
}

/// CrossHair and ours on the items that it got.
fn compared(ways: &[Way], beside: &Way, crosshair: &CrossHair) -> Section {
    let count = beside.items.len();
    let mut table = Table::new(&[
        "proposed by",
        "solved",
        "95 %",
        "hard",
        "median s",
        "95th s",
    ]);
    let own = ways
        .iter()
        .map(|one| way(one.proposed_by, one.items[..count].to_vec()));
    for way in own.chain([way(beside.proposed_by, beside.items.clone())]) {
        table.row([
            way.proposed_by.into(),
            percent(way.solved.share()),
            range(way.solved.interval()),
            percent(way.hard.share()),
            format!("{:.2}", way.median_seconds),
            format!("{:.2}", way.p95_seconds),
        ]);
    }
    Section {
        title: "Beside CrossHair".into(),
        prose: vec![format!(
            "{} on the first {count} items: `check` of a function that must not return the output. It is told \
             the types of the recorded arguments, which ours is not; its time is that of the \
             processor without its start. Its inputs count like ours",
            crosshair.name()
        )],
        table: Some(table),
        plots: Vec::new(),
    }
}

fn section(ways: &[Way], by_guess: &[bool]) -> Section {
    let mut table = Table::new(&[
        "proposed by",
        "solved",
        "95 %",
        "hard",
        "median s",
        "95th s",
        "median",
        "95th",
    ]);
    for way in ways {
        table.row([
            way.proposed_by.into(),
            percent(way.solved.share()),
            range(way.solved.interval()),
            percent(way.hard.share()),
            format!("{:.2}", way.median_seconds),
            format!("{:.2}", way.p95_seconds),
            way.median_executions.to_string(),
            way.p95_executions.to_string(),
        ]);
    }
    let guess: Tally = by_guess.iter().copied().collect();
    table.row([
        "one guess".into(),
        percent(guess.share()),
        range(guess.interval()),
        "-".into(),
        "-".into(),
        "-".into(),
        "1".into(),
        "1".into(),
    ]);
    let hard = by_guess.iter().filter(|right| !**right).count();
    let mut prose = vec![format!(
        "One guess is the output as the input; hard are the {hard} items that it does not solve. The \
         last two columns count executions. Seconds and executions are those of all items, solved or not"
    )];
    if let Some(both) = ways.first() {
        let unsolved: Vec<&str> = both
            .items
            .iter()
            .filter(|item| item.call.is_none())
            .map(|item| item.id.as_str())
            .take(20)
            .collect();
        if !unsolved.is_empty() {
            prose.push(format!("· not solved: {}", unsolved.join(", ")));
        }
    }
    Section {
        title: "Inputs that give the output".into(),
        prose,
        table: Some(table),
        plots: Vec::new(),
    }
}
