//! What a model may say after an action.

use super::code::Code;
use super::json::Json;
use super::tokens::Tokens;
use crate::grammar::Special;
use crate::model::{Mask, TokenSet, Trie, Walk};

/// A part of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// One token.
    Token(Special),
    /// A line, and the token behind it.
    Line {
        /// Whether values follow, or the state ends.
        values_follow: bool,
    },
    /// An object of locals.
    Locals {
        /// Whether it may begin with `..`.
        elides: bool,
    },
    /// A string.
    Value,
}

/// States and exits: each begins with a token of its own, and goes on with parts.
pub struct FrameMask<'a> {
    tokens: &'a Tokens,
    code: &'a Code,
    /// The only line that there may be, in place of all of the code's: before values, and at the end.
    only: Option<[Trie; 2]>,
    forms: Vec<(Special, Vec<Part>)>,
    /// Which form it is, if its first token is said already.
    begun: Option<usize>,
}

impl<'a> FrameMask<'a> {
    /// Of forms over a code.
    pub fn new(tokens: &'a Tokens, code: &'a Code, forms: Vec<(Special, Vec<Part>)>) -> Self {
        Self {
            tokens,
            code,
            only: None,
            forms,
            begun: None,
        }
    }

    /// With one line alone, as tokens.
    #[must_use]
    pub fn at(mut self, line: &[u32]) -> Self {
        let end = |special| Trie::new([line], &[self.tokens.id(special)]);
        self.only = Some([end(Special::ArgSep), end(Special::ActionSep)]);
        self
    }

    /// Behind the first token of the only form.
    #[must_use]
    pub fn begun(mut self) -> Self {
        self.begun = Some(0);
        self
    }

    fn lines(&self, values_follow: bool) -> &Trie {
        match (&self.only, values_follow) {
            (Some([before_values, _]), true) => before_values,
            (Some([_, at_the_end]), false) => at_the_end,
            (None, true) => self.code.before_values(),
            (None, false) => self.code.at_the_end(),
        }
    }
}

impl Mask for FrameMask<'_> {
    fn begin(&self) -> Box<dyn Walk + '_> {
        let mut going = Going {
            mask: self,
            parts: &[],
            inside: Inside::Start,
        };
        if let Some(form) = self.begun {
            going.parts = &self.forms[form].1;
            going.enter();
        }
        Box::new(going)
    }
}

struct Going<'a> {
    mask: &'a FrameMask<'a>,
    /// This part and those that follow.
    parts: &'a [Part],
    inside: Inside<'a>,
}

enum Inside<'a> {
    /// Before the first token.
    Start,
    Token(u32),
    Line(Box<dyn Walk + 'a>),
    Json(Json<'a>),
    /// Values that are not followed byte by byte: anything up to the next special token.
    Free,
    Over,
}

impl Going<'_> {
    /// At the beginning of what is now the first part.
    fn enter(&mut self) {
        let mask = self.mask;
        self.inside = match self.parts.first() {
            None => Inside::Over,
            Some(&Part::Token(special)) => Inside::Token(mask.tokens.id(special)),
            Some(&Part::Line { values_follow }) => Inside::Line(mask.lines(values_follow).begin()),
            Some(_) if mask.tokens.bytes().is_none() => Inside::Free,
            Some(&Part::Locals { elides }) => Inside::Json(Json::object(mask.code.names(), elides)),
            Some(Part::Value) => Inside::Json(Json::string()),
        };
    }

    fn next(&mut self) {
        self.parts = self.parts.get(1..).unwrap_or_default();
        self.enter();
    }

    /// The token behind values.
    fn behind(&self) -> Option<u32> {
        match self.parts.get(1) {
            Some(&Part::Token(special)) => Some(self.mask.tokens.id(special)),
            _ => None,
        }
    }
}

impl Walk for Going<'_> {
    fn allowed(&self, tokens: &mut TokenSet) {
        let mask = self.mask;
        match &self.inside {
            Inside::Start => tokens.extend(mask.forms.iter().map(|form| mask.tokens.id(form.0))),
            Inside::Token(token) => tokens.insert(*token),
            Inside::Line(walk) => walk.allowed(tokens),
            Inside::Json(json) if json.is_over() => tokens.extend(self.behind()),
            Inside::Json(json) => {
                for (byte, &id) in (0..=u8::MAX).zip(mask.tokens.bytes().into_iter().flatten()) {
                    if json.allows(byte) {
                        tokens.insert(id);
                    }
                }
            }
            Inside::Free => {
                tokens.extend(mask.tokens.ordinary());
                tokens.extend(self.behind());
            }
            Inside::Over => {}
        }
    }

    fn advance(&mut self, token: u32) {
        let mask = self.mask;
        match &mut self.inside {
            Inside::Start => {
                let form = mask
                    .forms
                    .iter()
                    .find(|form| mask.tokens.id(form.0) == token);
                self.parts = form.map_or(&[], |form| &form.1);
                self.enter();
            }
            Inside::Token(_) => self.next(),
            Inside::Line(walk) => {
                if mask.tokens.special(token).is_some() {
                    self.next();
                } else {
                    walk.advance(token);
                }
            }
            Inside::Json(json) if json.is_over() => {
                self.next();
                self.next();
            }
            Inside::Json(json) => {
                let bytes = mask.tokens.bytes().into_iter().flatten();
                if let Some((byte, _)) = (0..=u8::MAX).zip(bytes).find(|&(_, &id)| id == token) {
                    json.advance(byte);
                }
            }
            Inside::Free => {
                if Some(token) == self.behind() {
                    self.next();
                    self.next();
                }
            }
            Inside::Over => {}
        }
    }
}
