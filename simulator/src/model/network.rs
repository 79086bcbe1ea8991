//! The seam between a network and whoever asks it for tokens.

use super::config::Config;
use super::error::ModelError;

/// Logits of some places: for each a number for every token, before softmax and any temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct Logits {
    /// (places, vocabulary), row by row.
    pub values: Vec<f32>,
    /// Number of tokens.
    pub vocabulary: usize,
}

impl Logits {
    /// Those of one place.
    pub fn place(&self, index: usize) -> &[f32] {
        &self.values[index * self.vocabulary..][..self.vocabulary]
    }

    /// All places, in order.
    pub fn places(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.vocabulary)
    }
}

/// A causal network that keeps what it has read. Rows of a cache are sequences of any lengths.
///
/// Tokens must be in the vocabulary and sequences within the context: the caller has checked.
pub trait Network: Send + Sync {
    /// What was read.
    type Cache;

    /// Sizes.
    fn config(&self) -> &Config;

    /// Reads prompts, none of them empty. The logits follow the last token of each.
    fn read(&self, prompts: &[&[u32]]) -> Result<(Self::Cache, Logits), ModelError>;

    /// Goes on with one token for each row, in order. The logits follow them.
    fn step(&self, cache: &mut Self::Cache, tokens: &[u32]) -> Result<Logits, ModelError>;

    /// Several suffixes, none of them empty, of the one row of a cache, which stays as it is. The
    /// logits follow every token of every suffix, in order.
    fn extend(&self, cache: &mut Self::Cache, suffixes: &[&[u32]]) -> Result<Logits, ModelError>;

    /// Makes the one row of a cache into `copies` rows.
    fn fork(&self, cache: &mut Self::Cache, copies: usize) -> Result<(), ModelError>;

    /// Keeps only these rows, which are in rising order.
    fn retain(&self, cache: &mut Self::Cache, rows: &[usize]) -> Result<(), ModelError>;
}
