//! Splits plain text into special tokens and ordinary text, and reads it piece by piece.

use std::borrow::Cow;

use thiserror::Error;

use super::json::{self, Member};
use super::segment::unescape;
use super::special::Special;

/// Text that is not of the grammar.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("byte {at}: {what}")]
pub struct DecodeError {
    /// Byte offset in the text.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// Reads pieces one after another.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn error(&self, what: &'static str) -> DecodeError {
        DecodeError { at: self.at, what }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// The special token that stands here.
    pub(super) fn peek(&self) -> Option<Special> {
        special_at(&self.text[self.at..])
    }

    pub(super) fn take(&mut self) -> Option<Special> {
        let special = self.peek()?;
        self.at += special.text().len();
        Some(special)
    }

    /// Takes the token if it stands here.
    pub(super) fn accept(&mut self, special: Special) -> bool {
        let here = self.peek() == Some(special);
        if here {
            self.at += special.text().len();
        }
        here
    }

    pub(super) fn expect(
        &mut self,
        special: Special,
        what: &'static str,
    ) -> Result<(), DecodeError> {
        if self.accept(special) {
            Ok(())
        } else {
            Err(self.error(what))
        }
    }

    /// Everything up to the next special token, as it is written.
    fn raw(&mut self) -> &'a str {
        let from = self.at;
        let rest = &self.text[from..];
        let mut length = 0;
        self.at = loop {
            match rest[length..].find("<|") {
                Some(offset) if special_at(&rest[length + offset..]).is_some() => {
                    break from + length + offset;
                }
                Some(offset) => length += offset + 2,
                None => break self.text.len(),
            }
        };
        &self.text[from..self.at]
    }

    /// Ordinary text up to the next special token, maybe none.
    pub(super) fn ordinary(&mut self) -> Cow<'a, str> {
        unescape(self.raw())
    }

    /// A JSON object of strings.
    pub(super) fn object(&mut self) -> Result<Vec<Member>, DecodeError> {
        self.json(json::read_object)
    }

    /// A JSON string.
    pub(super) fn string(&mut self) -> Result<String, DecodeError> {
        self.json(json::read_string)
    }

    fn json<T>(&mut self, read: impl Fn(&str) -> Result<T, json::Wrong>) -> Result<T, DecodeError> {
        let from = self.at;
        let raw = self.raw();
        let text = unescape(raw);
        read(&text).map_err(|(at, what)| DecodeError {
            at: from + raw_offset(raw, at),
            what,
        })
    }
}

fn special_at(text: &str) -> Option<Special> {
    let rest = text.strip_prefix("<|")?;
    // No name is longer; a `|>` further on belongs to something else.
    let end = rest.bytes().take(32).position(|byte| byte == b'|')?;
    let name = rest.get(..end)?;
    rest[end..]
        .starts_with("|>")
        .then(|| Special::from_name(name))?
}

/// Where a byte of unescaped text stands in the text as it is written.
fn raw_offset(raw: &str, at: usize) -> usize {
    let mut inner = 0;
    let mut outer = 0;
    let bytes = raw.as_bytes();
    while inner < at && outer < bytes.len() {
        outer += 1;
        inner += 1;
        if bytes[outer - 1] == b'<' {
            let backslashes = bytes[outer..].iter().take_while(|&&b| b == b'\\').count();
            if backslashes > 0 && bytes.get(outer + backslashes) == Some(&b'|') {
                outer += 1;
            }
        }
    }
    outer
}

#[cfg(test)]
mod tests {
    use super::{Lexer, raw_offset};
    use crate::grammar::Special;

    #[test]
    fn only_known_tokens_split_text() {
        let mut lexer = Lexer::new("a <|b|> <|<|frame_sep|>c");
        assert_eq!(lexer.ordinary(), "a <|b|> <|");
        assert_eq!(lexer.take(), Some(Special::FrameSep));
        assert_eq!(lexer.take(), None);
        assert_eq!(lexer.ordinary(), "c");
        assert!(lexer.is_at_end());
    }

    #[test]
    fn offsets_count_the_backslashes_that_escaping_added() {
        let raw = "ab<\\|c<\\|d";
        assert_eq!(raw_offset(raw, 1), 1);
        assert_eq!(raw_offset(raw, 4), 5);
        assert_eq!(raw_offset(raw, 8), 10);
    }
}
