//! Smaller values that may do as well.

use ndbg_simulator::literal::Literal;
use num_bigint::BigInt;

use super::genes::{Genes, Slot, fits, order};
use super::value::{REBUILT, Row, Value};

/// Calls with one value smaller, the smallest first.
pub fn smaller(slots: &[Slot], genes: &Genes) -> Vec<Genes> {
    let mut made: Vec<Genes> = Vec::new();
    for (at, slot) in slots.iter().enumerate() {
        let Some(value) = &genes[at] else { continue };
        let mut put = |gene: Option<Value>| {
            let mut with = genes.clone();
            with[at] = gene;
            made.push(with);
        };
        if !slot.required {
            put(None);
        }
        for value in smaller_values(value) {
            if fits(slot.way, &value) {
                put(Some(value));
            }
        }
    }
    let limit = order(genes);
    made.retain(|genes| order(genes) < limit);
    made.sort_by_cached_key(order);
    made
}

fn smaller_values(value: &Value) -> Vec<Value> {
    match value {
        Value::Atom(literal) => smaller_atoms(literal),
        Value::Named(_) => Vec::new(),
        Value::Many(row, items) => {
            let whole = |items: Vec<Value>| Value::Many(*row, items);
            let mut made: Vec<Value> = shorter(items).into_iter().map(whole).collect();
            if *row == Row::Tuple {
                made.push(Value::Many(Row::List, items.clone()));
            }
            for (at, item) in items.iter().enumerate() {
                for smaller in smaller_values(item) {
                    let mut items = items.clone();
                    items[at] = smaller;
                    made.push(whole(items));
                }
            }
            made
        }
        Value::Dict(pairs) => {
            let mut made: Vec<Value> = shorter(pairs).into_iter().map(Value::Dict).collect();
            for (at, (key, held)) in pairs.iter().enumerate() {
                for smaller in smaller_values(held) {
                    let mut pairs = pairs.clone();
                    pairs[at].1 = smaller;
                    made.push(Value::Dict(pairs));
                }
                for smaller in smaller_values(key) {
                    if pairs.iter().any(|(other, _)| *other == smaller) {
                        continue;
                    }
                    let mut pairs = pairs.clone();
                    pairs[at].0 = smaller;
                    made.push(Value::Dict(pairs));
                }
            }
            made
        }
        Value::Built(class, arguments) => {
            let mut made = Vec::new();
            for at in 0..arguments.len() {
                // Only what was given by name can be left out without moving what follows. An object that
                // lacks an attribute is none that a program would have made.
                if class != REBUILT && (arguments[at].0.is_some() || at + 1 == arguments.len()) {
                    let mut fewer = arguments.clone();
                    fewer.remove(at);
                    made.push(Value::Built(class.clone(), fewer));
                }
                for smaller in smaller_values(&arguments[at].1) {
                    let mut arguments = arguments.clone();
                    arguments[at].1 = smaller;
                    made.push(Value::Built(class.clone(), arguments));
                }
            }
            made
        }
    }
}

fn smaller_atoms(literal: &Literal) -> Vec<Value> {
    match literal {
        Literal::Int(number) => {
            let zero = BigInt::ZERO;
            if *number == zero {
                return Vec::new();
            }
            let towards = if *number > zero { -1 } else { 1 };
            let digits = number.to_string().trim_start_matches('-').len();
            let round = BigInt::from(10).pow(digits as u32 - 1);
            let mut made = vec![
                zero,
                BigInt::from(1),
                -number,
                round,
                number / 10,
                number / 2,
            ];
            made.push(number + towards);
            made.into_iter().map(Value::int).collect()
        }
        Literal::Float(number) => [
            0.0,
            1.0,
            number.trunc(),
            -number,
            (number * 10.0).round() / 10.0,
        ]
        .into_iter()
        .filter(|smaller| smaller.to_bits() != number.to_bits())
        .map(|number| Literal::Float(number).into())
        .collect(),
        Literal::Str(text) => {
            let letters: Vec<char> = text.chars().collect();
            let mut made: Vec<Value> = shorter(&letters)
                .into_iter()
                .map(|letters| Value::text(letters.into_iter().collect::<String>()))
                .collect();
            for at in 0..letters.len().min(60) {
                if !letters[at].is_ascii_alphanumeric() && letters[at] != ' ' {
                    let mut plain = letters.clone();
                    plain[at] = 'a';
                    made.push(Value::text(plain.into_iter().collect::<String>()));
                }
            }
            made
        }
        Literal::Bytes(bytes) => shorter(bytes)
            .into_iter()
            .map(|bytes| Literal::Bytes(bytes).into())
            .collect(),
        _ => Vec::new(),
    }
}

/// A row without some of its items: all, halves, quarters, each.
fn shorter<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let mut made = Vec::new();
    let mut part = items.len();
    while part > 0 {
        for from in (0..items.len()).step_by(part) {
            let mut fewer = items.to_vec();
            fewer.drain(from..(from + part).min(items.len()));
            made.push(fewer);
        }
        part /= 2;
    }
    made
}

#[cfg(test)]
mod tests {
    use ndbg_simulator::literal::parse;

    use super::super::genes::Way;
    use super::*;

    fn slot(way: Way, required: bool) -> Slot {
        Slot {
            name: "x".into(),
            way,
            required,
            annotation: None,
            default: None,
        }
    }

    #[test]
    fn shrinking_ends_at_the_smallest_value_that_still_has_the_property() {
        let slots = [slot(Way::Either, true)];
        let shrunk = |text: &str, holds: &dyn Fn(&str) -> bool| {
            let mut best: Genes = vec![Some(parse(text).unwrap().into())];
            while let Some(next) = smaller(&slots, &best)
                .into_iter()
                .find(|genes| holds(&genes[0].as_ref().unwrap().to_string()))
            {
                best = next;
            }
            best[0].as_ref().unwrap().to_string()
        };
        assert_eq!(shrunk("'hello wörld'", &|text| text.contains('w')), "'w'");
        assert_eq!(
            shrunk("[1, 77, [3, 'x']]", &|text| text.contains('3')),
            "[[3]]"
        );
        assert_eq!(
            shrunk("{'a': 10, 'b': [2]}", &|text| text.contains('b')),
            "{'b': []}"
        );
        assert_eq!(
            shrunk("-4711", &|text| text
                .parse::<i64>()
                .is_ok_and(|n| n.abs() > 99)),
            "100"
        );
    }

    #[test]
    fn what_is_not_required_is_left_out_first() {
        let genes: Genes = vec![Some(Value::int(5))];
        assert_eq!(smaller(&[slot(Way::Name, false)], &genes)[0], vec![None]);
        assert!(
            smaller(&[slot(Way::Name, true)], &genes)
                .iter()
                .all(|g| g[0].is_some())
        );
    }
}
