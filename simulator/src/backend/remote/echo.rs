//! Probabilities of given tokens from servers that repeat a prompt with its probabilities.

use serde_json::{Value, json};

use super::answer::{self, Said};
use super::client::Client;
use super::error::RemoteError;
use super::server::{Kind, Served};
use crate::model::Vocabulary;

/// Why a server that knows nothing of `echo` is no use.
pub(super) const NO_ECHO: &str = "it does not repeat a prompt (`echo`)";

/// A text whose second part is scored.
pub struct Scored<'a> {
    /// Ids or text of both parts.
    pub prompt: Value,
    /// All tokens.
    pub tokens: &'a [u32],
    /// Where the second part begins.
    pub from: usize,
    /// Whether the server's ids are those of the vocabulary.
    pub same: bool,
    /// Whether the server has room for one token more, which it is asked to say if so: some refuse to
    /// say none.
    pub room: bool,
}

/// Natural logarithms of the probabilities of the tokens of the second part.
///
/// # Errors
/// Whatever keeps the server from answering; [`RemoteError::Unsupported`] where it repeats no prompt, or
/// has a token across the border between the parts.
pub fn logprobs(
    client: &Client,
    served: &Served,
    vocabulary: &dyn Vocabulary,
    scored: &Scored<'_>,
) -> Result<Vec<f64>, RemoteError> {
    let mut body = json!({
        "model": served.model, "prompt": scored.prompt, "max_tokens": u8::from(scored.room),
        "temperature": 0, "logprobs": 1, "echo": true, "stream": false,
    });
    if matches!(served.kind, Kind::Vllm | Kind::Sglang) {
        body["skip_special_tokens"] = json!(false);
        if scored.same {
            body["return_token_ids"] = json!(true);
        }
        if served.kind == Kind::Vllm {
            body["return_tokens_as_token_ids"] = json!(scored.same);
        }
    }
    let answer = client.post("/completions", &body)?;
    let choice = answer::choices(&answer, 1)?[0];
    let said = answer::lists(choice, vocabulary, scored.same, true)?;
    read(&said, scored)
}

fn read(said: &[Said], scored: &Scored<'_>) -> Result<Vec<f64>, RemoteError> {
    let mut at = 0;
    let mut logprobs = Vec::new();
    for piece in said {
        if at == scored.tokens.len() {
            break;
        }
        let end = at + piece.tokens.len();
        if scored.tokens.get(at..end) != Some(&piece.tokens[..]) {
            return Err(unsupported(NO_ECHO));
        }
        if at < scored.from && end > scored.from {
            return Err(unsupported(
                "one of its tokens begins before what is to be scored",
            ));
        }
        if at >= scored.from {
            for logprob in &piece.logprobs {
                logprobs.push(logprob.ok_or(RemoteError::NoLogprobs)?);
            }
        }
        at = end;
    }
    if at < scored.tokens.len() {
        return Err(unsupported(NO_ECHO));
    }
    Ok(logprobs)
}

pub(super) fn unsupported(problem: &str) -> RemoteError {
    RemoteError::Unsupported(format!("this server cannot score: {problem}"))
}
