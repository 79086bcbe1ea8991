//! Steps over a recording, as pdb takes them, and their reverse. Pure: an event in, an event out.
//!
//! A step stays in its thread; it goes into the tasks of an event loop.

use ndbg_simulator::EventKind;
use ndbg_simulator::recording::{ActivationId, EventId, Leave, Recording, TaskId};

/// Why a step leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nowhere {
    /// This is the last event.
    End,
    /// This is the first event.
    Start,
    /// This is where the call returns.
    AtReturn,
    /// This is the call.
    AtCall,
    /// The recording ends before the call returns.
    NeverReturns,
}

impl std::fmt::Display for Nowhere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::End => "the end of the recording; `rs`, `rn` and `rc` go back",
            Self::Start => "the start of the recording",
            Self::AtReturn => "this call returns here; `n` goes on in its caller",
            Self::AtCall => "this is the call; `rn` goes back to its caller",
            Self::NeverReturns => "the recording ends before this call returns",
        })
    }
}

/// Whether an event belongs to the same line of work: its thread or task, or what runs below the same
/// outermost call, such as the tasks of an event loop that was started there.
struct Strand<'r> {
    run: &'r Recording,
    task: TaskId,
    root: ActivationId,
}

impl<'r> Strand<'r> {
    fn of(run: &'r Recording, at: EventId) -> Self {
        Self {
            run,
            task: run.activation_of(at).task,
            root: root(run, run.event(at).activation),
        }
    }

    fn has(&self, id: EventId) -> bool {
        self.run.activation_of(id).task == self.task
            || root(self.run, self.run.event(id).activation) == self.root
    }
}

fn root(run: &Recording, mut activation: ActivationId) -> ActivationId {
    while let Some(parent) = run.activation(activation).parent {
        activation = parent;
    }
    activation
}

/// The next event, wherever it is.
pub fn step(run: &Recording, at: EventId) -> Result<EventId, Nowhere> {
    let strand = Strand::of(run, at);
    (at.0 + 1..run.len() as u32)
        .map(EventId)
        .find(|&id| strand.has(id))
        .ok_or(Nowhere::End)
}

/// The event before, wherever it was.
pub fn reverse_step(run: &Recording, at: EventId) -> Result<EventId, Nowhere> {
    let strand = Strand::of(run, at);
    (0..at.0)
        .rev()
        .map(EventId)
        .find(|&id| strand.has(id))
        .ok_or(Nowhere::Start)
}

/// The next event of this call, or of the nearest caller that has one: never into a call.
pub fn next(run: &Recording, at: EventId) -> Result<EventId, Nowhere> {
    let mut at = at;
    loop {
        if let Some(id) = run.next_in_activation(at) {
            return Ok(id);
        }
        match run.activation_of(at).parent_event {
            Some(caller) => at = caller,
            // Between the calls of a test there is no caller: on to the next call.
            None => return step(run, run.activation_of(at).last),
        }
    }
}

/// The event before of this call, or the caller's event that called it: never into a call.
pub fn reverse_next(run: &Recording, at: EventId) -> Result<EventId, Nowhere> {
    if let Some(id) = run.previous_in_activation(at) {
        return Ok(id);
    }
    match run.activation_of(at).parent_event {
        Some(caller) => Ok(caller),
        None => reverse_next_root(run, at),
    }
}

/// From a call without a caller to the end of the call before it.
fn reverse_next_root(run: &Recording, at: EventId) -> Result<EventId, Nowhere> {
    let before = reverse_step(run, at)?;
    let mut activation = run.activation_of(before);
    while let Some(parent) = activation.parent {
        activation = run.activation(parent);
    }
    Ok(activation.last)
}

/// Where this call returns.
pub fn finish(run: &Recording, at: EventId) -> Result<EventId, Nowhere> {
    let last = run.activation_of(at).last;
    if run.kind(last) != EventKind::Return {
        return Err(Nowhere::NeverReturns);
    }
    if last == at {
        Err(Nowhere::AtReturn)
    } else {
        Ok(last)
    }
}

/// Back to the call: where its arguments are.
pub fn call(run: &Recording, at: EventId) -> Result<EventId, Nowhere> {
    let first = run.activation_of(at).first;
    if first == at {
        Err(Nowhere::AtCall)
    } else {
        Ok(first)
    }
}

/// The stack at an event, innermost first.
pub fn stack(run: &Recording, at: EventId) -> Vec<EventId> {
    let mut stack = vec![at];
    let mut event = at;
    while let Some(caller) = run.activation_of(event).parent_event {
        stack.push(caller);
        event = caller;
    }
    stack
}

/// Whether an exception that nothing in the recording caught leaves the call here.
pub fn unwinds(run: &Recording, at: EventId) -> bool {
    run.event(at).leave == Some(Leave::Unwind)
}
