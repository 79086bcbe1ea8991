//! Statistics of source code: measured from real functions, imitated by the generator, compared.

mod compare;
mod fit;
mod kinds;
mod measure;
mod metric;
mod selection;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use compare::{Distance, compare, distances};
pub use fit::{FitOptions, fit};
pub use measure::{Measurement, Unparsed};
pub use metric::{Metric, bucket_bounds, length_bucket};
pub use selection::Selection;

/// Shares, or weights, by value.
pub type Table = BTreeMap<String, f64>;

/// Why a profile is none.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The text is no profile.
    #[error("the profile could not be read: {0}")]
    Read(#[from] toml::de::Error),
    /// It could not be written as TOML.
    #[error("the profile could not be written: {0}")]
    Write(#[from] toml::ser::Error),
}

/// Statistics of code, and the weights under which the generator imitates them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What was measured, and its licence.
    pub about: String,
    /// Functions measured.
    pub functions: u64,
    /// Shares: each table sums to one.
    pub tables: BTreeMap<Metric, Table>,
    /// Corrections of the generator's choices, from [`fit`]; a value that is absent has weight 1.
    #[serde(default)]
    pub weights: BTreeMap<Metric, Table>,
}

/// Functions of CPython's standard library that need nothing but builtins.
const STANDARD_LIBRARY: &str = include_str!("../../profiles/stdlib-plain.toml");

impl Profile {
    /// The profile that ships with the crate: self-contained functions of CPython's standard library.
    pub fn standard_library() -> Result<Self, ProfileError> {
        Self::from_toml(STANDARD_LIBRARY)
    }

    /// Reads a profile.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        Ok(toml::from_str(text)?)
    }

    /// Writes a profile; shares are rounded, so that files stay readable.
    pub fn to_toml(&self) -> Result<String, ProfileError> {
        let mut rounded = self.clone();
        for table in rounded
            .tables
            .values_mut()
            .chain(rounded.weights.values_mut())
        {
            for share in table.values_mut() {
                *share = (*share * 1e6).round() / 1e6;
            }
        }
        Ok(toml::to_string(&rounded)?)
    }

    /// Share of `value` in the measured code, when the table has it.
    pub fn share(&self, metric: Metric, value: &str) -> Option<f64> {
        self.tables.get(&metric)?.get(value).copied()
    }

    /// The generator's correction for `value`.
    pub fn weight(&self, metric: Metric, value: &str) -> f64 {
        self.weights
            .get(&metric)
            .and_then(|table| table.get(value))
            .copied()
            .unwrap_or(1.0)
    }
}
