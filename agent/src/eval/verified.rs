//! `eval cruxeval --verified`: inputs that were run before they counted, by who proposed them.

use ndbg_simulator::eval::Tally;
use ndbg_tools::python::executions::{Goal, Subject};
use serde::Serialize;
use serde_json::json;

use super::cruxeval::CruxSettings;
use super::inputs;
use super::items::{self, Item};
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
    seconds: f64,
    predictor: &dyn Predictor,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Evaluated {
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
            sections: vec![section(&ways, &by_guess)],
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
    let folder = reality.runner.scratch.join("item");
    let file = folder.join("item.py");
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, &item.code));
    written.map_err(|error| Stop::new(Outcome::Environment, format!("`{file}`: {error}")))?;
    let settings = Settings {
        subject: Subject {
            file,
            function: "f".into(),
            root: Some(folder),
        },
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
