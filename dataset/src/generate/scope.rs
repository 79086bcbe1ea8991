//! Variables in reach, and what is known about their values.

use super::types::Type;

/// What a variable is with regard to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// A valid index of this container.
    IndexOf(String),
    /// A key that this dict has.
    KeyOf(String),
    /// One character, or empty in hostile cases.
    Letter,
    /// Text of decimal digits.
    Digits,
}

/// A variable.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about one value"
)]
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Type,
    /// Upper bound of the decimal digits of a number.
    pub(super) size: u8,
    pub(super) nonnegative: bool,
    pub(super) nonzero: bool,
    /// Lower bound of the length.
    pub(super) least: usize,
    pub(super) role: Role,
    /// Not assigned, shrunk or otherwise weakened here: an enclosing loop relies on it.
    pub(super) locked: bool,
    /// A loop runs over it: its size stays.
    pub(super) iterated: bool,
    pub(super) reads: u32,
    /// Variables of one group may be the same object.
    pub(super) group: u32,
    /// Whether the function made it: a parameter is changed less readily.
    pub(super) own: bool,
}

impl Variable {
    pub(super) fn new(name: String, ty: Type, group: u32) -> Self {
        Self {
            name,
            ty,
            size: 3,
            nonnegative: false,
            nonzero: false,
            least: 0,
            role: Role::Plain,
            locked: false,
            iterated: false,
            reads: 0,
            group,
            own: true,
        }
    }

    /// Forgets what is known about the value.
    pub(super) fn weaken(&mut self) {
        self.size = self.size.max(4);
        self.nonnegative = false;
        self.nonzero = false;
        self.least = 0;
        self.role = Role::Plain;
    }

    /// Keeps what holds here and in `other`.
    pub(super) fn join(&mut self, other: &Variable) {
        self.size = self.size.max(other.size);
        self.nonnegative &= other.nonnegative;
        self.nonzero &= other.nonzero;
        self.least = self.least.min(other.least);
        if self.role != other.role {
            self.role = Role::Plain;
        }
        self.reads = self.reads.max(other.reads);
    }

    pub(super) fn is_attribute(&self) -> bool {
        self.name.contains('.')
    }
}
