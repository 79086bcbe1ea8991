//! Values that a search builds arguments from: what the goal, the source and recorded calls hold, and what can
//! be made of them.

use std::collections::{BTreeMap, HashSet};

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::Literal;
use num_bigint::BigInt;

use super::value::{Kind, Row, Value};

/// Values of a kind at most: later ones are less likely to help.
const MOST: usize = 400;
/// Characters of a text that parts are taken from.
const TAKEN_APART: usize = 60;
/// Texts that others are split and joined with.
const JOINTS: &[&str] = &["", " ", ",", ", ", "-", "_", "\n", ":", "/", "."];

/// Letters outside of ASCII: a lower and an upper one, one without case, a digit, a mark, a wide one.
const FOREIGN: &[char] = &['é', 'Ñ', 'ß', '٣', '—', '日'];

/// Values by kind, and the letters that occur in them.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    /// Parts of the goal itself.
    wanted: BTreeMap<Kind, Vec<Value>>,
    values: BTreeMap<Kind, Vec<Value>>,
    known: HashSet<String>,
    letters: Vec<char>,
}

impl Pool {
    /// A few values of each kind.
    #[cfg(test)]
    pub fn new() -> Self {
        let mut pool = Self::default();
        pool.fill();
        pool
    }

    /// Adds a few values of each kind, which most functions take something of.
    pub fn fill(&mut self) {
        for number in [0, 1, 2, -1, 3, 5, 10] {
            self.add(Value::int(number));
        }
        for text in ["", "a", "ab", "b", " ", "1", "A", "abc", "é", "日本"] {
            self.add(Value::text(text));
        }
        for literal in [
            Literal::None,
            Literal::Bool(true),
            Literal::Bool(false),
            Literal::Float(0.0),
            Literal::Float(1.5),
            Literal::Bytes(Vec::new()),
            Literal::Bytes(b"a".to_vec()),
        ] {
            self.add(literal.into());
        }
        for row in [Row::List, Row::Tuple, Row::Set, Row::FrozenSet] {
            self.add(Value::Many(row, Vec::new()));
            self.add(Value::Many(row, vec![Value::int(1)]));
        }
        self.add(Value::Dict(Vec::new()));
        self.add(Value::Dict(vec![(Value::text("a"), Value::int(1))]));
    }

    /// Adds a value.
    pub fn add(&mut self, value: Value) {
        let kind = value.kind();
        let held = self.values.entry(kind).or_default();
        if held.len() >= MOST || !self.known.insert(value.to_string()) {
            return;
        }
        if let Value::Atom(Literal::Str(text)) = &value {
            for letter in text.chars().take(TAKEN_APART) {
                if !self.letters.contains(&letter) {
                    self.letters.push(letter);
                }
            }
        }
        held.push(value);
    }

    /// Adds a value with its parts and what it may have been made from.
    pub fn add_with_kin(&mut self, value: &Value) {
        self.add(value.clone());
        for part in value.parts() {
            self.add_with_kin(part);
        }
        for made in kin(value) {
            self.add(made);
        }
    }

    /// Adds the value that is wanted: its parts are drawn most.
    pub fn add_wanted(&mut self, value: &Value) {
        self.add_with_kin(value);
        let mut parts = vec![value];
        while let Some(part) = parts.pop() {
            let held = self.wanted.entry(part.kind()).or_default();
            if held.len() < MOST && !held.contains(part) {
                held.push(part.clone());
            }
            parts.extend(part.parts());
        }
    }

    /// Adds what wanted texts may have been before a literal of the source was put in, or was split by.
    pub fn add_undone(&mut self, literals: &[Value]) {
        let texts: Vec<&str> = literals.iter().filter_map(as_text).collect();
        let texts = texts.into_iter().filter(|text| !text.is_empty()).take(40);
        let mut made = Vec::new();
        for literal in texts {
            for wanted in self.wanted.values().flatten() {
                undone(wanted, literal, &mut made);
            }
        }
        for value in made {
            self.add_with_kin(&value);
        }
    }

