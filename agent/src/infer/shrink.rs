//! Smaller values that may do as well.

use ndbg_simulator::literal::Literal;
use num_bigint::BigInt;

use super::genes::{Genes, Slot, Way, fits, is_name, order, size};
use super::value::{REBUILT, Row, Value};

/// Items and letters of all calls that are made smaller at once, and how many these are.
const WORK: usize = 200_000;
const MOST: usize = 1_500;
const LEAST: usize = 40;
/// Steps between a number and what is half as far from zero.
const HALVED: usize = 64;

/// Calls with one value smaller, the smallest first. Of large calls not all there are.
pub fn smaller(slots: &[Slot], genes: &Genes) -> Vec<Genes> {
    let bulk: usize = genes.iter().flatten().map(|value| value.bulk(WORK)).sum();
    let most = (WORK / bulk.max(1)).clamp(LEAST, MOST);
    let each = most / slots.len().max(1);
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
        for smaller in smaller_values(value, each.max(8)) {
            let is_worse = slot.way == Way::StarStar && has_names(value) && !has_names(&smaller);
            if fits(slot.way, &smaller) && !is_worse {
                put(Some(smaller));
            }
        }
    }
    // Texts are compared only where sizes do not tell.
    let most = size(genes);
    let limit = order(genes);
    made.retain(|genes| {
        let size = size(genes);
        size < most || (size == most && order(genes) < limit)
    });
    made.sort_by_cached_key(order);
    made
}

/// Whether a dictionary can be spread out as `a=1`.
fn has_names(value: &Value) -> bool {
    match value {
        Value::Dict(pairs) => pairs
            .iter()
            .all(|(key, _)| matches!(key, Value::Atom(Literal::Str(text)) if is_name(text))),
        _ => false,
    }
}

