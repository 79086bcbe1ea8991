//! Operations and effects as tokens.

use super::vocabulary::Vocabulary;
use super::{Effect, Operation};

/// The question that a model answers: `<|step|>` EXPRESSION `<|with|>` VALUE { `<|next|>` VALUE }
/// `<|gives|>`.
pub fn encode_question(operation: &Operation) -> Vec<u32> {
    let mut out = Encoder::new();
    out.word("step");
    out.python(&operation.expression);
    out.word("with");
    for (at, operand) in operation.operands.iter().enumerate() {
        if at > 0 {
            out.word("next");
        }
        out.python(operand);
    }
    out.word("gives");
    out.ids
}

/// What follows the question, up to `<|end|>`.
pub fn encode_effect(operation: &Operation, effect: &Effect) -> Vec<u32> {
    let mut out = Encoder::new();
    out.effect(operation, effect);
    out.word("end");
    out.ids
}

/// A question backwards: the value of slot `hole` is not shown, the effect is, and what follows
/// `<|solve|>` is the value. None when there is no such slot.
pub fn encode_inverse(operation: &Operation, effect: &Effect, hole: usize) -> Option<Vec<u32>> {
    operation.operands.get(hole)?;
    let mut out = Encoder::new();
    out.word("inverse");
    out.python(&operation.expression);
    out.word("with");
    for (at, operand) in operation.operands.iter().enumerate() {
        if at > 0 {
            out.word("next");
        }
        if at == hole {
            out.word("hole");
        } else {
            out.python(operand);
        }
    }
    out.word("gives");
    // What was before is not known backwards, so that nothing can stand for it.
    match effect {
        Effect::Gives { result, after } => {
            out.python(result);
            if let Some(after) = after {
                out.word("after");
                out.python(after);
            }
        }
        other => out.effect(operation, other),
    }
    out.word("solve");
    Some(out.ids)
}

/// The answer to an inverse question.
pub fn encode_answer(value: &str) -> Vec<u32> {
    let mut out = Encoder::new();
    out.python(value);
    out.word("end");
    out.ids
}

struct Encoder {
    vocabulary: &'static Vocabulary,
    ids: Vec<u32>,
}

impl Encoder {
    fn new() -> Self {
        Self {
            vocabulary: Vocabulary::get(),
            ids: Vec::new(),
        }
    }

    fn word(&mut self, word: &str) {
        match self.vocabulary.id(word) {
            Some(id) => self.ids.push(id),
            None => self.bytes(word),
        }
    }

    fn bytes(&mut self, text: &str) {
        self.ids.extend(text.bytes().map(u32::from));
    }

    fn effect(&mut self, operation: &Operation, effect: &Effect) {
        match effect {
            Effect::Gives { result, after } => {
                self.python(result);
                if let Some(after) = after {
                    self.word("after");
                    let before = operation.operands.first().map_or("", String::as_str);
                    self.changed(before, after);
                }
            }
            Effect::Raises { kind, message } => {
                self.word("raises");
                self.word(kind);
                self.message(message);
            }
            Effect::Opaque => self.word("opaque"),
        }
    }

    /// A changed container, with `<|old|>` for its former items where they stand in a row.
    fn changed(&mut self, before: &str, after: &str) {
        match (items(before), items(after)) {
            (Some((open, old)), Some((kind, new)))
                if open == kind && new.starts_with(&old) && new.len() > old.len() =>
            {
                self.bytes(open);
                self.word("old");
                for item in &new[old.len()..] {
                    self.bytes(",");
                    self.python(item);
                }
                self.bytes(closing(open));
            }
            // A set has no order, and a dictionary grows at its end.
            (Some(("{", old)), Some(("{", new)))
                if new.len() > old.len() && old.iter().all(|item| new.contains(item)) =>
            {
                self.bytes("{");
                self.word("old");
                for item in new.iter().filter(|item| !old.contains(item)) {
                    self.bytes(",");
                    self.python(item);
                }
                self.bytes("}");
            }
            (Some((open, old)), Some((kind, new)))
                if open == kind && new.ends_with(&old) && new.len() > old.len() =>
            {
                self.bytes(open);
                for item in &new[..new.len() - old.len()] {
                    self.python(item);
                    self.bytes(",");
                }
                self.word("old");
                self.bytes(closing(open));
            }
            _ => self.python(after),
        }
    }

