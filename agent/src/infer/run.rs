//! One inference from the goal to verified calls.

use std::time::{Duration, Instant};

use ndbg_dataset::random::Random;
use ndbg_simulator::literal;
use ndbg_tools::python::executions::{
    Call, Execution, ExecutionsError, Executor, Goal, Outcome as Ended, Place, Subject,
};

use super::genes::{Genes, Slot, call, order, slots};
use super::goal::{aim, described};
use super::likely::{Seen, probabilities};
use super::pool::Pool;
use super::proposals::{self, Start};
use super::recorded::{self, Names};
use super::search::{Budget, Executes, Proposals, Task, search};
use super::state::State;
use super::value::Value;
use crate::dataset::Runner;
use crate::eval::Predictor;
use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;

/// Times that a found call is run again, each in a new process.
const RUNS: usize = 2;
/// Found calls that are tried before the function counts as one that does not repeat itself.
const TRIED: usize = 8;
/// Different calls that are looked for to explain a state.
const EXPLANATIONS: usize = 40;
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
    /// How likely it is that this was the call, among all that were found; of recorded states.
    pub probability: Option<f64>,
}

/// What is known from a recorded run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Past<'r> {
    /// What calls of the function were given; of a state without its own call.
    pub calls: &'r [Names],
    /// The state to get back from, if that is the goal.
    pub state: Option<&'r State>,
}

/// Calls that explain a recorded state.
#[derive(Debug)]
pub struct Explained {
    /// Different calls that were found; probabilities are those among them.
    pub calls: usize,
    /// Recorded calls of the function, other than the one of the state, and walks of the model that had a say.
    pub recorded: usize,
    /// See there.
    pub walks: usize,
    /// The call that was recorded, where all its arguments were recorded whole.
    pub recorded_call: Option<String>,
    /// Names that are not compared.
    pub left_out: Vec<String>,
}

/// What an inference came to.
#[derive(Debug)]
pub struct Inferred {
    /// The goal in words.
    pub described: String,
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
    /// Of recorded states: what the answers' probabilities come from.
    pub explained: Option<Explained>,
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
    infer_from(settings, predictor, &reality.runner, Past::default())
}

/// Infers inputs, with a recorded run at hand.
///
/// # Errors
/// As [`infer`].
pub fn infer_from(
    settings: &Settings,
    predictor: Option<&dyn Predictor>,
    runner: &Runner,
    past: Past<'_>,
) -> Result<Inferred, Stop> {
    let started = Instant::now();
    let place = Place {
        python: runner.python.clone(),
        plugin: runner.plugin.clone(),
        scratch: runner.scratch.clone(),
        each: EACH,
        memory: runner.memory_limit.unwrap_or(1 << 30),
        patience: std::time::Duration::from_secs(20),
        cancel: runner.cancel.clone(),
    };
    let mut executor = Executor::start(&place, &settings.subject, &settings.goal)?;
    let description = executor.description().clone();
    let slots = slots(&description);
    let aim = aim(&settings.goal);
    let function = &settings.subject.function;
    let state = past.state;
    let recorded = recorded::written(past.calls, &slots, &description.classes);
    let mut pool = pool(&settings.goal, state, &description.literals);
    for value in recorded.iter().flatten().flatten() {
        pool.add_with_kin(value);
    }
    let held = state.map_or_else(Vec::new, |state| {
        let mut random = Random::of(settings.seed, 1);
        let known = state.names.values(&slots, &description.classes);
        recorded::completed(&known, &slots, &recorded, &pool, &mut random)
    });
    let given = if settings.sources.search {
        vec![
            ("the state itself", held),
            ("recorded calls", recorded.clone()),
        ]
    } else {
        Vec::new()
    };
    let task = Task {
        description: &description,
        slots: &slots,
        aim: &aim,
        pool,
        given: &given,
        varies: settings.sources.search,
        answers: if state.is_some() { EXPLANATIONS } else { 1 },
        seed: settings.seed,
    };
    let source = std::fs::read_to_string(&settings.subject.file).unwrap_or_default();
    let from = match (&settings.goal, state) {
        (Goal::Returns(output), _) => Some(Start::Output(output)),
        (_, Some(state)) => state.line.map(|line| Start::Line(line, &state.held)),
        _ => None,
    };
    let mut walks = Seen::default();
    let mut model = |round: usize| -> Vec<Genes> {
        let (Some(predictor), Some(from), true) = (predictor, from, settings.sources.model) else {
            return Vec::new();
        };
        let walked = proposals::round(
            &source,
            function,
            from,
            &slots,
            predictor,
            settings.seed,
            round,
        );
        for genes in &walked {
            walks.count(genes);
        }
        walked
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
        described: state.map_or_else(
            || described(&settings.goal),
            |state| state.described.clone(),
        ),
        found: Vec::new(),
        nearest: None,
        executions: searched.executions,
        seconds: 0.0,
        source: searched.source,
        unsteady: None,
        refused: searched.refused,
        explained: None,
    };
    let mut found: Vec<(Genes, Option<f64>)> = searched
        .found
        .into_iter()
        .map(|genes| (genes, None))
        .collect();
    if let Some(state) = state {
        let mut seen = Seen::default();
        for genes in &recorded {
            seen.count(genes);
        }
        let call_of = |names: &Names| {
            let genes = names.genes(&slots, &description.classes)?;
            Some(written(function, &call(&slots, &genes)))
        };
        inferred.explained = Some(Explained {
            calls: found.len(),
            recorded: seen.calls(),
            walks: walks.calls(),
            recorded_call: state.call.as_ref().and_then(call_of),
            left_out: state.left_out.clone(),
        });
        found = ranked(&slots, found, &[&seen, &walks]);
    }
    for (genes, probability) in found.iter().take(TRIED.max(settings.count)) {
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
                probability: *probability,
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

/// Calls with their probabilities, the likeliest first.
fn ranked(
    slots: &[Slot],
    found: Vec<(Genes, Option<f64>)>,
    sources: &[&Seen],
) -> Vec<(Genes, Option<f64>)> {
    let calls: Vec<Genes> = found.into_iter().map(|(genes, _)| genes).collect();
    let likely = probabilities(slots, &calls, sources);
    let mut ranked: Vec<(Genes, f64)> = calls.into_iter().zip(likely).collect();
    ranked
        .sort_by(|(one, p), (other, q)| q.total_cmp(p).then_with(|| order(one).cmp(&order(other))));
    ranked
        .into_iter()
        .map(|(genes, probability)| (genes, Some(probability)))
        .collect()
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

fn pool(goal: &Goal, state: Option<&State>, literals: &[String]) -> Pool {
    // The first values are tried first: those of the goal, then those of the source.
    let mut pool = Pool::default();
    if let Goal::Returns(text) = goal
        && let Ok(wanted) = literal::parse(text)
    {
        pool.add_wanted(&wanted.into());
    }
    for (_, value) in state.map_or(&[][..], |state| &state.held) {
        pool.add_wanted(&value.clone().into());
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
