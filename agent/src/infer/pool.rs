//! Values that a search builds arguments from: what the goal, the source and recorded calls hold, and what can
//! be made of them.

use std::collections::{BTreeMap, HashSet};

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::Literal;

use super::kin::{as_text, kin, undone};
use super::value::{Kind, Row, Value};

/// Values of a kind at most: later ones are less likely to help.
const MOST: usize = 400;
/// Characters of a text that parts are taken from.
pub const TAKEN_APART: usize = 60;
/// Texts that others are split and joined with.
pub const JOINTS: &[&str] = &["", " ", ",", ", ", "-", "_", "\n", ":", "/", "."];

/// Items and letters that are gone through while values are made from others, all of them together: what is made
/// of a large value is large as well, and there is much of it.
const WORK: usize = 200_000;

/// Parts of the wanted value that are held in their order.
const PARTS: usize = 64;

/// Letters outside of ASCII: a lower and an upper one, one without case, a digit, a mark, a wide one.
const FOREIGN: &[char] = &['é', 'Ñ', 'ß', '٣', '—', '日'];

/// Values by kind, and the letters that occur in them.
#[derive(Debug, Clone)]
pub struct Pool {
    /// Parts of the goal itself.
    wanted: BTreeMap<Kind, Vec<Value>>,
    /// Some of them, as they follow each other.
    parts: Vec<Value>,
    values: BTreeMap<Kind, Vec<Value>>,
    known: HashSet<String>,
    letters: Vec<char>,
    /// What is left of the work.
    work: usize,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            wanted: BTreeMap::new(),
            parts: Vec::new(),
            values: BTreeMap::new(),
            known: HashSet::new(),
            letters: Vec::new(),
            work: WORK,
        }
    }
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

    /// Adds a value with its parts and what it may have been made from, as far as there is work left.
    pub fn add_with_kin(&mut self, value: &Value) {
        self.add(value.clone());
        // Nearly as many values are made of one as it has letters.
        let steps = 8 + value.bulk(self.work);
        let Some(left) = self.work.checked_sub(steps) else {
            return;
        };
        self.work = left;
        for part in value.parts() {
            if self.work == 0 {
                break;
            }
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
        let mut steps = WORK;
        while let Some(part) = parts.pop() {
            let held = self.wanted.entry(part.kind()).or_default();
            steps = steps.saturating_sub(1 + held.len());
            if steps == 0 {
                break;
            }
            if held.len() < MOST && !held.contains(part) {
                held.push(part.clone());
            }
            if self.parts.len() < PARTS {
                self.parts.push(part.clone());
            }
            parts.extend(part.parts().into_iter().rev());
        }
    }

    /// Parts of the wanted value as they follow each other, itself before them; not all of a large one.
    pub fn wanted(&self) -> &[Value] {
        &self.parts
    }

    /// Adds what wanted texts may have been before a literal of the source was put in, or was split by.
    pub fn add_undone(&mut self, literals: &[Value]) {
        let texts: Vec<&str> = literals.iter().filter_map(as_text).collect();
        let texts = texts.into_iter().filter(|text| !text.is_empty()).take(40);
        let mut made = Vec::new();
        for literal in texts {
            for wanted in self.wanted.values().flatten() {
                let steps = 4 * wanted.bulk(self.work);
                let Some(left) = self.work.checked_sub(steps) else {
                    continue;
                };
                self.work = left;
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
    fn no_goal_takes_long_to_be_taken_apart() {
        let nested = format!("{}{}", "[".repeat(50), "]".repeat(50));
        let numbers: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
        let words: Vec<String> = (0..5_000).map(|number| format!("'w{number} x'")).collect();
        let begun = std::time::Instant::now();
        for text in [
            nested,
            format!("'{}'", "a b,c".repeat(20_000)),
            format!("[{}]", numbers.join(", ")),
            format!("[{}]", words.join(", ")),
            format!("{{{}}}", numbers.join(", ")),
        ] {
            let wanted: Value = parse(&text).unwrap().into();
            let mut pool = Pool::default();
            pool.add_wanted(&wanted);
            pool.add_undone(&[Value::text(" "), Value::text("b"), Value::text(",")]);
            assert_eq!(pool.wanted()[0], wanted);
            assert_eq!(pool.of(wanted.kind())[0], wanted);
        }
        assert!(
            begun.elapsed().as_secs_f64() < 10.0,
            "{:?}",
            begun.elapsed()
        );
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
