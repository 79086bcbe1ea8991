//! Operations as samples of the grammar `step`: those that programs perform, and drills.

use std::collections::HashSet;
use std::sync::Mutex;

use ndbg_dataset::drill::operation_at;
use ndbg_dataset::random::Random;
use ndbg_dataset::sample::{Harvest, Origin, Sample, Skip, Unit};
use ndbg_simulator::Unavailable;
use ndbg_simulator::grammar::step::{
    Effect, Operation, Vocabulary, encode_answer, encode_effect, encode_inverse, encode_question,
};
use ndbg_simulator::harness::{self, Answer, Limits, Operations};
use ndbg_tools::python::operations::Interpreter;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::programs::{Program, Runner};
use super::trajectories::Drawing;

/// Drills of a unit.
const BATCH: u64 = 20_000;
/// Drills that are sent to the interpreter at once.
const AT_ONCE: usize = 200;
/// Tokens of a sample; longer ones are left out.
const MAX_TOKENS: usize = 256;
/// Samples of one program.
const MAX_SAMPLES: usize = 400;
/// Share of operations that are asked backwards, too.
const INVERSE: f64 = 0.12;

#[derive(Debug, Serialize, Deserialize)]
struct Work {
    seed: u64,
    from: u64,
    count: u64,
}

/// Units of `count` drills.
pub(super) fn units(seed: u64, count: u64) -> Vec<Unit> {
    (0..count)
        .step_by(BATCH as usize)
        .map(|from| Unit {
            key: format!("drills/{seed}/{from:09}"),
            source: "drills".into(),
            work: json!(Work {
                seed,
                from,
                count: BATCH.min(count - from),
            }),
        })
        .collect()
}

fn interpreter(runner: &Runner) -> Result<Interpreter, Skip> {
    Interpreter::start(&runner.python, &runner.plugin, &runner.scratch)
        .map_err(super::build::crashed)
}

/// Drawn operations with their effects.
pub(super) fn drills(unit: &Unit, runner: &Runner, drawing: &Drawing) -> Result<Harvest, Skip> {
    let work: Work = serde_json::from_value(unit.work.clone()).map_err(super::build::crashed)?;
    let interpreter = interpreter(runner)?;
    let mut samples = Samples::new(drawing.seed, work.from, "drill");
    let drawn: Vec<Operation> = (work.from..work.from + work.count)
        .map(|index| operation_at(work.seed, index))
        .collect();
    for operations in drawn.chunks(AT_ONCE) {
        if runner.cancel.is_set() {
            return Err(super::build::crashed("interrupted"));
        }
        let effects = interpreter
            .perform_all(operations)
            .map_err(super::build::crashed)?;
        for (operation, effect) in operations.iter().zip(&effects) {
            samples.add(&unit.key, operation, effect);
        }
    }
    let mut samples = samples.made;
    if let Some(first) = samples.first_mut() {
        // What the split is decided by: drills of one unit stay together.
        let listed: Vec<&str> = drawn
            .iter()
            .take(200)
            .map(|o| o.expression.as_str())
            .collect();
        let expressions = listed.into_iter().filter(|text| !text.contains(" = "));
        first.program = Some(expressions.collect::<Vec<_>>().join("\n") + "\n");
    }
    Ok(samples.into())
}

/// Notes every operation that a harness asks for.
struct Noting<'i> {
    interpreter: &'i Interpreter,
    noted: Mutex<Vec<(Operation, Effect)>>,
}

impl Operations for Noting<'_> {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        let answer = self.interpreter.perform(operation)?;
        if let Ok(mut noted) = self.noted.lock() {
            noted.push((operation.clone(), answer.effect.clone()));
        }
        Ok(answer)
    }
}

/// The operations that programs perform under the harness.
pub(super) fn of_programs(
    programs: &[Program],
    runner: &Runner,
    drawing: &Drawing,
    origin: &Origin,
    level: &'static str,
) -> Result<Harvest, Skip> {
    let interpreter = interpreter(runner)?;
    let mut harvest = Harvest::default();
    for (number, program) in programs.iter().enumerate() {
        if runner.cancel.is_set() {
            return Err(super::build::crashed("interrupted"));
        }
        let call = format!("{}()", program.entry);
        let parsed = match harness::Program::parse(&program.source, &call) {
            Ok(parsed) => parsed,
            Err(error) => {
                harvest
                    .left_out
                    .insert(program.id.clone(), error.to_string());
                continue;
            }
        };
        let noting = Noting {
            interpreter: &interpreter,
            noted: Mutex::new(Vec::new()),
        };
        let limits = Limits {
            events: program.max_events as usize,
            operations: MAX_SAMPLES,
            ..Limits::default()
        };
        harness::run(&parsed, &noting, limits);
        let noted = noting.noted.into_inner().unwrap_or_default();
        let mut samples = Samples::new(drawing.seed, number as u64, level);
        for (operation, effect) in &noted {
            samples.add(&program.id, operation, effect);
        }
        let mut own = samples.made;
        match own.first_mut() {
            Some(first) => {
                first.program = Some(program.source.clone());
                first.origin = Some(origin.clone());
            }
            None => {
                let why = "it asks for no operation".to_owned();
                harvest.left_out.insert(program.id.clone(), why);
            }
        }
        harvest.samples.extend(own);
    }
    Ok(harvest)
}

/// Samples of one program or unit, each once.
struct Samples {
    random: Random,
    level: &'static str,
    seen: HashSet<Vec<u32>>,
    made: Vec<Sample>,
}

impl Samples {
    fn new(seed: u64, number: u64, level: &'static str) -> Self {
        Self {
            random: Random::of(seed ^ 0x5742_91e6, number),
            level,
            seen: HashSet::new(),
            made: Vec::new(),
        }
    }

    fn add(&mut self, id: &str, operation: &Operation, effect: &Effect) {
        let question = encode_question(operation);
        let answer = encode_effect(operation, effect);
        self.push(id, question, &answer);
        if operation.operands.is_empty() || !self.random.chance(INVERSE) {
            return;
        }
        let hole = self.random.below(operation.operands.len());
        if let Some(question) = encode_inverse(operation, effect, hole) {
            self.push(id, question, &encode_answer(&operation.operands[hole]));
        }
    }

    fn push(&mut self, id: &str, question: Vec<u32>, answer: &[u32]) {
        let mut tokens = question;
        if tokens.len() + answer.len() > MAX_TOKENS || !self.seen.insert(tokens.clone()) {
            return;
        }
        tokens.extend_from_slice(answer);
        let id = format!("{id}#{}", self.made.len());
        let vocabulary = Vocabulary::get();
        let data = json!({
            "id": id,
            "level": self.level,
            "text": vocabulary.text(&tokens),
            "tokens": tokens,
            "predicted": answer.len(),
        });
        let action = if vocabulary.word(tokens[0]) == Some("inverse") {
            "inverse"
        } else {
            "step"
        };
        self.made.push(Sample {
            actions: [(action.to_owned(), 1)].into(),
            origin: None,
            program: None,
            data: data.as_object().cloned().unwrap_or_default(),
        });
    }
}
