//! `eval cruxeval`: what a function returns, and what it was given.

mod shown;

use std::collections::HashMap;

use camino::Utf8PathBuf;
use ndbg_simulator::eval::{Calibration, Coverage, Judged, Tally, calibration, coverage};
use ndbg_simulator::harness::{self, Ended, Limits, Run};
use ndbg_simulator::literal;
use ndbg_simulator::model::Sampling;
use serde::Serialize;
use serde_json::json;

use super::foreseen::Foreseen;
use super::inputs;
use super::items::{self, Item};
use super::page::{Page, Section};
use super::predictor::Predictor;
use super::programs::Source;
use super::truth::{Truth, limits};
use super::{Evaluated, Evaluation, Progress};
use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;

/// Least probabilities of an answer that is believed.
const THRESHOLDS: [f64; 3] = [0.0, 0.5, 0.9];
/// As in the paper.
const TEMPERATURE: f32 = 0.6;
const TOP_P: f32 = 0.95;
/// pass@1, greedy, of the 1.8B model with 150B tokens (arXiv 2603.09951), on the whole set.
const PAPER: &str = "for comparison, from the paper (arXiv 2603.09951), 1.8 billion parameters, the \
                     whole set: output 57.7 by a breakpoint, 48.0 by step_return; input 53.6";

/// What is evaluated.
#[derive(Debug, Clone)]
pub struct CruxSettings {
    /// Items.
    pub data: Utf8PathBuf,
    /// Items at most.
    pub count: Option<usize>,
    /// Walks backwards that are sampled for each item.
    pub samples: usize,
    /// Seed of samples.
    pub seed: u64,
    /// Interpreter that runs candidates.
    pub python: Option<Utf8PathBuf>,
}

/// Output prediction where answers below a threshold are not believed.
#[derive(Debug, Serialize)]
struct Believed {
    threshold: f64,
    items: usize,
    answered: usize,
    right: usize,
}

#[derive(Debug, Serialize)]
struct Outputs {
    believed: Vec<Believed>,
    oracle: Tally,
    /// Items that the harness with a real interpreter does not get right.
    oracle_wrong: Vec<String>,
    copy: Tally,
    calibration: Calibration,
    coverage: Vec<Coverage>,
    unanswered: Vec<(String, usize)>,
}

#[derive(Debug, Serialize)]
struct Inputs {
    greedy: Tally,
    sampled: Tally,
    any: Tally,
    samples: usize,
    exact: Tally,
    copy: Tally,
    frequent: Tally,
}

