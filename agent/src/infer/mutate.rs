//! Small changes of values, which keep what a value is most of the time.

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::Literal;
use num_bigint::BigInt;

use super::kin::swapped;
use super::pool::Pool;
use super::value::{Kind, REBUILT, Row, Value, distinct, without_doubles};

/// Values longer than this are cut: no goal needs them, and each call costs more.
const LONGEST: usize = 400;

/// A neighbour of a value.
pub fn mutated(value: &Value, pool: &Pool, random: &mut Random) -> Value {
    if random.chance(0.04) {
        return pool.item(random, 2);
    }
    if random.chance(0.08) {
        return pool.draw(random, value.kind());
    }
    match value {
        Value::Atom(literal) => atom(literal, pool, random),
        Value::Many(row, items) => many(*row, items, pool, random),
        Value::Dict(pairs) => dict(pairs, pool, random),
        Value::Named(_) => pool.draw(random, Kind::Named),
        Value::Built(class, arguments) => {
            let mut arguments = arguments.clone();
            if arguments.is_empty() {
                return value.clone();
            }
            // What an object is rebuilt with begins with its class.
            let first = usize::from(class == REBUILT).min(arguments.len() - 1);
            let at = first + random.below(arguments.len() - first);
            if let Some((_, argument)) = arguments.get_mut(at)
                && !(at == 0 && class == REBUILT)
            {
                *argument = mutated(argument, pool, random);
            }
            Value::Built(class.clone(), arguments)
        }
    }
}

/// A neighbour that differs at one place: an item of a row, a letter of a text.
pub fn mutated_at(value: &Value, place: usize, pool: &Pool, random: &mut Random) -> Value {
    match value {
        Value::Atom(Literal::Str(text)) => {
            let mut letters: Vec<char> = text.chars().collect();
            let at = place.min(letters.len());
            match random.below(8) {
                0 if at < letters.len() => {
                    letters.remove(at);
                }
                1 | 2 => letters.insert(at, pool.letter(random)),
                3 if at < letters.len() => {
                    let moved =
                        (letters[at] as u32).wrapping_add_signed(random.between(-4, 4) as i32);
                    letters[at] = char::from_u32(moved).unwrap_or(letters[at]);
                }
                4 if at < letters.len() => {
                    let one: String = letters[at].to_string();
                    letters.splice(at..=at, swapped(&one).chars());
                }
                _ if at < letters.len() => letters[at] = pool.letter(random),
                _ => letters.push(pool.letter(random)),
            }
            Value::text(letters.into_iter().collect::<String>())
        }
        Value::Many(row, items) if !items.is_empty() => {
            let mut items = items.clone();
            let at = place.min(items.len() - 1);
            match random.below(8) {
                0 => {
                    items.remove(at);
                }
                1 => {
                    let item = pool.draw(random, items[at].kind());
                    items.insert(at, item);
                }
                2 => {
                    let item = items[at].clone();
                    items.insert(at, item);
                }
                _ => items[at] = mutated(&items[at], pool, random),
            }
            if matches!(row, Row::Set | Row::FrozenSet) {
                items.retain(Value::is_hashable);
                items = distinct(&items);
            }
            Value::Many(*row, items)
        }
        Value::Dict(pairs) if !pairs.is_empty() => {
            let mut pairs = pairs.clone();
            let at = place.min(pairs.len() - 1);
            if random.chance(0.5) {
                pairs[at].1 = mutated(&pairs[at].1, pool, random);
            } else {
                pairs[at].0 = mutated(&pairs[at].0, pool, random);
            }
            pairs.retain(|(key, _)| key.is_hashable());
            Value::Dict(without_doubles(pairs))
        }
        other => mutated(other, pool, random),
    }
}

fn atom(literal: &Literal, pool: &Pool, random: &mut Random) -> Value {
    match literal {
        Literal::Bool(yes) => Literal::Bool(!yes).into(),
        Literal::Int(number) => Value::int(integer(number, pool, random)),
        Literal::Float(number) => {
            let number = match random.below(6) {
                0 => number + 1.0,
                1 => number - 1.0,
                2 => -number,
                3 => number.round(),
                4 => number * [2.0, 0.5, 10.0, 0.1][random.below(4)],
                _ => number + random.between(-100, 100) as f64 / 8.0,
            };
            Literal::Float(number).into()
        }
        Literal::Str(text) => Value::text(texts(text, pool, random)),
        Literal::Bytes(bytes) => {
            let text: String = bytes.iter().map(|&b| char::from(b)).collect();
            let changed = texts(&text, pool, random);
            let bytes = changed.chars().map(|c| c as u32 as u8).collect();
            Literal::Bytes(bytes).into()
        }
        _ => pool.item(random, 2),
    }
}

