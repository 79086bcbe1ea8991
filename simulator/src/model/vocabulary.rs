//! Text to tokens and back.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::error::ModelError;
use crate::grammar::{Piece, Segment};

/// Larger files have merges; it is not worth reading them twice to find that out.
const LARGEST_BYTEWISE: usize = 1 << 18;

/// What a model's tokens mean.
pub trait Vocabulary: Send + Sync {
    /// Number of tokens.
    fn size(&self) -> usize;

    /// The id of a special token, with its brackets.
    fn token(&self, special: &str) -> Option<u32>;

    /// Tokens of a text in which special tokens are meant where they are spelled.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`].
    fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError>;

    /// Tokens of a text that has no special tokens, whatever is spelled in it.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`].
    fn encode_text(&self, text: &str) -> Result<Vec<u32>, ModelError>;

    /// The text of tokens; what is no UTF-8 and unknown ids become U+FFFD. Special tokens are spelled.
    fn decode(&self, tokens: &[u32]) -> String;

    /// Tokens of what an encoder yields.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`], also for a special token that the vocabulary lacks.
    fn encode_segments(&self, segments: &[Segment<'_>]) -> Result<Vec<u32>, ModelError> {
        let mut tokens = Vec::new();
        for segment in segments {
            match &segment.piece {
                Piece::Text(text) => tokens.extend(self.encode_text(text)?),
                Piece::Special(special) => {
                    let text = special.text();
                    let unknown = || ModelError::Tokenizer(format!("there is no token {text}"));
                    tokens.push(self.token(text).ok_or_else(unknown)?);
                }
            }
        }
        Ok(tokens)
    }
}

/// The vocabulary of a `tokenizer.json`.
///
/// # Errors
/// [`ModelError::Tokenizer`] if it cannot be read.
pub fn from_json(json: &[u8]) -> Result<Box<dyn Vocabulary>, ModelError> {
    if json.len() <= LARGEST_BYTEWISE
        && let Some(bytes) = Bytewise::from_json(json)
    {
        return Ok(Box::new(bytes));
    }
    Ok(Box::new(Merged::from_json(json)?))
}

/// A token for each byte, and special tokens. Starts at once.
#[derive(Debug, Clone)]
pub struct Bytewise {
    /// Id of each byte.
    bytes: Vec<u32>,
    /// What each id stands for.
    texts: Vec<Option<Vec<u8>>>,
    specials: HashMap<String, u32>,
    /// Lengths of special tokens that begin with a byte, the longest first.
    lengths: HashMap<u8, Vec<usize>>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<Added>,
    model: Model,
}

#[derive(Deserialize)]
struct Added {
    id: u32,
    content: String,
}

#[derive(Deserialize)]
struct Model {
    vocab: HashMap<String, u32>,
    merges: Vec<IgnoredAny>,
}

impl Bytewise {
    /// From a `tokenizer.json` that is byte-level and has no merges; none from another.
    pub fn from_json(json: &[u8]) -> Option<Self> {
        let file: File = serde_json::from_slice(json).ok()?;
        if !file.model.merges.is_empty() {
            return None;
        }
        let id = |name: char| file.model.vocab.get(name.encode_utf8(&mut [0; 4]) as &str);
        let bytes = (0..=255).map(|byte| id(byte_name(byte)).copied());
        let bytes: Vec<u32> = bytes.collect::<Option<_>>()?;
        let added = file
            .added_tokens
            .into_iter()
            .map(|added| (added.content, added.id));
        let specials: HashMap<String, u32> = added.filter(|(text, _)| !text.is_empty()).collect();
        let top = bytes.iter().chain(specials.values()).max()?;
        let mut texts = vec![None; *top as usize + 1];
        for (byte, &id) in (0..=255).zip(&bytes) {
            texts[id as usize] = Some(vec![byte]);
        }
        let mut lengths: HashMap<u8, Vec<usize>> = HashMap::new();
        for (text, &id) in &specials {
            texts[id as usize] = Some(text.clone().into_bytes());
            lengths
                .entry(text.as_bytes()[0])
                .or_default()
                .push(text.len());
        }
        for lengths in lengths.values_mut() {
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            lengths.dedup();
        }
        Some(Self {
            bytes,
            texts,
            specials,
            lengths,
        })
    }

    /// The special token that a text begins with.
    fn special(&self, text: &str) -> Option<(u32, usize)> {
        let lengths = self.lengths.get(text.as_bytes().first()?)?;
        lengths.iter().find_map(|&length| {
            let id = self.specials.get(text.get(..length)?)?;
            Some((*id, length))
        })
    }
}

impl Vocabulary for Bytewise {
    fn size(&self) -> usize {
        self.texts.len()
    }

    fn token(&self, special: &str) -> Option<u32> {
        self.specials.get(special).copied()
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let mut tokens = Vec::with_capacity(text.len());
        let mut at = 0;
        while let Some(&byte) = text.as_bytes().get(at) {
            let special = text.get(at..).and_then(|rest| self.special(rest));
            let (token, length) = special.unwrap_or((self.bytes[usize::from(byte)], 1));
            tokens.push(token);
            at += length;
        }
        Ok(tokens)
    }

