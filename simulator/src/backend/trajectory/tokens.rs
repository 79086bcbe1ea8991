//! The special tokens of a model, and answers as text.

use std::collections::HashMap;

use super::unknown;
use crate::grammar::{Piece, Role, Segment, Special, cwm, nd, plain_text};
use crate::model::{Dialect, Vocabulary};
use crate::simulator::Unavailable;

/// Tokens that the masks and prompts are made of.
pub struct Tokens {
    ids: HashMap<Special, u32>,
    specials: HashMap<u32, Special>,
    /// The token of each byte, if every text is made of those.
    bytes: Option<Box<[u32; 256]>>,
    size: usize,
}

impl Tokens {
    /// Those of a vocabulary.
    ///
    /// # Errors
    /// [`Unavailable::Unknown`] for another dialect, and for one whose tokens are not all there.
    pub fn new(vocabulary: &dyn Vocabulary, dialect: Dialect) -> Result<Self, Unavailable> {
        let wanted: Vec<Special> = match dialect {
            Dialect::Nd => nd::TOKENS.to_vec(),
            Dialect::Cwm => cwm::TOKENS.iter().map(|token| token.0).collect(),
            Dialect::Step => {
                return Err(unknown(
                    "the model speaks of operations, not of trajectories",
                ));
            }
        };
        let mut ids = HashMap::new();
        for special in wanted {
            let id = vocabulary.token(special.text());
            let missing = || unknown(&format!("the model has no token {}", special.text()));
            ids.insert(special, id.ok_or_else(missing)?);
        }
        Ok(Self {
            specials: ids.iter().map(|(&special, &id)| (id, special)).collect(),
            ids,
            bytes: bytes(vocabulary),
            size: vocabulary.size(),
        })
    }

    /// The id of a token of the dialect. One of another dialect is none that any vocabulary has.
    pub fn id(&self, special: Special) -> u32 {
        self.ids.get(&special).copied().unwrap_or(u32::MAX)
    }

    /// What an id means, if it is special.
    pub fn special(&self, id: u32) -> Option<Special> {
        self.specials.get(&id).copied()
    }

    /// The token of each byte; none if texts have longer tokens.
    pub fn bytes(&self) -> Option<&[u32; 256]> {
        self.bytes.as_deref()
    }

    /// Tokens that are not special.
    pub fn ordinary(&self) -> impl Iterator<Item = u32> {
        (0..self.size as u32).filter(|id| !self.specials.contains_key(id))
    }

    /// Tokens as the text that decoders read, in which ordinary text is no special token.
    ///
    /// # Errors
    /// [`Unavailable::Unknown`] for tokens that are no text.
    pub fn text(&self, vocabulary: &dyn Vocabulary, tokens: &[u32]) -> Result<String, Unavailable> {
        let mut segments = Vec::new();
        let mut push = |piece| {
            let (role, loss) = (Role::State, false);
            segments.push(Segment { piece, role, loss });
        };
        for run in tokens.chunk_by(|&a, &b| self.special(a).is_none() && self.special(b).is_none())
        {
            if let &[token] = run
                && let Some(special) = self.special(token)
            {
                push(Piece::Special(special));
                continue;
            }
            let text = vocabulary.decode(run);
            if text.contains('\u{fffd}')
                && vocabulary.encode_text(&text).ok().as_deref() != Some(run)
            {
                return Err(unknown("the model's answer is no text"));
            }
            push(Piece::Text(text.into()));
        }
        Ok(plain_text(&segments))
    }
}

/// The token of each byte, where every character is as many tokens as it has bytes.
fn bytes(vocabulary: &dyn Vocabulary) -> Option<Box<[u32; 256]>> {
    let mut found = Box::new([None; 256]);
    // Every byte that UTF-8 has is in one of these.
    let characters = (0..0x800).chain((0x800..0x1_0000).step_by(0x400));
    let characters = characters.chain((0x1_0000..0x11_0000).step_by(0x1_0000));
    for character in characters.filter_map(char::from_u32) {
        let mut buffer = [0; 4];
        let text = character.encode_utf8(&mut buffer);
        let tokens = vocabulary.encode_text(text).ok()?;
        if tokens.len() != text.len() {
            return None;
        }
        for (byte, token) in text.bytes().zip(tokens) {
            if found[usize::from(byte)]
                .replace(token)
                .is_some_and(|before| before != token)
            {
                return None;
            }
        }
    }
    // Longer texts are no longer tokens, either.
    let text = "{\"..\": \"..\", \"self\": \"'    return value'\"}";
    if vocabulary.encode_text(text).ok()?.len() != text.len() {
        return None;
    }
    let mut ids = Box::new([u32::MAX; 256]);
    for (id, found) in ids.iter_mut().zip(found.iter()) {
        *id = found.unwrap_or(u32::MAX);
    }
    Some(ids)
}
