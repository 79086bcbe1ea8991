//! What a value may have been made from, or be needed with.

use ndbg_simulator::literal::Literal;
use num_bigint::BigInt;

use super::pool::{JOINTS, TAKEN_APART};
use super::value::{Row, Value, distinct, without_doubles};

/// The text of a text.
pub fn as_text(value: &Value) -> Option<&str> {
    match value {
        Value::Atom(Literal::Str(text)) => Some(text),
        _ => None,
    }
}

/// A wanted value without a literal of the source, taken apart at it, or put together with it.
pub fn undone(wanted: &Value, literal: &str, made: &mut Vec<Value>) {
    match wanted {
        Value::Atom(Literal::Str(text)) => {
            if text.contains(literal) {
                made.push(Value::text(text.replace(literal, "")));
                made.push(Value::text(text.replace(literal, " ")));
                made.push(Value::text(text.replacen(literal, "", 1)));
                let parts = text.split(literal).map(Value::text).collect();
                made.push(Value::Many(Row::List, parts));
            } else if text.chars().count() < TAKEN_APART {
                made.push(Value::text(format!("{literal}{text}")));
                made.push(Value::text(format!("{text}{literal}")));
            }
        }
        Value::Many(row, items) if !items.is_empty() => {
            let texts: Option<Vec<&str>> = items.iter().map(as_text).collect();
            let Some(texts) = texts else { return };
            made.push(Value::text(texts.join(literal)));
            if texts.iter().any(|text| text.contains(literal)) {
                let without = texts
                    .iter()
                    .map(|text| Value::text(text.replace(literal, "")));
                made.push(Value::Many(*row, without.collect()));
            }
        }
        _ => {}
    }
}

/// What a value may have been made from, or be needed with.
pub fn kin(value: &Value) -> Vec<Value> {
    match value {
        Value::Atom(Literal::Int(number)) => kin_of_number(number),
        Value::Atom(Literal::Bool(yes)) => vec![Literal::Bool(!yes).into()],
        Value::Atom(Literal::Float(number)) => vec![
            Literal::Float(number / 2.0).into(),
            Literal::Float(number + 1.0).into(),
            Value::int(*number as i64),
            Value::text(Literal::Float(*number).to_string()),
        ],
        Value::Atom(Literal::Str(text)) => kin_of_text(text),
        Value::Many(row, items) => kin_of_row(*row, items),
        Value::Dict(pairs) => kin_of_dict(pairs),
        Value::Atom(_) | Value::Named(_) | Value::Built(..) => Vec::new(),
    }
}

fn kin_of_number(number: &BigInt) -> Vec<Value> {
    let one = BigInt::from(1);
    let mut made = vec![
        number - &one,
        number + &one,
        -number,
        number * 2,
        number / 2,
    ];
    if *number < BigInt::from(60) && *number > BigInt::ZERO {
        let length = usize::try_from(number).unwrap_or(0);
        let rest = [
            Value::text("a".repeat(length)),
            Value::Many(Row::List, vec![Value::int(1); length]),
            Value::Many(Row::List, (1..=length as i64).map(Value::int).collect()),
        ];
        made.dedup();
        return made
            .into_iter()
            .map(Value::int)
            .chain([Value::text(number.to_string())])
            .chain(rest)
            .collect();
    }
    made.into_iter()
        .map(Value::int)
        .chain([Value::text(number.to_string())])
        .collect()
}

