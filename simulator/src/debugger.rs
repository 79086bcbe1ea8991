//! The seam between whoever debugs and whatever knows or predicts the states.

use crate::simulator::{Provenance, Unavailable};
use crate::state::{Action, State};
use crate::trajectory::Direction;
use crate::transition::Exit;

/// A debugger over one scope of one program.
///
/// It answers from a *position* rather than from a state, because a state says neither how deep one
/// is nor how one came there. A position is a value: it may be kept, cloned and stepped from again,
/// so that callers can branch, search and go back, and the same question has the same answer.
pub trait Debugger {
    /// A place in a run: a node for a recording, the tokens so far for a model.
    type Position: Clone;

    /// Short name for events and reports.
    fn name(&self) -> &str;

    /// Where a direction begins.
    fn entry(&self, direction: Direction) -> Result<Stopped<Self::Position>, Unavailable>;

    /// What `action` leads to from `position`.
    fn step(
        &self,
        position: &Self::Position,
        action: &Action,
    ) -> Result<Arrival<Self::Position>, Unavailable>;
}

/// What an action leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrival<P> {
    /// A state.
    Stopped(Stopped<P>),
    /// Out of the scope.
    Exited {
        /// Where.
        exit: Exit,
        /// How that is known.
        trust: Trust,
    },
    /// Beyond what was recorded. A model never says so.
    RecordingEnds,
}

/// A state that was reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Stopped<P> {
    /// To go on from.
    pub position: P,
    /// The state, with all locals that are known.
    pub state: State,
    /// Whether the line is the one that called, met backwards before its callees.
    pub calling: bool,
    /// How the state is known.
    pub trust: Trust,
}

/// Where an answer comes from and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trust {
    /// Source.
    pub provenance: Provenance,
    /// Probability that it is right, 0 to 1.
    pub confidence: f64,
}

impl Trust {
    /// Seen in a real run.
    pub const RECORDED: Self = Self {
        provenance: Provenance::Recorded,
        confidence: 1.0,
    };
}

/// One person's walk: a debugger, where it stands, and where it was.
#[derive(Debug, Clone)]
pub struct Session<'d, D: Debugger> {
    debugger: &'d D,
    /// From the entry on, without where it stands.
    path: Vec<Stopped<D::Position>>,
    now: Stopped<D::Position>,
}

impl<'d, D: Debugger> Session<'d, D> {
    /// A walk that begins at the entry of a direction.
    pub fn start(debugger: &'d D, direction: Direction) -> Result<Self, Unavailable> {
        Ok(Self {
            debugger,
            path: Vec::new(),
            now: debugger.entry(direction)?,
        })
    }

    /// Where it stands.
    pub fn now(&self) -> &Stopped<D::Position> {
        &self.now
    }

    /// Does an action. Stays where it is unless that leads to a state.
    pub fn act(&mut self, action: &Action) -> Result<Arrival<D::Position>, Unavailable> {
        let arrival = self.debugger.step(&self.now.position, action)?;
        if let Arrival::Stopped(stopped) = &arrival {
            let before = std::mem::replace(&mut self.now, stopped.clone());
            self.path.push(before);
        }
        Ok(arrival)
    }

    /// Goes back to where it was before the last action that led to a state; false at the entry.
    pub fn undo(&mut self) -> bool {
        match self.path.pop() {
            Some(before) => {
                self.now = before;
                true
            }
            None => false,
        }
    }
}
