//! One statement predicted from the true state before it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use ndbg_simulator::Unavailable;
use ndbg_simulator::eval::Statement;
use ndbg_simulator::grammar::step::{Effect, Operation};
use ndbg_simulator::harness::{self, Answer, Event, Limits, Operations};

use super::truth::{Truth, limits};

/// States that a statement may run past where it truly ends, for functions that it calls.
const SLACK: usize = 200;
/// Operations that it may ask for beyond those that it truly asks.
const FURTHER: usize = 2;

/// Answers truly but for one statement.
struct But<'t, O> {
    truth: &'t Truth,
    known: HashMap<&'t Operation, &'t Effect>,
    own: HashSet<&'t Operation>,
    first: usize,
    asked: AtomicUsize,
    predicted: AtomicUsize,
    predictor: &'t O,
}

impl<O: Operations> Operations for But<'_, O> {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let truly = |effect: &Effect| {
            Ok(Answer {
                effect: effect.clone(),
                log_probability: 0.0,
            })
        };
        if number < self.first {
            return match self.truth.asked.get(number) {
                Some((_, effect)) => truly(effect),
                None => Err(Unavailable::Off),
            };
        }
        match self.known.get(operation) {
            Some(effect) if !self.own.contains(operation) => truly(effect),
            // The run goes on behind the statement, which is nobody's concern here.
            _ if self.predicted.fetch_add(1, Ordering::Relaxed) > self.own.len() + FURTHER => {
                Err(Unavailable::Off)
            }
            _ => self.predictor.perform(operation),
        }
    }
}

/// The next state of the same activation if `predictor` performs the operations of a statement and
/// all else is true; none if nobody knows.
pub fn next_state<O: Operations + Sync>(
    truth: &Truth,
    statement: &Statement,
    predictor: &O,
) -> Option<Event> {
    let &first = statement.operations.first()?;
    let but = But {
        truth,
        known: truth
            .asked
            .iter()
            .map(|(operation, effect)| (operation, effect))
            .collect(),
        own: statement
            .operations
            .iter()
            .map(|&at| &truth.asked[at].0)
            .collect(),
        first,
        asked: AtomicUsize::new(0),
        predicted: AtomicUsize::new(0),
        predictor,
    };
    let before = &truth.run.events[statement.event];
    let limits = Limits {
        events: statement.next? + 1 + SLACK,
        ..limits()
    };
    let run = harness::run(&truth.program, &but, limits);
    let mut after = run.events.into_iter().skip(statement.event + 1);
    after.find(|event| event.activation == before.activation)
}