fn integer(number: &BigInt, pool: &Pool, random: &mut Random) -> BigInt {
    match random.below(10) {
        0 | 1 => number + 1,
        2 | 3 => number - 1,
        4 => number + random.between(-10, 10),
        5 => -number,
        6 => number * 2,
        7 => number / 2,
        8 => number + random.between(-300, 300),
        _ => match random.pick(pool.of(Kind::Int)) {
            Value::Atom(Literal::Int(other)) if random.chance(0.5) => number + other,
            Value::Atom(Literal::Int(other)) => number - other,
            _ => number.clone(),
        },
    }
}

fn texts(text: &str, pool: &Pool, random: &mut Random) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let held = |random: &mut Random| match random.pick(pool.of(Kind::Str)) {
        Value::Atom(Literal::Str(text)) => text.clone(),
        _ => String::new(),
    };
    let at = random.below(letters.len() + 1);
    match random.below(14) {
        0..3 => letters.insert(at, pool.letter(random)),
        3 | 4 if !letters.is_empty() => {
            letters.remove(at.min(text.chars().count() - 1));
        }
        5 | 6 if !letters.is_empty() => {
            let at = at.min(letters.len() - 1);
            letters[at] = pool.letter(random);
        }
        7 if letters.len() > 1 => {
            let (from, to) = span(letters.len(), random);
            letters.drain(from..to);
        }
        8 => {
            let more: Vec<char> = held(random).chars().collect();
            letters.splice(at..at, more);
        }
        9 if letters.len() > 1 => {
            let (from, to) = span(letters.len(), random);
            let more: Vec<char> = held(random).chars().collect();
            letters.splice(from..to, more);
        }
        10 if letters.len() > 1 => {
            let (a, b) = (random.below(letters.len()), random.below(letters.len()));
            letters.swap(a, b);
        }
        11 if !letters.is_empty() => {
            let (from, to) = span(letters.len(), random);
            let copied: Vec<char> = letters[from..to].to_vec();
            letters.splice(at..at, copied);
        }
        12 => {
            let text: String = letters.iter().collect();
            return match random.below(4) {
                0 => text.to_lowercase(),
                1 => text.to_uppercase(),
                2 => swapped(&text),
                _ => text.chars().rev().collect(),
            };
        }
        13 if !letters.is_empty() => {
            let at = at.min(letters.len() - 1);
            let one: String = letters[at].to_string();
            letters.splice(at..=at, swapped(&one).chars());
        }
        _ => letters.push(pool.letter(random)),
    }
    letters.truncate(LONGEST);
    letters.into_iter().collect()
}

/// A part that is not empty.
fn span(length: usize, random: &mut Random) -> (usize, usize) {
    let from = random.below(length);
    (
        from,
        from + 1 + random.below(length - from).min(random.below(6)),
    )
}