/// Evaluates.
///
/// # Errors
/// A file that is not right, no interpreter, or an interruption.
pub fn cruxeval(
    settings: &CruxSettings,
    predictor: &dyn Predictor,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Evaluated {
    let mut read = items::read(&settings.data, true)?;
    let of = read.len();
    read.truncate(settings.count.unwrap_or(usize::MAX));
    let mut left_out = Vec::new();
    read.retain(|item| {
        let good = literal::parse(&item.output).is_ok()
            && harness::Program::parse(&item.code, &format!("f({})", item.input)).is_ok();
        if !good {
            left_out.push(item.id.clone());
        }
        good
    });
    if read.is_empty() {
        let message = format!("no item of `{}` is left", settings.data);
        return Err(Stop::new(Outcome::Usage, message)
            .hint("`code` has to be Python that defines `f`, `output` a literal"));
    }
    let outputs = outputs(&read, predictor, reality, progress)?;
    let inputs = if predictor.runs_backwards() {
        Some(inputs_of(settings, &read, predictor, reality, progress)?)
    } else {
        None
    };
    let name = settings.data.file_name().unwrap_or(settings.data.as_str());
    let mut facts = vec![
        ("model".into(), predictor.name()),
        (
            "data".into(),
            format!("{name}, {} of {of} items", read.len()),
        ),
        ("runs".into(), format!("Python {}", reality.version)),
        ("context".into(), PAPER.into()),
    ];
    if !left_out.is_empty() {
        facts.push((
            "left out".into(),
            format!("{} items that do not parse", left_out.len()),
        ));
    }
    let mut sections = shown::output_sections(&outputs);
    sections.push(match &inputs {
        Some(inputs) => shown::input_section(inputs),
        None => Section {
            title: "Input prediction".into(),
            prose: vec![format!("{} does not run backwards", predictor.name())],
            ..Section::default()
        },
    });
    Ok(Evaluation {
        answers: Vec::new(),
        page: Page {
            title: format!("CRUXEval by {}", predictor.name()),
            facts,
            sections,
        },
        json: json!({
            "format": 1,
            "evaluation": "cruxeval",
            "model": predictor.name(),
            "python": reality.version,
            "data": name,
            "items": read.len(),
            "left_out": left_out,
            "output": outputs,
            "input": inputs,
            "paper": {
                "what": "1.8B parameters, 150B tokens, pass@1 in percent on the whole set, arXiv 2603.09951",
                "output_breakpoint": 57.7,
                "output_step_return": 48.0,
                "input": 53.6,
            },
        }),
    })
}

/// Whether a run returns what it should; none if it does not say.
fn returns(run: &Run, expected: &str) -> Option<bool> {
    match &run.ended {
        Ended::Returned(value) => Some(equal(value, expected)),
        Ended::Raised(..) => Some(false),
        Ended::Unknown(_) | Ended::Limit(_) => None,
    }
}

fn equal(value: &str, expected: &str) -> bool {
    match (literal::parse(value), literal::parse(expected)) {
        (Ok(value), Ok(expected)) => value.equals(&expected),
        _ => false,
    }
}

fn outputs(
    items: &[Item],
    predictor: &dyn Predictor,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Result<Outputs, Stop> {
    let cancel = &reality.runner.cancel;
    let interpreter = reality.operations()?;
    let mut truths = Vec::with_capacity(items.len());
    for (done, item) in items.iter().enumerate() {
        if cancel.is_set() {
            return Err(Stop::interrupted());
        }
        progress("true runs", done, items.len());
        let source = Source {
            id: item.id.clone(),
            code: item.code.clone(),
            call: format!("f({})", item.input),
        };
        let truth = Truth::of(&source, &interpreter)
            .map_err(|error| Stop::new(Outcome::Usage, format!("`{}`: {error}", item.id)))?;
        truths.push(truth);
    }
    let foreseen = Foreseen::new(predictor, Sampling::Greedy);
    // Asked before they come up, and many at once; what is said does not depend on it.
    let operations = truths
        .iter()
        .flat_map(|truth| &truth.asked)
        .map(|(operation, _)| operation);
    foreseen.ask(operations, cancel, &mut |done, of| {
        progress("predictions", done, of);
    })?;
    let mut believed = Vec::new();
    let mut judged = Vec::new();
    let mut unanswered: HashMap<String, usize> = HashMap::new();
    for threshold in THRESHOLDS {
        let limits = Limits {
            threshold,
            ..limits()
        };
        let mut counts = Believed {
            threshold,
            items: items.len(),
            answered: 0,
            right: 0,
        };
        for (done, (item, truth)) in items.iter().zip(&truths).enumerate() {
            if cancel.is_set() {
                return Err(Stop::interrupted());
            }
            progress("rollouts", done, items.len());
            let run = harness::run(&truth.program, &foreseen, limits);
            let right = returns(&run, &item.output);
            counts.answered += usize::from(right.is_some());
            counts.right += usize::from(right == Some(true));
            if threshold > 0.0 {
                continue;
            }
            match (right, &run.ended) {
                (Some(right), _) => judged.push(Judged {
                    confidence: run.log_probability.exp(),
                    right,
                }),
                (None, Ended::Unknown(why)) => *unanswered.entry(kind(why)).or_default() += 1,
                (None, _) => *unanswered.entry("a limit".into()).or_default() += 1,
            }
        }
        believed.push(counts);
    }
    let mut unanswered: Vec<(String, usize)> = unanswered.into_iter().collect();
    unanswered.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let really: Vec<bool> = items
        .iter()
        .zip(&truths)
        .map(|(item, truth)| returns(&truth.run, &item.output) == Some(true))
        .collect();
    let wrong = items.iter().zip(&really).filter(|(_, right)| !**right);
    Ok(Outputs {
        believed,
        oracle: really.iter().copied().collect(),
        oracle_wrong: wrong.map(|(item, _)| item.id.clone()).collect(),
        copy: items
            .iter()
            .map(|item| equal(&item.input, &item.output))
            .collect(),
        calibration: calibration(&judged),
        coverage: [0.99, 0.95].map(|least| coverage(&judged, least)).into(),
        unanswered,
    })
}

/// A reason without what differs from item to item.
fn kind(why: &str) -> String {
    let mut short = String::new();
    for (at, part) in why.split('`').enumerate() {
        short += if at % 2 == 0 { part } else { "…" };
    }
    short.chars().take(60).collect()
}

fn inputs_of(
    settings: &CruxSettings,
    items: &[Item],
    predictor: &dyn Predictor,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Result<Inputs, Stop> {
    let cancel = &reality.runner.cancel;
    let mut walks: Vec<Vec<Option<String>>> = Vec::new();
    for number in 0..=settings.samples {
        let sampling = match number {
            0 => Sampling::Greedy,
            _ => Sampling::Random {
                temperature: TEMPERATURE,
                top_p: TOP_P,
                seed: settings.seed.wrapping_add(number as u64),
                samples: 1,
            },
        };
        let mut found = Vec::with_capacity(items.len());
        for (done, item) in items.iter().enumerate() {
            if cancel.is_set() {
                return Err(Stop::interrupted());
            }
            progress(
                "walks backwards",
                number * items.len() + done,
                (settings.samples + 1) * items.len(),
            );
            found.push(inputs::candidate(item, predictor, sampling));
        }
        walks.push(found);
    }
    let frequent = most_frequent(items);
    // All that is tried: many walks come to the same candidate.
    let mut numbers: HashMap<(usize, &str), usize> = HashMap::new();
    let mut calls: Vec<(&Item, String)> = Vec::new();
    let tried = walks
        .iter()
        .flat_map(|walk| walk.iter().enumerate())
        .filter_map(|(item, input)| Some((item, input.as_deref()?)));
    let copied = items
        .iter()
        .enumerate()
        .map(|(at, item)| (at, item.output.as_str()));
    let frequents = frequent
        .iter()
        .enumerate()
        .map(|(at, input)| (at, input.as_str()));
    for (item, input) in tried.chain(copied).chain(frequents) {
        numbers.entry((item, input)).or_insert_with(|| {
            calls.push((&items[item], input.to_owned()));
            calls.len() - 1
        });
    }
    let count = calls.len();
    let passed = inputs::checked(&calls, &reality.runner, &mut |done, _| {
        progress("real runs", done, count);
    })?;
    let right = |item: usize, input: &str| {
        numbers
            .get(&(item, input))
            .is_some_and(|&number| passed[number])
    };
    let of_walk = |walk: &[Option<String>], item: usize| {
        walk[item]
            .as_deref()
            .is_some_and(|input| right(item, input))
    };
    let all = 0..items.len();
    let sampled = &walks[1..];
    let of_samples = |item: usize| sampled.iter().filter(|walk| of_walk(walk, item)).count();
    let mut every = Tally::default();
    for item in all.clone() {
        every.join(Tally {
            right: of_samples(item),
            of: sampled.len(),
        });
    }
    Ok(Inputs {
        greedy: all.clone().map(|item| of_walk(&walks[0], item)).collect(),
        sampled: every,
        any: all.clone().map(|item| of_samples(item) > 0).collect(),
        samples: settings.samples,
        exact: all
            .clone()
            .map(|item| {
                let input = walks[0][item].as_deref();
                input.is_some_and(|input| {
                    equal(&format!("({input},)"), &format!("({},)", items[item].input))
                })
            })
            .collect(),
        copy: all
            .clone()
            .map(|item| right(item, &items[item].output))
            .collect(),
        frequent: all.map(|item| right(item, &frequent[item])).collect(),
    })
}

/// For each item the most frequent input among the others.
fn most_frequent(items: &[Item]) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for item in items {
        *counts.entry(&item.input).or_default() += 1;
    }
    let mut sorted: Vec<(&str, usize)> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    items
        .iter()
        .map(|item| {
            let own = |input: &str| usize::from(input == item.input);
            let best = sorted.iter().take(3).max_by(|a, b| {
                (a.1 - own(a.0))
                    .cmp(&(b.1 - own(b.0)))
                    .then_with(|| b.0.cmp(a.0))
            });
            best.map_or_else(String::new, |(input, _)| (*input).to_owned())
        })
        .collect()
}
