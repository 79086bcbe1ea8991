//! From logits to a token.

use pulp::Arch;
use rand_chacha::ChaCha8Rng;

use super::fused::log_sum_exp;
use super::language::Sampling;
use super::mask::TokenSet;
use crate::chance::unit;

/// A token that was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Its id.
    pub token: u32,
    /// Natural logarithm of its probability among what is allowed.
    pub logprob: f64,
    /// Natural logarithm of the probability of what is allowed.
    pub allowed: f64,
}

/// Natural logarithm of the probability of a token.
pub fn logprob(logits: &[f32], temperature: f32, token: u32) -> f64 {
    let scaled: Vec<f32> = logits.iter().map(|logit| logit / temperature).collect();
    let all = log_sum_exp(Arch::new(), &scaled);
    f64::from(scaled[token as usize]) - f64::from(all)
}

/// Chooses among what is allowed: none if that is nothing.
pub fn choose(
    logits: &[f32],
    temperature: f32,
    allowed: Option<&TokenSet>,
    sampling: Sampling,
    chance: &mut ChaCha8Rng,
) -> Option<Choice> {
    let scaled: Vec<f32> = logits.iter().map(|logit| logit / temperature).collect();
    let all = f64::from(log_sum_exp(Arch::new(), &scaled));
    let (tokens, among): (Vec<u32>, f64) = match allowed {
        None => ((0..scaled.len() as u32).collect(), all),
        Some(set) => {
            let tokens: Vec<u32> = set
                .iter()
                .filter(|&t| (t as usize) < scaled.len())
                .collect();
            let kept: Vec<f32> = tokens.iter().map(|&token| scaled[token as usize]).collect();
            (tokens, f64::from(log_sum_exp(Arch::new(), &kept)))
        }
    };
    let token = match sampling {
        Sampling::Random {
            temperature, top_p, ..
        } if temperature > 0.0 => draw(&scaled, tokens, temperature, top_p, chance),
        _ => most_probable(&scaled, &tokens),
    }?;
    Some(Choice {
        token,
        logprob: f64::from(scaled[token as usize]) - among,
        allowed: if allowed.is_some() { among - all } else { 0.0 },
    })
}

/// The first of those that are most probable.
fn most_probable(logits: &[f32], tokens: &[u32]) -> Option<u32> {
    let mut best = *tokens.first()?;
    for &token in tokens {
        if logits[token as usize] > logits[best as usize] {
            best = token;
        }
    }
    Some(best)
}

fn draw(
    logits: &[f32],
    mut tokens: Vec<u32>,
    temperature: f32,
    top_p: f32,
    chance: &mut ChaCha8Rng,
) -> Option<u32> {
    let logit = |token: u32| logits[token as usize];
    tokens.sort_by(|&a, &b| logit(b).total_cmp(&logit(a)).then(a.cmp(&b)));
    let top = logit(*tokens.first()?);
    let weight = |&token: &u32| f64::from((logit(token) - top) / temperature).exp();
    let weights: Vec<f64> = tokens.iter().map(weight).collect();
    let enough = f64::from(top_p) * weights.iter().sum::<f64>();
    let mut total = 0.0;
    let kept = weights.iter().take_while(|&weight| {
        let wanted = total < enough || total == 0.0;
        total += if wanted { weight } else { &0.0 };
        wanted
    });
    let kept = kept.count();
    let mut rest = unit(chance) * total;
    for (token, weight) in tokens.iter().zip(&weights[..kept]) {
        rest -= weight;
        if rest < 0.0 {
            return Some(*token);
        }
    }
    tokens.get(kept.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::generator;

    fn random(top_p: f32) -> Sampling {
        Sampling::Random {
            temperature: 1.0,
            top_p,
            seed: 1,
            samples: 1,
        }
    }

    #[test]
    fn draws_follow_probabilities() {
        let logits = [0.5f32.ln(), 0.3f32.ln(), 0.2f32.ln()];
        let mut chance = generator(1, 2);
        let mut counts = [0; 3];
        for _ in 0..10_000 {
            let choice = choose(&logits, 1.0, None, random(1.0), &mut chance).unwrap();
            counts[choice.token as usize] += 1;
        }
        for (count, wanted) in counts.iter().zip([5000, 3000, 2000]) {
            assert!(i32::abs(count - wanted) < 200, "{counts:?}");
        }
    }

    #[test]
    fn the_improbable_is_cut_off() {
        let logits = [0.5f32.ln(), 0.3f32.ln(), 0.2f32.ln()];
        let mut chance = generator(1, 2);
        for (top_p, most) in [(0.0, 0), (0.49, 0), (0.7, 1), (1.0, 2)] {
            let draw = |_| choose(&logits, 1.0, None, random(top_p), &mut chance);
            let drawn = (0..1000).map(draw).map(|choice| choice.unwrap().token);
            assert_eq!(drawn.max(), Some(most), "{top_p}");
        }
    }

    #[test]
    fn a_mask_renormalises_and_says_what_it_left() {
        let logits = [0.5f32.ln(), 0.3f32.ln(), 0.2f32.ln()];
        let mut set = TokenSet::new(3);
        set.extend([1, 2]);
        let mut chance = generator(1, 2);
        let choice = choose(&logits, 1.0, Some(&set), Sampling::Greedy, &mut chance).unwrap();
        assert_eq!(choice.token, 1);
        assert!((choice.logprob.exp() - 0.6).abs() < 1e-6);
        assert!((choice.allowed.exp() - 0.5).abs() < 1e-6);
        assert!((logprob(&logits, 1.0, 1).exp() - 0.3).abs() < 1e-6);
        set.clear();
        assert_eq!(
            choose(&logits, 1.0, Some(&set), Sampling::Greedy, &mut chance),
            None
        );
    }
}
