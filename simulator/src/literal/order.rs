//! Equality and order of literals, as Python has them.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::Literal;

impl Literal {
    /// `self == other`: numbers by value, containers item by item, sets without order.
    pub fn equals(&self, other: &Self) -> bool {
        if let (Some(a), Some(b)) = (self.number(), other.number()) {
            return compare_numbers(&a, &b) == Some(Ordering::Equal);
        }
        match (self, other) {
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Self::Set(a) | Self::FrozenSet(a), Self::Set(b) | Self::FrozenSet(b)) => {
                a.len() == b.len() && a.iter().all(|item| b.iter().any(|held| held.equals(item)))
            }
            (Self::Dict(a), Self::Dict(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, value)| b.iter().any(|(k, v)| k.equals(key) && v.equals(value)))
            }
            (Self::Bytes(a) | Self::ByteArray(a), Self::Bytes(b) | Self::ByteArray(b)) => a == b,
            (Self::Range(..), Self::Range(..)) => {
                let length = self.len();
                length == other.len()
                    && [0, 1].iter().all(|&at| {
                        let at = Self::Int(BigInt::from(at));
                        self.item(&at) == other.item(&at)
                    })
            }
            _ => self == other,
        }
    }

    /// Order; none where Python raises a `TypeError`, and for NaN and sets that do not include each
    /// other.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        if let (Some(a), Some(b)) = (self.number(), other.number()) {
            return compare_numbers(&a, &b);
        }
        match (self, other) {
            (Self::Str(a), Self::Str(b)) => Some(a.cmp(b)),
            (Self::Bytes(a) | Self::ByteArray(a), Self::Bytes(b) | Self::ByteArray(b)) => {
                Some(a.cmp(b))
            }
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => {
                match a.iter().zip(b).find(|(a, b)| !a.equals(b)) {
                    Some((a, b)) => a.order(b),
                    None => Some(a.len().cmp(&b.len())),
                }
            }
            (Self::Set(a) | Self::FrozenSet(a), Self::Set(b) | Self::FrozenSet(b)) => {
                let inside =
                    |a: &[Self], b: &[Self]| a.iter().all(|x| b.iter().any(|y| y.equals(x)));
                match (inside(a, b), inside(b, a)) {
                    (true, true) => Some(Ordering::Equal),
                    (true, false) => Some(Ordering::Less),
                    (false, true) => Some(Ordering::Greater),
                    (false, false) => None,
                }
            }
            _ => None,
        }
    }

    /// `item in self`; none where Python raises.
    pub fn contains(&self, item: &Self) -> Option<bool> {
        match (self, item) {
            (Self::Str(text), Self::Str(part)) => Some(text.contains(part.as_str())),
            (Self::Bytes(text) | Self::ByteArray(text), Self::Bytes(part)) => {
                Some(part.is_empty() || text.windows(part.len()).any(|window| window == part))
            }
            (
                Self::List(items) | Self::Tuple(items) | Self::Set(items) | Self::FrozenSet(items),
                _,
            ) => Some(items.iter().any(|held| held.equals(item))),
            (Self::Dict(items), _) => Some(items.iter().any(|(key, _)| key.equals(item))),
            (Self::Range(start, _, step), Self::Int(number)) => {
                let length = BigInt::from(self.len()?);
                let at = number - start;
                Some(
                    &at % step == BigInt::ZERO && {
                        let at = at / step;
                        at >= BigInt::ZERO && at < length
                    },
                )
            }
            (Self::Range(..), _) => Some(false),
            _ => None,
        }
    }

    fn number(&self) -> Option<Number<'_>> {
        match self {
            Self::Bool(value) => Some(Number::Small(i64::from(*value))),
            Self::Int(value) => Some(Number::Int(value)),
            Self::Float(value) => Some(Number::Float(*value)),
            _ => None,
        }
    }
}

enum Number<'a> {
    Small(i64),
    Int(&'a BigInt),
    Float(f64),
}

fn compare_numbers(a: &Number<'_>, b: &Number<'_>) -> Option<Ordering> {
    let whole = |number: &Number<'_>| match number {
        Number::Small(value) => BigInt::from(*value),
        Number::Int(value) => (*value).clone(),
        Number::Float(_) => BigInt::ZERO,
    };
    match (a, b) {
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(b),
        (Number::Float(a), b) => compare_float(*a, &whole(b)),
        (a, Number::Float(b)) => compare_float(*b, &whole(a)).map(Ordering::reverse),
        (a, b) => Some(whole(a).cmp(&whole(b))),
    }
}

/// Exact, however large the integer is.
fn compare_float(a: f64, b: &BigInt) -> Option<Ordering> {
    if a.is_nan() {
        return None;
    }
    if a.is_infinite() {
        return Some(if a > 0.0 {
            Ordering::Greater
        } else {
            Ordering::Less
        });
    }
    // Below 2^53 a float's whole part fits an i64; above, the float is a whole number: its decimal
    // text without an exponent is exact.
    let whole: BigInt = format!("{:.0}", a.trunc()).parse().ok()?;
    Some(whole.cmp(b).then_with(|| {
        let fraction = a.fract();
        if fraction > 0.0 {
            Ordering::Greater
        } else if fraction < 0.0 {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use std::cmp::Ordering;

    fn equal(a: &str, b: &str) -> bool {
        parse(a).unwrap().equals(&parse(b).unwrap())
    }

    fn order(a: &str, b: &str) -> Option<Ordering> {
        parse(a).unwrap().order(&parse(b).unwrap())
    }

    #[test]
    fn equality_is_pythons() {
        assert!(equal("1", "1.0") && equal("True", "1") && equal("{1, 2}", "{2, 1}"));
        assert!(equal("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}") && equal("set()", "frozenset()"));
        assert!(equal("range(0)", "range(3, 3)") && equal("b'a'", "bytearray(b'a')"));
        assert!(
            !equal("[1]", "(1,)") && !equal("'1'", "1") && !equal("float('nan')", "float('nan')")
        );
        assert!(!equal("9007199254740993", "9007199254740992.0"));
    }

    #[test]
    fn order_is_pythons() {
        assert_eq!(order("2", "1.5"), Some(Ordering::Greater));
        assert_eq!(order("-1.5", "-1"), Some(Ordering::Less));
        assert_eq!(order("[1, 2]", "[1, 2, 0]"), Some(Ordering::Less));
        assert_eq!(order("{1}", "{1, 2}"), Some(Ordering::Less));
        assert_eq!(order("{1}", "{2}"), None);
        assert_eq!(order("'a'", "1"), None);
    }

    #[test]
    fn membership_is_pythons() {
        let has = |a: &str, b: &str| parse(a).unwrap().contains(&parse(b).unwrap());
        assert_eq!(has("'berry'", "'rr'"), Some(true));
        assert_eq!(has("{'a': 1}", "1"), Some(false));
        assert_eq!(has("range(1, 10, 3)", "7"), Some(true));
        assert_eq!(has("range(9, 0, -3)", "0"), Some(false));
        assert_eq!(has("5", "1"), None);
    }
}
