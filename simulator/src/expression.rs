//! Questions about a state: `n > 3 and s[0] in 'aeiou'`, `self.balance < 0`, `$function == 'pay'`.
//!
//! A small part of Python's expressions, with Python's meaning, over recorded text. Nothing is run:
//! what is not in the text is unknown, and a comparison with something unknown is false.

mod object;
mod parse;

use num_bigint::BigInt;

use crate::literal::{self, Literal};

pub use parse::{SyntaxError, parse};

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A value.
    Literal(Literal),
    /// A variable.
    Name(String),
    /// Something about the event itself, without its `$`; one of [`SPECIAL`].
    Special(String),
    /// `left or right`.
    Or(Box<Expression>, Box<Expression>),
    /// `left and right`.
    And(Box<Expression>, Box<Expression>),
    /// `not inner`.
    Not(Box<Expression>),
    /// `first < second == third`.
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    /// `len(inner)`.
    Length(Box<Expression>),
    /// `inner[key]`.
    Item(Box<Expression>, Box<Expression>),
    /// `inner.name`.
    Attribute(Box<Expression>, String),
}

/// What `$name` can name.
pub const SPECIAL: [&str; 7] = [
    "event",
    "function",
    "file",
    "line",
    "depth",
    "value",
    "exception",
];

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `in`
    In,
    /// `not in`
    NotIn,
    /// `is`: for recorded text the same as `==` with the same type.
    Is,
    /// `is not`
    IsNot,
}

/// What an expression comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A value.
    Value(Literal),
    /// Text that is no literal: an object, or a value that was shortened.
    Text(String),
    /// It cannot be told from the recording, and why.
    Unknown(String),
    /// A name in it is not bound where it is asked.
    Unbound(String),
}

impl Outcome {
    /// Whether it holds, for a condition.
    pub fn holds(&self) -> bool {
        match self {
            Self::Value(value) => value.is_true(),
            // An object is true unless it says otherwise, which we cannot ask.
            Self::Text(_) => true,
            Self::Unknown(_) | Self::Unbound(_) => false,
        }
    }

    /// Whether something is missing, and what.
    pub fn missing(&self) -> Option<&str> {
        match self {
            Self::Unknown(why) | Self::Unbound(why) => Some(why),
            Self::Value(_) | Self::Text(_) => None,
        }
    }

    /// From recorded text.
    pub fn from_text(text: &str) -> Self {
        match literal::parse(text) {
            Ok(value) => Self::Value(value),
            Err(_) => Self::Text(text.to_owned()),
        }
    }
}

/// Where names get their values.
pub trait Names {
    /// Recorded text of a variable.
    fn name(&self, name: &str) -> Option<&str>;
    /// Something about the event.
    fn special(&self, name: &str) -> Option<Outcome>;
}

impl Expression {
    /// Evaluates it.
    pub fn evaluate(&self, names: &dyn Names) -> Outcome {
        match self {
            Self::Literal(value) => Outcome::Value(value.clone()),
            Self::Name(name) => match names.name(name) {
                Some(text) => Outcome::from_text(text),
                None => Outcome::Unbound(format!("`{name}` is not bound here")),
            },
            Self::Special(name) => names
                .special(name)
                .unwrap_or_else(|| Outcome::Unbound(format!("`${name}` means nothing here"))),
            Self::Or(left, right) => {
                let first = left.evaluate(names);
                if first.holds() {
                    first
                } else {
                    right.evaluate(names)
                }
            }
            Self::And(left, right) => {
                let first = left.evaluate(names);
                if first.holds() {
                    right.evaluate(names)
                } else {
                    first
                }
            }
            Self::Not(inner) => match inner.evaluate(names) {
                missing @ (Outcome::Unknown(_) | Outcome::Unbound(_)) => missing,
                known => Outcome::Value(Literal::Bool(!known.holds())),
            },
            Self::Compare(first, rest) => {
                let mut left = first.evaluate(names);
                for (operator, right) in rest {
                    let mut right = right.evaluate(names);
                    if matches!(operator, Comparison::In | Comparison::NotIn) {
                        right = opened(right);
                    }
                    match compare(&left, *operator, &right) {
                        Ok(true) => left = right,
                        Ok(false) => return Outcome::Value(Literal::Bool(false)),
                        Err(missing) => return missing,
                    }
                }
                Outcome::Value(Literal::Bool(true))
            }
            Self::Length(inner) => match inner.evaluate(names) {
                Outcome::Value(value) => match value.len() {
                    Some(length) => Outcome::Value(Literal::Int(BigInt::from(length))),
                    None => Outcome::Unknown(format!("`{}` has no length", value.type_name())),
                },
                Outcome::Text(text) => match length_of(&text) {
                    Some(length) => Outcome::Value(Literal::Int(BigInt::from(length))),
                    None => Outcome::Unknown("its length was not recorded".into()),
                },
                missing => missing,
            },
            Self::Item(inner, key) => match (opened(inner.evaluate(names)), key.evaluate(names)) {
                (Outcome::Value(value), Outcome::Value(key)) => match value.item(&key) {
                    Some(item) => Outcome::Value(item),
                    None => Outcome::Unknown(format!("`{value}` has no item `{key}`")),
                },
                (missing @ (Outcome::Unknown(_) | Outcome::Unbound(_)), _)
                | (_, missing @ (Outcome::Unknown(_) | Outcome::Unbound(_))) => missing,
                _ => Outcome::Unknown("its items were not recorded".into()),
            },
            Self::Attribute(inner, name) => match inner.evaluate(names) {
                Outcome::Text(text) => match object::attribute(&text, name) {
                    Some(value) => Outcome::from_text(value),
                    None => Outcome::Unknown(format!("no recorded attribute `{name}`")),
                },
                Outcome::Value(value) => Outcome::Unknown(format!(
                    "attributes of `{}` are not recorded",
                    value.type_name()
                )),
                missing => missing,
            },
        }
    }
}

