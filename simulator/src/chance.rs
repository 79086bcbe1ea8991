//! Draws from a seeded generator, the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A generator that is a function of a seed and a number, so that work can be split in any way.
pub(crate) fn generator(seed: u64, number: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(number);
    generator
}

/// Uniform in [0, 1): 53 random bits.
pub(crate) fn unit(generator: &mut ChaCha8Rng) -> f64 {
    (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Uniform in 0..`count`; 0 for an empty range.
pub(crate) fn below(generator: &mut ChaCha8Rng, count: usize) -> usize {
    // The bias of the product is below count / 2^64.
    ((u128::from(generator.next_u64()) * count as u128) >> 64) as usize
}
