//! How far what a call returned is from what it was to return.
//!
//! The unit is one edit: a character, an item, a step between neighbouring numbers on a scale that grows slower
//! and slower. A search needs to see that `[1, 2, 9]` is nearer to `[1, 2, 3]` than `[]` is, and that 90 is
//! nearer to 100 than 10 is.

use std::cell::Cell;

use ndbg_simulator::literal::Literal;

/// Characters and items beyond which only lengths and common ends are compared.
const ALIGNED: usize = 160;
/// An edit more than building the value anew.
const OTHER_TYPE: f64 = 4.0;

/// Steps of one comparison; beyond them only lengths are compared.
const WORK: usize = 120_000;

/// What is left of the steps of a comparison.
struct Work(Cell<usize>);

impl Work {
    /// Takes steps, if there are as many.
    fn take(&self, steps: usize) -> bool {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or(self.0.get()));
        left.is_some()
    }
}

/// The distance; 0 for equal values. Takes a bounded number of steps, however large and nested they are.
pub fn distance(found: &Literal, wanted: &Literal) -> f64 {
    between(found, wanted, &Work(Cell::new(WORK)))
}

fn between(found: &Literal, wanted: &Literal, work: &Work) -> f64 {
    use Literal::{
        Bool, ByteArray, Bytes, Complex, Dict, Float, FrozenSet, Int, List, None, Set, Str, Tuple,
    };
    if !work.take(1) {
        return roughly(found, wanted);
    }
    let items =
        |a: &[Literal], b: &[Literal]| edits(a, b, weight, |a, b| between(a, b, work), work);
    match (found, wanted) {
        (None, None) => 0.0,
        (Bool(a), Bool(b)) => f64::from(u8::from(a != b)),
        (Int(a), Int(b)) => {
            if a == b {
                0.0
            } else {
                far(magnitude(&(a - b).to_string()))
            }
        }
        (Float(a), Float(b)) => {
            if a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || (a - b).abs() == 0.0 {
                0.0
            } else if (a - b).is_finite() {
                far((a - b).abs())
            } else {
                far(1e300)
            }
        }
        (Complex(a, b), Complex(c, d)) => {
            if (a, b) == (c, d) {
                0.0
            } else {
                far((a - c).abs()) + far((b - d).abs())
            }
        }
        (Str(a), Str(b)) => {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            edits(&a, &b, |_| 1.0, |a, b| letters(*a, *b), work)
        }
        (Bytes(a), Bytes(b)) | (ByteArray(a), ByteArray(b)) => {
            edits(a, b, |_| 1.0, |a, b| f64::from(u8::from(a != b)), work)
        }
        (List(a), List(b)) | (Tuple(a), Tuple(b)) => items(a, b),
        (Set(a), Set(b)) | (FrozenSet(a), FrozenSet(b)) => apart(a, b, work) + apart(b, a, work),
        (Dict(a), Dict(b)) => pairs(a, b, work),
        _ if is_number(found) && is_number(wanted) => {
            1.0 + far((number(found) - number(wanted)).abs())
        }
        (List(a) | Tuple(a), List(b) | Tuple(b)) => 1.0 + items(a, b),
        _ => OTHER_TYPE + weight(found).min(2.0) + weight(wanted),
    }
}

/// What can be said without looking into values.
fn roughly(found: &Literal, wanted: &Literal) -> f64 {
    if found.type_name() != wanted.type_name() {
        return OTHER_TYPE;
    }
    let (a, b) = (found.len().unwrap_or(0), wanted.len().unwrap_or(0));
    1.0 + a.abs_diff(b) as f64
}

/// Where a row or a text begins to differ from another: how many items are the same before that, and how many
/// after it.
pub fn difference(found: &Literal, wanted: &Literal) -> Option<(usize, usize)> {
    fn ends<T: PartialEq>(a: &[T], b: &[T]) -> (usize, usize) {
        let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let end = a[start..].iter().rev().zip(b[start..].iter().rev());
        (start, end.take_while(|(a, b)| a == b).count())
    }
    match (found, wanted) {
        (Literal::Str(a), Literal::Str(b)) => {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            Some(ends(&a, &b))
        }
        (Literal::List(a), Literal::List(b)) | (Literal::Tuple(a), Literal::Tuple(b)) => {
            Some(ends(a, b))
        }
        _ => None,
    }
}

