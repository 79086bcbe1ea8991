//! A budget that is checked before anything is sent.

use crate::prices::Price;
use crate::reply::Usage;
use serde::Serialize;

/// What may be spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Caps {
    /// US dollars.
    pub max_cost: Option<f64>,
    /// Tokens, prompts and replies together.
    pub max_tokens: Option<u64>,
}

/// What has been spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Exchanges that were counted.
    pub calls: u64,
    /// Tokens of prompts, cached ones included.
    pub prompt: u64,
    /// Of those, read from a cache.
    pub cached: u64,
    /// Generated tokens.
    pub completion: u64,
    /// US dollars; `None` where the price is not known.
    pub cost: Option<f64>,
    /// Whether any of the counts is an estimate.
    pub estimated: bool,
}

/// Counts what is spent and refuses what might exceed the caps.
#[derive(Debug, Clone, PartialEq)]
pub struct Meter {
    /// What may be spent.
    pub caps: Caps,
    price: Option<Price>,
    spent: Spent,
}

/// Why an exchange is not admitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Cap {
    /// It might cost more than is left.
    #[error("the next exchange may cost ${next:.4}, and ${left:.4} of ${cap:.2} is left")]
    Cost {
        /// The most that it can cost.
        next: f64,
        /// What is left.
        left: f64,
        /// The cap.
        cap: f64,
    },
    /// It might take more tokens than are left.
    #[error("the next exchange may take {next} tokens, and {left} of {cap} are left")]
    Tokens {
        /// The most that it can take.
        next: u64,
        /// What is left.
        left: u64,
        /// The cap.
        cap: u64,
    },
    /// There is a cap on the cost and no price to hold it with.
    #[error("the price of the model is not known, so no cost can be held to")]
    NoPrice,
}

impl Cap {
    /// What to do about it, one line.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Cost { .. } => "raise the cost that is allowed, or use a cheaper model",
            Self::Tokens { .. } => "raise the tokens that are allowed, or show the model less",
            Self::NoPrice => "limit the tokens instead, or add the model to a price file",
        }
    }
}

impl Meter {
    /// A meter that starts at nothing. Without a price it counts tokens only.
    pub fn new(price: Option<Price>, caps: Caps) -> Self {
        let spent = Spent {
            cost: price.map(|_| 0.0),
            ..Spent::default()
        };
        Self { caps, price, spent }
    }

    /// What has been spent so far.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Whether the cost is known.
    pub fn is_priced(&self) -> bool {
        self.price.is_some()
    }

    /// To be asked before a request is sent, with [`crate::Request::prompt_estimate`] and
    /// [`crate::Request::max_tokens`]. It supposes the worst: nothing cached, the whole limit written.
    pub fn admit(&self, prompt: u64, completion: u64) -> Result<(), Cap> {
        if let Some(cap) = self.caps.max_tokens {
            let used = self.spent.prompt + self.spent.completion;
            let (next, left) = (prompt + completion, cap.saturating_sub(used));
            if next > left {
                return Err(Cap::Tokens { next, left, cap });
            }
        }
        if let Some(cap) = self.caps.max_cost {
            let (Some(price), Some(cost)) = (self.price, self.spent.cost) else {
                return Err(Cap::NoPrice);
            };
            let next = price.bound(prompt, completion);
            let left = (cap - cost).max(0.0);
            if next > left {
                return Err(Cap::Cost { next, left, cap });
            }
        }
        Ok(())
    }

    /// To be told after each reply, replayed ones included if they count.
    pub fn record(&mut self, usage: &Usage) {
        self.spent.calls += 1;
        self.spent.prompt += usage.prompt;
        self.spent.cached += usage.cached;
        self.spent.completion += usage.completion;
        self.spent.estimated |= usage.estimated;
        let cost = self.price.map(|price| price.cost(usage)).or(usage.cost);
        if let Some(cost) = cost {
            *self.spent.cost.get_or_insert(0.0) += cost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(max_cost: Option<f64>, max_tokens: Option<u64>) -> Meter {
        let price = Price {
            input: 1.0,
            output: 10.0,
            ..Price::FREE
        };
        Meter::new(
            Some(price),
            Caps {
                max_cost,
                max_tokens,
            },
        )
    }

    fn usage(prompt: u64, completion: u64) -> Usage {
        Usage {
            prompt,
            completion,
            ..Usage::default()
        }
    }

    #[test]
    fn an_exchange_that_might_cost_too_much_is_not_admitted() {
        let mut meter = meter(Some(0.02), None);
        assert_eq!(meter.admit(10_000, 1000), Ok(()));
        meter.record(&usage(10_000, 500));
        assert!((meter.spent().cost.unwrap() - 0.015).abs() < 1e-12);
        let cap = meter.admit(10_000, 1000).unwrap_err();
        assert_eq!(
            cap.to_string(),
            "the next exchange may cost $0.0200, and $0.0050 of $0.02 is left"
        );
        assert_eq!(meter.admit(1000, 100), Ok(()));
    }

    #[test]
    fn tokens_are_capped_without_a_price() {
        let mut meter = Meter::new(
            None,
            Caps {
                max_cost: None,
                max_tokens: Some(1000),
            },
        );
        assert_eq!(meter.admit(600, 400), Ok(()));
        meter.record(&usage(600, 100));
        assert_eq!(meter.spent().cost, None);
        assert_eq!(
            meter.admit(200, 101),
            Err(Cap::Tokens {
                next: 301,
                left: 300,
                cap: 1000
            })
        );
    }

    #[test]
    fn a_cap_on_the_cost_needs_a_price() {
        let caps = Caps {
            max_cost: Some(1.0),
            max_tokens: None,
        };
        assert_eq!(Meter::new(None, caps).admit(1, 1), Err(Cap::NoPrice));
        assert_eq!(
            Meter::new(Some(Price::FREE), caps).admit(1 << 30, 1 << 20),
            Ok(())
        );
    }

    #[test]
    fn estimates_leave_a_mark() {
        let mut meter = meter(None, None);
        meter.record(&Usage {
            estimated: true,
            ..usage(1, 1)
        });
        meter.record(&usage(1, 1));
        assert!(meter.spent().estimated);
        assert_eq!(meter.spent().calls, 2);
    }
}