    /// Whether there is a value of a kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.values.get(&kind).is_some_and(|held| !held.is_empty())
    }

    /// Values of a kind, the first ones first.
    pub fn of(&self, kind: Kind) -> &[Value] {
        self.values.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// A letter, mostly one that occurs.
    pub fn letter(&self, random: &mut Random) -> char {
        if random.chance(0.01) {
            return *random.pick(FOREIGN);
        }
        if self.letters.is_empty() || random.chance(0.2) {
            return char::from(*random.pick(b"abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 ,.-_:/"));
        }
        *random.pick(&self.letters)
    }

    /// A value of a kind: a held one, or one made of such.
    pub fn draw(&self, random: &mut Random, kind: Kind) -> Value {
        if let Some(wanted) = self.wanted.get(&kind)
            && random.chance(0.3)
        {
            return random.pick(wanted).clone();
        }
        let held = self.of(kind);
        if !held.is_empty() && random.chance(0.6) {
            return random.pick(held).clone();
        }
        self.made(random, kind, 2)
    }

    /// A value of any kind that an item is likely to be of.
    pub fn item(&self, random: &mut Random, depth: usize) -> Value {
        let kind = match random.below(10) {
            0..4 => Kind::Int,
            4..8 => Kind::Str,
            8 => *random.pick(&[Kind::None, Kind::Bool, Kind::Float]),
            _ if depth > 0 => {
                *random.pick(&[Kind::Row(Row::List), Kind::Row(Row::Tuple), Kind::Dict])
            }
            _ => Kind::Int,
        };
        let held = self.of(kind);
        if !held.is_empty() && random.chance(0.7) {
            return random.pick(held).clone();
        }
        self.made(random, kind, depth.saturating_sub(1))
    }

    fn made(&self, random: &mut Random, kind: Kind, depth: usize) -> Value {
        match kind {
            Kind::Int => Value::int(match random.below(4) {
                0 => random.between(-3, 12),
                1 => random.between(0, 100),
                2 => random.between(-1000, 1000),
                _ => random.between(0, 20),
            }),
            Kind::Float => Literal::Float(random.between(-40, 400) as f64 / 4.0).into(),
            Kind::Str => {
                if random.chance(0.4) {
                    let texts: Vec<String> = (0..=random.below(3))
                        .filter_map(|_| match random.pick(self.of(Kind::Str)) {
                            Value::Atom(Literal::Str(text)) => Some(text.clone()),
                            _ => None,
                        })
                        .collect();
                    return Value::text(texts.join(random.word(JOINTS)));
                }
                Value::text(
                    (0..random.below(9))
                        .map(|_| self.letter(random))
                        .collect::<String>(),
                )
            }
            Kind::Row(row) => {
                let example = self.item(random, depth.min(1));
                let items = (0..random.below(6)).map(|_| {
                    if random.chance(0.85) {
                        self.draw_shallow(random, example.kind())
                    } else {
                        self.item(random, depth.saturating_sub(1))
                    }
                });
                let mut items: Vec<Value> = items.collect();
                if matches!(row, Row::Set | Row::FrozenSet) {
                    items.retain(Value::is_hashable);
                }
                Value::Many(row, items)
            }
            Kind::Dict => {
                let (key, value) = (self.item(random, 0), self.item(random, depth));
                Value::Dict(
                    (0..random.below(5))
                        .map(|_| {
                            (
                                self.draw_shallow(random, key.kind()),
                                self.draw_shallow(random, value.kind()),
                            )
                        })
                        .filter(|(key, _)| key.is_hashable())
                        .collect(),
                )
            }
            Kind::None | Kind::Bool | Kind::Bytes | Kind::Named | Kind::Built => {
                let held = self.of(kind);
                if held.is_empty() {
                    return Literal::None.into();
                }
                random.pick(held).clone()
            }
        }
    }

    fn draw_shallow(&self, random: &mut Random, kind: Kind) -> Value {
        if let Some(wanted) = self.wanted.get(&kind)
            && random.chance(0.4)
        {
            return random.pick(wanted).clone();
        }
        let held = self.of(kind);
        if !held.is_empty() && (random.chance(0.7) || matches!(kind, Kind::Row(_) | Kind::Dict)) {
            return random.pick(held).clone();
        }
        self.made(random, kind, 0)
    }
}

fn as_text(value: &Value) -> Option<&str> {
    match value {
        Value::Atom(Literal::Str(text)) => Some(text),
        _ => None,
    }
}

/// A wanted value without a literal of the source, taken apart at it, or put together with it.
fn undone(wanted: &Value, literal: &str, made: &mut Vec<Value>) {
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
fn kin(value: &Value) -> Vec<Value> {
    match value {
        Value::Atom(Literal::Int(number)) => kin_of_number(number),
        Value::Atom(Literal::Bool(yes)) => vec![Literal::Bool(!yes).into()],
        Value::Atom(Literal::Float(number)) => vec![
            Literal::Float(number / 2.0).into(),
            Literal::Float(number + 1.0).into(),
            Value::int(*number as i64),
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
        let length = number.to_string().parse().unwrap_or(0);
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

/// The items without those that came before.
pub fn distinct(items: &[Value]) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        if !kept.contains(item) {
            kept.push(item.clone());
        }
    }
    kept
}

/// The pairs without those whose key came before.
pub fn without_doubles(pairs: Vec<(Value, Value)>) -> Vec<(Value, Value)> {
    let mut kept: Vec<(Value, Value)> = Vec::new();
    for (key, value) in pairs {
        if !kept.iter().any(|(held, _)| *held == key) {
            kept.push((key, value));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use ndbg_simulator::literal::parse;

    use super::*;

    #[test]
    fn a_goal_brings_what_it_may_have_been_made_from() {
        let mut pool = Pool::new();
        pool.add_with_kin(&parse("{'Ab-c': [3, 4]}").unwrap().into());
        let held = |kind, text: &str| pool.of(kind).iter().any(|v| v.to_string() == text);
        for (kind, text) in [
            (Kind::Str, "'Ab-c'"),
            (Kind::Str, "'c-bA'"),
            (Kind::Str, "'aB-C'"),
            (Kind::Str, "'Abc'"),
            (Kind::Row(Row::List), "['Ab', 'c']"),
            (Kind::Row(Row::List), "[('Ab-c', [3, 4])]"),
            (Kind::Row(Row::List), "[4, 3]"),
            (Kind::Int, "4"),
            (Kind::Int, "5"),
        ] {
            assert!(held(kind, text), "{text}");
        }
    }

    #[test]
    fn what_is_drawn_is_of_the_kind_and_can_be_hashed_where_it_must() {
        let pool = Pool::new();
        let mut random = Random::of(3, 0);
        for kind in [
            Kind::Int,
            Kind::Str,
            Kind::Dict,
            Kind::Row(Row::Set),
            Kind::Row(Row::List),
        ] {
            for _ in 0..200 {
                let value = pool.draw(&mut random, kind);
                assert_eq!(value.kind(), kind);
                match value {
                    Value::Many(Row::Set, items) => assert!(items.iter().all(Value::is_hashable)),
                    Value::Dict(pairs) => assert!(pairs.iter().all(|(key, _)| key.is_hashable())),
                    _ => {}
                }
            }
        }
    }
}
