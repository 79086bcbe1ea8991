//! A piece of expression text with its precedence and what is known about its value.

/// Precedence, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Conditional,
    Or,
    And,
    Not,
    Comparison,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Unary,
    Power,
    Atom,
}

/// An expression.
#[derive(Debug, Clone)]
pub(super) struct Code {
    pub(super) text: String,
    pub(super) rank: Rank,
    /// Upper bound of the decimal digits of a number.
    pub(super) size: u8,
    pub(super) nonnegative: bool,
    pub(super) nonzero: bool,
    /// Lower bound of the length.
    pub(super) least: usize,
}

impl Code {
    pub(super) fn new(text: impl Into<String>, rank: Rank) -> Self {
        Self {
            text: text.into(),
            rank,
            size: 3,
            nonnegative: false,
            nonzero: false,
            least: 0,
        }
    }

    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self::new(text, Rank::Atom)
    }

    /// The text, in parentheses when its operator binds looser than `rank`.
    pub(super) fn at(&self, rank: Rank) -> String {
        if self.rank < rank {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }

    /// Whether it is a literal, or starts with one.
    pub(super) fn is_literal(&self) -> bool {
        let first = self.text.chars().next().unwrap_or('0');
        first.is_ascii_digit()
            || matches!(first, '\'' | '"' | '[' | '{')
            || matches!(
                self.text.as_str(),
                "True" | "False" | "None" | "set()" | "list()" | "dict()"
            )
    }

    /// The text as the receiver of a method or subscript: number literals need parentheses.
    pub(super) fn receiver(&self) -> String {
        if self
            .text
            .starts_with(|letter: char| letter.is_ascii_digit())
        {
            format!("({})", self.text)
        } else {
            self.at(Rank::Atom)
        }
    }
}
