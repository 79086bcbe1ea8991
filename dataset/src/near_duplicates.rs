//! Which items of a data set are the same as an earlier one, or nearly.
//!
//! Exact duplicates have one hash in normal form. Near ones are found by MinHash over shingles of tokens:
//! signatures are cut into bands, items that agree in a band are compared, and the Jaccard similarity of
//! their shingles decides (Broder 1997; Leskovec, Rajaraman and Ullman, chapter 3).

use std::collections::{BTreeSet, HashMap};

use crate::normalised::Normalised;
use crate::random::Random;

/// When two items are too near.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearOptions {
    /// Tokens of a shingle.
    pub shingle: usize,
    /// Jaccard similarity from which an item is a near duplicate.
    pub similarity: f64,
}

impl Default for NearOptions {
    fn default() -> Self {
        Self {
            shingle: 5,
            similarity: 0.8,
        }
    }
}

/// What an item is a duplicate of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DuplicateOf {
    /// Equal to this one in normal form.
    Exact(usize),
    /// As similar to this one as the number says.
    Near(usize, f64),
}

/// Bands and rows of a signature: pairs of similarity 0.8 meet in a band with a chance of 99.9 %, those
/// of 0.4 with one of 18 %.
const BANDS: usize = 32;
const ROWS: usize = 4;

/// The Mersenne prime 2^61 - 1: hashing modulo it needs no division.
const PRIME: u128 = (1 << 61) - 1;

/// Items seen so far. Items are compared with those before them only: the first of a kind stays, and
/// adding more data never takes one away that was there.
#[derive(Debug)]
pub struct NearDuplicates {
    options: NearOptions,
    functions: Vec<(u64, u64)>,
    exact: HashMap<String, usize>,
    bands: HashMap<(usize, u64), Vec<usize>>,
    shingles: HashMap<usize, BTreeSet<u64>>,
    items: usize,
}

impl NearDuplicates {
    /// Nothing seen.
    pub fn new(options: NearOptions) -> Self {
        // The functions are part of the method: the same everywhere, whatever the data set's seed.
        let mut random = Random::of(0x6d69_6e68, 0);
        let mut draw = || (u128::from(random.bits()) % (PRIME - 1)) as u64 + 1;
        Self {
            options,
            functions: (0..BANDS * ROWS).map(|_| (draw(), draw())).collect(),
            exact: HashMap::new(),
            bands: HashMap::new(),
            shingles: HashMap::new(),
            items: 0,
        }
    }

    /// Adds the next item; none when it is unlike all before it. Items are numbered in the order of
    /// these calls; a duplicate is not kept to compare with.
    pub fn add(&mut self, item: &Normalised) -> Option<DuplicateOf> {
        let index = self.items;
        self.items += 1;
        let hash = item.hash();
        if let Some(first) = self.exact.get(&hash) {
            return Some(DuplicateOf::Exact(*first));
        }
        let shingles = shingles(&item.tokens, self.options.shingle);
        let bands = self.signature(&shingles);
        let mut candidates: Vec<usize> = bands
            .iter()
            .filter_map(|band| self.bands.get(band))
            .flatten()
            .copied()
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        for candidate in candidates {
            let similarity = self
                .shingles
                .get(&candidate)
                .map_or(0.0, |other| jaccard(&shingles, other));
            if similarity >= self.options.similarity {
                return Some(DuplicateOf::Near(candidate, similarity));
            }
        }
        for band in bands {
            self.bands.entry(band).or_default().push(index);
        }
        self.exact.insert(hash, index);
        self.shingles.insert(index, shingles);
        None
    }

    fn signature(&self, shingles: &BTreeSet<u64>) -> Vec<(usize, u64)> {
        let least = |(a, b): &(u64, u64)| {
            let values = shingles.iter().map(|shingle| {
                ((u128::from(*a) * u128::from(*shingle) + u128::from(*b)) % PRIME) as u64
            });
            values.min().unwrap_or(0)
        };
        let rows: Vec<u64> = self.functions.iter().map(least).collect();
        rows.chunks(ROWS)
            .enumerate()
            .map(|(band, rows)| (band, rows.iter().fold(0, |hash, row| mix(hash ^ row))))
            .collect()
    }
}

/// Hashes of the runs of `length` tokens; of the whole when there are fewer.
fn shingles(tokens: &[String], length: usize) -> BTreeSet<u64> {
    let hashes: Vec<u64> = tokens.iter().map(|token| fnv(token.as_bytes())).collect();
    let fold = |run: &[u64]| run.iter().fold(0, |hash, token| mix(hash ^ token));
    if hashes.len() < length.max(1) {
        return BTreeSet::from([fold(&hashes)]);
    }
    hashes.windows(length.max(1)).map(fold).collect()
}

/// Shared members over all members.
fn jaccard(left: &BTreeSet<u64>, right: &BTreeSet<u64>) -> f64 {
    let shared = left.intersection(right).count();
    shared as f64 / (left.len() + right.len() - shared).max(1) as f64
}

/// FNV-1a.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The finaliser of SplitMix64: every bit of the input reaches every bit of the result.
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::{DuplicateOf, NearDuplicates, NearOptions};
    use crate::normalised::normalise;

    const BASE: &str = "def f(items):\n    out = []\n    for item in items:\n        if item > 3:\n            out.append(item * 2)\n        elif item == 0:\n            continue\n        else:\n            out.insert(0, item)\n    out.sort(reverse=True)\n    return out[:5]\n";

    #[test]
    fn the_first_of_a_kind_stays() {
        let mut seen = NearDuplicates::new(NearOptions::default());
        let mut add = |source: &str| seen.add(&normalise(source).unwrap());
        assert_eq!(add(BASE), None);
        assert_eq!(
            add(&BASE.replace("out", "result").replace('3', "40")),
            Some(DuplicateOf::Exact(0))
        );
        let near = add(&BASE.replace("out[:5]", "out"));
        assert!(
            matches!(near, Some(DuplicateOf::Near(0, similarity)) if similarity > 0.8),
            "{near:?}"
        );
        assert_eq!(
            add("def f(a, b):\n    while a:\n        a, b = b % a, a\n    return b\n"),
            None
        );
    }

    #[test]
    fn similarity_can_be_asked_for() {
        let strict = NearOptions {
            similarity: 0.99,
            ..NearOptions::default()
        };
        let mut seen = NearDuplicates::new(strict);
        assert_eq!(seen.add(&normalise(BASE).unwrap()), None);
        assert_eq!(
            seen.add(&normalise(&BASE.replace("out[:5]", "out")).unwrap()),
            None
        );
    }
}
