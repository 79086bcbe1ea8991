//! What a unit of work gives, and why one gives nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A unit of work: a program to write and record, a function of a file, a test of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Stable name: the same work has the same key in every run.
    pub key: String,
    /// Kind of source for the counts of the manifest: `generated`, `fuzzed`, `doctest`, `repository`.
    pub source: String,
    /// What the worker needs to do it.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub work: serde_json::Value,
}

/// A line of a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Actions in it with their numbers, for the counts of the manifest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<String, u64>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Source of the program that it walks through, with the first of the program's samples: what
    /// duplicates, contamination and the split are decided by. The samples that follow without one
    /// belong to the same program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The sample itself; its fields become those of the line.
    pub data: serde_json::Map<String, serde_json::Value>,
}

/// What a unit gives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Harvest {
    /// Its samples, in a fixed order.
    pub samples: Vec<Sample>,
    /// Functions and programs of the unit that gave none, with the reason.
    pub left_out: BTreeMap<String, String>,
}

impl From<Vec<Sample>> for Harvest {
    fn from(samples: Vec<Sample>) -> Self {
        Self {
            samples,
            left_out: BTreeMap::new(),
        }
    }
}

/// The file that a sample was made of, and under what licence.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// File, relative to its project, or the name of a generator.
    pub file: String,
    /// Project or package with its version.
    pub project: String,
    /// SPDX expression of the licence.
    pub licence: String,
}

/// Why a unit gave no samples.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "skip", rename_all = "kebab-case")]
pub enum Skip {
    /// Nothing in it can be recorded, or it was refused.
    #[error("skipped: {reason}")]
    Unsuitable {
        /// Short and from a small set, so that it can be counted.
        reason: String,
    },
    /// The same as another unit's.
    #[error("a duplicate of `{of}`")]
    Duplicate {
        /// Key of the one that stays.
        of: String,
    },
    /// Too near to an item of a benchmark.
    #[error("contaminated: {reason}")]
    Contaminated {
        /// Which check fired.
        reason: String,
    },
    /// The worker failed. Only this kind is tried again by a later run.
    #[error("failed: {reason}")]
    Crashed {
        /// What it said.
        reason: String,
    },
}

impl Skip {
    /// Key under which the manifest counts it.
    pub fn label(&self) -> String {
        match self {
            Self::Unsuitable { reason } => format!("unsuitable: {reason}"),
            Self::Duplicate { .. } => "duplicate".to_owned(),
            Self::Contaminated { reason } => format!("contaminated: {reason}"),
            Self::Crashed { .. } => "crashed".to_owned(),
        }
    }
}
