//! What is counted about code.

use serde::{Deserialize, Serialize};

macro_rules! metrics {
    ($($(#[doc = $doc:literal])* $name:ident),* $(,)?) => {
        /// A table of a profile: the shares of the values that one property of code takes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Metric { $($(#[doc = $doc])* $name),* }

        impl Metric {
            /// Every metric, in the order of reports.
            pub const ALL: &'static [Metric] = &[$(Metric::$name),*];
        }
    };
}

metrics! {
    /// Kind of a statement.
    Statement,
    /// Kind of an expression, at any place in the tree.
    Expression,
    /// Blocks around a statement; 1 is the body of the function.
    Depth,
    /// Statements of a function, nested ones included.
    FunctionLength,
    /// Statements directly in the body of a function.
    BodyLength,
    /// Statements directly in a nested block.
    BlockLength,
    /// Parameters of a function.
    Parameters,
    /// Height of the expression trees of statements; a name or a literal is 1.
    Height,
    /// Method of a builtin type, among calls of such methods.
    Method,
    /// Builtin function, among calls of builtins.
    Builtin,
    /// Binary arithmetic operator.
    Operator,
    /// Comparison operator.
    Comparison,
    /// Operator of an augmented assignment.
    Augmented,
    /// What a `for` loop or a comprehension iterates over.
    Iterable,
    /// What an assignment assigns to.
    Target,
    /// Kind of the expression that an `if` or `while` tests.
    Condition,
    /// Shape of an `if` statement.
    Branches,
    /// Kind of the expression after `return`.
    Returned,
    /// Exception raised.
    Raised,
    /// Characters of a string literal.
    StringLength,
    /// Items of a list display.
    ListLength,
    /// Items of a dict display.
    DictLength,
    /// Items of a tuple display.
    TupleLength,
    /// Size of an integer literal.
    Integer,
    /// Quotes of a string literal.
    Quotes,
    /// Parts of a subscript: an index or the shape of a slice.
    Subscript,
}

impl Metric {
    /// Name in files and reports.
    pub fn name(self) -> String {
        let debug = format!("{self:?}");
        let mut name = String::with_capacity(debug.len() + 2);
        for (at, letter) in debug.char_indices() {
            if letter.is_ascii_uppercase() && at > 0 {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }
}

/// Bucket of a count, coarser where it is larger.
pub fn length_bucket(count: usize) -> &'static str {
    match count {
        0 => "0",
        1 => "1",
        2 => "2",
        3 => "3",
        4..=5 => "4-5",
        6..=8 => "6-8",
        9..=12 => "9-12",
        13..=20 => "13-20",
        21..=40 => "21-40",
        _ => "41+",
    }
}

/// The counts of a bucket of [`length_bucket`], first and last; the open one is cut short.
pub fn bucket_bounds(bucket: &str) -> (i64, i64) {
    match bucket {
        "0" => (0, 0),
        "1" => (1, 1),
        "2" => (2, 2),
        "3" => (3, 3),
        "4-5" => (4, 5),
        "6-8" => (6, 8),
        "9-12" => (9, 12),
        "13-20" => (13, 20),
        "21-40" => (21, 40),
        _ => (41, 50),
    }
}

#[cfg(test)]
mod tests {
    use super::{Metric, bucket_bounds, length_bucket};

    #[test]
    fn names_are_those_of_the_files() {
        for metric in Metric::ALL {
            let written = serde_json::to_string(metric).unwrap();
            assert_eq!(written, format!("\"{}\"", metric.name()));
        }
    }

    #[test]
    fn buckets_hold_their_bounds() {
        for count in 0..60 {
            let (low, high) = bucket_bounds(length_bucket(count));
            assert!(low <= count as i64 && (count as i64) <= high.max(60));
        }
    }
}
