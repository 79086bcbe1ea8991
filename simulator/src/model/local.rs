//! A language model whose network runs here.

use rand_chacha::ChaCha8Rng;

use super::choice::{choose, logprob};
use super::dialect::Dialect;
use super::error::ModelError;
use super::language::{Generated, LanguageModel, Request, Sampling};
use super::mask::{TokenSet, Walk};
use super::network::{Logits, Network};
use super::vocabulary::Vocabulary;
use crate::chance::generator;

/// Rows that are computed together at most.
const ROWS: usize = 256;
/// Continuations that are scored together at most: more would only take more memory.
const CONTINUATIONS: usize = 32;
/// Logits that are held at a time at most, unless one row has more.
const HELD: usize = 1 << 24;

/// A network with a vocabulary.
pub struct Local<N> {
    name: String,
    network: N,
    vocabulary: Box<dyn Vocabulary>,
    dialect: Dialect,
    /// By which logits are divided.
    temperature: f32,
}

/// An answer under way.
struct Going<'a> {
    /// Which answer it is.
    index: usize,
    answer: Generated,
    request: Request<'a>,
    walk: Option<Box<dyn Walk + 'a>>,
    allowed: TokenSet,
    chance: ChaCha8Rng,
}

impl<'a> Going<'a> {
    fn new(request: Request<'a>, index: usize, sample: u64, vocabulary: usize) -> Self {
        let seed = match request.sampling {
            Sampling::Greedy => 0,
            Sampling::Random { seed, .. } => seed,
        };
        let mut going = Self {
            index,
            answer: Generated::default(),
            request,
            walk: request.mask.map(|mask| mask.begin()),
            allowed: TokenSet::new(if request.mask.is_some() {
                vocabulary
            } else {
                0
            }),
            chance: generator(seed, sample),
        };
        going.look();
        going
    }

    /// What may come next; where that is nothing, the answer is complete.
    fn look(&mut self) {
        if let Some(walk) = &self.walk {
            self.allowed.clear();
            walk.allowed(&mut self.allowed);
            self.answer.stopped |= self.allowed.is_empty();
        }
    }

    fn over(&self, context: usize) -> bool {
        let length = self.answer.tokens.len();
        self.answer.stopped
            || length >= self.request.max_tokens
            || self.request.prompt.len() + length >= context
    }

    /// Chooses the next token.
    fn go_on(&mut self, logits: &[f32], temperature: f32) {
        let allowed = self.walk.as_ref().map(|_| &self.allowed);
        let sampling = self.request.sampling;
        let choice = choose(logits, temperature, allowed, sampling, &mut self.chance);
        let Some(choice) = choice else {
            self.answer.stopped = true;
            return;
        };
        self.answer.tokens.push(choice.token);
        self.answer.logprobs.push(choice.logprob);
        self.answer.allowed.push(choice.allowed);
        if self.request.stop.contains(&choice.token) {
            self.answer.stopped = true;
        } else if let Some(walk) = &mut self.walk {
            walk.advance(choice.token);
            self.look();
        }
    }
}

