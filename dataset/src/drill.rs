//! Drills: single operations on drawn values, in the mix in which Python programs use them.
//!
//! Programs show a model how operations follow each other; drills show it each operation on many
//! values. What an operation does is not known here: an interpreter performs it.

mod table;
mod value;

use ndbg_simulator::grammar::step::Operation;
use ndbg_simulator::literal::Literal;

use crate::random::Random;

/// Operation `index` of `seed`.
pub fn operation_at(seed: u64, index: u64) -> Operation {
    operation(&mut Random::of(seed, index))
}

/// Draws an operation.
pub fn operation(random: &mut Random) -> Operation {
    let total: f64 = table::TABLE.iter().map(|row| row.0).sum();
    let mut left = random.unit() * total;
    let row = table::TABLE
        .iter()
        .find(|row| {
            left -= row.0;
            left < 0.0
        })
        .unwrap_or(&table::TABLE[0]);
    let mut values: Vec<Literal> = Vec::new();
    for kind in row.2 {
        let value = value::value(random, *kind, &values);
        values.push(value);
    }
    let mut operands: Vec<String> = values.iter().map(ToString::to_string).collect();
    for (operand, kind) in operands.iter_mut().zip(row.2) {
        if matches!(kind, table::Kind::Iterator) {
            *operand = format!("iter({operand})");
        }
    }
    Operation {
        expression: row.1.to_owned(),
        operands,
    }
}
