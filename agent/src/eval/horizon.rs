//! `eval horizon`: how far ahead states are right, from the entry of a program on.

use camino::Utf8PathBuf;
use ndbg_simulator::EventKind;
use ndbg_simulator::eval::{Statement, Tally, same_text, state_difference, taken_apart};
use ndbg_simulator::harness::{self, Ended, Event, Run};
use ndbg_simulator::model::Sampling;
use serde::Serialize;
use serde_json::json;

use super::foreseen::Foreseen;
use super::page::{Page, Section};
use super::predictor::Predictor;
use super::programs::{self, Data};
use super::table::{Table, percent, range};
use super::truth::{Truth, limits};
use super::{Evaluated, Evaluation, Progress};
use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;
use crate::plot::{Lines, Plot, Point, Series};

/// Statements after which the state is looked at.
const STEPS: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Shares of the run after which it is looked at, in tenths.
const TENTHS: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
/// Programs at a place of a plot at least: what fewer do says nothing.
const FEWEST: usize = 5;
/// As in the paper.
const TEMPERATURE: f32 = 0.6;
const TOP_P: f32 = 0.95;

/// What is evaluated.
#[derive(Debug, Clone)]
pub struct HorizonSettings {
    /// Programs.
    pub data: Data,
    /// Programs at most.
    pub count: usize,
    /// Seed of generated programs and of samples.
    pub seed: u64,
    /// Runs that are sampled of each program.
    pub samples: usize,
    /// Interpreter that knows what is true.
    pub python: Option<Utf8PathBuf>,
}

/// What is right at one place of the horizon.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Place {
    greedy: Tally,
    one: Tally,
    any: Tally,
    copy: Tally,
}

/// How a way of predicting is counted.
type Column = (String, fn(&Place) -> Tally);

/// Evaluates.
///
/// # Errors
/// No programs, no interpreter, or an interruption.
pub fn horizon(
    settings: &HorizonSettings,
    predictor: &dyn Predictor,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Evaluated {
    let cancel = &reality.runner.cancel;
    let interpreter = reality.operations()?;
    let taken = programs::taken(
        &settings.data,
        settings.seed,
        settings.count,
        &reality.runner,
    )?;
    let mut truths = Vec::new();
    for (done, source) in taken.sources.iter().enumerate() {
        if cancel.is_set() {
            return Err(Stop::interrupted());
        }
        progress("true runs", done, taken.sources.len());
        if let Ok(truth) = Truth::of(source, &interpreter)
            && matches!(truth.run.ended, Ended::Returned(_) | Ended::Raised(..))
            && !truth.statements.is_empty()
        {
            truths.push(truth);
        }
    }
    if truths.is_empty() {
        return Err(Stop::new(
            Outcome::Usage,
            "no program runs to its end under the harness",
        )
        .hint("raise `--count`, or name other `--data`"));
    }
    let mut rollouts = vec![rolled(
        predictor,
        Sampling::Greedy,
        "greedy",
        &truths,
        cancel,
        progress,
    )?];
    let samples = if predictor.is_certain() {
        0
    } else {
        settings.samples
    };
    for number in 0..samples {
        let sampling = Sampling::Random {
            temperature: TEMPERATURE,
            top_p: TOP_P,
            seed: settings.seed.wrapping_add(number as u64),
            samples: 1,
        };
        let name = format!("sample {} of {samples}", number + 1);
        rollouts.push(rolled(
            predictor, sampling, &name, &truths, cancel, progress,
        )?);
    }
    let (by_steps, by_share) = places(&truths, &rollouts);
    let (page, json) = shown(
        settings,
        predictor,
        reality,
        &taken.described,
        &truths,
        samples,
        &by_steps,
        &by_share,
    );
    Ok(Evaluation {
        page,
        json,
        answers: Vec::new(),
    })
}

/// Runs all programs by prediction. Operations that truly happen are asked first, many at once: most of
/// them are what a good prediction asks.
fn rolled(
    predictor: &dyn Predictor,
    sampling: Sampling,
    name: &str,
    truths: &[Truth],
    cancel: &ndbg_tools::Cancel,
    progress: &mut Progress<'_>,
) -> Result<Vec<Rolled>, Stop> {
    let foreseen = Foreseen::new(predictor, sampling);
    let operations = truths
        .iter()
        .flat_map(|truth| &truth.asked)
        .map(|(operation, _)| operation);
    foreseen.ask(operations, cancel, &mut |done, of| progress(name, done, of))?;
    let mut runs = Vec::with_capacity(truths.len());
    for (done, truth) in truths.iter().enumerate() {
        if cancel.is_set() {
            return Err(Stop::interrupted());
        }
        progress(&format!("{name}, runs"), done, truths.len());
        let run = harness::run(&truth.program, &foreseen, limits());
        let statements = taken_apart(&truth.program, &run.events, 0);
        runs.push(Rolled { run, statements });
    }
    Ok(runs)
}

struct Rolled {
    run: Run,
    statements: Vec<Statement>,
}

/// The state after so many statements: that before the next one, or the last one of all.
fn state<'r>(run: &'r Run, statements: &[Statement], steps: usize) -> Option<&'r Event> {
    if steps == statements.len() {
        return match run.ended {
            Ended::Returned(_) | Ended::Raised(..) => run.events.last(),
            Ended::Unknown(_) | Ended::Limit(_) => None,
        };
    }
    run.events.get(statements.get(steps)?.event)
}

