//! Drawing tokens of which only some are allowed, where it costs something to ask whether one is.

use rand_chacha::ChaCha8Rng;

use crate::chance::{generator, unit};

/// Draws that are refused before every token is asked about.
const REFUSED: usize = 48;

/// A source of tokens: a function of its seed.
#[derive(Debug)]
pub struct Draw {
    temperature: f64,
    chance: ChaCha8Rng,
}

impl Draw {
    /// With a temperature, 0 for the most probable.
    pub fn new(temperature: f64, seed: u64) -> Self {
        Self {
            temperature: temperature.max(0.0),
            chance: generator(seed, 0),
        }
    }

    /// A token that is allowed, by its probability among those that are; none if none is.
    ///
    /// What is drawn and refused is taken out and drawn again: this gives the same as taking out all that
    /// is not allowed, and mostly asks about one token.
    pub fn token(&mut self, logits: &[f32], allowed: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weight = |&logit: &f32| match self.temperature {
            // The most probable alone has to be told from the others; ties go to the first.
            0.0 => f64::from(logit),
            warm => (f64::from(logit - top) / warm).exp(),
        };
        let mut weights: Vec<f64> = logits.iter().map(weight).collect();
        for _ in 0..REFUSED {
            let token = self.drawn(&weights)?;
            if allowed(token as u32) {
                return Some(token as u32);
            }
            weights[token] = f64::NEG_INFINITY;
        }
        for (token, weight) in weights.iter_mut().enumerate() {
            if *weight > f64::NEG_INFINITY && !allowed(token as u32) {
                *weight = f64::NEG_INFINITY;
            }
        }
        self.drawn(&weights).map(|token| token as u32)
    }

    /// A place by its weight; what weighs minus infinity is out. Where all that is left weighs nothing, the first.
    fn drawn(&mut self, weights: &[f64]) -> Option<usize> {
        let likeliest = || {
            let within = weights.iter().enumerate();
            let within = within.filter(|(_, weight)| **weight > f64::NEG_INFINITY);
            within.reduce(|best, next| if next.1 > best.1 { next } else { best })
        };
        if self.temperature == 0.0 {
            return likeliest().map(|(place, _)| place);
        }
        let total: f64 = weights.iter().filter(|weight| **weight > 0.0).sum();
        if total <= 0.0 {
            return likeliest().map(|(place, _)| place);
        }
        let mut rest = unit(&mut self.chance) * total;
        let mut last = None;
        for (place, &weight) in weights.iter().enumerate() {
            if weight > 0.0 {
                last = Some(place);
                rest -= weight;
                if rest < 0.0 {
                    break;
                }
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(temperature: f64, allowed: fn(u32) -> bool) -> [u32; 4] {
        let logits = [0.4f32, 0.3, 0.2, 0.1].map(f32::ln);
        let mut draw = Draw::new(temperature, 7);
        let mut counts = [0; 4];
        for _ in 0..10_000 {
            counts[draw.token(&logits, &mut |token| allowed(token)).unwrap() as usize] += 1;
        }
        counts
    }

    #[test]
    fn draws_follow_the_probabilities_among_what_is_allowed() {
        for (count, wanted) in counts(1.0, |_| true).iter().zip([4000, 3000, 2000, 1000]) {
            assert!(count.abs_diff(wanted) < 200, "{count} {wanted}");
        }
        let [none, three, nothing, one] = counts(1.0, |token| token % 2 == 1);
        assert_eq!((none, nothing), (0, 0));
        assert!(three.abs_diff(7500) < 200 && one.abs_diff(2500) < 200);
        assert_eq!(counts(0.0, |token| token > 1), [0, 0, 10_000, 0]);
    }

    #[test]
    fn what_is_far_off_is_found_when_nothing_else_is_allowed() {
        let mut logits = vec![0.0f32; 1000];
        logits[900] = -1e9;
        for temperature in [0.0, 0.2] {
            let mut draw = Draw::new(temperature, 1);
            assert_eq!(draw.token(&logits, &mut |token| token == 900), Some(900));
            assert_eq!(draw.token(&logits, &mut |_| false), None);
        }
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let logits = [0.0f32; 50];
        let drawn = |seed| {
            let mut draw = Draw::new(1.0, seed);
            (0..20)
                .map(|_| draw.token(&logits, &mut |_| true))
                .collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }
}
