//! Probabilities of given tokens from llama.cpp, which has no `echo`.
//!
//! A token that is forced by a bias still has its own probability in the answer: that is taken before
//! biases. A token in the middle of a character has no entry, so there a plain letter is forced, and
//! the token is looked up among the most probable ones.

use serde_json::{Value, json};

use super::answer;
use super::client::Client;
use super::error::RemoteError;
use super::server::Served;
use crate::model::Vocabulary;

/// More than any logit.
const FORCE: f64 = 1e4;
/// Most probable tokens that are looked through at most.
const MOST_PROBABLE: usize = 1 << 13;
/// A token that is a character by itself in every vocabulary.
const LETTER: &str = "a";

/// Natural logarithm of the probability of one token behind a prompt.
///
/// # Errors
/// Whatever keeps the server from answering; [`RemoteError::Unsupported`] for a token in the middle of
/// a character that is not among the most probable ones.
pub fn logprob(
    client: &Client,
    served: &Served,
    vocabulary: &dyn Vocabulary,
    prompt: &[u32],
    token: u32,
) -> Result<f64, RemoteError> {
    let answer = forced(client, served, prompt, token, 1)?;
    let said = answer::entries(&answer, vocabulary)?;
    if said.tokens != [token] {
        let problem = format!("token {token} was forced, but {:?} said", said.tokens);
        return Err(RemoteError::Shape(problem));
    }
    if let Some(logprob) = said.logprobs[0] {
        return Ok(logprob);
    }
    let letter = vocabulary.encode_text(LETTER).unwrap_or_default();
    let &[letter] = &letter[..] else {
        return Err(hidden());
    };
    let wanted = served
        .vocabulary
        .unwrap_or(vocabulary.size())
        .min(MOST_PROBABLE);
    let answer = forced(client, served, prompt, letter, wanted)?;
    answer::among_the_most_probable(&answer, token)?.ok_or_else(hidden)
}

fn forced(
    client: &Client,
    served: &Served,
    prompt: &[u32],
    token: u32,
    most_probable: usize,
) -> Result<Value, RemoteError> {
    let body = json!({
        "model": served.model, "prompt": prompt, "max_tokens": 1, "temperature": 0,
        "logprobs": most_probable, "logit_bias": [[token, FORCE]], "stream": false,
        "return_tokens": true, "verbose": true, "cache_prompt": true,
    });
    let answer = client.post("/completions", &body)?;
    answer::choices(&answer, 1)?;
    Ok(answer)
}

fn hidden() -> RemoteError {
    let problem = "llama.cpp does not say how probable an improbable piece of a character is: \
                   serve the model with vLLM to score such text";
    RemoteError::Unsupported(problem.to_owned())
}