fn places(truths: &[Truth], rollouts: &[Vec<Rolled>]) -> (Vec<Place>, Vec<Place>) {
    let mut by_steps = vec![Place::default(); STEPS.len()];
    let mut by_share = vec![Place::default(); TENTHS.len()];
    for (number, truth) in truths.iter().enumerate() {
        let total = truth.statements.len();
        let count = |place: &mut Place, steps: usize| {
            let Some(real) = state(&truth.run, &truth.statements, steps) else {
                return;
            };
            let right: Vec<bool> = rollouts
                .iter()
                .map(|runs| {
                    let said = state(&runs[number].run, &runs[number].statements, steps);
                    said.is_some_and(|said| state_difference(said, real).is_none())
                })
                .collect();
            // Without samples, all of them would be as the greedy one.
            let sampled = if right.len() > 1 {
                &right[1..]
            } else {
                &right[..]
            };
            place.greedy.add(right[0]);
            place.one.add(sampled[0]);
            place.any.add(sampled.contains(&true));
            place.copy.add(unchanged(&truth.run, real));
        };
        for (place, &steps) in by_steps.iter_mut().zip(&STEPS) {
            if steps <= total {
                count(place, steps);
            }
        }
        for (place, &tenths) in by_share.iter_mut().zip(&TENTHS) {
            count(place, (total * tenths).div_ceil(10));
        }
    }
    (by_steps, by_share)
}

/// Whether a state is what it was when its function was called, at the true line; a return is right
/// only if it gives `None`.
fn unchanged(run: &Run, real: &Event) -> bool {
    let call = run
        .events
        .iter()
        .find(|event| event.kind == EventKind::Call && event.activation == real.activation);
    let held = call.is_some_and(|call| {
        call.locals.len() == real.locals.len()
            && real.locals.iter().all(|(name, value)| {
                let found = call.locals.iter().find(|(held, _)| held == name);
                found.is_some_and(|(_, other)| same_text(value, other))
            })
    });
    held && (real.kind != EventKind::Return || real.value.as_deref() == Some("None"))
}

