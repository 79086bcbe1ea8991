//! A language model behind an HTTP API: `/v1/completions` as vLLM, SGLang and llama.cpp serve it.
//!
//! This is the only part of the crate that uses the network, a clock or the environment, and all of it
//! begins at [`open`].
//!
//! An answer is used whole or not at all. A server knows no masks, so it may answer what a mask
//! forbids: that is an error and no prediction. Its probabilities are taken as they are, without a
//! temperature of the model (whoever exports a model for a server divides its last norm by it, which
//! divides the logits); `Generated::logprobs` are among everything, and `Generated::allowed` is 0.
//!
//! | | vLLM, SGLang | llama.cpp | others |
//! |---|---|---|---|
//! | prompts | ids or text | ids | ids or text |
//! | answers | ids | ids | texts of tokens, each of which must be one token here |
//! | scores | `echo` | a question a token | `echo`, if they have it |

mod address;
mod answer;
mod check;
mod client;
mod echo;
mod error;
mod key;
mod llama_cpp;
mod permits;
mod question;
mod server;
mod wait;
mod words;

use std::time::Duration;

use serde_json::{Value, json};

pub use client::Manners;
pub use error::RemoteError;
pub use key::{ApiKey, VARIABLE as KEY_VARIABLE};
pub use server::{Kind, Served};
pub use wait::Backoff;

use crate::grammar::Special;
use crate::grammar::step;
use crate::model::{
    Dialect, Generated, LanguageModel, ModelError, Request, Sampling, Vocabulary, vocabulary,
};
use address::Address;
use answer::Said;
use client::Client;
use question::Question;

/// How prompts are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompts {
    /// As ids of tokens: the tokenizer must be that of the model.
    Ids,
    /// As text, which the server cuts into tokens.
    Text,
}

/// What is said about a server and its model.
#[derive(Clone)]
pub struct Settings {
    /// The grammar that the model speaks; no server says so.
    pub dialect: Dialect,
    /// The model's name there. Without it the server must have one model.
    pub model: Option<String>,
    /// The contents of the model's `tokenizer.json`. Without it tokens are bytes and the special tokens
    /// of the dialect, and prompts are sent as text.
    pub tokenizer: Option<Vec<u8>>,
    /// How prompts are sent; as ids if there is a tokenizer and nothing is said.
    pub prompts: Option<Prompts>,
    /// The kind of server, if it does not say or another one stands before it.
    pub kind: Option<Kind>,
    /// Tokens of a prompt and its answer at most, if the server does not say, or fewer than it says.
    pub context: Option<usize>,
    /// Times, attempts and limits.
    pub manners: Manners,
}

impl Settings {
    /// For a dialect; everything else as it usually is: 10 s to connect, 120 s for an answer of 64 MB at
    /// most, three more attempts after half a second and more, eight questions at a time, no key.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            model: None,
            tokenizer: None,
            prompts: None,
            kind: None,
            context: None,
            manners: Manners {
                connect: Duration::from_secs(10),
                request: Duration::from_mins(2),
                retries: 3,
                backoff: Backoff {
                    first: Duration::from_millis(500),
                    longest: Duration::from_secs(30),
                },
                concurrency: 8,
                largest: 64 << 20,
                key: None,
            },
        }
    }
}

/// A model behind a server. See the module for what its answers mean.
pub struct Remote {
    client: Client,
    served: Served,
    dialect: Dialect,
    context: usize,
    vocabulary: Box<dyn Vocabulary>,
    prompts: Prompts,
    /// Whether the server's ids are those of the vocabulary.
    same: bool,
}

/// A model behind the API at `url`, such as `http://127.0.0.1:8000/v1`. Asks the server once, for what it
/// serves.
///
/// # Errors
/// [`ModelError::Remote`] for a server that cannot be used, [`ModelError::Tokenizer`] for a tokenizer
/// that cannot be read or is not that of the model, [`ModelError::Config`] for settings that do not
/// fit together.
pub fn open(url: &str, settings: Settings) -> Result<Remote, ModelError> {
    let client = Client::new(Address::parse(url)?, settings.manners);
    let mut served = server::ask(&client, settings.model.as_deref())?;
    served.kind = settings.kind.unwrap_or(served.kind);
    let same = settings.tokenizer.is_some();
    let vocabulary = match &settings.tokenizer {
        Some(json) => vocabulary::from_json(json)?,
        None => vocabulary::from_json(spelled(settings.dialect).as_bytes())?,
    };
    let usual = if same { Prompts::Ids } else { Prompts::Text };
    let prompts = settings.prompts.unwrap_or(usual);
    let wrong = |problem: &str| Err(ModelError::Config(problem.to_owned()));
    if prompts == Prompts::Ids && !same {
        return wrong("prompts are sent as ids of tokens only with the model's tokenizer.json");
    }
    if served.kind == Kind::LlamaCpp && !same {
        return wrong(
            "llama.cpp hides the texts of special tokens: give the model's tokenizer.json",
        );
    }
    if let Some(size) = served
        .vocabulary
        .filter(|&size| same && size < vocabulary.size())
    {
        let own = vocabulary.size();
        let problem = format!("it has {own} tokens, but the served model {size}");
        return Err(ModelError::Tokenizer(problem));
    }
    let context = match (served.context, settings.context) {
        (Some(theirs), Some(ours)) => theirs.min(ours),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => {
            return wrong("the server does not say how long a context is: `--context` does");
        }
    };
    Ok(Remote {
        client,
        served,
        dialect: settings.dialect,
        context,
        vocabulary,
        prompts,
        same,
    })
}

