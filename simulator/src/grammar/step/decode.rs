//! Tokens as effects.

use thiserror::Error;

use super::vocabulary::Vocabulary;
use super::{Effect, Operation};

/// Why tokens are no effect.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the model's answer is no effect: {0}")]
pub struct NotAnEffect(String);

/// Reads what follows the question; the final `<|end|>` may be there or not.
pub fn decode_effect(operation: &Operation, ids: &[u32]) -> Result<Effect, NotAnEffect> {
    let vocabulary = Vocabulary::get();
    let word = |id: u32| vocabulary.word(id);
    let ids = match ids.split_last() {
        Some((&last, rest)) if word(last) == Some("end") => rest,
        _ => ids,
    };
    match ids.first().and_then(|&id| word(id)) {
        Some("opaque") => return Ok(Effect::Opaque),
        Some("raises") => {
            let kind = ids
                .get(1)
                .and_then(|&id| word(id))
                .filter(|word| Vocabulary::is_exception(word));
            // An exception that has no token of its own is spelled, and nothing marks its end.
            let kind = kind.ok_or_else(|| NotAnEffect("it raises something unknown".into()))?;
            return Ok(Effect::Raises {
                kind: kind.into(),
                message: text(&ids[2..], "")?,
            });
        }
        _ => {}
    }
    let parts = ids
        .split(|&id| word(id) == Some("after"))
        .collect::<Vec<_>>();
    let (result, after) = match parts[..] {
        [result] => (result, None),
        [result, after] => (result, Some(after)),
        _ => return Err(NotAnEffect("more than one changed value".into())),
    };
    let before = operation.operands.first().map_or("", String::as_str);
    Ok(Effect::Gives {
        result: text(result, "")?,
        after: after.map(|ids| text(ids, before)).transpose()?,
    })
}

/// Reads the answer to an inverse question.
pub fn decode_hole(ids: &[u32]) -> Result<String, NotAnEffect> {
    let vocabulary = Vocabulary::get();
    let ids = match ids.split_last() {
        Some((&last, rest)) if vocabulary.word(last) == Some("end") => rest,
        _ => ids,
    };
    text(ids, "")
}

/// Text of tokens; `<|old|>` is what is between the brackets of `before`.
fn text(ids: &[u32], before: &str) -> Result<String, NotAnEffect> {
    let mut bytes: Vec<u8> = Vec::with_capacity(ids.len());
    let mut after_old = false;
    for &id in ids {
        let Some(word) = Vocabulary::get().word(id) else {
            let byte = u8::try_from(id).map_err(|_| NotAnEffect(format!("token {id}")))?;
            // Nothing was there before, so that there is nothing to divide.
            if !(after_old && byte == b',') {
                bytes.push(byte);
            }
            after_old = false;
            continue;
        };
        after_old = false;
        if word == "old" {
            let inner = if before == "set()" {
                ""
            } else {
                before
                    .get(1..before.len().saturating_sub(1))
                    .ok_or_else(|| NotAnEffect("no former items".into()))?
            };
            let inner = inner.trim_end_matches([' ', ',']);
            if inner.is_empty() && bytes.last() == Some(&b',') {
                bytes.pop();
            }
            bytes.extend(inner.as_bytes());
            after_old = inner.is_empty();
        } else {
            bytes.extend(word.as_bytes());
        }
    }
    String::from_utf8(bytes).map_err(|_| NotAnEffect("bytes that are no UTF-8".into()))
}