#[expect(
    clippy::too_many_arguments,
    reason = "it puts together what the evaluation found"
)]
fn shown(
    settings: &HorizonSettings,
    predictor: &dyn Predictor,
    reality: &Reality,
    data: &str,
    truths: &[Truth],
    samples: usize,
    by_steps: &[Place],
    by_share: &[Place],
) -> (Page, serde_json::Value) {
    let mut lengths: Vec<usize> = truths.iter().map(|truth| truth.statements.len()).collect();
    lengths.sort_unstable();
    let columns: Vec<Column> = if samples == 0 {
        vec![
            ("greedy".into(), |place| place.greedy),
            ("copy".into(), |place| place.copy),
        ]
    } else {
        vec![
            ("greedy".into(), |place| place.greedy),
            ("@1".into(), |place| place.one),
            (format!("@{samples}"), |place| place.any),
            ("copy".into(), |place| place.copy),
        ]
    };
    let steps: Vec<String> = STEPS.iter().map(usize::to_string).collect();
    let shares: Vec<String> = TENTHS
        .iter()
        .map(|tenths| format!("{} %", tenths * 10))
        .collect();
    let page = Page {
        title: format!("Horizon of {}", predictor.name()),
        facts: vec![
            ("model".into(), predictor.name()),
            (
                "truth".into(),
                format!("the harness with Python {}", reality.version),
            ),
            ("data".into(), data.into()),
            (
                "programs".into(),
                format!(
                    "{} that run to their end, {} statements in the middle, {} at most",
                    truths.len(),
                    lengths[lengths.len() / 2],
                    lengths[lengths.len() - 1]
                ),
            ),
            (
                "a state".into(),
                "is right if its kind, line, locals and value are; nothing true is shown to the \
                 model after the entry"
                    .into(),
            ),
            (
                "samples".into(),
                if samples == 0 {
                    "none".into()
                } else {
                    format!(
                        "@k: any of k runs is right, at temperature {TEMPERATURE} and top-p {TOP_P}"
                    )
                },
            ),
            (
                "copy".into(),
                "the true line with the locals that its function was called with".into(),
            ),
        ],
        sections: vec![
            Section {
                title: "After a number of statements".into(),
                prose: vec![format!(
                    "Programs that run as long, each once; the plot ends where fewer than {FEWEST} do"
                )],
                table: Some(table("statements", &steps, by_steps, &columns)),
                plots: vec![plot(
                    "horizon-statements",
                    "State after statements",
                    "statements",
                    &steps,
                    by_steps,
                    &columns,
                )],
            },
            Section {
                title: "After a share of the run".into(),
                prose: vec!["All programs, each once".into()],
                table: Some(table("of the run", &shares, by_share, &columns)),
                plots: vec![plot(
                    "horizon-share",
                    "State after a share of the run",
                    "of the run",
                    &shares,
                    by_share,
                    &columns,
                )],
            },
        ],
    };
    let listed = |names: &[String], places: &[Place]| -> Vec<serde_json::Value> {
        names
            .iter()
            .zip(places)
            .map(|(at, place)| json!({ "at": at, "right": place }))
            .collect()
    };
    let json = json!({
        "format": 1,
        "evaluation": "horizon",
        "model": predictor.name(),
        "python": reality.version,
        "data": data,
        "seed": settings.seed,
        "programs": truths.len(),
        "samples": samples,
        "temperature": TEMPERATURE,
        "top_p": TOP_P,
        "after_statements": listed(&steps, by_steps),
        "after_share": listed(&shares, by_share),
    });
    (page, json)
}

fn table(name: &str, places: &[String], counted: &[Place], columns: &[Column]) -> Table {
    let mut table = Table::new(&[name, "n"]);
    for (column, _) in columns {
        table.head.push(column.clone());
    }
    table.head.push("95 % of greedy".into());
    for (place, counts) in places.iter().zip(counted) {
        if counts.greedy.of == 0 {
            continue;
        }
        let mut row = vec![place.clone(), counts.greedy.of.to_string()];
        row.extend(
            columns
                .iter()
                .map(|(_, tally)| percent(tally(counts).share())),
        );
        row.push(range(counts.greedy.interval()));
        table.rows.push(row);
    }
    table
}

fn plot(
    name: &str,
    title: &str,
    axis: &str,
    places: &[String],
    counted: &[Place],
    columns: &[Column],
) -> Plot {
    let shown = counted
        .iter()
        .take_while(|counts| counts.greedy.of >= FEWEST)
        .count();
    let (places, counted) = if shown > 1 {
        (&places[..shown], &counted[..shown])
    } else {
        (places, counted)
    };
    let series = columns
        .iter()
        .enumerate()
        .map(|(number, (name, tally))| Series {
            name: name.clone(),
            points: counted
                .iter()
                .enumerate()
                .filter_map(|(at, counts)| {
                    let tally = tally(counts);
                    // Four bands over each other would show nothing.
                    let interval = (number == 0).then(|| tally.interval()).flatten();
                    Some(Point {
                        at,
                        share: tally.share()?,
                        interval: interval.map(|interval| (interval.low, interval.high)),
                    })
                })
                .collect(),
        });
    Lines {
        name: name.into(),
        title: title.into(),
        axis: axis.into(),
        places: places.to_vec(),
        series: series.collect(),
    }
    .draw()
}
