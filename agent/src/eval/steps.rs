//! `eval steps`: the next state, from the true one.

mod shown;

use std::collections::{BTreeMap, HashMap, HashSet};

use camino::Utf8PathBuf;
use ndbg_simulator::EventKind;
use ndbg_simulator::eval::{
    Calibration, Copied, Coverage, Frequencies, Judged, OperationKind, Statement, StatementKind,
    Tally, calibration, coverage, kinds_by_line, same_effect, same_text,
};
use ndbg_simulator::grammar::step::{Effect, Operation};
use ndbg_simulator::harness::{Event, Operations as _};
use ndbg_simulator::model::Sampling;
use ndbg_tools::python::operations::Interpreter;
use serde::Serialize;
use serde_json::{Value, json};

use super::foreseen::Foreseen;
use super::page::Page;
use super::predictor::Predictor;
use super::programs::{self, Data, Source};
use super::recorded::{self, Agreement};
use super::replay::next_state;
use super::truth::Truth;
use super::{Evaluated, Evaluation, Progress};
use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;

/// Programs that the most frequent values are counted in.
const FITTED: usize = 200;
/// Operations that the interpreter is asked for at once.
const ASKED_AT_ONCE: usize = 200;

/// What is evaluated.
#[derive(Debug, Clone)]
pub struct StepsSettings {
    /// Programs.
    pub data: Vec<Data>,
    /// Programs of each kind at most.
    pub count: usize,
    /// Seed of generated programs; training never uses it.
    pub seed: u64,
    /// Seed of the programs that the baseline of frequent values is fitted to.
    pub baseline_seed: u64,
    /// Interpreter that knows what is true.
    pub python: Option<Utf8PathBuf>,
}

/// A statement as it was judged.
struct JudgedStatement {
    kind: StatementKind,
    operations: usize,
    right: Right,
    confidence: f64,
    parts: Parts,
}

/// Parts of the next state: whether they are right, by the model and by copying the state.
#[derive(Default)]
struct Parts {
    line: Option<(bool, bool)>,
    locals: Option<(bool, bool)>,
    changed: Option<(bool, bool)>,
    value: Option<(bool, bool)>,
}

#[derive(Default, Serialize)]
struct Four {
    model: Tally,
    copy: Tally,
    frequent: Tally,
    oracle: Tally,
}

impl Four {
    fn add(&mut self, right: Right) {
        self.model.add(right.model);
        self.copy.add(right.copy);
        self.frequent.add(right.frequent);
        self.oracle.add(right.oracle);
    }
}

/// Who is right.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // Four who may each be right.
struct Right {
    model: bool,
    copy: bool,
    frequent: bool,
    oracle: bool,
}

#[derive(Default, Serialize)]
struct Two {
    model: Tally,
    copy: Tally,
}

#[derive(Serialize)]
struct Figures {
    data: String,
    programs: usize,
    left_out: BTreeMap<String, usize>,
    statements: Four,
    needing_the_model: Four,
    operations: Four,
    distinct_operations: Four,
    by_statement: BTreeMap<&'static str, Four>,
    by_operation: BTreeMap<&'static str, Four>,
    components: BTreeMap<&'static str, Two>,
    components_needing_the_model: BTreeMap<&'static str, Two>,
    calibration: Calibration,
    operation_calibration: Calibration,
    coverage: Vec<Coverage>,
    operation_coverage: Vec<Coverage>,
    oracle: Tally,
    agreement: BTreeMap<&'static str, usize>,
    disagreements: Vec<String>,
}

