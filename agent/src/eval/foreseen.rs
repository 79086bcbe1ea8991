//! Answers of a predictor that are asked once, and many at a time where it is known what will be asked.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use ndbg_simulator::Unavailable;
use ndbg_simulator::grammar::step::Operation;
use ndbg_simulator::harness::{Answer, Operations};
use ndbg_simulator::model::Sampling;
use ndbg_tools::Cancel;

use super::predictor::Predictor;
use crate::fix::stop::Stop;

/// Operations that are asked at once.
const AT_ONCE: usize = 64;

/// A predictor with what it said.
pub struct Foreseen<'p> {
    predictor: &'p dyn Predictor,
    sampling: Sampling,
    known: Mutex<HashMap<Operation, Result<Answer, Unavailable>>>,
}

impl<'p> Foreseen<'p> {
    /// Nothing is asked yet.
    pub fn new(predictor: &'p dyn Predictor, sampling: Sampling) -> Self {
        Self {
            predictor,
            sampling,
            known: Mutex::new(HashMap::new()),
        }
    }

    /// Asks for operations in batches. `progress` is told how many are answered, of how many.
    ///
    /// # Errors
    /// Only an interruption.
    pub fn ask<'o>(
        &self,
        operations: impl IntoIterator<Item = &'o Operation>,
        cancel: &Cancel,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(), Stop> {
        let distinct: HashSet<&Operation> = operations.into_iter().collect();
        let mut distinct: Vec<Operation> = distinct.into_iter().cloned().collect();
        // Of one length, so that no short question waits for a long one; and in a fixed order.
        let length = |o: &Operation| o.operands.iter().map(String::len).sum::<usize>();
        distinct.sort_by(|a, b| {
            let (one, other) = (&a.expression, &b.expression);
            (length(a), one, &a.operands).cmp(&(length(b), other, &b.operands))
        });
        let of = distinct.len();
        for (batch, operations) in distinct.chunks(AT_ONCE).enumerate() {
            if cancel.is_set() {
                return Err(Stop::interrupted());
            }
            let answers = self.predictor.answers(operations, self.sampling);
            if let Ok(mut known) = self.known.lock() {
                known.extend(operations.iter().cloned().zip(answers));
            }
            progress((batch * AT_ONCE + operations.len()).min(of), of);
        }
        Ok(())
    }
}

impl Operations for Foreseen<'_> {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        if let Ok(known) = self.known.lock()
            && let Some(answer) = known.get(operation)
        {
            return answer.clone();
        }
        let answer = self
            .predictor
            .answers(std::slice::from_ref(operation), self.sampling)
            .pop()
            .unwrap_or(Err(Unavailable::Off));
        if let Ok(mut known) = self.known.lock() {
            known.insert(operation.clone(), answer.clone());
        }
        answer
    }
}
