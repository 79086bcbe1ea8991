//! What is known of an edit before it runs, and what it counts for its place in the order.
//!
//! The score is log-linear, `exp(w · x)` with the logarithms of [`Features`] as `x`: the form of a logistic
//! regression of "this is the edit that repairs". `weights.toml` holds `w`; `tools/python/fit_ranking.py`
//! fits it.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// What is known of an edit before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Features {
    /// Suspiciousness of its statement.
    pub suspicion: f64,
    /// Prior of its operator; above 1 the code looks wrong by itself.
    pub prior: f64,
    /// How well it suits the place, 0 to 1.
    pub fit: f64,
    /// How many alternatives of its operator suit the same node better.
    pub better: usize,
    /// How many edits of its operator go before it in the same statement.
    pub earlier: usize,
    /// How many alternatives its operator has at the node, this one included.
    pub alternatives: usize,
    /// Characters that it adds.
    pub added: usize,
    /// Belief in the needed value that it gives, 0 to 1; 0 where nothing is known.
    pub needed: f64,
}

/// How fast alternatives at one node lose, and edits of one statement.
const NODE_DECAY: f64 = 0.12;
const STATEMENT_DECAY: f64 = 0.03;
/// How far an edit that gives what is needed goes before others, at weight 1.
const MEETS: f64 = 4.0;
/// Keeps logarithms finite.
const LEAST: f64 = 1e-9;

/// What the logarithm of each feature counts.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// The constant: scores stay comparable with those of other planners.
    pub constant: f64,
    /// `ln suspicion`.
    pub suspicion: f64,
    /// `ln suspicion` once more where the code looks wrong by itself.
    pub smell: f64,
    /// `ln prior`.
    pub prior: f64,
    /// `ln fit`.
    pub fit: f64,
    /// `ln (1 + 0.12 better)`.
    pub better: f64,
    /// `ln (1 + 0.03 earlier)`.
    pub earlier: f64,
    /// `ln alternatives`.
    pub alternatives: f64,
    /// `ln (1 + added)`.
    pub added: f64,
    /// `ln (1 + 4 needed)`.
    pub needed: f64,
}

/// The product of suspicion, prior and fit over both decays, with the root of the suspicion of smells: what
/// the weights were before they were fitted, and what fitting pulls them to.
const PRODUCT: Weights = Weights {
    constant: 0.0,
    suspicion: 1.0,
    smell: -0.5,
    prior: 1.0,
    fit: 1.0,
    better: -1.0,
    earlier: -1.0,
    alternatives: 0.0,
    added: 0.0,
    needed: 1.0,
};

/// The weights in use.
pub static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| toml::from_str(include_str!("weights.toml")).unwrap_or(PRODUCT));

impl Weights {
    /// The score of an edit, as far as it is known without a look at what it gives.
    pub fn score(&self, features: &Features) -> f64 {
        let suspicion = if features.prior > 1.0 {
            self.suspicion + self.smell
        } else {
            self.suspicion
        };
        let raised = |value: f64, weight: f64| value.max(LEAST).powf(weight);
        // Divided, since a product with the inverse rounds differently and would break ties.
        self.constant.exp()
            * raised(features.suspicion, suspicion)
            * raised(features.prior, self.prior)
            * raised(features.fit, self.fit)
            / raised(1.0 + NODE_DECAY * features.better as f64, -self.better)
            / raised(
                1.0 + STATEMENT_DECAY * features.earlier as f64,
                -self.earlier,
            )
            / raised(features.alternatives as f64, -self.alternatives)
            / raised(1.0 + features.added as f64, -self.added)
    }

    /// What the score of an edit is multiplied by that gives a needed value which is believed this much.
    pub fn meets(&self, belief: f64) -> f64 {
        (1.0 + MEETS * belief).powf(self.needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Features = Features {
        suspicion: 0.25,
        prior: 0.5,
        fit: 0.8,
        better: 0,
        earlier: 0,
        alternatives: 3,
        added: 4,
        needed: 0.0,
    };

    #[test]
    fn the_weights_in_the_repository_are_read() {
        let read: Weights = toml::from_str(include_str!("weights.toml")).unwrap();
        assert_eq!(read, *WEIGHTS);
        for weight in [read.suspicion, read.prior, read.fit, read.needed] {
            assert!(weight > 0.0 && weight.is_finite(), "{read:?}");
        }
    }

    #[test]
    fn weights_of_the_product_give_the_product() {
        let close = |features: &Features, expected: f64| {
            let score = PRODUCT.score(features);
            assert!((score - expected).abs() < 1e-12, "{score} {expected}");
        };
        close(&PLAIN, 0.25 * 0.5 * 0.8);
        let smell = Features {
            prior: 1.5,
            ..PLAIN
        };
        close(&smell, 0.5 * 1.5 * 0.8);
        let later = Features {
            better: 2,
            earlier: 10,
            ..PLAIN
        };
        close(&later, 0.1 / 1.24 / 1.3);
        assert!((PRODUCT.meets(0.5) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_suspicious_at_all_has_a_finite_score() {
        let nothing = Features {
            suspicion: 0.0,
            fit: 0.0,
            ..PLAIN
        };
        assert!(PRODUCT.score(&nothing).is_finite());
    }
}