/// Evaluates.
///
/// # Errors
/// No programs, no interpreter, or an interruption.
pub fn steps(
    settings: &StepsSettings,
    predictor: &dyn Predictor,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Evaluated {
    let interpreter = reality.operations()?;
    let frequencies = frequencies(settings, &interpreter, reality, progress)?;
    let mut page = Page {
        title: format!("Next states by {}", predictor.name()),
        facts: vec![
            ("model".into(), predictor.name()),
            ("truth".into(), format!("Python {}", reality.version)),
            (
                "a statement".into(),
                "is right if each of its operations is predicted exactly from the true operands, \
                 which makes the next state exact; what asks for no operation the harness decides"
                    .into(),
            ),
            (
                "baselines".into(),
                format!(
                    "copy: an operation gives its first operand; frequent: the most frequent effect \
                     of its form in {FITTED} generated programs of seed {}",
                    settings.baseline_seed
                ),
            ),
        ],
        sections: Vec::new(),
    };
    let mut all = Vec::new();
    let mut answers = Vec::new();
    for (number, data) in settings.data.iter().enumerate() {
        let taken = programs::taken(data, settings.seed, settings.count, &reality.runner)?;
        let (figures, answered) = figures(
            &taken.sources,
            taken.described,
            predictor,
            &frequencies,
            &interpreter,
            reality,
            progress,
        )?;
        page.sections
            .extend(shown::sections(&figures, number, settings.data.len() > 1));
        answers.extend(answered);
        all.push(figures);
    }
    Ok(Evaluation {
        page,
        json: json!({
            "format": 1,
            "evaluation": "steps",
            "model": predictor.name(),
            "python": reality.version,
            "seed": settings.seed,
            "baseline_seed": settings.baseline_seed,
            "data": all,
        }),
        answers,
    })
}

fn frequencies(
    settings: &StepsSettings,
    interpreter: &Interpreter,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Result<Frequencies, Stop> {
    let mut seen = Frequencies::default();
    let sources = programs::generated(settings.baseline_seed, FITTED)?;
    for (done, source) in sources.iter().enumerate() {
        if reality.runner.cancel.is_set() {
            return Err(Stop::interrupted());
        }
        progress("baseline", done, sources.len());
        if let Ok(truth) = Truth::of(source, interpreter) {
            for (operation, effect) in &truth.asked {
                seen.add(operation, effect);
            }
        }
    }
    Ok(seen)
}

fn figures(
    sources: &[Source],
    data: String,
    predictor: &dyn Predictor,
    frequencies: &Frequencies,
    interpreter: &Interpreter,
    reality: &Reality,
    progress: &mut Progress<'_>,
) -> Result<(Figures, Vec<Value>), Stop> {
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<(&Source, Truth)> = Vec::new();
    for (done, source) in sources.iter().enumerate() {
        if reality.runner.cancel.is_set() {
            return Err(Stop::interrupted());
        }
        progress("true runs", done, sources.len());
        match Truth::of(source, interpreter) {
            Ok(truth) => kept.push((source, truth)),
            Err(_) => *left_out.entry("does not parse".into()).or_default() += 1,
        }
    }
    if kept.iter().all(|(_, truth)| truth.statements.is_empty()) {
        return Err(
            Stop::new(Outcome::Usage, format!("no program is left of {data}"))
                .hint("programs have to be Python that the harness can run"),
        );
    }
    let foreseen = Foreseen::new(predictor, Sampling::Greedy);
    let operations = kept
        .iter()
        .flat_map(|(_, truth)| &truth.asked)
        .map(|(asked, _)| asked);
    foreseen.ask(operations, &reality.runner.cancel, &mut |done, of| {
        progress("predictions", done, of);
    })?;
    let (only, truths): (Vec<&Source>, Vec<&Truth>) =
        kept.iter().map(|(source, truth)| (*source, truth)).unzip();
    let count = only.len();
    let agreements = recorded::compared(&only, &truths, &reality.runner, &mut |done, _| {
        progress("recordings", done, count);
    })?;
    let again = performed_again(&truths, interpreter)?;
    let sayers = Sayers {
        foreseen: &foreseen,
        frequencies,
        again: &again,
    };
    let mut counted = Counted::default();
    for (done, truth) in truths.iter().enumerate() {
        if reality.runner.cancel.is_set() {
            return Err(Stop::interrupted());
        }
        progress("statements", done, count);
        counted.count(truth, &sayers);
    }
    let mut agreement: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut disagreements = Vec::new();
    for (found, source) in agreements.iter().zip(&only) {
        *agreement.entry(found.name()).or_default() += 1;
        match found {
            Agreement::Unsupported(why) => disagreements.push(format!("{}: {why}", source.id)),
            Agreement::Other(what) => disagreements.push(format!("{}: {what}", source.id)),
            _ => {}
        }
    }
    let precisions = [0.99, 0.95];
    let answers = answers(&data, &truths, &sayers);
    let figures = Figures {
        data,
        programs: count,
        left_out,
        calibration: calibration(&counted.judged),
        operation_calibration: calibration(&counted.judged_operations),
        coverage: precisions
            .map(|least| coverage(&counted.judged, least))
            .into(),
        operation_coverage: precisions
            .map(|least| coverage(&counted.judged_operations, least))
            .into(),
        statements: counted.statements,
        needing_the_model: counted.needing,
        operations: counted.operations,
        distinct_operations: counted.distinct,
        by_statement: named(counted.by_statement, StatementKind::name),
        by_operation: named(counted.by_operation, OperationKind::name),
        components: counted.components,
        components_needing_the_model: counted.components_needing,
        oracle: agreements
            .iter()
            .map(|found| *found == Agreement::Same)
            .collect(),
        agreement,
        disagreements,
    };
    Ok((figures, answers))
}

/// Each different operation, what the model says that it does, and what it does.
fn answers(data: &str, truths: &[&Truth], sayers: &Sayers<'_>) -> Vec<Value> {
    let mut seen = HashSet::new();
    let asked = truths.iter().flat_map(|truth| &truth.asked);
    asked
        .filter(|(operation, _)| seen.insert(operation))
        .map(|(operation, effect)| {
            let answer = sayers.foreseen.perform(operation);
            let said = said(operation, effect, sayers);
            json!({
                "data": data,
                "kind": OperationKind::of(operation).name(),
                "expression": operation.expression,
                "operands": operation.operands,
                "effect": effect,
                "answer": answer.as_ref().ok().map(|answer| &answer.effect),
                "refused": answer.as_ref().err().map(ToString::to_string),
                "confidence": said.log_probability.exp(),
                "right": said.right.model,
            })
        })
        .collect()
}

fn performed_again<'t>(
    truths: &[&'t Truth],
    interpreter: &Interpreter,
) -> Result<HashMap<&'t Operation, Effect>, Stop> {
    let distinct: HashSet<&Operation> = truths
        .iter()
        .flat_map(|truth| truth.asked.iter().map(|(operation, _)| operation))
        .collect();
    let distinct: Vec<&Operation> = distinct.into_iter().collect();
    let mut effects = HashMap::with_capacity(distinct.len());
    for operations in distinct.chunks(ASKED_AT_ONCE) {
        let owned: Vec<Operation> = operations
            .iter()
            .map(|&operation| operation.clone())
            .collect();
        let performed = interpreter
            .perform_all(&owned)
            .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
        effects.extend(operations.iter().copied().zip(performed));
    }
    Ok(effects)
}

fn named<K: Ord + Copy>(
    counted: BTreeMap<K, Four>,
    name: fn(K) -> &'static str,
) -> BTreeMap<&'static str, Four> {
    counted
        .into_iter()
        .map(|(kind, four)| (name(kind), four))
        .collect()
}

