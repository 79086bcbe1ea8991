//! Calls that a model proposes: it walks backwards from what was returned.

use std::sync::atomic::{AtomicU64, Ordering};

use ndbg_simulator::grammar::step::{Effect, Operation};
use ndbg_simulator::harness::Program;
use ndbg_simulator::harness::backwards::{Inverse, arguments, arguments_before};
use ndbg_simulator::literal::{self, Literal};
use ndbg_simulator::model::Sampling;

use super::genes::{Genes, Slot};
use crate::eval::Predictor;

/// Walks of one round.
const WALKS: u64 = 4;
/// Rounds; what a model does not say in so many walks it hardly says at all.
const ROUNDS: usize = 5;

/// Asks a predictor backwards.
struct Asking<'p> {
    predictor: &'p dyn Predictor,
    sampling: Sampling,
    asked: AtomicU64,
}

impl Inverse for Asking<'_> {
    fn invert(&self, operation: &Operation, effect: &Effect, hole: usize) -> Option<String> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let sampling = match self.sampling {
            Sampling::Greedy => Sampling::Greedy,
            // Another draw for each question, and the same ones for the same walk.
            Sampling::Random {
                temperature,
                top_p,
                seed,
                samples,
            } => Sampling::Random {
                temperature,
                top_p,
                seed: seed.wrapping_mul(1009).wrapping_add(number),
                samples,
            },
        };
        self.predictor
            .invert(operation, effect, hole, sampling)?
            .into_iter()
            .next()
    }
}

/// Where walks backwards start.
#[derive(Debug, Clone, Copy)]
pub enum Start<'a> {
    /// From the return of a value.
    Output(&'a str),
    /// From before a line, with local variables that hold these values.
    Line(u32, &'a [(String, Literal)]),
}

/// Texts of the arguments with which a function may have come there, in the order of its parameters.
pub fn walked(
    source: &str,
    function: &str,
    from: Start<'_>,
    predictor: &dyn Predictor,
    sampling: Sampling,
) -> Option<Vec<String>> {
    let program = Program::parse(source, &format!("{function}()")).ok()?;
    let asking = Asking {
        predictor,
        sampling,
        asked: AtomicU64::new(0),
    };
    match from {
        Start::Output(output) => arguments(&program, function, output, &asking),
        Start::Line(line, held) => arguments_before(&program, function, line, held, &asking),
    }
}

/// The model's calls of a round: the likeliest walk and then sampled ones. A call that several walks lead to
/// is there as often.
pub fn round(
    source: &str,
    function: &str,
    from: Start<'_>,
    slots: &[Slot],
    predictor: &dyn Predictor,
    seed: u64,
    round: usize,
) -> Vec<Genes> {
    if !predictor.runs_backwards() || round >= ROUNDS {
        return Vec::new();
    }
    let sampled = (0..WALKS).map(|number| Sampling::Random {
        temperature: 0.6,
        top_p: 0.95,
        seed: seed.wrapping_add(round as u64 * WALKS + number),
        samples: 1,
    });
    let greedy = (round == 0).then_some(Sampling::Greedy);
    let mut made: Vec<Genes> = Vec::new();
    for sampling in greedy.into_iter().chain(sampled) {
        let Some(texts) = walked(source, function, from, predictor, sampling) else {
            break;
        };
        let genes: Genes = texts
            .iter()
            .map(|text| literal::parse(text).ok().map(Into::into))
            .collect();
        if genes.len() == slots.len() && genes.iter().all(Option::is_some) {
            made.push(genes);
        }
    }
    made
}