/// Values that are smaller, the boldest first, at most about so many.
fn smaller_values(value: &Value, most: usize) -> Vec<Value> {
    match value {
        Value::Atom(literal) => smaller_atoms(literal, most),
        Value::Named(_) => simple(),
        Value::Many(row, items) => {
            let whole = |items: Vec<Value>| Value::Many(*row, items);
            let mut made: Vec<Value> = shorter(items, most / 2).into_iter().map(whole).collect();
            if *row == Row::Tuple {
                made.push(Value::Many(Row::List, items.clone()));
            }
            let each = (most.saturating_sub(made.len()) / items.len().max(1)).max(1);
            for (at, item) in items.iter().enumerate() {
                if made.len() >= most {
                    break;
                }
                for smaller in smaller_values(item, each) {
                    let mut items = items.clone();
                    items[at] = smaller;
                    made.push(whole(items));
                }
            }
            made
        }
        Value::Dict(pairs) => {
            let mut made: Vec<Value> = shorter(pairs, most / 2)
                .into_iter()
                .map(Value::Dict)
                .collect();
            let each = (most.saturating_sub(made.len()) / (2 * pairs.len()).max(1)).max(1);
            for (at, (key, held)) in pairs.iter().enumerate() {
                if made.len() >= most {
                    break;
                }
                for smaller in smaller_values(held, each) {
                    let mut pairs = pairs.clone();
                    pairs[at].1 = smaller;
                    made.push(Value::Dict(pairs));
                }
                for smaller in smaller_values(key, each) {
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
            let mut made = simple();
            let each = (most / arguments.len().max(1)).max(1);
            for at in 0..arguments.len() {
                // Only what was given by name can be left out without moving what follows. An object that
                // lacks an attribute is none that a program would have made.
                if class != REBUILT && (arguments[at].0.is_some() || at + 1 == arguments.len()) {
                    let mut fewer = arguments.clone();
                    fewer.remove(at);
                    made.push(Value::Built(class.clone(), fewer));
                }
                if class == REBUILT && at == 0 {
                    continue;
                }
                for smaller in smaller_values(&arguments[at].1, each) {
                    let mut arguments = arguments.clone();
                    arguments[at].1 = smaller;
                    made.push(Value::Built(class.clone(), arguments));
                }
            }
            made
        }
    }
}

/// What does in place of an object where it is not looked at.
fn simple() -> Vec<Value> {
    vec![Literal::None.into(), Value::int(0), Value::int(1)]
}

fn smaller_atoms(literal: &Literal, most: usize) -> Vec<Value> {
    match literal {
        Literal::Int(number) => smaller_integers(number)
            .into_iter()
            .map(Value::int)
            .collect(),
        Literal::Float(number) => smaller_floats(*number),
        Literal::Str(text) => {
            let letters: Vec<char> = text.chars().collect();
            let mut made: Vec<Value> = shorter(&letters, most)
                .into_iter()
                .map(|letters| Value::text(letters.into_iter().collect::<String>()))
                .collect();
            // A number that is read from a text.
            if letters.len() <= 18
                && let Ok(number) = text.parse::<i64>()
            {
                let smaller = smaller_integers(&number.into()).into_iter();
                made.extend(smaller.map(|number| Value::text(number.to_string())));
            }
            for at in 0..letters.len().min(60) {
                if made.len() >= most {
                    break;
                }
                if !letters[at].is_ascii_alphanumeric() && letters[at] != ' ' {
                    for letter in ['a', ' '] {
                        let mut plain = letters.clone();
                        plain[at] = letter;
                        made.push(Value::text(plain.into_iter().collect::<String>()));
                    }
                }
            }
            made
        }
        Literal::Bytes(bytes) => shorter(bytes, most)
            .into_iter()
            .map(|bytes| Literal::Bytes(bytes).into())
            .collect(),
        _ => Vec::new(),
    }
}

/// Numbers nearer to zero: those that are round, and those by halving how much is taken away, so that the smallest
/// that does is found in as many steps as it has bits.
fn smaller_integers(number: &BigInt) -> Vec<BigInt> {
    let zero = BigInt::ZERO;
    if *number == zero {
        return Vec::new();
    }
    let towards = if *number > zero { -1 } else { 1 };
    let digits = number.to_string().trim_start_matches('-').len();
    let round = BigInt::from(10).pow(digits as u32 - 1);
    let mut made = vec![zero.clone(), BigInt::from(1), -number, round, number / 10];
    if digits > 6 {
        // Half as many digits.
        let root = BigInt::from(10).pow(digits as u32 / 2);
        made.push(if *number > zero { root } else { -root });
    }
    let mut step = number / 2;
    for _ in 0..HALVED {
        if step == zero {
            break;
        }
        made.push(number - &step);
        step /= 2;
    }
    made.push(number + towards);
    made
}

fn smaller_floats(number: f64) -> Vec<Value> {
    let mut made: Vec<Value> = Vec::new();
    // A whole number says no more with a point.
    if number.is_finite() && number.abs() < 1e15 {
        let whole = number.trunc() as i64;
        made.extend([0, 1, whole].map(Value::int));
        let whole = BigInt::from(whole);
        for smaller in smaller_integers(&whole) {
            let float = smaller.to_string().parse().map(Literal::Float);
            made.extend(float.map(Value::from));
            made.push(Value::int(smaller));
        }
    }
    // Half as many digits; a power that is calculated may not be round.
    let digits = number.abs().max(1.0).log10() / 2.0;
    let round: f64 = format!("1e{digits:.0}").parse().unwrap_or(1.0);
    let others = [
        0.0,
        1.0,
        number.trunc(),
        -number,
        number / 2.0,
        round.copysign(number),
        (number * 10.0).round() / 10.0,
    ];
    let others = others
        .into_iter()
        .filter(|other| other.to_bits() != number.to_bits());
    made.extend(others.map(|other| Value::from(Literal::Float(other))));
    made
}

/// A row without some of its items: all, halves, quarters, each, as far as they are not too many.
fn shorter<T: Clone>(items: &[T], most: usize) -> Vec<Vec<T>> {
    let mut made = Vec::new();
    let mut part = items.len();
    while part > 0 {
        if !made.is_empty() && made.len() + items.len().div_ceil(part) > most {
            break;
        }
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

    use super::*;

    fn slot(way: Way, required: bool) -> Slot {
        Slot {
            name: "x".into(),
            way,
            required,
            annotation: None,
            said: None,
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
        assert_eq!(shrunk("982.0", &|text| above(text, 500.0)), "501");
        assert_eq!(shrunk("982.75", &|text| above(text, 500.25)), "501");
        assert_eq!(
            shrunk("982.75", &|text| above(text, 500.25) && text.contains('.')),
            "501.0"
        );
        assert_eq!(shrunk("1e+300", &|text| above(text, 500.0)), "501");
        assert_eq!(
            shrunk("123456789", &|text| above(text, 7_654_321.0)),
            "7654322"
        );
        assert_eq!(
            shrunk("'995'", &|text| above(text.trim_matches('\''), 100.5)),
            "'101'"
        );
        assert_eq!(
            shrunk("-4711", &|text| text
                .parse::<i64>()
                .is_ok_and(|n| n.abs() > 99)),
            "100"
        );
    }

    fn above(text: &str, limit: f64) -> bool {
        text.parse::<f64>().is_ok_and(|number| number > limit)
    }

    #[test]
    fn objects_become_simple_values_where_nothing_looks_at_them() {
        let member: Genes = vec![Some(Value::Named("Color.RED".into()))];
        let slots = [slot(Way::Either, true)];
        let made = smaller(&slots, &member);
        assert_eq!(made[0], vec![Some(Value::int(0))]);
        let built = Value::Built("Point".into(), vec![(None, Value::int(7))]);
        let made = smaller(&slots, &vec![Some(built)]);
        assert!(made.contains(&vec![Some(Literal::None.into())]));
    }

    #[test]
    fn entries_that_are_spread_out_become_fewer_and_keep_names() {
        let slots = [slot(Way::StarStar, false)];
        let genes: Genes = vec![Some(parse("{'key': 100, 'b': 2}").unwrap().into())];
        let made: Vec<String> = smaller(&slots, &genes)
            .iter()
            .map(|genes| super::super::genes::call(&slots, genes).arguments)
            .collect();
        assert!(made.contains(&"b=2".to_owned()), "{made:?}");
        assert!(made.contains(&"key=0, b=2".to_owned()), "{made:?}");
        assert!(!made.iter().any(|text| text.contains("**")), "{made:?}");
    }

    #[test]
    fn large_values_are_made_smaller_in_little_time() {
        let slots = [slot(Way::Either, true)];
        let numbers: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
        let begun = std::time::Instant::now();
        for text in [
            format!("'{}'", "ab".repeat(50_000)),
            format!("[{}]", numbers.join(", ")),
            format!("{}{}", "[".repeat(50), "]".repeat(50)),
        ] {
            let genes: Genes = vec![Some(parse(&text).unwrap().into())];
            assert!(smaller(&slots, &genes).len() > 5, "{}", text.len());
        }
        assert!(begun.elapsed().as_secs_f64() < 5.0, "{:?}", begun.elapsed());
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