#[derive(Default)]
struct Counted {
    statements: Four,
    needing: Four,
    operations: Four,
    distinct: Four,
    by_statement: BTreeMap<StatementKind, Four>,
    by_operation: BTreeMap<OperationKind, Four>,
    components: BTreeMap<&'static str, Two>,
    components_needing: BTreeMap<&'static str, Two>,
    judged: Vec<Judged>,
    judged_operations: Vec<Judged>,
    seen: HashSet<Operation>,
}

/// What is said about one operation.
#[derive(Clone, Copy)]
struct Said {
    right: Right,
    log_probability: f64,
}

/// Who says what.
struct Sayers<'a> {
    foreseen: &'a Foreseen<'a>,
    frequencies: &'a Frequencies,
    /// A second real interpreter: one that does not repeat itself is no oracle.
    again: &'a HashMap<&'a Operation, Effect>,
}

impl Counted {
    fn count(&mut self, truth: &Truth, sayers: &Sayers<'_>) {
        let asked = truth.asked.iter();
        let said: Vec<Said> = asked
            .map(|(operation, effect)| said(operation, effect, sayers))
            .collect();
        for ((operation, _), said) in truth.asked.iter().zip(&said) {
            self.operations.add(said.right);
            if self.seen.insert(operation.clone()) {
                self.distinct.add(said.right);
                let kind = OperationKind::of(operation);
                self.by_operation.entry(kind).or_default().add(said.right);
                self.judged_operations.push(Judged {
                    confidence: said.log_probability.exp(),
                    right: said.right.model,
                });
            }
        }
        let mut lines: Vec<u32> = kinds_by_line(&truth.program).into_keys().collect();
        lines.sort_unstable();
        // What the run ends within is not judged: there is no next state.
        for statement in truth
            .statements
            .iter()
            .filter(|statement| statement.next.is_some())
        {
            let judged = judged(truth, statement, &said, &lines, sayers.foreseen);
            self.statements.add(judged.right);
            let needs = judged.operations > 0;
            if needs {
                self.needing.add(judged.right);
                self.by_statement
                    .entry(judged.kind)
                    .or_default()
                    .add(judged.right);
                self.judged.push(Judged {
                    confidence: judged.confidence,
                    right: judged.right.model,
                });
            }
            let parts = [
                ("next line", judged.parts.line),
                ("all locals", judged.parts.locals),
                ("changed locals", judged.parts.changed),
                ("value of a return", judged.parts.value),
            ];
            for (name, part) in parts {
                let Some((model, copied)) = part else {
                    continue;
                };
                let add = |counts: &mut BTreeMap<&'static str, Two>| {
                    let two = counts.entry(name).or_default();
                    two.model.add(model);
                    two.copy.add(copied);
                };
                add(&mut self.components);
                if needs {
                    add(&mut self.components_needing);
                }
            }
        }
    }
}

