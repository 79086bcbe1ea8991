//! Which grammar a model speaks.

use super::error::ModelError;

/// A grammar of states and actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Whole trajectories, forwards and backwards: [`crate::grammar::nd`].
    Nd,
    /// The released CWM weights: [`crate::grammar::cwm`].
    Cwm,
    /// One operation and its effect, for small models.
    Step,
}

impl Dialect {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Nd, Self::Cwm, Self::Step];

    /// Its name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nd => "nd",
            Self::Cwm => "cwm",
            Self::Step => "step",
        }
    }

    /// The dialect with a name.
    ///
    /// # Errors
    /// [`ModelError::Dialect`], which lists those that are known.
    pub fn from_name(name: &str) -> Result<Self, ModelError> {
        let found = Self::ALL.iter().find(|dialect| dialect.name() == name);
        found
            .copied()
            .ok_or_else(|| ModelError::Dialect(Some(name.to_owned())))
    }
}
