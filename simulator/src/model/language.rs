//! The seam between whoever asks a language model and whatever runs one.

use super::dialect::Dialect;
use super::error::ModelError;
use super::mask::Mask;
use super::vocabulary::Vocabulary;

/// A causal language model, run here or by a server.
///
/// Probabilities are calibrated ones: logits are divided by the model's own temperature first.
pub trait LanguageModel: Send + Sync {
    /// Short name for events and reports.
    fn name(&self) -> &str;

    /// The grammar that it speaks.
    fn dialect(&self) -> Dialect;

    /// Tokens of a prompt and what follows it, together at most.
    fn context(&self) -> usize;

    /// Its tokens.
    fn vocabulary(&self) -> &dyn Vocabulary;

    /// Goes on with a prompt: one answer, or as many as the sampling asks for.
    ///
    /// # Errors
    /// A prompt that is empty, too long or has unknown tokens; a computation that failed.
    fn generate(&self, request: &Request<'_>) -> Result<Vec<Generated>, ModelError>;

    /// Goes on with many prompts at once: one answer each, in order. Random answers are the first
    /// samples that [`LanguageModel::generate`] gives.
    ///
    /// # Errors
    /// As for [`LanguageModel::generate`], if any of them is wrong.
    fn generate_batch(&self, requests: &[Request<'_>]) -> Result<Vec<Generated>, ModelError> {
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            let one = Request {
                sampling: request.sampling.first(),
                ..*request
            };
            answers.extend(self.generate(&one)?.into_iter().take(1));
        }
        Ok(answers)
    }

    /// Natural logarithm of the probability that each continuation follows the prefix. Of no token it
    /// is 0.
    ///
    /// # Errors
    /// As for [`LanguageModel::generate`].
    fn score(&self, prefix: &[u32], continuations: &[Vec<u32>]) -> Result<Vec<f64>, ModelError>;
}

/// A question to a model.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Token ids, not empty.
    pub prompt: &'a [u32],
    /// How to choose.
    pub sampling: Sampling,
    /// Tokens of which the first one ends an answer.
    pub stop: &'a [u32],
    /// Tokens in an answer at most, with that which ends it.
    pub max_tokens: usize,
    /// What may be said; anything if none.
    pub mask: Option<&'a dyn Mask>,
}

/// How a token is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sampling {
    /// The most probable.
    Greedy,
    /// By chance.
    Random {
        /// Below 1 prefers the probable, above it the improbable. 0 is greedy.
        temperature: f32,
        /// Only the most probable tokens that make up this much together, 0 to 1.
        top_p: f32,
        /// The same seed gives the same answers.
        seed: u64,
        /// Number of answers.
        samples: usize,
    },
}

impl Sampling {
    /// Number of answers.
    pub fn samples(self) -> usize {
        match self {
            Self::Greedy => 1,
            Self::Random { samples, .. } => samples,
        }
    }

    fn first(self) -> Self {
        match self {
            Self::Greedy => Self::Greedy,
            Self::Random {
                temperature,
                top_p,
                seed,
                ..
            } => Self::Random {
                temperature,
                top_p,
                seed,
                samples: 1,
            },
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Generated {
    /// Token ids, with that which ended it if one did.
    pub tokens: Vec<u32>,
    /// For each, the natural logarithm of its probability among what the mask allowed.
    pub logprobs: Vec<f64>,
    /// For each, the natural logarithm of the probability of all that the mask allowed there; 0
    /// without a mask.
    pub allowed: Vec<f64>,
    /// Whether it ended with a stop token, or where the mask ends; else it was cut.
    pub stopped: bool,
}

impl Generated {
    /// Natural logarithm of the answer's probability if nothing is said but what is allowed.
    pub fn logprob(&self) -> f64 {
        self.logprobs.iter().sum()
    }

    /// Natural logarithm of the probability that the model says this unasked: what
    /// [`LanguageModel::score`] gives. This is how sure it is.
    pub fn unmasked_logprob(&self) -> f64 {
        self.logprob() + self.allowed.iter().sum::<f64>()
    }

    /// The tokens before that which ended it.
    pub fn without_stop(&self, stop: &[u32]) -> &[u32] {
        match self.tokens.split_last() {
            Some((last, rest)) if self.stopped && stop.contains(last) => rest,
            _ => &self.tokens,
        }
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for &M {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn dialect(&self) -> Dialect {
        (**self).dialect()
    }

    fn context(&self) -> usize {
        (**self).context()
    }

    fn vocabulary(&self) -> &dyn Vocabulary {
        (**self).vocabulary()
    }

    fn generate(&self, request: &Request<'_>) -> Result<Vec<Generated>, ModelError> {
        (**self).generate(request)
    }

    fn generate_batch(&self, requests: &[Request<'_>]) -> Result<Vec<Generated>, ModelError> {
        (**self).generate_batch(requests)
    }

    fn score(&self, prefix: &[u32], continuations: &[Vec<u32>]) -> Result<Vec<f64>, ModelError> {
        (**self).score(prefix, continuations)
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn dialect(&self) -> Dialect {
        (**self).dialect()
    }

    fn context(&self) -> usize {
        (**self).context()
    }

    fn vocabulary(&self) -> &dyn Vocabulary {
        (**self).vocabulary()
    }

    fn generate(&self, request: &Request<'_>) -> Result<Vec<Generated>, ModelError> {
        (**self).generate(request)
    }

    fn generate_batch(&self, requests: &[Request<'_>]) -> Result<Vec<Generated>, ModelError> {
        (**self).generate_batch(requests)
    }

    fn score(&self, prefix: &[u32], continuations: &[Vec<u32>]) -> Result<Vec<f64>, ModelError> {
        (**self).score(prefix, continuations)
    }
}