fn said(operation: &Operation, effect: &Effect, sayers: &Sayers<'_>) -> Said {
    let answer = sayers.foreseen.perform(operation).ok();
    let right = |said: &Effect| same_effect(operation, said, effect);
    Said {
        right: Right {
            model: answer.as_ref().is_some_and(|answer| right(&answer.effect)),
            copy: right(&Copied::effect(operation)),
            frequent: right(&sayers.frequencies.effect(operation)),
            oracle: sayers.again.get(operation).is_some_and(right),
        },
        log_probability: answer.map_or(f64::NEG_INFINITY, |answer| answer.log_probability),
    }
}

fn judged(
    truth: &Truth,
    statement: &Statement,
    said: &[Said],
    lines: &[u32],
    foreseen: &Foreseen<'_>,
) -> JudgedStatement {
    // A question that is asked twice has one answer.
    let mut distinct: Vec<usize> = Vec::new();
    for &at in &statement.operations {
        if !distinct
            .iter()
            .any(|&other| truth.asked[other].0 == truth.asked[at].0)
        {
            distinct.push(at);
        }
    }
    let all = |right: fn(&Right) -> bool| distinct.iter().all(|&at| right(&said[at].right));
    let model = all(|right| right.model);
    let before = &truth.run.events[statement.event];
    let parts = statement.next.map_or_else(Parts::default, |next| {
        let real = &truth.run.events[next];
        let predicted = if model {
            Some(real.clone())
        } else {
            next_state(truth, statement, foreseen)
        };
        compared(before, real, predicted.as_ref(), lines)
    });
    JudgedStatement {
        kind: statement.kind,
        operations: distinct.len(),
        right: Right {
            model,
            copy: all(|right| right.copy),
            frequent: all(|right| right.frequent),
            oracle: all(|right| right.oracle),
        },
        confidence: distinct
            .iter()
            .map(|&at| said[at].log_probability)
            .sum::<f64>()
            .exp(),
        parts,
    }
}

/// The parts of a next state beside those of a predicted one, and beside the state before with the
/// statement that follows in the text.
fn compared(before: &Event, real: &Event, predicted: Option<&Event>, lines: &[u32]) -> Parts {
    let place = |event: &Event| (event.kind, event.line);
    let following = lines.iter().copied().find(|&line| line > before.line);
    let copied_line = following.is_some_and(|line| (EventKind::Line, line) == place(real));
    let line = predicted.is_some_and(|event| place(event) == place(real));
    let held = |event: &Event, name: &str, value: &str| {
        let found = event.locals.iter().find(|(held, _)| held == name);
        found.is_some_and(|(_, other)| same_text(value, other))
    };
    let all = |event: &Event| {
        event.locals.len() == real.locals.len()
            && real
                .locals
                .iter()
                .all(|(name, value)| held(event, name, value))
    };
    let changed: Vec<&(String, String)> = real
        .locals
        .iter()
        .filter(|(name, value)| !held(before, name, value))
        .collect();
    let differs = !changed.is_empty() || before.locals.len() > real.locals.len();
    let value = (real.kind == EventKind::Return).then(|| {
        let real = real.value.as_deref().unwrap_or_default();
        let said = predicted
            .filter(|event| event.kind == EventKind::Return)
            .and_then(|event| event.value.as_deref());
        (
            said.is_some_and(|said| same_text(said, real)),
            real == "None",
        )
    });
    Parts {
        line: Some((line, copied_line)),
        locals: Some((predicted.is_some_and(all), all(before))),
        changed: differs.then(|| {
            let right = predicted
                .is_some_and(|event| changed.iter().all(|(name, value)| held(event, name, value)));
            (right, false)
        }),
        value,
    }
}