/// What it costs to write a value.
fn weight(value: &Literal) -> f64 {
    match value {
        Literal::Str(text) => 1.0 + text.chars().count() as f64,
        Literal::List(items)
        | Literal::Tuple(items)
        | Literal::Set(items)
        | Literal::FrozenSet(items) => 1.0 + items.iter().map(weight).sum::<f64>(),
        Literal::Dict(held) => {
            1.0 + held
                .iter()
                .map(|(key, value)| weight(key) + weight(value))
                .sum::<f64>()
        }
        _ => 1.0,
    }
}

fn is_number(value: &Literal) -> bool {
    matches!(
        value,
        Literal::Int(_) | Literal::Float(_) | Literal::Bool(_)
    )
}

fn number(value: &Literal) -> f64 {
    match value {
        Literal::Int(number) => number.to_string().parse().unwrap_or(f64::MAX),
        Literal::Float(number) => *number,
        Literal::Bool(yes) => f64::from(u8::from(*yes)),
        _ => 0.0,
    }
}

/// The size of an integer that may be larger than any float.
fn magnitude(digits: &str) -> f64 {
    let size: f64 = digits.trim_start_matches('-').parse().unwrap_or(f64::MAX);
    if size.is_finite() { size } else { f64::MAX }
}

/// Half an edit for the smallest step, about one for 5, about four for a million.
fn far(difference: f64) -> f64 {
    0.3 + 0.27 * (1.0 + difference).ln()
}

/// Letters that differ in case only, or are of one class, are nearer than others.
fn letters(a: char, b: char) -> f64 {
    if a == b {
        0.0
    } else if a.eq_ignore_ascii_case(&b) {
        0.5
    } else if class(a) == class(b) {
        0.7 + 0.2 * (f64::from((a as u32).abs_diff(b as u32)) / 26.0).min(1.0)
    } else {
        1.0
    }
}

fn class(letter: char) -> u8 {
    match letter {
        'a'..='z' => 0,
        'A'..='Z' => 1,
        '0'..='9' => 2,
        _ if letter.is_whitespace() => 3,
        _ if letter.is_ascii() => 4,
        _ => 5,
    }
}

/// The cheapest way to edit one row into another: leaving out, adding, exchanging.
fn edits<T: PartialEq>(
    found: &[T],
    wanted: &[T],
    own: impl Fn(&T) -> f64,
    change: impl Fn(&T, &T) -> f64,
    work: &Work,
) -> f64 {
    // What is equal is told by comparing it: measuring it at both ends and again between them would take time
    // that is exponential in how deep rows are nested.
    let same = |(a, b): &(&T, &T)| a == b;
    let start = found.iter().zip(wanted).take_while(same).count();
    let (found, wanted) = (&found[start..], &wanted[start..]);
    let end = found
        .iter()
        .rev()
        .zip(wanted.iter().rev())
        .take_while(same)
        .count();
    let found = &found[..found.len() - end];
    let wanted = &wanted[..wanted.len() - end];
    let is_long = found.len().max(wanted.len()) > ALIGNED;
    if is_long || !work.take(found.len() * wanted.len()) {
        let paired: f64 = found.iter().zip(wanted).map(|(a, b)| change(a, b)).sum();
        return paired + found.len().abs_diff(wanted.len()) as f64;
    }
    let added: Vec<f64> = wanted.iter().map(&own).collect();
    let mut row: Vec<f64> = Vec::with_capacity(wanted.len() + 1);
    row.push(0.0);
    for cost in &added {
        row.push(row[row.len() - 1] + cost);
    }
    for a in found {
        let out = own(a);
        let mut before = row[0];
        row[0] += out;
        for (at, b) in wanted.iter().enumerate() {
            let exchanged = before + change(a, b).min(out + added[at]);
            before = row[at + 1];
            row[at + 1] = exchanged.min(before + out).min(row[at] + added[at]);
        }
    }
    row[wanted.len()]
}

/// How far each of `these` is from the nearest of the `others`.
fn apart(these: &[Literal], others: &[Literal], work: &Work) -> f64 {
    let nearest = |item: &Literal| {
        if others.contains(item) {
            return 0.0;
        }
        let most = weight(item);
        if !work.take(others.len()) {
            return most.min(1.0);
        }
        let far = others.iter().map(|other| between(item, other, work));
        far.fold(most, f64::min)
    };
    // Sets are written in order, so that those that are alike need no search.
    if these == others {
        return 0.0;
    }
    let mut sum = 0.0;
    for (at, item) in these.iter().enumerate() {
        if !work.take(others.len()) {
            sum += (these.len() - at) as f64;
            break;
        }
        sum += nearest(item);
    }
    sum / 2.0 + these.len().saturating_sub(others.len()) as f64 / 2.0
}

