//! Token shards: a byte-level vocabulary with the grammars' special tokens, and a mask of what a model
//! is to predict.
//!
//! Arrays are `.npy` files that `numpy.load(…, mmap_mode="r")` opens: `tokens` (uint16, all samples back
//! to back), `loss` (uint8, 1 where a token is to be predicted) and `starts` (int64, where each sample
//! begins, and the end).

use ndbg_simulator::grammar::Special;
use serde_json::{Map, Value};

/// Ids below are bytes; the special tokens follow in their order.
pub const BYTES: u16 = 256;

/// Number of tokens in the vocabulary.
pub fn vocabulary() -> usize {
    usize::from(BYTES) + Special::ALL.len()
}

/// Samples as tokens.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    ids: Vec<u16>,
    loss: Vec<u8>,
    starts: Vec<i64>,
}

impl Tokens {
    /// Adds the `text` of a sample, with `loss` spans in characters.
    ///
    /// A sample of the step grammar brings its `tokens`; the last `predicted` of them are the answer.
    pub fn add(&mut self, data: &Map<String, Value>) {
        if let Some(ids) = data.get("tokens").and_then(Value::as_array) {
            let predicted = data.get("predicted").and_then(Value::as_u64).unwrap_or(0) as usize;
            self.starts.push(self.ids.len() as i64);
            self.ids
                .extend(ids.iter().filter_map(Value::as_u64).map(|id| id as u16));
            let shown = ids.len().saturating_sub(predicted);
            self.loss
                .extend((0..ids.len()).map(|at| u8::from(at >= shown)));
            return;
        }
        let text = data.get("text").and_then(Value::as_str).unwrap_or_default();
        let spans: Vec<(u64, u64)> = data
            .get("loss")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|span| Some((span.get(0)?.as_u64()?, span.get(1)?.as_u64()?)))
            .collect();
        self.starts.push(self.ids.len() as i64);
        let mut spans = spans.into_iter().peekable();
        let mut position = 0;
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            while spans.next_if(|(_, end)| *end <= position).is_some() {}
            let predicted = u8::from(spans.peek().is_some_and(|(start, _)| *start <= position));
            let special = rest.starts_with("<|").then(|| special_at(rest)).flatten();
            if let Some((id, length)) = special {
                self.ids.push(id);
                self.loss.push(predicted);
                // Special tokens are ASCII: as many characters as bytes.
                position += length as u64;
                rest = &rest[length..];
                continue;
            }
            let bytes = &rest.as_bytes()[..first.len_utf8()];
            self.ids.extend(bytes.iter().map(|&byte| u16::from(byte)));
            self.loss.extend(bytes.iter().map(|_| predicted));
            position += 1;
            rest = &rest[bytes.len()..];
        }
    }

    /// The arrays as `.npy` files, by name.
    pub fn arrays(mut self) -> Vec<(&'static str, Vec<u8>)> {
        self.starts.push(self.ids.len() as i64);
        let tokens: Vec<u8> = self.ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        let starts: Vec<u8> = self.starts.iter().flat_map(|at| at.to_le_bytes()).collect();
        vec![
            ("tokens", npy("<u2", self.ids.len(), &tokens)),
            ("loss", npy("|u1", self.loss.len(), &self.loss)),
            ("starts", npy("<i8", self.starts.len(), &starts)),
        ]
    }
}

fn special_at(text: &str) -> Option<(u16, usize)> {
    let all = Special::ALL.iter().enumerate();
    all.filter(|(_, special)| text.starts_with(special.text()))
        .map(|(at, special)| (BYTES + at as u16, special.text().len()))
        .next()
}

/// A one-dimensional array in version 1.0 of numpy's format.
fn npy(kind: &str, length: usize, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({length},), }}");
    // Magic, version and length take ten bytes; data begins at a multiple of 64, after a line feed.
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{BYTES, Tokens};
    use ndbg_simulator::grammar::Special;
    use serde_json::json;

    #[test]
    fn special_tokens_are_one_token_and_masks_follow_characters() {
        let text = "é<|frame_sep|>ab<\\|frame_sep|>";
        let data = json!({ "text": text, "loss": [[1, 15]] });
        let mut tokens = Tokens::default();
        tokens.add(data.as_object().unwrap());
        let frame = Special::ALL
            .iter()
            .position(|special| special.text() == "<|frame_sep|>")
            .unwrap();
        assert_eq!(
            tokens.ids[..4],
            [0xc3, 0xa9, BYTES + frame as u16, u16::from(b'a')]
        );
        assert_eq!(tokens.loss[..5], [0, 0, 1, 1, 0]);
        assert_eq!(tokens.ids.len(), 3 + text.len() - "é<|frame_sep|>".len());
        let arrays = tokens.arrays();
        assert_eq!(arrays[2].1.len(), 128 + 2 * 8);
        assert_eq!(&arrays[0].1[..6], b"\x93NUMPY");
    }
}
