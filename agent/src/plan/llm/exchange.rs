//! What happens in a conversation with a model, for whoever watches it.

use serde::{Deserialize, Serialize};

use super::prediction::Verdict;

/// What happened in the conversation, for whoever watches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Exchange {
    /// A request goes out.
    Asked {
        /// From 1.
        round: usize,
        /// The model.
        model: String,
        /// Tokens of the prompt, estimated.
        tokens: u64,
    },
    /// Some of the reply is there.
    Receiving {
        /// From 1.
        round: usize,
        /// Tokens so far, estimated.
        tokens: u64,
        /// Seconds until the first one.
        first: f64,
    },
    /// A failed attempt is repeated.
    Again {
        /// Why.
        why: String,
        /// Seconds until then.
        wait: f64,
    },
    /// A reply is there.
    Answered {
        /// From 1.
        round: usize,
        /// Tokens of the prompt, and of those, from a cache.
        prompt: u64,
        /// See there.
        cached: u64,
        /// Tokens of the reply.
        completion: u64,
        /// Whether the numbers are estimates.
        estimated: bool,
        /// US dollars so far; none where the price is not known.
        cost: Option<f64>,
        /// Tokens so far.
        total: u64,
        /// Seconds until the first token, and in all.
        first: f64,
        /// See there.
        seconds: f64,
    },
    /// A question of the model was answered.
    Query {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: String,
        /// Characters of the answer.
        characters: usize,
    },
    /// A hypothesis, and what the recording says of it.
    Hypothesis {
        /// From 1.
        round: usize,
        /// In a sentence.
        claim: String,
        /// File and line of the place.
        file: String,
        /// See there.
        line: usize,
        /// What it predicts: a condition at a place; none where it does not.
        prediction: Option<String>,
        /// What the recording says of that.
        verdict: Option<Verdict>,
        /// Edits that go with it.
        edits: usize,
        /// Why they are not tried, if they are not.
        dropped: Option<String>,
    },
    /// An answer cannot be used.
    Unusable {
        /// From 1.
        round: usize,
        /// Why.
        why: String,
    },
}

/// Is told what happens.
pub type Watch<'w> = dyn Fn(Exchange) + 'w;
