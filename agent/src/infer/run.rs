//! One inference from the goal to verified calls.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use ndbg_dataset::random::Random;
use ndbg_tools::python::executions::{
    Call, Description, Execution, ExecutionsError, Goal, Outcome as Ended, Place, Subject,
};

use super::genes::{Genes, Slot, call, order, slots};
use super::goal::{aim, described, wanted};
use super::imports::Names as ModuleNames;
use super::likely::{Seen, probabilities};
use super::material;
use super::missing::explained;
use super::process::Process;
use super::proposals::{self, Start};
use super::recorded::{self, Names};
use super::search::{Budget, Executes as _, Limit, Proposals, Task, search};
use super::spell::{bounded, written};
use super::state::State;
use super::types::Known;
use super::verify::{Checking, RUNS, RUNS_OF_UNSTEADY, Unsteady};
use crate::dataset::Runner;
use crate::eval::Predictor;
use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;

/// Different calls that are looked for to explain a state.
const EXPLANATIONS: usize = 40;
/// Seconds that one call may take while searching, if nothing else is said.
pub const CALL_SECONDS: f64 = 0.05;
/// What a verification may take beside its imports and calls.
const PATIENCE: Duration = Duration::from_secs(5);
/// Searches; all but the first one with what depends on earlier calls left out.
const ROUNDS: usize = 3;

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
    /// Seconds that one call may take.
    pub call_seconds: f64,
}

/// A call that does what it is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// As Python reads it.
    pub call: String,
    /// Its parts.
    pub parts: Call,
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
    /// A call that did not do in new processes what it did while searching.
    pub unsteady: Option<Unsteady>,
    /// What was refused to calls.
    pub refused: Vec<String>,
    /// What ended the search, where that was a limit.
    pub limit: Option<Limit>,
    /// What is known of the function.
    pub description: Description,
    /// Of recorded states: what the answers' probabilities come from.
    pub explained: Option<Explained>,
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
    let end = started + Duration::from_secs_f64(settings.seconds);
    let place = Place {
        python: runner.python.clone(),
        plugin: runner.plugin.clone(),
        scratch: runner.scratch.clone(),
        each: Duration::from_secs_f64(settings.call_seconds.min(settings.seconds)),
        memory: runner.memory_limit.unwrap_or(1 << 30),
        patience: Duration::from_secs_f64(settings.seconds.clamp(2.0, 20.0)),
        cancel: runner.cancel.clone(),
    };
    let source = std::fs::read_to_string(&settings.subject.file).unwrap_or_default();
    let (mut process, description) = Process::start(place, &settings.subject, &settings.goal, end)
        .map_err(|stop| explained(stop, &settings.subject, &source))?;
    let patience = started.elapsed() * 6 + Duration::from_secs_f64(8.0 * settings.call_seconds);
    let names = ModuleNames::of(&source);
    let known = Known {
        classes: &description.classes,
        names: &names,
    };
    let slots = slots(&description, known);
    let aim = aim(&settings.goal);
    let function = &settings.subject.function;
    let state = past.state;
    let recorded = recorded::written(past.calls, &slots, &description.classes);
    let wanted = wanted(&settings.goal);
    let held = state.map_or(&[][..], |state| &state.held);
    let mut pool = material::pool(
        &settings.goal,
        wanted.iter().chain(held.iter().map(|(_, value)| value)),
        &description.literals,
        &source,
        &mut Random::of(settings.seed, 2),
    );
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
    let mut task = Task {
        description: &description,
        slots: &slots,
        known,
        aim: &aim,
        pool,
        given: &given,
        varies: settings.sources.search,
        answers: if state.is_some() { EXPLANATIONS } else { 1 },
        shown: settings.count,
        confirms: false,
        seed: settings.seed,
    };
    let output = wanted.as_ref().map(ToString::to_string);
    let from = match (&output, state) {
        (Some(output), _) => Some(Start::Output(output)),
        (_, Some(state)) => state.line.map(|line| Start::Line(line, &state.held)),
        _ => None,
    };
    let walks = RefCell::new(Seen::default());
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
            walks.borrow_mut().count(genes);
        }
        walked
    };
    let mut proposals: Vec<(&'static str, &mut Proposals<'_>)> = vec![("model", &mut model)];
    let mut left = settings.executions;
    let mut checking = Checking {
        call_of: &|genes| call(&slots, genes),
        text_of: &|call, outcome| {
            bounded(&description, written(&description, function, call), outcome)
        },
        runs: if description.unsteady_names.is_empty() {
            RUNS
        } else {
            RUNS_OF_UNSTEADY
        },
        end,
        patience: patience + PATIENCE,
        unsteady: None,
    };
    let mut inferred = Inferred {
        described: state.map_or_else(
            || described(&settings.goal),
            |state| state.described.clone(),
        ),
        found: Vec::new(),
        nearest: None,
        executions: 0,
        seconds: 0.0,
        source: None,
        unsteady: None,
        refused: Vec::new(),
        limit: None,
        description: description.clone(),
        explained: None,
    };
    let mut nearest = None;
    let mut counted = 0;
    for round in 0..ROUNDS {
        let budget = Budget {
            executions: left,
            end,
        };
        let searched = search(&task, &mut process, &mut proposals, budget, &runner.cancel)?;
        left = left.saturating_sub(searched.executions);
        inferred.executions += searched.executions;
        inferred.limit = searched.limit;
        inferred.refused = searched.refused;
        inferred.source = searched.source;
        nearest = nearest.or(searched.nearest);
        counted = searched.found.len();
        let mut found: Vec<(Genes, Option<f64>)> = searched
            .found
            .into_iter()
            .map(|genes| (genes, None))
            .collect();
        if state.is_some() {
            let mut seen = Seen::default();
            for genes in &recorded {
                seen.count(genes);
            }
            found = ranked(&slots, found, &[&seen, &walks.borrow()]);
        }
        inferred.found = checking.checked(&mut process, &found, settings.count)?;
        let is_late = left == 0 || Instant::now() >= end;
        if !inferred.found.is_empty() || !checking.depends_on_others() || is_late {
            break;
        }
        // From now on nothing counts that does it only after other calls.
        process.reload()?;
        proposals.clear();
        task.confirms = true;
        task.seed = settings.seed.wrapping_add(1 + round as u64);
    }
    inferred.unsteady = checking.unsteady;
    drop(proposals);
    if let Some(state) = state {
        let call_of = |names: &Names| {
            let genes = names.genes(&slots, &description.classes)?;
            Some(written(&description, function, &call(&slots, &genes)))
        };
        inferred.explained = Some(Explained {
            calls: counted,
            recorded: recorded.len(),
            walks: walks.borrow().calls(),
            recorded_call: state.call.as_ref().and_then(call_of),
            left_out: state.left_out.clone(),
        });
    }
    if inferred.found.is_empty() {
        inferred.nearest = nearest.map(|(genes, execution)| {
            let call = call(&slots, &genes);
            (written(&description, function, &call), execution)
        });
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