    /// Python outside of which spaces mean nothing.
    fn python(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let rest = &text[at..];
            let first = bytes[at];
            if first == b' ' {
                at += 1;
            } else if let Some(length) = string_length(rest) {
                self.bytes(&rest[..length]);
                at += length;
            } else if first.is_ascii_alphabetic() || first == b'_' || first >= 0x80 {
                at += self.name(rest);
            } else if first == b'.'
                && bytes
                    .get(at + 1)
                    .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
            {
                let length = 1 + name_length(&rest[1..]);
                self.word(&rest[..length]);
                at += length;
            } else if first.is_ascii_digit() {
                let length = number_length(rest);
                self.bytes(&rest[..length]);
                at += length;
            } else {
                let length = if rest.len() > 1
                    && rest.is_char_boundary(2)
                    && self.vocabulary.id(&rest[..2]).is_some()
                {
                    2
                } else {
                    1
                };
                self.word(&rest[..length]);
                at += length;
            }
        }
    }

    /// A name, `key=`, or `not in`; returns its length.
    fn name(&mut self, rest: &str) -> usize {
        if rest.starts_with("not in ") {
            self.word("not in");
            return "not in".len();
        }
        let length = name_length(rest);
        let behind = &rest[length..];
        if behind.starts_with('=') && !behind.starts_with("==") {
            let word = &rest[..=length];
            if self.vocabulary.id(word).is_some() {
                self.word(word);
                return length + 1;
            }
        }
        self.word(&rest[..length]);
        length
    }

    /// The text of an exception: what is not one of the common pieces is spelled.
    fn message(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let piece = Vocabulary::messages()
                .iter()
                .filter(|piece| rest.starts_with(**piece))
                .max_by_key(|piece| piece.len());
            if let Some(piece) = piece {
                self.word(piece);
                rest = &rest[piece.len()..];
            } else {
                self.bytes(&rest[..first.len_utf8()]);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
}

fn closing(open: &str) -> &'static str {
    if open == "[" { "]" } else { "}" }
}

/// The items of a list, set or dictionary as texts, and its opening bracket.
fn items(text: &str) -> Option<(&'static str, Vec<&str>)> {
    let text = text.trim();
    let open = if text.starts_with('[') {
        "["
    } else if text.starts_with('{') {
        "{"
    } else if text == "set()" {
        return Some(("{", Vec::new()));
    } else {
        return None;
    };
    let inner = text.get(1..text.len().checked_sub(1)?)?;
    let mut found = Vec::new();
    let (mut depth, mut start, mut at) = (0_i32, 0, 0);
    while at < inner.len() {
        let rest = &inner[at..];
        if let Some(length) = string_length(rest) {
            at += length;
            continue;
        }
        match inner.as_bytes()[at] {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                found.push(inner[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    if !inner[start..].trim().is_empty() {
        found.push(inner[start..].trim());
    }
    Some((open, found))
}

/// Length of a string literal at the beginning, its prefix included.
fn string_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let prefix =
        usize::from(bytes.first() == Some(&b'b') && matches!(bytes.get(1), Some(b'\'' | b'"')));
    let quote = *bytes.get(prefix)?;
    if quote != b'\'' && quote != b'"' {
        return None;
    }
    let mut at = prefix + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    Some(bytes.len())
}

fn name_length(text: &str) -> usize {
    text.char_indices()
        .find(|(_, c)| !(c.is_alphanumeric() || *c == '_'))
        .map_or(text.len(), |(at, _)| at)
}

/// Length of a number, its exponent and imaginary unit included.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let sign = matches!(bytes[at], b'+' | b'-') && at > 0 && bytes[at - 1] == b'e';
        if bytes[at].is_ascii_alphanumeric() || bytes[at] == b'.' || bytes[at] == b'_' || sign {
            at += 1;
        } else {
            break;
        }
    }
    at
}