impl<N: Network> Local<N> {
    /// A model by a name for reports, calibrated with the temperature of its configuration.
    ///
    /// # Errors
    /// [`ModelError::Config`] if that is no positive number.
    pub fn new(
        name: &str,
        network: N,
        vocabulary: Box<dyn Vocabulary>,
        dialect: Dialect,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            name: name.to_owned(),
            temperature: network.config().temperature()?,
            network,
            vocabulary,
            dialect,
        })
    }

    /// What computes logits.
    pub fn network(&self) -> &N {
        &self.network
    }

    /// Checks what a network takes for granted.
    fn check(&self, prompt: &[u32], more: usize) -> Result<(), ModelError> {
        let config = self.network.config();
        if prompt.is_empty() {
            return Err(ModelError::EmptyPrompt);
        }
        let tokens = prompt.len() + more;
        if tokens > config.context {
            let context = config.context;
            return Err(ModelError::TooLong { tokens, context });
        }
        self.known(prompt)
    }

    fn known(&self, tokens: &[u32]) -> Result<(), ModelError> {
        let vocabulary = self.network.config().vocabulary;
        let unknown = tokens.iter().find(|&&token| token as usize >= vocabulary);
        match unknown {
            Some(&token) => Err(ModelError::UnknownToken { token, vocabulary }),
            None => Ok(()),
        }
    }

    /// Goes on with rows of a cache until all are over; answers in the order of their indices.
    fn run(
        &self,
        mut cache: N::Cache,
        mut logits: Logits,
        mut rows: Vec<Going<'_>>,
    ) -> Result<Vec<Generated>, ModelError> {
        let context = self.network.config().context;
        let mut answers = vec![Generated::default(); rows.len()];
        loop {
            let places = logits.places();
            for (going, logits) in rows.iter_mut().zip(places) {
                if !going.over(context) {
                    going.go_on(logits, self.temperature);
                }
            }
            let mut kept = Vec::with_capacity(rows.len());
            let mut on = Vec::with_capacity(rows.len());
            for (row, going) in rows.into_iter().enumerate() {
                if going.over(context) {
                    answers[going.index] = going.answer;
                } else {
                    kept.push(row);
                    on.push(going);
                }
            }
            if on.is_empty() {
                return Ok(answers);
            }
            if on.len() < logits.places().len() {
                self.network.retain(&mut cache, &kept)?;
            }
            let last = |going: &Going<'_>| going.answer.tokens.last().copied();
            let tokens: Vec<u32> = on.iter().filter_map(last).collect();
            logits = self.network.step(&mut cache, &tokens)?;
            rows = on;
        }
    }

    fn forked(
        &self,
        request: &Request<'_>,
        samples: std::ops::Range<usize>,
    ) -> Result<Vec<Generated>, ModelError> {
        let (mut cache, logits) = self.network.read(&[request.prompt])?;
        let vocabulary = logits.vocabulary;
        let rows = samples.clone().enumerate();
        let rows =
            rows.map(|(index, sample)| Going::new(*request, index, sample as u64, vocabulary));
        let rows: Vec<Going<'_>> = rows.collect();
        let copies = rows.len();
        if copies > 1 {
            self.network.fork(&mut cache, copies)?;
        }
        let values = logits.values.repeat(copies);
        self.run(cache, Logits { values, vocabulary }, rows)
    }
}

impl<N: Network> LanguageModel for Local<N> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn context(&self) -> usize {
        self.network.config().context
    }

    fn vocabulary(&self) -> &dyn Vocabulary {
        self.vocabulary.as_ref()
    }

    fn generate(&self, request: &Request<'_>) -> Result<Vec<Generated>, ModelError> {
        self.check(request.prompt, 0)?;
        let samples = request.sampling.samples();
        let mut answers = Vec::with_capacity(samples);
        for start in (0..samples).step_by(ROWS) {
            answers.extend(self.forked(request, start..samples.min(start + ROWS))?);
        }
        Ok(answers)
    }

    fn generate_batch(&self, requests: &[Request<'_>]) -> Result<Vec<Generated>, ModelError> {
        for request in requests {
            self.check(request.prompt, 0)?;
        }
        let mut answers = Vec::with_capacity(requests.len());
        for requests in requests.chunks(ROWS) {
            let prompts: Vec<&[u32]> = requests.iter().map(|request| request.prompt).collect();
            let (cache, logits) = self.network.read(&prompts)?;
            let rows = requests.iter().enumerate();
            let rows =
                rows.map(|(index, &request)| Going::new(request, index, 0, logits.vocabulary));
            let rows = rows.collect();
            answers.extend(self.run(cache, logits, rows)?);
        }
        Ok(answers)
    }

    fn score(&self, prefix: &[u32], continuations: &[Vec<u32>]) -> Result<Vec<f64>, ModelError> {
        let longest = continuations.iter().map(Vec::len).max().unwrap_or(0);
        self.check(prefix, longest)?;
        for continuation in continuations {
            self.known(continuation)?;
        }
        let (mut cache, first) = self.network.read(&[prefix])?;
        let mut scores = Vec::with_capacity(continuations.len());
        for continuation in continuations {
            let token = continuation.first();
            let score = token.map(|&token| logprob(first.place(0), self.temperature, token));
            scores.push(score.unwrap_or(0.0));
        }
        let long = |&row: &usize| continuations[row].len() > 1;
        let rows: Vec<usize> = (0..continuations.len()).filter(long).collect();
        let together = (HELD / (first.vocabulary * longest.max(1))).clamp(1, CONTINUATIONS);
        for rows in rows.chunks(together) {
            // What follows the last token is not asked.
            let read = |&row: &usize| &continuations[row][..continuations[row].len() - 1];
            let suffixes: Vec<&[u32]> = rows.iter().map(read).collect();
            let logits = self.network.extend(&mut cache, &suffixes)?;
            let mut places = logits.places();
            for &row in rows {
                for (&token, place) in continuations[row][1..].iter().zip(&mut places) {
                    scores[row] += logprob(place, self.temperature, token);
                }
            }
        }
        Ok(scores)
    }
}
