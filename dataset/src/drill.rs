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
        if matches!(kind, table::Kind::Type) {
            *operand = value::type_names(random);
        }
    }
    Operation {
        expression: row.1.to_owned(),
        operands,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const DRAWN: u64 = 20_000;

    fn drawn() -> impl Iterator<Item = Operation> {
        (0..DRAWN).map(|index| operation_at(5, index))
    }

    fn share(chosen: impl Fn(&Operation) -> bool, holds: impl Fn(&Operation) -> bool) -> f64 {
        let all: Vec<Operation> = drawn().filter(chosen).collect();
        assert!(all.len() > 40, "{}", all.len());
        all.iter().filter(|operation| holds(operation)).count() as f64 / all.len() as f64
    }

    #[test]
    fn each_row_of_the_table_is_drawn_with_as_many_operands_as_it_has_slots() {
        let mut drilled = HashSet::new();
        for operation in drawn() {
            for slot in 0..operation.operands.len() {
                assert!(
                    operation.expression.contains(&format!("v{slot}")),
                    "{operation:?}"
                );
            }
            let next = format!("v{}", operation.operands.len());
            assert!(!operation.expression.contains(&next), "{operation:?}");
            drilled.insert(operation.expression);
        }
        let rows: HashSet<&str> = table::TABLE.iter().map(|row| row.1).collect();
        let missing: Vec<&&str> = rows.iter().filter(|row| !drilled.contains(**row)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn comparisons_are_between_equal_values_about_as_often_as_between_different_ones() {
        let same = |operation: &Operation| operation.operands[0] == operation.operands[1];
        let equal = share(|operation| operation.expression == "v0 == v1", same);
        assert!((0.35..0.65).contains(&equal), "{equal}");
        let letters = share(
            |operation| {
                operation.expression == "v0 == v1" && operation.operands[0].chars().count() == 3
            },
            same,
        );
        assert!((0.35..0.65).contains(&letters), "{letters}");
    }

    #[test]
    fn types_are_given_as_the_harness_gives_them() {
        let named = share(
            |operation| operation.expression == "isinstance(v0, v1)",
            |operation| ndbg_simulator::literal::parse(&operation.operands[1]).is_err(),
        );
        assert!((named - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn long_values_and_repeated_items_occur() {
        let long = share(
            |operation| operation.expression == "len(v0)",
            |operation| operation.operands[0].len() > 40,
        );
        assert!((0.03..0.3).contains(&long), "{long}");
    }
}
