//! Operations undone by rule, where one answer is as good as any other.

use num_bigint::BigInt;

use crate::literal::Literal;

/// What a slot must have held.
#[derive(Debug, Clone, PartialEq)]
pub enum Inverted {
    /// This, or one of several that are as good.
    Value(Literal),
    /// Nothing that it may hold leads there.
    Nothing,
    /// No rule says.
    Unknown,
}

use Inverted::{Nothing, Unknown, Value};

/// What slot `hole` of an operation must have held for its value to be `needed`, the others being as they
/// are in `operands`; `was` is what it did hold.
pub fn invert(
    text: &str,
    operands: &[&Literal],
    needed: &Literal,
    hole: usize,
    was: Option<&Literal>,
) -> Inverted {
    if let Some(operator) = text
        .strip_prefix("v0 ")
        .and_then(|rest| rest.strip_suffix(" v1"))
    {
        let Some(other) = operands.get(1 - hole.min(1)) else {
            return Unknown;
        };
        return match operator {
            "<" | "<=" | ">" | ">=" | "==" | "!=" => compared(operator, other, needed, hole, was),
            "in" | "not in" => contained(operator, other, needed, hole, was),
            _ => computed(operator, other, needed, hole),
        };
    }
    match (text, needed) {
        ("v0[v1]", _) if hole == 0 => {
            let Some(was) = was else { return Unknown };
            match replaced(was, operands[1], needed) {
                Some(whole) => Value(whole),
                None => Nothing,
            }
        }
        ("v0[v1]", _) => position(operands[0], needed),
        ("-v0", Literal::Int(value)) => Value(Literal::Int(-value)),
        ("-v0", Literal::Float(value)) => Value(Literal::Float(-value)),
        ("+v0" | "int(v0)" | "abs(v0)", Literal::Int(_))
        | ("+v0" | "float(v0)", Literal::Float(_)) => Value(needed.clone()),
        ("~v0", Literal::Int(value)) => Value(Literal::Int(-value - 1)),
        ("v0.splitlines()", Literal::List(lines)) => joined(lines, "\n"),
        ("v0.split()", Literal::List(words)) => joined(words, " "),
        ("v0.split(v1)", Literal::List(parts)) if hole == 0 => match operands[1] {
            Literal::Str(between) => joined(parts, between),
            _ => Unknown,
        },
        ("v0.join(v1)", Literal::Str(text)) if hole == 1 => match operands[0] {
            Literal::Str(between) if !between.is_empty() => Value(Literal::List(
                text.split(between.as_str())
                    .map(|part| Literal::Str(part.to_owned()))
                    .collect(),
            )),
            _ => Unknown,
        },
        ("round(v0, v1)", Literal::Float(_) | Literal::Int(_)) if hole == 0 => {
            Value(needed.clone())
        }
        ("str(v0)" | "v0.strip()", Literal::Str(_))
        | ("list(v0)" | "sorted(v0)", Literal::List(_))
        | ("tuple(v0)", Literal::Tuple(_))
        | ("bool(v0)", Literal::Bool(_)) => Value(needed.clone()),
        _ => Unknown,
    }
}

/// Strings with a text between them.
fn joined(parts: &[Literal], between: &str) -> Inverted {
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|part| match part {
            Literal::Str(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.map_or(Nothing, |texts| Value(Literal::Str(texts.join(between))))
}

fn computed(operator: &str, other: &Literal, needed: &Literal, hole: usize) -> Inverted {
    match (operator, other, needed) {
        ("+", Literal::Int(other), Literal::Int(needed)) => Value(Literal::Int(needed - other)),
        ("-", Literal::Int(other), Literal::Int(needed)) if hole == 0 => {
            Value(Literal::Int(needed + other))
        }
        ("-", Literal::Int(other), Literal::Int(needed)) => Value(Literal::Int(other - needed)),
        ("*", Literal::Int(other), Literal::Int(needed)) => {
            if *other == BigInt::ZERO || needed % other != BigInt::ZERO {
                Nothing
            } else {
                Value(Literal::Int(needed / other))
            }
        }
        ("//", Literal::Int(other), Literal::Int(needed)) if hole == 0 => {
            Value(Literal::Int(needed * other))
        }
        ("+", Literal::Str(other), Literal::Str(needed)) => {
            let rest = if hole == 0 {
                needed.strip_suffix(other.as_str())
            } else {
                needed.strip_prefix(other.as_str())
            };
            rest.map_or(Nothing, |rest| Value(Literal::Str(rest.to_owned())))
        }
        ("+", Literal::List(other), Literal::List(needed)) => {
            rest(needed, other, hole).map_or(Nothing, |rest| Value(Literal::List(rest)))
        }
        ("+", Literal::Tuple(other), Literal::Tuple(needed)) => {
            rest(needed, other, hole).map_or(Nothing, |rest| Value(Literal::Tuple(rest)))
        }
        _ => match (number(other), number(needed)) {
            (Some(other), Some(needed)) => floats(operator, other, needed, hole),
            _ => Unknown,
        },
    }
}

/// The rest of a sequence without `part` at its end (hole 0) or its beginning.
fn rest(whole: &[Literal], part: &[Literal], hole: usize) -> Option<Vec<Literal>> {
    let length = whole.len().checked_sub(part.len())?;
    let (kept, cut) = if hole == 0 {
        whole.split_at(length)
    } else {
        let (cut, kept) = whole.split_at(part.len());
        (kept, cut)
    };
    let same = cut.iter().zip(part).all(|(a, b)| a.equals(b));
    same.then(|| kept.to_vec())
}

/// Arithmetic with a float in it; rounding may make the answer differ in the last digit.
fn floats(operator: &str, other: f64, needed: f64, hole: usize) -> Inverted {
    let value = match (operator, hole) {
        ("+", _) => needed - other,
        ("-", 0) => needed + other,
        ("-", _) => other - needed,
        ("*", _) | ("/", 1) if other == 0.0 || (operator == "/" && needed == 0.0) => {
            return Nothing;
        }
        ("*", _) => needed / other,
        ("/", 0) => needed * other,
        ("/", _) => other / needed,
        _ => return Unknown,
    };
    if !value.is_finite() {
        return Nothing;
    }
    // 1.5 * 2 came from a 3, as likely as not.
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return Value(Literal::Int(BigInt::from(value as i64)));
    }
    Value(Literal::Float(value))
}

fn number(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Int(value) => value.to_string().parse().ok(),
        Literal::Float(value) => Some(*value),
        _ => None,
    }
}

