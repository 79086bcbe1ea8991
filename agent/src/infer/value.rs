//! Arguments of a call: literals, members of enumerations, and objects that a class builds.

use std::collections::HashSet;
use std::fmt;

use ndbg_simulator::literal::Literal;
use num_bigint::BigInt;

/// What makes an object with attributes and without calling its class: `rebuilt(Cart, items=[])`. Calls are
/// executed where this name is known, and a test file defines it.
pub const REBUILT: &str = "rebuilt";

/// Bytes of a text beyond which its letters are not told apart when it is measured.
const LONG: usize = 4_096;

/// A value that can be written into a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A value without items: a number, a text, `None`.
    Atom(Literal),
    /// A row of values.
    Many(Row, Vec<Value>),
    /// A dictionary, in its order.
    Dict(Vec<(Value, Value)>),
    /// An expression that is taken as it is, such as `Color.RED`.
    Named(String),
    /// An object that calling a class builds.
    Built(String, Vec<(Option<String>, Value)>),
}

/// What a row of values is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Row {
    List,
    Tuple,
    Set,
    FrozenSet,
}

/// What a value is, roughly: mutations keep it mostly, and a population has room for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    None,
    Bool,
    Int,
    Float,
    Str,
    Bytes,
    Row(Row),
    Dict,
    Named,
    Built,
}

impl Value {
    /// An integer.
    pub fn int(number: impl Into<BigInt>) -> Self {
        Self::Atom(Literal::Int(number.into()))
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Atom(Literal::Str(text.into()))
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Atom(Literal::Bool(_)) => Kind::Bool,
            // A text that cannot be held here, such as half a character.
            Self::Named(text) if text.starts_with('\'') => Kind::Str,
            Self::Atom(Literal::Int(_)) => Kind::Int,
            Self::Atom(Literal::Float(_) | Literal::Complex(..)) => Kind::Float,
            Self::Atom(Literal::Str(_)) => Kind::Str,
            Self::Atom(Literal::Bytes(_) | Literal::ByteArray(_)) => Kind::Bytes,
            Self::Atom(_) => Kind::None,
            Self::Many(row, _) => Kind::Row(*row),
            Self::Dict(_) => Kind::Dict,
            Self::Named(_) => Kind::Named,
            Self::Built(..) => Kind::Built,
        }
    }

    /// How much a reader has to read: characters, with more for what is nested or far from zero.
    pub fn size(&self) -> usize {
        match self {
            // Nobody reads so much.
            Self::Atom(Literal::Str(text)) if text.len() > LONG => 1 + 2 * text.len(),
            Self::Atom(Literal::Str(text)) => 1 + text.chars().map(plain).sum::<usize>(),
            // What is written with an exponent is far from zero all the same.
            Self::Atom(literal @ Literal::Float(number)) if number.abs() >= 1e16 => {
                literal.to_string().len() + number.abs().log10().min(400.0) as usize
            }
            Self::Atom(literal) => literal.to_string().len(),
            Self::Named(text) => text.len().min(6),
            Self::Many(_, items) => 2 + items.iter().map(|item| 1 + item.size()).sum::<usize>(),
            Self::Dict(pairs) => {
                let pair = |(key, value): &(Self, Self)| 2 + key.size() + value.size();
                2 + pairs.iter().map(pair).sum::<usize>()
            }
            Self::Built(_, arguments) => {
                4 + arguments.iter().map(|(_, v)| 1 + v.size()).sum::<usize>()
            }
        }
    }

    /// Values and letters in it, counted up to about `most`.
    pub fn bulk(&self, most: usize) -> usize {
        let mut sum = 0;
        let mut waiting = vec![self];
        while let Some(value) = waiting.pop() {
            sum += 1;
            if let Self::Atom(Literal::Str(text)) = value {
                sum += text.len();
            }
            if sum > most {
                break;
            }
            waiting.extend(value.parts());
        }
        sum
    }

    /// The values directly in it.
    pub fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Many(_, items) => items.iter().collect(),
            Self::Dict(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).collect(),
            Self::Built(_, arguments) => arguments.iter().map(|(_, value)| value).collect(),
            Self::Atom(_) | Self::Named(_) => Vec::new(),
        }
    }

    /// Whether Python can hash it, so that it may be a key.
    pub fn is_hashable(&self) -> bool {
        match self {
            Self::Many(Row::Tuple | Row::FrozenSet, items) => items.iter().all(Self::is_hashable),
            Self::Many(..) | Self::Dict(_) | Self::Built(..) => false,
            Self::Atom(Literal::ByteArray(_)) => false,
            Self::Atom(_) | Self::Named(_) => true,
        }
    }
}