/// A `tokenizer.json` of bytes and the special tokens of a dialect.
fn spelled(dialect: Dialect) -> String {
    let table = step::Vocabulary::get().tokenizer_json();
    if dialect == Dialect::Step {
        return table;
    }
    let mut table: Value = serde_json::from_str(&table).unwrap_or_default();
    let specials = Special::ALL.iter().zip(256_u32..);
    let added = specials.map(|(special, id)| json!({"id": id, "content": special.text()}));
    table["added_tokens"] = added.collect();
    table.to_string()
}

impl Remote {
    /// What the server says that it serves.
    pub fn served(&self) -> &Served {
        &self.served
    }

    fn check(&self, prompt: &[u32], extra: usize) -> Result<(), ModelError> {
        if prompt.is_empty() {
            return Err(ModelError::EmptyPrompt);
        }
        let tokens = prompt.len() + extra;
        if tokens > self.context {
            let context = self.context;
            return Err(ModelError::TooLong { tokens, context });
        }
        self.known(prompt)
    }

    fn known(&self, tokens: &[u32]) -> Result<(), ModelError> {
        let vocabulary = self.vocabulary.size();
        match tokens.iter().find(|&&token| token as usize >= vocabulary) {
            Some(&token) => Err(ModelError::UnknownToken { token, vocabulary }),
            None => Ok(()),
        }
    }

    fn prompt(&self, tokens: &[u32]) -> Result<Value, ModelError> {
        Ok(match self.prompts {
            Prompts::Ids => json!(tokens),
            Prompts::Text => json!(words::text(self.vocabulary.as_ref(), tokens)?),
        })
    }

    /// `count` answers, of which the first one is sample `first`.
    fn ask(
        &self,
        request: &Request<'_>,
        first: usize,
        count: usize,
    ) -> Result<Vec<Generated>, ModelError> {
        let room = self.context - request.prompt.len();
        let max_tokens = request.max_tokens.min(room);
        if max_tokens == 0 {
            return Ok(vec![Generated::default(); count]);
        }
        // One without a text of its own would end answers where others stand.
        let text = |&token: &u32| {
            let text = self.vocabulary.decode(&[token]);
            let own = self
                .vocabulary
                .encode(&text)
                .is_ok_and(|tokens| tokens == [token]);
            own.then_some(text)
        };
        let texts: Vec<String> = request.stop.iter().filter_map(text).collect();
        let question = Question {
            prompt: self.prompt(request.prompt)?,
            sampling: request.sampling,
            first,
            count,
            max_tokens,
            stop: request.stop,
            stop_texts: &texts,
            ids: self.same,
        };
        let answer = self
            .client
            .post("/completions", &question.body(&self.served))?;
        let choices = answer::choices(&answer, count)?;
        let mut answers = Vec::with_capacity(count);
        for choice in choices {
            let mut said = if self.served.kind == Kind::LlamaCpp {
                answer::entries(&answer, self.vocabulary.as_ref())?
            } else {
                joined(answer::lists(
                    choice,
                    self.vocabulary.as_ref(),
                    self.same,
                    false,
                )?)
            };
            if self.same && said.tokens.len() > max_tokens {
                let problem = "more tokens than were asked for";
                return Err(RemoteError::Shape(problem.to_owned()).into());
            }
            self.complete(request, &mut said)?;
            let size = self.vocabulary.size();
            answers.push(check::checked(&said, request.stop, request.mask, size)?);
        }
        Ok(answers)
    }

