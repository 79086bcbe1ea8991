//! Which tokens may follow, so that an answer is always an effect or a literal.

use crate::model::{Mask, TokenSet, Walk};

use super::vocabulary::Vocabulary;

/// The language of answers to a question of the step grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueMask {
    /// What follows `<|gives|>`: an effect.
    Effect,
    /// What follows `<|solve|>`: a literal.
    Value,
}

impl Mask for ValueMask {
    fn begin(&self) -> Box<dyn Walk + '_> {
        Box::new(Place {
            vocabulary: Vocabulary::get(),
            state: State::Value,
            open: Vec::new(),
            fresh: false,
            part: match self {
                Self::Effect => Part::Effect,
                Self::Value => Part::Value,
            },
            begun: false,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A result, which may be instead something raised or opaque, and before a changed value.
    Effect,
    /// The changed value.
    After,
    /// A value and nothing else.
    Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value is to come.
    Value,
    /// A value has ended.
    Ended,
    /// A name was written: a call or the end of the value.
    Named,
    /// Within a number: whether a sign may follow.
    Number(bool),
    /// Letters that are no token: `inf`, `nan`, `b''`.
    Letters(u8),
    /// Within a text: its quote, and whether a backslash went before.
    Text(u8, bool),
    /// The name of an exception.
    Kind,
    /// The text of an exception.
    Message,
    /// Only the end.
    Last,
    /// After the end.
    Over,
}

struct Place {
    vocabulary: &'static Vocabulary,
    state: State,
    /// Brackets that are open, by the byte that closes them.
    open: Vec<u8>,
    /// Whether the last token opened a bracket.
    fresh: bool,
    part: Part,
    /// Whether the answer has begun.
    begun: bool,
}

impl Place {
    fn word(&self, tokens: &mut TokenSet, word: &str) {
        if let Some(id) = self.vocabulary.id(word) {
            tokens.insert(id);
        }
    }

    fn bytes(tokens: &mut TokenSet, bytes: &[u8]) {
        tokens.extend(bytes.iter().map(|&byte| u32::from(byte)));
    }

    fn value(&self, tokens: &mut TokenSet) {
        Self::bytes(tokens, b"0123456789'\"[({binE");
        for word in ["True", "False", "None", "-"] {
            self.word(tokens, word);
        }
        tokens.extend(self.vocabulary.builtins());
        let closes = self.open.last();
        if let Some(&close) = closes
            && (self.fresh || close == b')')
        {
            tokens.insert(u32::from(close));
        }
        if self.part == Part::After && self.open.len() == 1 {
            self.word(tokens, "old");
        }
        if !self.begun && self.part == Part::Effect {
            self.word(tokens, "raises");
            self.word(tokens, "opaque");
        }
    }

    fn ended(&self, tokens: &mut TokenSet) {
        match self.open.last() {
            Some(&close) => {
                Self::bytes(tokens, &[b',', close]);
                if close == b'}' {
                    tokens.insert(u32::from(b':'));
                }
            }
            None => {
                self.word(tokens, "end");
                if self.part == Part::Effect {
                    self.word(tokens, "after");
                }
            }
        }
    }
}

impl Walk for Place {
    fn allowed(&self, tokens: &mut TokenSet) {
        match self.state {
            State::Value => self.value(tokens),
            State::Ended => self.ended(tokens),
            State::Named => {
                tokens.insert(u32::from(b'('));
                self.ended(tokens);
            }
            State::Number(sign) => {
                Self::bytes(tokens, b"0123456789.ej");
                if sign {
                    Self::bytes(tokens, b"+-");
                } else {
                    // A complex number has two parts.
                    self.word(tokens, "+");
                    self.word(tokens, "-");
                }
                self.ended(tokens);
            }
            State::Letters(first) => {
                Self::bytes(tokens, b"abcdefghijklmnopqrstuvwxyz");
                if first == b'b' {
                    Self::bytes(tokens, b"'\"");
                }
                self.ended(tokens);
            }
            State::Text(..) => tokens.extend(32..=255),
            State::Kind => tokens.extend(self.vocabulary.exceptions()),
            State::Message => {
                tokens.extend(0..=255);
                tokens.extend(self.vocabulary.message_words());
                self.word(tokens, "end");
            }
            State::Last => self.word(tokens, "end"),
            State::Over => {}
        }
    }

    fn advance(&mut self, token: u32) {
        self.fresh = false;
        self.begun = true;
        let Ok(byte) = u8::try_from(token) else {
            let word = self.vocabulary.word(token).unwrap_or_default();
            self.state = match (self.state, word) {
                (_, "end") => State::Over,
                (State::Message, _) => State::Message,
                (State::Kind, _) => State::Message,
                (_, "raises") => State::Kind,
                (_, "opaque") => State::Last,
                (_, "after") => {
                    self.part = Part::After;
                    State::Value
                }
                (State::Number(_), "+" | "-") | (State::Value, "-") => State::Number(false),
                (_, "old" | "True" | "False" | "None") => State::Ended,
                _ => State::Named,
            };
            return;
        };
        self.state = match (self.state, byte) {
            (State::Message, _) => State::Message,
            (State::Text(quote, true), _) => State::Text(quote, false),
            (State::Text(quote, false), b'\\') => State::Text(quote, true),
            (State::Text(quote, false), byte) if byte == quote => State::Ended,
            (State::Text(quote, false), _) => State::Text(quote, false),
            (_, b'\'' | b'"') => State::Text(byte, false),
            (_, b'[') => self.opened(b']'),
            (_, b'(') => self.opened(b')'),
            (_, b'{') => self.opened(b'}'),
            (_, b']' | b')' | b'}') => {
                self.open.pop();
                State::Ended
            }
            (_, b',' | b':') => State::Value,
            (_, b'0'..=b'9' | b'.') => State::Number(false),
            (State::Number(_), b'e') => State::Number(true),
            (State::Number(_), _) => State::Number(false),
            (State::Letters(first), _) => State::Letters(first),
            (_, first) => State::Letters(first),
        };
    }
}

impl Place {
    fn opened(&mut self, close: u8) -> State {
        self.open.push(close);
        self.fresh = true;
        State::Value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::step::{Effect, Operation, encode_answer, encode_effect};

    /// Whether a mask lets a sequence pass to its end.
    fn passes(mask: ValueMask, ids: &[u32]) -> bool {
        let mut walk = mask.begin();
        for &id in ids {
            let mut tokens = TokenSet::new(Vocabulary::get().len());
            walk.allowed(&mut tokens);
            if !tokens.contains(id) {
                return false;
            }
            walk.advance(id);
        }
        let mut tokens = TokenSet::new(Vocabulary::get().len());
        walk.allowed(&mut tokens);
        tokens.is_empty()
    }

    fn gives(result: &str, after: Option<&str>) -> Effect {
        Effect::Gives {
            result: result.into(),
            after: after.map(Into::into),
        }
    }

    #[test]
    fn every_effect_passes() {
        let operation = Operation {
            expression: "v0.append(v1)".into(),
            operands: vec!["[1, 'a']".into(), "3".into()],
        };
        for effect in [
            gives("None", Some("[1, 'a', 3]")),
            gives("None", Some("[3, 1, 'a']")),
            gives("None", Some("[]")),
            gives("{'a': [1, (2,)], 'b': {}, (): None}", None),
            gives("-1.5e-07", None),
            gives("(1+2j)", None),
            gives("'it\\'s \\\\ \"é\"'", None),
            gives("b'a'", None),
            gives("inf", None),
            gives("set()", None),
            gives("frozenset({1, 2})", None),
            gives("range(0, 5)", None),
            gives("iter([(0, 'a')])", None),
            gives("dict_items([('a', True)])", None),
            gives("int", None),
            Effect::Opaque,
            Effect::Raises {
                kind: "ValueError".into(),
                message: "invalid literal for int() with base 10: 'é\\n'".into(),
            },
            Effect::Raises {
                kind: "KeyError".into(),
                message: "'x'".into(),
            },
        ] {
            let ids = encode_effect(&operation, &effect);
            assert!(passes(ValueMask::Effect, &ids), "{effect:?}");
        }
        assert!(passes(ValueMask::Value, &encode_answer("[1, 'x']")));
    }

    #[test]
    fn what_is_no_literal_does_not_pass() {
        let ids = |text: &str| {
            let mut ids: Vec<u32> = text.bytes().map(u32::from).collect();
            ids.extend(Vocabulary::get().id("end"));
            ids
        };
        for text in ["[1", "1]", "[1)", "'a", ",", "{1:2", "(1", "[,]", ""] {
            assert!(!passes(ValueMask::Value, &ids(text)), "{text}");
        }
    }
}