fn length_of(text: &str) -> Option<usize> {
    match object::inside(text) {
        Some(value) => value.len(),
        None => object::length(text),
    }
}

/// The container in the text of a `Counter` and its like; everything else as it is.
fn opened(outcome: Outcome) -> Outcome {
    match &outcome {
        Outcome::Text(text) => object::inside(text).map_or(outcome, Outcome::Value),
        _ => outcome,
    }
}

fn compare(left: &Outcome, operator: Comparison, right: &Outcome) -> Result<bool, Outcome> {
    use std::cmp::Ordering::{Greater, Less};
    let (a, b) = match (left, right) {
        (missing @ (Outcome::Unknown(_) | Outcome::Unbound(_)), _)
        | (_, missing @ (Outcome::Unknown(_) | Outcome::Unbound(_))) => {
            return Err(missing.clone());
        }
        (Outcome::Value(a), Outcome::Value(b)) => (a, b),
        // An object and a value: different, whatever the object is; two objects: by their text.
        (a, b) => {
            return match operator {
                Comparison::Equal | Comparison::Is => Ok(a == b),
                Comparison::Unequal | Comparison::IsNot => Ok(a != b),
                _ => Err(Outcome::Unknown(
                    "objects and cut values have no order and no items here".into(),
                )),
            };
        }
    };
    let order = || {
        a.order(b).ok_or_else(|| {
            let (a, b) = (a.type_name(), b.type_name());
            Outcome::Unknown(format!("`{a}` and `{b}` have no order"))
        })
    };
    let inside = || {
        b.contains(a)
            .ok_or_else(|| Outcome::Unknown(format!("`{}` holds no items", b.type_name())))
    };
    Ok(match operator {
        Comparison::Equal => a.equals(b),
        Comparison::Unequal => !a.equals(b),
        Comparison::Less => order()? == Less,
        Comparison::LessEqual => order()? != Greater,
        Comparison::Greater => order()? == Greater,
        Comparison::GreaterEqual => order()? != Less,
        Comparison::In => inside()?,
        Comparison::NotIn => !inside()?,
        Comparison::Is => a.type_name() == b.type_name() && a.equals(b),
        Comparison::IsNot => a.type_name() != b.type_name() || !a.equals(b),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Names for Fixed {
        fn name(&self, name: &str) -> Option<&str> {
            Some(match name {
                "n" => "4",
                "s" => "'berry'",
                "items" => "[1, 2, {'a': None}]",
                "self" => "<Account owner='Ann, =B' balance=-3 history=[(1, 2)] inner=<Card no=7>>",
                "other" => "<Account …>",
                "many" => "[0, (1, 2), …+497, 499]",
                "long" => "'abab' …+292 'ab\\'b'",
                "point" => "<P x=1, y=2>",
                "counts" => "Counter({'a': 2, 'b': 1})",
                _ => return None,
            })
        }

        fn special(&self, name: &str) -> Option<Outcome> {
            (name == "function").then(|| Outcome::Value(Literal::Str("Account.pay".into())))
        }
    }

    fn holds(text: &str) -> bool {
        parse(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .evaluate(&Fixed)
            .holds()
    }

    #[test]
    fn questions_have_pythons_meaning() {
        for text in [
            "n == 4",
            "n > 3 and s[0] == 'b'",
            "not n < 4",
            "1 < n <= 4",
            "'rr' in s and 'x' not in s",
            "len(items) == 3",
            "items[-1]['a'] is None",
            "self.balance < 0",
            "self.owner == 'Ann, =B'",
            "self.inner.no == 7",
            "self.history[0] == (1, 2)",
            "self != None",
            "missing or n",
            "$function == 'Account.pay'",
            "(n == 1 or n == 4) and True",
            "n == 4.0",
            "n is not True",
            "len(many) == 500 and len(long) == 300",
            "point.x == 1 and point.y == 2",
            "counts['a'] == 2 and 'b' in counts and len(counts) == 2",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in [
            "n == 5",
            "missing == 1",
            "missing != 1",
            "s < 3",
            "self.gone == 1",
            "other < self",
        ] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn a_syntax_error_points_at_its_column() {
        for (text, column) in [
            ("n >", 4),
            ("n = 4", 3),
            ("n == 4)", 7),
            ("(n == 4", 8),
            ("n === 4", 5),
            ("$nope == 1", 1),
            ("len n", 5),
            ("n ! 4", 3),
            ("é == 'x", 6),
            ("", 1),
            ("a.1", 3),
            ("f(1)", 2),
            ("n + 1", 3),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.column, column, "{text}: {error}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        assert!(parse(&"(".repeat(100_000)).is_err());
        assert!(parse(&"not ".repeat(100_000)).is_err());
    }
}
