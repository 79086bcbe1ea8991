//! What `/completions` says.

use serde_json::Value;

use super::error::{RemoteError, plain};
use super::words;
use crate::model::Vocabulary;

/// Rounding may leave a little more than certainty.
const CERTAIN: f64 = 1e-3;

/// Tokens of one choice.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Said {
    /// Their ids.
    pub tokens: Vec<u32>,
    /// Natural logarithm of the probability of each; none where the server left it out.
    pub logprobs: Vec<Option<f64>>,
}

/// The choices of an answer in their order, as many as were asked for.
///
/// # Errors
/// [`RemoteError::NoChoices`], [`RemoteError::Shape`], and [`RemoteError::BrokenOff`] for a choice that
/// did not come to its end.
pub fn choices(answer: &Value, wanted: usize) -> Result<Vec<&Value>, RemoteError> {
    let choices = answer["choices"].as_array();
    let choices = choices
        .filter(|choices| !choices.is_empty())
        .ok_or(RemoteError::NoChoices)?;
    let mut ordered = vec![None; wanted];
    for (place, choice) in choices.iter().enumerate() {
        let index = choice["index"].as_u64().unwrap_or(place as u64) as usize;
        match ordered.get_mut(index) {
            Some(empty @ None) => *empty = Some(choice),
            _ => return Err(shape("a choice with a wrong `index`")),
        }
        match choice["finish_reason"].as_str() {
            Some("stop" | "length") => {}
            Some(other) => return Err(RemoteError::BrokenOff(plain(other))),
            None => return Err(shape("a choice without `finish_reason`")),
        }
    }
    let count = ordered.iter().flatten().count();
    let few = || shape(&format!("{count} choices, not {wanted}"));
    ordered
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(few)
}

/// Tokens and probabilities of a choice, in the form that OpenAI had first: parallel lists.
///
/// `same` says that the server's ids are those of the vocabulary. With `echoed` the lists begin with
/// the prompt.
///
/// # Errors
/// [`RemoteError::NoLogprobs`], [`RemoteError::UnknownToken`], [`RemoteError::Shape`].
pub fn lists(
    choice: &Value,
    vocabulary: &dyn Vocabulary,
    same: bool,
    echoed: bool,
) -> Result<Vec<Said>, RemoteError> {
    let logprobs = &choice["logprobs"];
    let numbers = logprobs["token_logprobs"]
        .as_array()
        .ok_or(RemoteError::NoLogprobs)?;
    let mut ids = Vec::new();
    if same && let Some(own) = choice["token_ids"].as_array() {
        if echoed {
            ids.extend(choice["prompt_token_ids"].as_array().into_iter().flatten());
        }
        ids.extend(own);
    }
    let ids: Vec<Vec<u32>> = if ids.is_empty() {
        let texts = logprobs["tokens"]
            .as_array()
            .ok_or(RemoteError::NoLogprobs)?;
        let text = |text: &Value| {
            let text = text
                .as_str()
                .ok_or_else(|| shape("a token that is no text"))?;
            words::ids(vocabulary, text, same)
        };
        texts.iter().map(text).collect::<Result<_, _>>()?
    } else {
        ids.into_iter()
            .map(|id| Ok(vec![number(id)?]))
            .collect::<Result<_, _>>()?
    };
    if echoed && ids.len() > numbers.len() {
        return Err(super::echo::unsupported(super::echo::NO_ECHO));
    }
    if ids.len() != numbers.len() {
        return Err(shape("not as many probabilities as tokens"));
    }
    let said = ids.into_iter().zip(numbers).map(|(tokens, logprob)| {
        known(vocabulary, &tokens)?;
        // A piece's probability stands at its first token, so that sums are right.
        let mut logprobs = vec![Some(0.0); tokens.len()];
        if let Some(first) = logprobs.first_mut() {
            *first = probability(logprob)?;
        }
        Ok(Said { tokens, logprobs })
    });
    said.collect()
}

/// Tokens and probabilities of a choice of llama.cpp.
///
/// It leaves tokens in the middle of a character without an entry of their own (the entry that
/// completes the character has the text of all of them), and those of a stop word without any.
///
/// # Errors
/// [`RemoteError::NoLogprobs`], [`RemoteError::UnknownToken`], [`RemoteError::Shape`].
pub fn entries(answer: &Value, vocabulary: &dyn Vocabulary) -> Result<Said, RemoteError> {
    let nothing = Vec::new();
    let entries = answer["choices"][0]["logprobs"]["content"]
        .as_array()
        .unwrap_or(&nothing);
    let count = answer["usage"]["completion_tokens"]
        .as_u64()
        .map(|count| count as usize);
    let ids = answer["__verbose"]["tokens"]
        .as_array()
        .filter(|ids| !ids.is_empty());
    let tokens: Vec<u32> = match ids {
        Some(ids) => ids.iter().map(number).collect::<Result<_, _>>()?,
        // An older server: then there must be an entry for each.
        None if count == Some(entries.len()) => entries
            .iter()
            .map(|entry| number(&entry["id"]))
            .collect::<Result<_, _>>()?,
        None => return Err(RemoteError::NoLogprobs),
    };
    known(vocabulary, &tokens)?;
    if count.is_some_and(|count| count != tokens.len()) {
        return Err(shape("not as many tokens as it counts"));
    }
    let mut logprobs = vec![None; tokens.len()];
    let mut at = 0;
    for entry in entries {
        let id = number(&entry["id"])?;
        let text = entry["token"].as_str().unwrap_or_default();
        let ends = |&end: &usize| {
            tokens[end] == id && (text.is_empty() || vocabulary.decode(&tokens[at..=end]) == text)
        };
        // What cannot be attributed is left out, so that it is asked for by itself.
        let Some(end) = (at..tokens.len()).find(ends) else {
            continue;
        };
        logprobs[end] = probability(&entry["logprob"])?;
        at = end + 1;
    }
    Ok(Said { tokens, logprobs })
}

/// The entry for a token among the most probable ones of llama.cpp's first place.
pub fn among_the_most_probable(answer: &Value, token: u32) -> Result<Option<f64>, RemoteError> {
    let top = &answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"];
    let top = top.as_array().ok_or(RemoteError::NoLogprobs)?;
    let found = top
        .iter()
        .find(|entry| entry["id"].as_u64() == Some(token.into()));
    found.map_or(Ok(None), |entry| probability(&entry["logprob"]))
}

fn known(vocabulary: &dyn Vocabulary, tokens: &[u32]) -> Result<(), RemoteError> {
    match tokens
        .iter()
        .find(|&&token| token as usize >= vocabulary.size())
    {
        Some(token) => Err(RemoteError::UnknownToken(token.to_string())),
        None => Ok(()),
    }
}

fn number(value: &Value) -> Result<u32, RemoteError> {
    let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
    id.ok_or_else(|| shape("a token's id that is no number"))
}

fn probability(value: &Value) -> Result<Option<f64>, RemoteError> {
    match value.as_f64() {
        _ if value.is_null() => Ok(None),
        Some(logprob) if logprob <= CERTAIN => Ok(Some(logprob.min(0.0))),
        _ => Err(shape("a probability that is none")),
    }
}

fn shape(problem: &str) -> RemoteError {
    RemoteError::Shape(problem.to_owned())
}
