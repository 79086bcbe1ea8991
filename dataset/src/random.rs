//! A random stream a unit: what it draws depends on the seed and its index and on nothing else.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// Draws of one unit.
///
/// The distributions are written here and not taken from a library, so that an upgrade of a
/// dependency cannot change a data set silently.
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of unit `index` under `seed`.
    ///
    /// ChaCha's key is the seed and its stream number the index: streams never overlap, and each is
    /// reached without drawing the ones before it.
    pub fn of(seed: u64, index: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(index);
        Self(generator)
    }

    /// Sixty-four random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of a product is uniform up to 2^-64 times the bound.
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number in `low..=high`; `low` when the range is empty.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.saturating_sub(low).saturating_add(1).max(1);
        low + self.below(span as usize) as i64
    }

    /// True with probability `share`.
    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of `items`, which are not empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of `words`, which are not empty.
    pub fn word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// An index, with probability in proportion to its weight; none when no weight is positive.
    pub fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().filter(|weight| **weight > 0.0).sum();
        if total <= 0.0 {
            return None;
        }
        let mut left = self.unit() * total;
        let mut last = None;
        for (index, weight) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0.0)
        {
            last = Some(index);
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        last
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_stream_depends_on_seed_and_index_only() {
        let first = Random::of(7, 3).bits();
        let _ = Random::of(7, 2).bits();
        assert_eq!(first, Random::of(7, 3).bits());
        assert_ne!(first, Random::of(7, 4).bits());
        assert_ne!(first, Random::of(8, 3).bits());
    }

    #[test]
    fn draws_stay_in_their_bounds() {
        let mut random = Random::of(1, 1);
        let mut seen = [0_usize; 5];
        for _ in 0..5_000 {
            seen[random.below(5)] += 1;
            assert!((-2..=2).contains(&random.between(-2, 2)));
        }
        assert!(
            seen.iter().all(|count| (800..1_200).contains(count)),
            "{seen:?}"
        );
        assert_eq!(random.weighted(&[0.0, 0.0]), None);
        assert_eq!(random.weighted(&[0.0, 2.0, 0.0]), Some(1));
    }
}
