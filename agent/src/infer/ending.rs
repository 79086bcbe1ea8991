//! How calls end, and which endings are worth more.

use ndbg_tools::python::executions::{Execution, Outcome};

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// One version: with a value, or in another way.
    One(Way),
    /// Two versions.
    Two(Way, Way),
}

/// How one version ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// With a value.
    Value,
    /// With a class of exceptions.
    Raised(String),
    /// In another way.
    Other,
}

impl Way {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Returned { .. } => Self::Value,
            Outcome::Raised { class, .. } => Self::Raised(class.clone()),
            _ => Self::Other,
        }
    }
}

impl Ending {
    /// The ending of an execution.
    pub fn of(execution: &Execution) -> Self {
        let first = Way::of(&execution.outcome);
        match &execution.other {
            None => Self::One(first),
            Some(other) => Self::Two(first, Way::of(other)),
        }
    }

    /// Whether a call may be replaced by a smaller one that ends in this way. Two versions part over the same
    /// thing only if both go on to end as they did; one may come to return a value.
    pub fn may_become(&self, other: &Self) -> bool {
        self == other || *other == Self::One(Way::Value)
    }

    /// Whether two versions that end so can be told apart by a test. With exceptions of one class they cannot.
    pub fn tells(&self) -> bool {
        match self {
            Self::Two(Way::Raised(first), Way::Raised(second)) => first != second,
            _ => true,
        }
    }

    /// What is worth less than other endings: of two versions, that one or both return no value. A difference
    /// between two exceptions mostly says that the arguments were none that anybody would give.
    pub fn rank(&self) -> usize {
        match self {
            Self::One(_) | Self::Two(Way::Value, Way::Value) => 0,
            Self::Two(Way::Value, _) | Self::Two(_, Way::Value) => 1,
            Self::Two(..) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_worth_more_than_exceptions() {
        let raised = |class: &str| Way::Raised(class.into());
        let both = Ending::Two(Way::Value, Way::Value);
        let one = Ending::Two(raised("KeyError"), Way::Value);
        let none = Ending::Two(raised("TypeError"), raised("KeyError"));
        assert!(both.rank() < one.rank() && one.rank() < none.rank());
        assert!(none.tells());
        assert!(!Ending::Two(raised("KeyError"), raised("KeyError")).tells());
    }
}
