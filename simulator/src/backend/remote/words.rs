//! What a server calls a token, as ids of the vocabulary.

use super::error::{RemoteError, plain};
use crate::model::{ModelError, Vocabulary};

/// How vLLM writes a token's id.
const ID: &str = "token_id:";

/// The ids that a token's text stands for: one where the vocabulary is that of the server; several
/// where ours is made of bytes and the server's of longer pieces.
///
/// # Errors
/// [`RemoteError::UnknownToken`] for a text that is a piece of a character, which says nothing about
/// which, or not a token at all.
pub fn ids(vocabulary: &dyn Vocabulary, text: &str, same: bool) -> Result<Vec<u32>, RemoteError> {
    let unknown = || RemoteError::UnknownToken(plain(text));
    if let Some(id) = text.strip_prefix(ID).and_then(|id| id.parse().ok()) {
        return if same { Ok(vec![id]) } else { Err(unknown()) };
    }
    if let Some(id) = vocabulary.token(text) {
        return Ok(vec![id]);
    }
    if text.is_empty() || text.contains('\u{fffd}') {
        return Err(unknown());
    }
    let ids = vocabulary.encode_text(text).map_err(|_| unknown())?;
    if same && ids.len() != 1 {
        return Err(unknown());
    }
    Ok(ids)
}

/// A text that a server reads as these very tokens, as far as that can be known here.
///
/// # Errors
/// [`RemoteError::Unsupported`] where ordinary text would be taken for a special token.
pub fn text(vocabulary: &dyn Vocabulary, tokens: &[u32]) -> Result<String, ModelError> {
    let text = vocabulary.decode(tokens);
    if vocabulary.encode(&text)? == tokens {
        return Ok(text);
    }
    let problem = "a prompt cannot be sent as text, in which it would read as other tokens: \
                   give the model's tokenizer.json, so that ids are sent";
    Err(RemoteError::Unsupported(problem.to_owned()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::vocabulary::Bytewise;

    fn vocabulary() -> Bytewise {
        Bytewise::from_json(include_bytes!(
            "../../../tests/fixtures/llama/tokenizer.json"
        ))
        .unwrap()
    }

    #[test]
    fn texts_of_tokens_are_ids() {
        let known = vocabulary();
        assert_eq!(ids(&known, "<|step|>", true).unwrap(), [256]);
        assert_eq!(ids(&known, "a", true).unwrap(), [97]);
        assert_eq!(ids(&known, "token_id:300", true).unwrap(), [300]);
        assert_eq!(ids(&known, "ab", false).unwrap(), [97, 98]);
        for (text, same) in [
            ("ab", true),
            ("", true),
            ("", false),
            ("\u{fffd}", true),
            ("token_id:3", false),
        ] {
            assert!(ids(&known, text, same).is_err(), "{text}");
        }
    }

    #[test]
    fn text_that_would_become_a_special_token_is_not_sent() {
        let known = vocabulary();
        assert_eq!(text(&known, &[256, 49]).unwrap(), "<|step|>1");
        let spelled = known.encode_text("<|step|>").unwrap();
        assert!(text(&known, &spelled).is_err());
        assert!(text(&known, &[195]).is_err());
    }
}
