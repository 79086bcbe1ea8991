//! What an encoder yields.

use std::borrow::Cow;

use super::special::Special;

/// What a segment is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Source code and the frame around everything.
    Context,
    /// A state or an exit.
    State,
    /// An action.
    Action,
}

/// A piece of text or one special token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Ordinary text; a tokenizer must not look for special tokens in it.
    Text(Cow<'a, str>),
    /// A special token.
    Special(Special),
}

/// A piece with its role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The piece.
    pub piece: Piece<'a>,
    /// What it is a part of.
    pub role: Role,
    /// Whether a model is to predict it: states and exits, and what ends them.
    pub loss: bool,
}

/// Segments under construction.
#[derive(Debug, Default)]
pub(super) struct Segments<'a> {
    pub(super) done: Vec<Segment<'a>>,
}

impl<'a> Segments<'a> {
    pub(super) fn special(&mut self, special: Special, role: Role, loss: bool) {
        let piece = Piece::Special(special);
        self.done.push(Segment { piece, role, loss });
    }

    /// Empty text is no segment.
    pub(super) fn text(&mut self, text: impl Into<Cow<'a, str>>, role: Role, loss: bool) {
        let text = text.into();
        if !text.is_empty() {
            let piece = Piece::Text(text);
            self.done.push(Segment { piece, role, loss });
        }
    }
}

/// Segments as one text.
///
/// Recorded programs may contain what looks like a special token, so `<|` in ordinary text is
/// written `<\|`, and one more backslash wherever backslashes already stand between the two.
pub fn plain_text(segments: &[Segment<'_>]) -> String {
    let mut out = String::with_capacity(segments.len() * 16);
    for segment in segments {
        match &segment.piece {
            Piece::Special(special) => out.push_str(special.text()),
            Piece::Text(text) => escape(text, &mut out),
        }
    }
    out
}

fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at + 1);
        out.push_str(before);
        let backslashes = from.len() - from.trim_start_matches('\\').len();
        out.push_str(&from[..backslashes]);
        if from[backslashes..].starts_with('|') {
            out.push('\\');
        }
        rest = &from[backslashes..];
    }
    out.push_str(rest);
}

/// Undoes [`escape`].
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains("<\\") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at + 1);
        out.push_str(before);
        let backslashes = from.len() - from.trim_start_matches('\\').len();
        let escaped = backslashes > 0 && from[backslashes..].starts_with('|');
        out.push_str(&from[..backslashes - usize::from(escaped)]);
        rest = &from[backslashes..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{escape, unescape};

    #[test]
    fn text_that_looks_like_a_token_survives_escaping() {
        for text in [
            "<|frame_sep|>",
            "<\\|x",
            "<\\\\|",
            "<<|",
            "a < b | c",
            "<",
            "\\<|\\",
            "<\\",
        ] {
            let mut escaped = String::new();
            escape(text, &mut escaped);
            assert!(!escaped.contains("<|"), "{escaped}");
            assert_eq!(unescape(&escaped), text);
        }
    }
}