/// The items without those that came before.
pub fn distinct(items: &[Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    let new = items.iter().filter(|item| seen.insert(item.to_string()));
    new.cloned().collect()
}

/// The pairs without those whose key came before.
pub fn without_doubles(mut pairs: Vec<(Value, Value)>) -> Vec<(Value, Value)> {
    let mut seen = HashSet::new();
    pairs.retain(|(key, _)| seen.insert(key.to_string()));
    pairs
}

/// Letters, digits and spaces read easier than the rest.
fn plain(letter: char) -> usize {
    match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' => 2,
        _ if letter.is_ascii_graphic() => 3,
        _ => 6,
    }
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Self {
        let all = |items: Vec<Literal>| items.into_iter().map(Self::from).collect();
        match literal {
            Literal::List(items) => Self::Many(Row::List, all(items)),
            Literal::Tuple(items) => Self::Many(Row::Tuple, all(items)),
            Literal::Set(items) => Self::Many(Row::Set, all(items)),
            Literal::FrozenSet(items) => Self::Many(Row::FrozenSet, all(items)),
            Literal::Dict(pairs) => Self::Dict(
                pairs
                    .into_iter()
                    .map(|(key, value)| (key.into(), value.into()))
                    .collect(),
            ),
            atom => Self::Atom(atom),
        }
    }
}

impl fmt::Display for Value {
    /// As it is written in a call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atom(literal @ Literal::Float(number)) if !number.is_finite() => {
                write!(f, "float('{literal}')")
            }
            Self::Atom(literal) => write!(f, "{literal}"),
            Self::Named(text) => f.write_str(text),
            Self::Many(Row::Tuple, items) if items.len() == 1 => write!(f, "({},)", items[0]),
            Self::Many(Row::Set, items) if items.is_empty() => f.write_str("set()"),
            Self::Many(Row::FrozenSet, items) if items.is_empty() => f.write_str("frozenset()"),
            Self::Many(row, items) => {
                let (open, close) = match row {
                    Row::List => ("[", "]"),
                    Row::Tuple => ("(", ")"),
                    Row::Set => ("{", "}"),
                    Row::FrozenSet => ("frozenset({", "})"),
                };
                f.write_str(open)?;
                separated(f, items, |f, item| write!(f, "{item}"))?;
                f.write_str(close)
            }
            Self::Dict(pairs) => {
                f.write_str("{")?;
                separated(f, pairs, |f, (key, value)| write!(f, "{key}: {value}"))?;
                f.write_str("}")
            }
            Self::Built(class, arguments) => {
                write!(f, "{class}(")?;
                separated(f, arguments, |f, (name, value)| match name {
                    Some(name) => write!(f, "{name}={value}"),
                    None => write!(f, "{value}"),
                })?;
                f.write_str(")")
            }
        }
    }
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    each: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        each(f, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndbg_simulator::literal::parse;

    use super::*;

    fn value(text: &str) -> Value {
        parse(text).unwrap().into()
    }

    #[test]
    fn values_are_written_as_python_reads_them() {
        for text in [
            "None",
            "True",
            "-3",
            "1.5",
            "'it''s'",
            "b'x'",
            "[1, 'a', (2,)]",
            "()",
            "set()",
            "frozenset({1})",
            "{'a': [1], 2: {3}}",
        ] {
            let text = text.replace("''", "\\'");
            let text = parse(&text).unwrap().to_string();
            assert_eq!(value(&text).to_string(), text);
        }
        let built = Value::Built(
            "Point".into(),
            vec![
                (None, Value::int(1)),
                (Some("y".into()), Value::Named("Axis.Y".into())),
            ],
        );
        assert_eq!(built.to_string(), "Point(1, y=Axis.Y)");
        assert_eq!(
            Value::Atom(Literal::Float(f64::NAN)).to_string(),
            "float('nan')"
        );
    }

    #[test]
    fn what_reads_easier_is_smaller() {
        for (smaller, larger) in [
            ("1", "10"),
            ("1", "-1"),
            ("''", "'a'"),
            ("'ab'", "'a\\n'"),
            ("[]", "[0]"),
            ("[0]", "[[0]]"),
        ] {
            assert!(
                value(smaller).size() < value(larger).size(),
                "{smaller} {larger}"
            );
        }
    }
}
