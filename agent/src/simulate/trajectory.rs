//! What a model of whole trajectories predicts: one action at a time, from the call on.

use std::fmt::Write as _;

use ndbg_simulator::backend::trajectory::{Start, TrajectoryModel};
use ndbg_simulator::harness::Program;
use ndbg_simulator::model::LanguageModel;
use ndbg_simulator::{
    Action, Arrival, Debugger, Direction, EventKind, State, Stopped, Unavailable,
};

use super::goal::Goal;
use super::show::{confidence, short};

/// Columns of a line.
const WIDTH: usize = 79;

/// Predicted states in order, and the last line: how it ended.
#[derive(Debug)]
pub struct Walked {
    /// States with the joint probability of all on the way, 0 to 1.
    pub states: Vec<(State, f64)>,
    /// How the run ends, or why no more is known.
    pub ended: String,
    /// Whether the goal was reached.
    pub reached: bool,
}

/// Walks from the call of a function with `arguments` as Python text. Answers less probable than
/// `threshold` end it.
pub fn walk<M: LanguageModel>(
    model: M,
    program: &Program,
    function: &str,
    arguments: &str,
    goal: Goal,
    threshold: f64,
    most: usize,
) -> Result<Walked, Unavailable> {
    let start = Start::main(program.source(), function, arguments);
    let model = TrajectoryModel::new(model, Some(start), None)?;
    let mut at = model.entry(Direction::Forward)?;
    let mut sure = 1.0;
    // From `main`'s call over its line to the call that was asked about.
    for _ in 0..2 {
        match model.step(&at.position, &Action::StepInto)? {
            Arrival::Stopped(next) => {
                sure *= next.trust.confidence;
                at = next;
            }
            _ => return Err(Unavailable::Unknown("the model sees no call".into())),
        }
    }
    let (action, count) = match goal {
        Goal::All => (Action::StepInto, usize::MAX),
        Goal::StepInto(count) => (Action::StepInto, count),
        Goal::StepOver(count) => (Action::StepOver, count),
        Goal::StepReturn => (Action::StepReturn, 1),
        Goal::Break(line) => (Action::Breakpoint(program.line_text(line).to_owned()), 1),
        Goal::Continue => (Action::Continue, 1),
    };
    let mut walked = Walked {
        states: vec![(at.state.clone(), sure)],
        ended: String::new(),
        reached: false,
    };
    for _ in 0..count.min(most) {
        match model.step(&at.position, &action) {
            Ok(Arrival::Stopped(next)) if next.trust.confidence < threshold => {
                walked.ended = format!(
                    "unknown from here: not sure enough: {:.2}",
                    next.trust.confidence
                );
                return Ok(walked);
            }
            Ok(Arrival::Stopped(next)) => at = arrived(next, &mut sure, &mut walked),
            Ok(Arrival::Exited { exit, trust }) => {
                sure *= trust.confidence;
                walked.ended = format!(
                    "ends: {} ({})",
                    format!("{exit:?}").to_lowercase(),
                    confidence(sure.ln())
                );
                walked.reached = matches!(goal, Goal::All | Goal::Continue);
                return Ok(walked);
            }
            Ok(Arrival::RecordingEnds) => break,
            Err(Unavailable::Unknown(why)) => {
                walked.ended = format!("unknown from here: {why}");
                return Ok(walked);
            }
            Err(other) => return Err(other),
        }
    }
    walked.reached = count != usize::MAX;
    if !walked.reached {
        walked.ended = "stopped at the limit of states".into();
    }
    Ok(walked)
}

fn arrived<P>(next: Stopped<P>, sure: &mut f64, walked: &mut Walked) -> Stopped<P> {
    *sure *= next.trust.confidence;
    walked.states.push((next.state.clone(), *sure));
    next
}

/// A state as text: its line, how sure it is, its locals or its value.
pub fn state_text(state: &State, sure: f64) -> String {
    let right = format!("predicted {}", confidence(sure.ln()));
    let kind = match state.event {
        EventKind::Call => "call",
        EventKind::Line => "line",
        EventKind::Return => "return",
        EventKind::Exception => "exception",
    };
    let room = WIDTH - 11 - right.chars().count() - 1;
    let mut out = format!("{kind:<9}  {:<room$} {right}\n", short(&state.source, room));
    for (name, value) in &state.locals {
        let _ = if name.is_empty() {
            writeln!(out, "        -> {}", short(value, 64))
        } else {
            writeln!(out, "        {name} = {}", short(value, 64))
        };
    }
    out
}
