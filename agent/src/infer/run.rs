//! One inference from the goal to verified calls.

use std::time::{Duration, Instant};

use ndbg_simulator::literal;
use ndbg_tools::python::executions::{
    Call, Execution, ExecutionsError, Executor, Goal, Outcome as Ended, Place, Subject,
};

use super::genes::{Genes, call, slots};
use super::goal::aim;
use super::pool::Pool;
use super::proposals;
use super::search::{Budget, Executes, Proposals, Task, search};
use super::value::Value;
use crate::eval::Predictor;
use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;

/// Times that a found call is run again, each in a new process.
const RUNS: usize = 2;
/// Found calls that are tried before the function counts as one that does not repeat itself.
const TRIED: usize = 8;
/// Seconds that one call may take while searching.
const EACH: Duration = Duration::from_millis(50);

/// Who proposes inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources {
    /// Variation and combination of values.
    pub search: bool,
    /// The model's walks backwards.
    pub model: bool,
}

/// What is inferred, and how long.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The function.
    pub subject: Subject,
    /// What is to happen.
    pub goal: Goal,
    /// Who proposes.
    pub sources: Sources,
    /// Time, with the start of the interpreter and without the verification.
    pub seconds: f64,
    /// Executions at most.
    pub executions: usize,
    /// Different inputs at most.
    pub count: usize,
    /// Every draw follows from it.
    pub seed: u64,
}

/// A call that does what it is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// As Python reads it.
    pub call: String,
    /// What became of it, each time.
    pub outcome: Ended,
    /// What became of it in the other version.
    pub other: Option<Ended>,
    /// Runs in new processes that agreed.
    pub runs: usize,
}

/// What an inference came to.
#[derive(Debug)]
pub struct Inferred {
    /// Verified calls, the smallest first.
    pub found: Vec<Found>,
    /// The call that came nearest, and what became of it.
    pub nearest: Option<(String, Execution)>,
    /// Executions while searching.
    pub executions: usize,
    /// Seconds, start of the interpreter included.
    pub seconds: f64,
    /// Who proposed the first call that did it, or what it was varied from.
    pub source: Option<&'static str>,
    /// A call whose runs did not agree.
    pub unsteady: Option<(String, Vec<Ended>)>,
    /// What was refused to calls.
    pub refused: Vec<String>,
}

struct Running<'e>(&'e mut Executor);

impl Executes for Running<'_> {
    fn run(&mut self, calls: &[Call]) -> Result<Vec<Execution>, Stop> {
        self.0.run(calls).map_err(Stop::from)
    }
}

impl From<ExecutionsError> for Stop {
    fn from(error: ExecutionsError) -> Self {
        if error.is_cancelled() {
            return Self::interrupted();
        }
        let outcome = if error.is_usage() {
            Outcome::Usage
        } else {
            Outcome::Environment
        };
        let hint = error.hint().unwrap_or_default();
        Self::new(outcome, error.to_string()).hint(hint)
    }
}

/// Infers inputs.
///
/// # Errors
/// No such function or line, a module that cannot be imported, no interpreter, or an interruption.
pub fn infer(
    settings: &Settings,
    predictor: Option<&dyn Predictor>,
    reality: &Reality,
) -> Result<Inferred, Stop> {
    let started = Instant::now();
    let runner = &reality.runner;
    let place = Place {
        python: runner.python.clone(),
        plugin: runner.plugin.clone(),
        scratch: runner.scratch.clone(),
        each: EACH,
        memory: runner.memory_limit.unwrap_or(1 << 30),
        cancel: runner.cancel.clone(),
    };
    let mut executor = Executor::start(&place, &settings.subject, &settings.goal)?;
    let description = executor.description().clone();
    let slots = slots(&description);
    let aim = aim(&settings.goal);
    let task = Task {
        description: &description,
        slots: &slots,
        aim: &aim,
        pool: pool(&settings.goal, &description.literals),
        varies: settings.sources.search,
        seed: settings.seed,
    };
    let source = std::fs::read_to_string(&settings.subject.file).unwrap_or_default();
    let mut model = |round: usize| -> Vec<Genes> {
        match (predictor, &settings.goal) {
            (Some(predictor), Goal::Returns(output)) if settings.sources.model => proposals::round(
                &source,
                &settings.subject.function,
                output,
                &slots,
                predictor,
                settings.seed,
                round,
            ),
            _ => Vec::new(),
        }
    };
    let mut proposals: [(&'static str, &mut Proposals<'_>); 1] = [("model", &mut model)];
    let budget = Budget {
        executions: settings.executions,
        end: started + Duration::from_secs_f64(settings.seconds),
    };
    let cancel = &runner.cancel;
    let searched = search(
        &task,
        &mut Running(&mut executor),
        &mut proposals,
        budget,
        cancel,
    )?;
    let mut inferred = Inferred {
        found: Vec::new(),
        nearest: None,
        executions: searched.executions,
        seconds: 0.0,
        source: searched.source,
        unsteady: None,
        refused: searched.refused,
    };
    let function = &settings.subject.function;
    for genes in searched.found.iter().take(TRIED.max(settings.count)) {
        if inferred.found.len() >= settings.count {
            break;
        }
        let call = call(&slots, genes);
        let text = written(function, &call);
        let runs = executor.verify(&call, RUNS)?;
        let same = |run: &Execution| run.reached && same_end(&run.outcome, &runs[0].outcome);
        if !runs.is_empty() && runs.iter().all(same) {
            let first = runs.into_iter().next();
            inferred.found.extend(first.map(|run| Found {
                call: text,
                outcome: run.outcome,
                other: run.other,
                runs: RUNS,
            }));
        } else if inferred.unsteady.is_none() {
            inferred.unsteady = Some((text, runs.into_iter().map(|run| run.outcome).collect()));
        }
    }
    if inferred.found.is_empty() {
        inferred.nearest = searched
            .nearest
            .map(|(genes, execution)| (written(function, &call(&slots, &genes)), execution));
    }
    inferred.seconds = started.elapsed().as_secs_f64();
    Ok(inferred)
}

/// Whether two runs ended alike; lines and texts of exceptions may hold addresses.
fn same_end(one: &Ended, other: &Ended) -> bool {
    match (one, other) {
        (Ended::Raised { class, .. }, Ended::Raised { class: second, .. }) => class == second,
        _ => one == other,
    }
}

/// The call as a person writes it.
fn written(function: &str, call: &Call) -> String {
    match &call.receiver {
        Some(receiver) => {
            let method = function.rsplit('.').next().unwrap_or(function);
            format!("{receiver}.{method}({})", call.arguments)
        }
        None => format!("{function}({})", call.arguments),
    }
}

fn pool(goal: &Goal, literals: &[String]) -> Pool {
    // The first values are tried first: those of the goal, then those of the source.
    let mut pool = Pool::default();
    if let Goal::Returns(text) = goal
        && let Ok(wanted) = literal::parse(text)
    {
        pool.add_wanted(&wanted.into());
    }
    let held: Vec<Value> = literals
        .iter()
        .filter_map(|text| Some(literal::parse(text).ok()?.into()))
        .collect();
    pool.add_undone(&held);
    for value in &held {
        pool.add_with_kin(value);
    }
    pool.fill();
    pool
}