fn kin_of_text(text: &str) -> Vec<Value> {
    let letters: Vec<char> = text.chars().take(TAKEN_APART).collect();
    let mut made = vec![
        Value::text(letters.iter().rev().collect::<String>()),
        Value::text(text.to_lowercase()),
        Value::text(text.to_uppercase()),
        Value::text(text.trim()),
        Value::text(swapped(text)),
        Value::int(letters.len()),
        Value::Many(
            Row::List,
            letters.iter().map(|l| Value::text(l.to_string())).collect(),
        ),
    ];
    if let Ok(number) = text.parse::<i64>() {
        made.push(Value::int(number));
    }
    for joint in &JOINTS[1..] {
        if text.contains(joint) {
            let parts: Vec<&str> = text.split(joint).collect();
            made.extend(parts.iter().take(8).map(|part| Value::text(*part)));
            made.push(Value::Many(
                Row::List,
                parts.iter().map(|part| Value::text(*part)).collect(),
            ));
            made.push(Value::text(*joint));
            made.push(Value::text(text.replace(joint, "")));
        }
    }
    for letter in &letters {
        made.push(Value::text(letter.to_string()));
    }
    for length in [2, 3, letters.len() / 2, letters.len().saturating_sub(1)] {
        if length > 1 && length < letters.len() {
            made.push(Value::text(letters[..length].iter().collect::<String>()));
            made.push(Value::text(
                letters[letters.len() - length..].iter().collect::<String>(),
            ));
        }
    }
    made
}

/// Upper case for lower case and the other way round.
pub fn swapped(text: &str) -> String {
    text.chars()
        .map(|letter| {
            if letter.is_ascii_lowercase() {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            }
        })
        .collect()
}

fn kin_of_row(row: Row, items: &[Value]) -> Vec<Value> {
    let mut made = vec![
        Value::Many(row, items.iter().rev().cloned().collect()),
        Value::int(items.len()),
    ];
    for other in [Row::List, Row::Tuple] {
        if other != row {
            made.push(Value::Many(other, items.to_vec()));
        }
    }
    if !items.is_empty() {
        // Keys tell nothing where only values are looked at, and the other way round.
        let numbered = items.iter().cloned().zip(0..);
        made.push(Value::Dict(
            numbered.map(|(item, at)| (Value::int(at), item)).collect(),
        ));
    }
    if items.iter().all(Value::is_hashable) {
        made.push(Value::Many(Row::Set, distinct(items)));
        made.push(Value::Dict(
            distinct(items)
                .into_iter()
                .zip(1..)
                .map(|(item, at)| (item, Value::int(at)))
                .collect(),
        ));
    }
    if !items.is_empty() {
        made.push(Value::Many(row, items[1..].to_vec()));
        made.push(Value::Many(row, items[..items.len() - 1].to_vec()));
    }
    let texts: Option<Vec<&str>> = items
        .iter()
        .map(|item| match item {
            Value::Atom(Literal::Str(text)) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    if let Some(texts) = texts {
        made.extend(JOINTS.iter().map(|joint| Value::text(texts.join(joint))));
    }
    let pairs: Option<Vec<(Value, Value)>> = items
        .iter()
        .map(|item| match item {
            Value::Many(Row::Tuple | Row::List, parts) if parts.len() == 2 => {
                Some((parts[0].clone(), parts[1].clone()))
            }
            _ => None,
        })
        .collect();
    if let Some(pairs) = pairs
        && pairs.iter().all(|(key, _)| key.is_hashable())
    {
        made.push(Value::Dict(without_doubles(pairs)));
    }
    let flat: Vec<Value> = items
        .iter()
        .flat_map(|item| match item {
            Value::Many(_, parts) => parts.clone(),
            other => vec![other.clone()],
        })
        .collect();
    made.push(Value::Many(row, flat));
    made
}

fn kin_of_dict(pairs: &[(Value, Value)]) -> Vec<Value> {
    let keys: Vec<Value> = pairs.iter().map(|(key, _)| key.clone()).collect();
    let values: Vec<Value> = pairs.iter().map(|(_, value)| value.clone()).collect();
    let items = pairs
        .iter()
        .map(|(key, value)| Value::Many(Row::Tuple, vec![key.clone(), value.clone()]))
        .collect();
    let mut made = vec![
        Value::Many(Row::List, keys),
        Value::Many(Row::List, values.clone()),
        Value::Many(Row::List, items),
    ];
    if values.iter().all(Value::is_hashable) {
        made.push(Value::Dict(without_doubles(
            pairs
                .iter()
                .map(|(key, value)| (value.clone(), key.clone()))
                .collect(),
        )));
    }
    made
}