    fn encode_text(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        Ok(text
            .bytes()
            .map(|byte| self.bytes[usize::from(byte)])
            .collect())
    }

    fn decode(&self, tokens: &[u32]) -> String {
        let mut bytes = Vec::with_capacity(tokens.len());
        for &token in tokens {
            match self.texts.get(token as usize) {
                Some(Some(text)) => bytes.extend(text),
                _ => bytes.extend("\u{fffd}".as_bytes()),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The printable character by which byte-level vocabularies write a byte.
fn byte_name(byte: u8) -> char {
    let plain = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    if plain(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&other| !plain(other)).count();
    char::from_u32(256 + before as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Bytes by the characters that write them.
pub(super) fn byte_names() -> HashMap<char, u8> {
    (0..=255).map(|byte| (byte_name(byte), byte)).collect()
}

/// A vocabulary with merges, or of another kind: whatever the `tokenizers` library reads.
pub struct Merged {
    tokenizer: tokenizers::Tokenizer,
    specials: HashMap<String, u32>,
}

impl Merged {
    /// From a `tokenizer.json`.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`] if it cannot be read.
    pub fn from_json(json: &[u8]) -> Result<Self, ModelError> {
        let tokenizer = tokenizers::Tokenizer::from_bytes(json)
            .map_err(|error| ModelError::Tokenizer(error.to_string()))?;
        let added = tokenizer.get_added_tokens_decoder();
        let specials = added.into_iter().map(|(id, token)| (token.content, id));
        Ok(Self {
            specials: specials.collect(),
            tokenizer,
        })
    }

    /// The first special token that is spelled in a text.
    fn spelled(&self, text: &str) -> Option<usize> {
        self.specials
            .keys()
            .filter_map(|special| text.find(special.as_str()))
            .min()
    }
}

impl Vocabulary for Merged {
    fn size(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }

    fn token(&self, special: &str) -> Option<u32> {
        self.specials.get(special).copied()
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let encoding = self.tokenizer.encode_fast(text, false);
        let encoding = encoding.map_err(|error| ModelError::Tokenizer(error.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    fn encode_text(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let mut tokens = Vec::new();
        let mut rest = text;
        // Cut after its first character, a special token is none.
        while let Some(at) = self.spelled(rest) {
            let first = rest[at..].chars().next().map_or(1, char::len_utf8);
            let (before, after) = rest.split_at(at + first);
            tokens.extend(self.encode(before)?);
            rest = after;
        }
        tokens.extend(self.encode(rest)?);
        Ok(tokens)
    }

    fn decode(&self, tokens: &[u32]) -> String {
        let decoded = self.tokenizer.decode(tokens, false);
        decoded.unwrap_or_else(|_| "\u{fffd}".repeat(tokens.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{Role, Special};

    const JSON: &[u8] = include_bytes!("../../tests/fixtures/llama/tokenizer.json");

    fn check(text: &str, tokens: &[u32]) {
        let vocabularies: [Box<dyn Vocabulary>; 2] = [
            Box::new(Bytewise::from_json(JSON).unwrap()),
            Box::new(Merged::from_json(JSON).unwrap()),
        ];
        for vocabulary in &vocabularies {
            assert_eq!(vocabulary.encode(text).unwrap(), tokens, "{text}");
            assert_eq!(vocabulary.decode(tokens), text);
            let plain = vocabulary.encode_text(text).unwrap();
            let bytes: Vec<u32> = text.bytes().map(u32::from).collect();
            assert_eq!(plain, bytes, "{text}");
        }
    }

    #[test]
    fn both_readers_of_a_bytewise_file_agree() {
        check("", &[]);
        check("a b\n", &[97, 32, 98, 10]);
        check("<|step|>1", &[256, 49]);
        check("é\0\u{ff}", &[195, 169, 0, 195, 191]);
        check("<|<|><|<=|>", &[264, 263]);
        check(
            "<|nothing|",
            &[60, 124, 110, 111, 116, 104, 105, 110, 103, 124],
        );
    }

    #[test]
    fn a_file_without_merges_is_read_bytewise() {
        assert_eq!(from_json(JSON).unwrap().size(), 265);
        let text = std::str::from_utf8(JSON).unwrap();
        let merged = text.replace("\"merges\": []", "\"merges\": [\"a b\"]");
        assert!(Bytewise::from_json(merged.as_bytes()).is_none());
        assert!(from_json(b"{}").is_err());
    }

    #[test]
    fn a_special_token_that_the_vocabulary_lacks_is_named() {
        let vocabulary = Bytewise::from_json(JSON).unwrap();
        let segment = Segment {
            piece: Piece::Special(Special::FrameSep),
            role: Role::Context,
            loss: false,
        };
        let told = vocabulary.encode_segments(&[segment]).unwrap_err();
        assert!(told.to_string().contains("<|frame_sep|>"), "{told}");
    }
}