/// The nearest value that makes a comparison come out as needed.
fn compared(
    operator: &str,
    other: &Literal,
    needed: &Literal,
    hole: usize,
    was: Option<&Literal>,
) -> Inverted {
    let Literal::Bool(truth) = needed else {
        return Nothing;
    };
    // Read with the hole on the left, and as what must hold.
    let mirrored = match (operator, hole) {
        ("<", 1) => ">",
        ("<=", 1) => ">=",
        (">", 1) => "<",
        (">=", 1) => "<=",
        (same, _) => same,
    };
    let holds = match (mirrored, truth) {
        (same, true) => same,
        ("<", false) => ">=",
        ("<=", false) => ">",
        (">", false) => "<=",
        (">=", false) => "<",
        ("==", false) => "!=",
        (_, false) => "==",
    };
    match (holds, other) {
        ("==" | "<=" | ">=", _) => Value(other.clone()),
        ("<", Literal::Int(value)) => Value(Literal::Int(value - 1)),
        (">", Literal::Int(value)) => Value(Literal::Int(value + 1)),
        ("!=", _) if was.is_some_and(|was| !was.equals(other)) => Nothing,
        _ => Unknown,
    }
}

/// `item in container`.
fn contained(
    operator: &str,
    other: &Literal,
    needed: &Literal,
    hole: usize,
    was: Option<&Literal>,
) -> Inverted {
    let Literal::Bool(truth) = needed else {
        return Nothing;
    };
    let inside = *truth == (operator == "in");
    if hole == 0 {
        return Unknown;
    }
    match (was, inside) {
        (Some(Literal::List(items)), true) => {
            let mut items = items.clone();
            items.push(other.clone());
            Value(Literal::List(items))
        }
        (Some(Literal::List(items)), false) => {
            let kept = items.iter().filter(|item| !item.equals(other));
            Value(Literal::List(kept.cloned().collect()))
        }
        _ => Unknown,
    }
}

/// `whole` with another item at `key`.
fn replaced(whole: &Literal, key: &Literal, item: &Literal) -> Option<Literal> {
    match whole {
        Literal::Dict(pairs) => {
            let mut pairs = pairs.clone();
            let place = pairs.iter().position(|(held, _)| held.equals(key))?;
            pairs[place].1 = item.clone();
            Some(Literal::Dict(pairs))
        }
        Literal::List(items) => {
            let mut items = items.clone();
            let place = index(key, items.len())?;
            *items.get_mut(place)? = item.clone();
            Some(Literal::List(items))
        }
        Literal::Tuple(items) => {
            let mut items = items.clone();
            let place = index(key, items.len())?;
            *items.get_mut(place)? = item.clone();
            Some(Literal::Tuple(items))
        }
        _ => None,
    }
}

/// Where a container holds an item; nothing where it holds none.
fn position(whole: &Literal, item: &Literal) -> Inverted {
    match whole {
        Literal::Dict(pairs) => pairs
            .iter()
            .find(|(_, held)| held.equals(item))
            .map_or(Nothing, |(key, _)| Value(key.clone())),
        Literal::List(items) | Literal::Tuple(items) => items
            .iter()
            .position(|held| held.equals(item))
            .map_or(Nothing, |place| Value(Literal::Int(place.into()))),
        _ => Unknown,
    }
}

fn index(key: &Literal, length: usize) -> Option<usize> {
    let Literal::Int(index) = key else {
        return None;
    };
    let index = i64::try_from(index).ok()?;
    if index < 0 {
        length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
    } else {
        usize::try_from(index).ok()
    }
}