    /// Asks for the probabilities that a server left out or means otherwise.
    fn complete(&self, request: &Request<'_>, said: &mut Said) -> Result<(), ModelError> {
        // SGLang divides by the temperature of sampling before it takes probabilities.
        let heated = matches!(request.sampling, Sampling::Random { temperature, .. }
            if temperature > 0.0 && (temperature - 1.0).abs() > f32::EPSILON);
        if self.served.kind == Kind::Sglang && heated {
            let each = self.echoed(request.prompt, &said.tokens)?;
            said.logprobs = each.into_iter().map(Some).collect();
        }
        if self.served.kind == Kind::LlamaCpp {
            for at in 0..said.tokens.len() {
                if said.logprobs[at].is_none() {
                    let logprob = self.one(request.prompt, &said.tokens, at)?;
                    said.logprobs[at] = Some(logprob);
                }
            }
        }
        Ok(())
    }

    /// The probability of one token of a continuation, from llama.cpp.
    fn one(&self, prefix: &[u32], continuation: &[u32], at: usize) -> Result<f64, RemoteError> {
        let prompt = [prefix, &continuation[..at]].concat();
        let vocabulary = self.vocabulary.as_ref();
        llama_cpp::logprob(
            &self.client,
            &self.served,
            vocabulary,
            &prompt,
            continuation[at],
        )
    }

    fn echoed(&self, prefix: &[u32], continuation: &[u32]) -> Result<Vec<f64>, ModelError> {
        let tokens = [prefix, continuation].concat();
        let scored = echo::Scored {
            prompt: self.prompt(&tokens)?,
            tokens: &tokens,
            from: prefix.len(),
            same: self.same,
            room: tokens.len() < self.context,
        };
        let vocabulary = self.vocabulary.as_ref();
        Ok(echo::logprobs(
            &self.client,
            &self.served,
            vocabulary,
            &scored,
        )?)
    }
}

fn joined(pieces: Vec<Said>) -> Said {
    let mut whole = Said::default();
    for piece in pieces {
        whole.tokens.extend(piece.tokens);
        whole.logprobs.extend(piece.logprobs);
    }
    whole
}

impl LanguageModel for Remote {
    fn name(&self) -> &str {
        &self.served.model
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn context(&self) -> usize {
        self.context
    }

    fn vocabulary(&self) -> &dyn Vocabulary {
        self.vocabulary.as_ref()
    }

    fn generate(&self, request: &Request<'_>) -> Result<Vec<Generated>, ModelError> {
        self.check(request.prompt, 0)?;
        let samples = request.sampling.samples();
        let greedy = match request.sampling {
            Sampling::Greedy => true,
            Sampling::Random { temperature, .. } => temperature <= 0.0,
        };
        if greedy {
            let answer = self.ask(request, 0, 1)?;
            return Ok(answer.into_iter().cycle().take(samples).collect());
        }
        if samples == 0 {
            return Ok(Vec::new());
        }
        // llama.cpp takes no more samples at once than it has slots.
        if self.served.kind != Kind::LlamaCpp {
            return self.ask(request, 0, samples);
        }
        let numbers: Vec<usize> = (0..samples).collect();
        let ask = |&sample: &usize| self.ask(request, sample, 1);
        let answers = self.client.permits().all(&numbers, ask)?;
        Ok(answers.into_iter().flatten().collect())
    }

    fn generate_batch(&self, requests: &[Request<'_>]) -> Result<Vec<Generated>, ModelError> {
        for request in requests {
            self.check(request.prompt, 0)?;
        }
        let ask = |request: &Request<'_>| self.ask(request, 0, 1);
        let answers = self.client.permits().all(requests, ask)?;
        Ok(answers.into_iter().flatten().collect())
    }

    fn score(&self, prefix: &[u32], continuations: &[Vec<u32>]) -> Result<Vec<f64>, ModelError> {
        let longest = continuations.iter().map(Vec::len).max().unwrap_or(0);
        self.check(prefix, longest)?;
        for continuation in continuations {
            self.known(continuation)?;
        }
        let permits = self.client.permits();
        if self.served.kind != Kind::LlamaCpp {
            return permits.all(continuations, |continuation| {
                if continuation.is_empty() {
                    return Ok(0.0);
                }
                Ok(self.echoed(prefix, continuation)?.iter().sum())
            });
        }
        let places = continuations.iter().enumerate();
        let places = places.flat_map(|(row, tokens)| (0..tokens.len()).map(move |at| (row, at)));
        let places: Vec<(usize, usize)> = places.collect();
        let one = |&(row, at): &(usize, usize)| self.one(prefix, &continuations[row], at);
        let logprobs = permits.all(&places, one)?;
        let mut scores = vec![0.0; continuations.len()];
        for ((row, _), logprob) in places.into_iter().zip(logprobs) {
            scores[row] += logprob;
        }
        Ok(scores)
    }
}