fn pairs(found: &[(Literal, Literal)], wanted: &[(Literal, Literal)], work: &Work) -> f64 {
    let mut sum = 0.0;
    let mut claimed = vec![false; found.len()];
    let mut missing = Vec::new();
    for (at, (key, value)) in wanted.iter().enumerate() {
        // Most have the place that they are to have.
        let in_place = found.get(at).is_some_and(|(held, _)| held == key);
        let place = if in_place {
            Some(at)
        } else if work.take(found.len()) {
            found.iter().position(|(held, _)| held == key)
        } else {
            None
        };
        match place {
            Some(at) => {
                claimed[at] = true;
                sum += between(&found[at].1, value, work);
            }
            None => missing.push((key, value)),
        }
    }
    for (key, value) in missing {
        let anew = weight(key) + weight(value);
        if !work.take(found.len()) {
            sum += anew;
            continue;
        }
        // A key that nobody claims may be on its way to this one.
        let nearest = found
            .iter()
            .enumerate()
            .filter(|(at, _)| !claimed[*at])
            .map(|(at, (held, there))| {
                let far = between(held, key, work) + between(there, value, work);
                (at, far)
            })
            .min_by(|a, b| a.1.total_cmp(&b.1));
        match nearest {
            Some((at, far)) if far < anew + 1.0 => {
                claimed[at] = true;
                sum += far;
            }
            _ => sum += anew,
        }
    }
    let extra = found
        .iter()
        .zip(&claimed)
        .filter(|(_, claimed)| !**claimed)
        .count();
    // The order of keys is part of what is seen, though not of equality.
    sum + extra as f64
}

#[cfg(test)]
mod tests {
    use ndbg_simulator::literal::parse;

    use super::*;

    fn apart(found: &str, wanted: &str) -> f64 {
        distance(&parse(found).unwrap(), &parse(wanted).unwrap())
    }

    #[test]
    fn nothing_lies_between_equal_values() {
        for text in [
            "None", "True", "7", "-1.5", "'abc'", "b'x'", "[1, [2]]", "(1,)", "{1, 2}", "{'a': 1}",
        ] {
            assert!(apart(text, text).abs() < 1e-12, "{text}");
        }
        assert!(apart("{2, 1}", "{1, 2}").abs() < 1e-12);
    }

    #[test]
    fn what_needs_fewer_edits_is_nearer() {
        for (near, far, wanted) in [
            ("[1, 2, 9]", "[]", "[1, 2, 3]"),
            ("90", "10", "100"),
            ("99", "90", "100"),
            ("'abd'", "'xyz'", "'abc'"),
            ("'ABC'", "'xyz'", "'abc'"),
            ("'bcd'", "'xxxxx'", "'abcd'"),
            ("[1, 3]", "[5, 9]", "[1, 2, 3]"),
            ("{'a': 1}", "{'b': 7}", "{'a': 2}"),
            ("{'b': 2}", "{}", "{'a': 2}"),
            ("(1, 2)", "'ab'", "[1, 2]"),
            ("1", "'1'", "1.0"),
            ("{1, 5}", "{7, 8}", "{1, 2}"),
            ("10000000000000000000000", "1", "10000000000000000000001"),
        ] {
            let (a, b) = (apart(near, wanted), apart(far, wanted));
            assert!(0.0 < a && a < b, "{near} {a}, {far} {b}, {wanted}");
        }
    }

    #[test]
    fn long_values_are_compared_in_linear_time() {
        let long = format!("'{}'", "ab".repeat(50_000));
        let longer = format!("'x{}'", "ab".repeat(50_000));
        assert!(apart(&long, &longer) > 0.0);
    }

    #[test]
    fn no_value_takes_long_however_it_is_nested() {
        let nested = |depth: usize, inner: &str| {
            format!("{}{inner}{}", "[1, ".repeat(depth), ", 2]".repeat(depth))
        };
        let wide = |inner: &str| format!("[{}]", vec![inner; 150].join(", "));
        let keyed = |from: usize| {
            let pairs = (from..from + 2_000).map(|key| format!("{key}: [{key}]"));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        };
        let begun = std::time::Instant::now();
        for (found, wanted) in [
            (nested(50, "3"), nested(50, "4")),
            (nested(50, "3"), nested(49, "3")),
            (wide(&wide("[1, 2]")), wide(&wide("[2, 1]"))),
            (keyed(0), keyed(1_000)),
            (keyed(0), keyed(5_000)),
        ] {
            assert!(apart(&found, &wanted) > 0.0);
        }
        assert!(begun.elapsed().as_secs_f64() < 2.0, "{:?}", begun.elapsed());
    }
}
