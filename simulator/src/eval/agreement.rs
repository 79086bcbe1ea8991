//! When two values, effects or states are the same.

use crate::grammar::step::{Effect, Operation, encode_effect};
use crate::harness::Event;
use crate::literal::{self, Literal};

/// Whether two texts are the same value, type by type: 1 is not `True`, and the order of a dictionary
/// counts, that of a set does not.
pub fn same_text(one: &str, other: &str) -> bool {
    one == other
        || match (literal::parse(one), literal::parse(other)) {
            (Ok(one), Ok(other)) => same_value(&one, &other),
            _ => false,
        }
}

/// Whether two values are the same, type by type.
pub fn same_value(one: &Literal, other: &Literal) -> bool {
    use Literal::{Complex, Dict, Float, FrozenSet, List, Set, Tuple};
    let float = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match (one, other) {
        (Float(a), Float(b)) => float(*a, *b),
        (Complex(a, b), Complex(c, d)) => float(*a, *c) && float(*b, *d),
        (List(a), List(b)) | (Tuple(a), Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Set(a), Set(b)) | (FrozenSet(a), FrozenSet(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|item| b.iter().any(|held| same_value(item, held)))
        }
        (Dict(a), Dict(b)) => {
            let mut pairs = a.iter().zip(b);
            a.len() == b.len()
                && pairs.all(|(a, b)| same_value(&a.0, &b.0) && same_value(&a.1, &b.1))
        }
        _ => one == other,
    }
}

/// Whether two effects of an operation are the same.
pub fn same_effect(operation: &Operation, one: &Effect, other: &Effect) -> bool {
    if one == other {
        return true;
    }
    if let (
        Effect::Gives {
            result: a,
            after: after_a,
        },
        Effect::Gives {
            result: b,
            after: after_b,
        },
    ) = (one, other)
    {
        let after = match (after_a, after_b) {
            (None, None) => true,
            (Some(a), Some(b)) => same_text(a, b),
            _ => false,
        };
        if after && same_text(a, b) {
            return true;
        }
    }
    // Views and iterators are no literals; what is left is how they are written.
    encode_effect(operation, one) == encode_effect(operation, other)
}

/// In what two states differ, the outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// One is a call, the other a return.
    Kind,
    /// Another line or function.
    Line,
    /// A variable has another value.
    Locals,
    /// Another value is returned or raised.
    Value,
}

/// In what two states of harness runs differ; none if in nothing.
pub fn state_difference(one: &Event, other: &Event) -> Option<Difference> {
    if one.kind != other.kind {
        return Some(Difference::Kind);
    }
    if one.line != other.line || one.function != other.function {
        return Some(Difference::Line);
    }
    if !same_locals(&one.locals, &other.locals) {
        return Some(Difference::Locals);
    }
    match (&one.value, &other.value) {
        (Some(a), Some(b)) if !same_text(a, b) => Some(Difference::Value),
        _ => None,
    }
}

/// Whether the same names have the same values.
pub(super) fn same_locals(one: &[(String, String)], other: &[(String, String)]) -> bool {
    one.len() == other.len()
        && one.iter().all(|(name, value)| {
            let held = other.iter().find(|(held, _)| held == name);
            held.is_some_and(|(_, other)| same_text(value, other))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_type_by_type() {
        assert!(same_text("[1,2]", "[1, 2]") && same_text("{2, 1}", "{1, 2}"));
        assert!(same_text("'a'", "\"a\"") && same_text("nan", "nan"));
        assert!(!same_text("1", "True") && !same_text("1", "1.0"));
        assert!(!same_text("{1: 2, 3: 4}", "{3: 4, 1: 2}"));
        assert!(!same_text("0.0", "-0.0"));
    }

    #[test]
    fn effects_are_the_same_however_they_are_written() {
        let operation = Operation {
            expression: "v0.append(v1)".into(),
            operands: vec!["[1]".into(), "2".into()],
        };
        let gives = |after: &str| Effect::Gives {
            result: "None".into(),
            after: Some(after.into()),
        };
        assert!(same_effect(&operation, &gives("[1,2]"), &gives("[1, 2]")));
        assert!(!same_effect(&operation, &gives("[1,2]"), &gives("[2, 1]")));
        let view = |text: &str| Effect::Gives {
            result: text.into(),
            after: None,
        };
        assert!(same_effect(
            &operation,
            &view("dict_keys([1,2])"),
            &view("dict_keys([1, 2])")
        ));
        assert!(!same_effect(&operation, &view("1"), &Effect::Opaque));
    }
}