fn many(row: Row, items: &[Value], pool: &Pool, random: &mut Random) -> Value {
    let mut items = items.to_vec();
    let like = |items: &[Value], random: &mut Random| {
        if items.is_empty() || random.chance(0.15) {
            return pool.item(random, 1);
        }
        let like = random.pick(items).clone();
        match random.below(4) {
            0 => like,
            1 => pool.draw(random, like.kind()),
            _ => mutated(&like, pool, random),
        }
    };
    let at = random.below(items.len() + 1);
    match random.below(12) {
        0..3 => {
            let item = like(&items, random);
            items.insert(at, item);
        }
        3 | 4 if !items.is_empty() => {
            let at = at.min(items.len() - 1);
            items.remove(at);
        }
        5..8 if !items.is_empty() => {
            let at = at.min(items.len() - 1);
            items[at] = mutated(&items[at], pool, random);
        }
        8 if items.len() > 1 => {
            let (a, b) = (random.below(items.len()), random.below(items.len()));
            items.swap(a, b);
        }
        9 if items.len() > 1 => match random.below(3) {
            0 => items.reverse(),
            1 => items.sort_by_cached_key(|item| (item.to_string().len(), item.to_string())),
            _ => {
                let (from, to) = span(items.len(), random);
                items.drain(from..to);
            }
        },
        10 if !items.is_empty() => {
            // One change for all of a row: what the function does to each item is undone for each.
            let seed = random.bits();
            for item in &mut items {
                *item = mutated(item, pool, &mut Random::of(seed, 0));
            }
        }
        11 => {
            let row = *random.pick(&[Row::List, Row::Tuple, Row::Set]);
            if matches!(row, Row::Set) {
                items.retain(Value::is_hashable);
            }
            return Value::Many(row, items);
        }
        _ => {
            let item = like(&items, random);
            items.push(item);
        }
    }
    if matches!(row, Row::Set | Row::FrozenSet) {
        items.retain(Value::is_hashable);
        items = distinct(&items);
    }
    items.truncate(LONGEST / 4);
    Value::Many(row, items)
}

fn dict(pairs: &[(Value, Value)], pool: &Pool, random: &mut Random) -> Value {
    let mut pairs = pairs.to_vec();
    let at = random.below(pairs.len() + 1);
    match random.below(10) {
        0..3 => {
            let (key, value) = match pairs.first() {
                Some((key, value)) if random.chance(0.85) => {
                    let value = if random.chance(0.5) {
                        mutated(value, pool, random)
                    } else {
                        pool.draw(random, value.kind())
                    };
                    (pool.draw(random, key.kind()), value)
                }
                _ => (pool.item(random, 0), pool.item(random, 1)),
            };
            pairs.insert(at, (key, value));
        }
        3 | 4 if !pairs.is_empty() => {
            let at = at.min(pairs.len() - 1);
            pairs.remove(at);
        }
        5 | 6 if !pairs.is_empty() => {
            let at = at.min(pairs.len() - 1);
            pairs[at].1 = mutated(&pairs[at].1, pool, random);
        }
        7 if !pairs.is_empty() => {
            let at = at.min(pairs.len() - 1);
            pairs[at].0 = mutated(&pairs[at].0, pool, random);
        }
        8 if pairs.len() > 1 => {
            let (a, b) = (random.below(pairs.len()), random.below(pairs.len()));
            pairs.swap(a, b);
        }
        9 if !pairs.is_empty() => {
            let at = at.min(pairs.len() - 1);
            let (key, value) = pairs[at].clone();
            pairs[at] = (value, key);
        }
        _ => pairs.push((pool.item(random, 0), pool.item(random, 1))),
    }
    pairs.retain(|(key, _)| key.is_hashable());
    pairs.truncate(LONGEST / 8);
    Value::Dict(without_doubles(pairs))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use ndbg_simulator::literal::parse;

    use super::*;

    #[test]
    fn mutants_are_other_valid_values_mostly_of_the_same_kind() {
        let mut pool = Pool::new();
        pool.add_with_kin(&parse("'Hello-World'").unwrap().into());
        let mut random = Random::of(1, 0);
        for text in [
            "1",
            "2.5",
            "'abc'",
            "[1, 2]",
            "{'a': [1]}",
            "(1, 'b')",
            "{1, 2}",
            "b'ab'",
            "True",
        ] {
            let value: Value = parse(text).unwrap().into();
            let mutants: Vec<Value> = (0..300)
                .map(|_| mutated(&value, &pool, &mut random))
                .collect();
            let different: HashSet<String> = mutants.iter().map(ToString::to_string).collect();
            assert!(
                different.len() > if text == "True" { 3 } else { 20 },
                "{text}"
            );
            let same = mutants.iter().filter(|m| m.kind() == value.kind()).count();
            assert!(same > 200, "{text}: {same}");
            for mutant in different {
                assert!(parse(&mutant).is_ok(), "{mutant}");
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_mutants() {
        let pool = Pool::new();
        let value: Value = parse("['a', 'b']").unwrap().into();
        let draw = || {
            let mut random = Random::of(9, 4);
            (0..50)
                .map(|_| mutated(&value, &pool, &mut random))
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(), draw());
    }
}
