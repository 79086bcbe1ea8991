//! How likely each of several calls is, given that all of them did what was seen.
//!
//! By Bayes' rule the probability of a call is its weight before anything was seen, over the sum of the
//! weights of all calls that explain it: what was run and did it explains it fully, what did not does not at all.
//! Weights multiply over the arguments. The weight of a value is the mean of up to three shares: of the
//! recorded calls with this value in this place, of the model's walks backwards that gave it, and
//! `1 / (1 + size)²`, for which short values are likelier (the squares decay like the frequencies of values in
//! programs do, not like the number of values of a size).

use std::collections::HashMap;

use super::genes::{Genes, Slot, Way};
use super::value::Value;

/// Where values were seen in the past.
#[derive(Debug, Default)]
pub struct Seen {
    count: usize,
    values: HashMap<(usize, String), usize>,
}

impl Seen {
    /// Counts the values of a call.
    pub fn count(&mut self, genes: &Genes) {
        self.count += 1;
        for (at, gene) in genes.iter().enumerate() {
            *self.values.entry((at, text(gene.as_ref()))).or_default() += 1;
        }
    }

    /// Calls that were counted.
    pub fn calls(&self) -> usize {
        self.count
    }

    fn share(&self, at: usize, text: &str) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let seen = self.values.get(&(at, text.to_owned())).copied();
        Some(seen.unwrap_or_default() as f64 / self.count as f64)
    }
}

fn text(gene: Option<&Value>) -> String {
    gene.map(ToString::to_string).unwrap_or_default()
}

/// The weight of a call; comparable among calls of one function.
fn weight(slots: &[Slot], genes: &Genes, sources: &[&Seen]) -> f64 {
    slots
        .iter()
        .zip(genes)
        .enumerate()
        .map(|(at, (slot, gene))| {
            let text = match gene {
                Some(value) => value.to_string(),
                // What is left out is the default, as a recording of such a call has it.
                None => slot.default.clone().unwrap_or_default(),
            };
            let size = match (gene, slot.way) {
                (Some(value), _) => value.size() as f64,
                (None, Way::Star | Way::StarStar) => 2.0,
                (None, _) => text.len() as f64,
            };
            let mut shares = vec![1.0 / (1.0 + size).powi(2)];
            shares.extend(sources.iter().filter_map(|seen| seen.share(at, &text)));
            shares.iter().sum::<f64>() / shares.len() as f64
        })
        .product()
}

/// The probability of each call among these.
pub fn probabilities(slots: &[Slot], calls: &[Genes], sources: &[&Seen]) -> Vec<f64> {
    let weights: Vec<f64> = calls
        .iter()
        .map(|genes| weight(slots, genes, sources))
        .collect();
    let sum: f64 = weights.iter().sum();
    weights
        .iter()
        .map(|weight| if sum > 0.0 { weight / sum } else { 0.0 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot() -> Slot {
        Slot {
            name: "x".into(),
            way: Way::Either,
            required: true,
            annotation: None,
            said: None,
            default: None,
        }
    }

    fn call(numbers: [i64; 2]) -> Genes {
        numbers.map(|n| Some(Value::int(n))).to_vec()
    }

    #[test]
    fn probabilities_sum_to_one_and_short_values_are_likelier() {
        let slots = [slot(), slot()];
        let calls = [call([1, 2]), call([1, 2000]), call([3000, 2000])];
        let found = probabilities(&slots, &calls, &[]);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(found[0] > found[1] && found[1] > found[2], "{found:?}");
        assert!(probabilities(&slots, &[], &[]).is_empty());
    }

    #[test]
    fn what_was_seen_before_is_likelier_than_what_is_short() {
        let slots = [slot(), slot()];
        let mut seen = Seen::default();
        seen.count(&call([3000, 7]));
        seen.count(&call([3000, 8]));
        let calls = [call([1, 2]), call([3000, 2])];
        let found = probabilities(&slots, &calls, &[&seen]);
        assert!(found[1] > 0.7, "{found:?}");
        // The mean of both shares of the first place, which is all in which the calls differ.
        let (short, long) = (1.0 / 4.0 / 2.0, f64::midpoint(1.0 / 25.0, 1.0));
        assert!((found[0] / found[1] - short / long).abs() < 1e-9);
    }
}
