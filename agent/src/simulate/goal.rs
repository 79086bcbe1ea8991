//! Which of a run's states are asked for: where an action leads from the call.

use ndbg_simulator::EventKind;
use ndbg_simulator::harness::{Event, Run};

/// Where to go from the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Every state on the way.
    All,
    /// So many states further, into calls.
    StepInto(usize),
    /// So many states of the call further, over the calls that it makes.
    StepOver(usize),
    /// To the return of the call.
    StepReturn,
    /// To a line.
    Break(u32),
    /// To the end.
    Continue,
}

/// Numbers of the states that a goal names; none when the run ends before it gets there.
pub fn reached(run: &Run, goal: Goal) -> Vec<usize> {
    let nth = |count: usize, wanted: &dyn Fn(&Event) -> bool| {
        let mut states = (1..run.events.len()).filter(|&at| wanted(&run.events[at]));
        states.nth(count.saturating_sub(1)).into_iter().collect()
    };
    match goal {
        Goal::All => (0..run.events.len()).collect(),
        Goal::StepInto(count) => nth(count, &|_| true),
        Goal::StepOver(count) => nth(count, &|event| event.activation == 0),
        Goal::StepReturn => nth(1, &|event| {
            event.kind == EventKind::Return && event.activation == 0
        }),
        Goal::Break(line) => nth(1, &|event| {
            event.kind == EventKind::Line && event.line == line
        }),
        Goal::Continue => Vec::new(),
    }
}
