//! What can be read from the text of a value that is no literal: attributes of `<Type name=value …>`,
//! lengths of what was cut.

use crate::literal::{self, Literal};

/// Text of an attribute's value.
pub(super) fn attribute<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let inner = text.strip_prefix('<')?.strip_suffix('>')?;
    let starts = field_starts(inner);
    for (at, &(start, equals)) in starts.iter().enumerate() {
        if &inner[start..equals] == name {
            let end = starts
                .get(at + 1)
                .map_or(inner.len(), |&(next, _)| next - 1);
            // Named tuples are written with commas.
            return Some(inner[equals + 1..end].trim_end_matches(','));
        }
    }
    None
}

/// The container inside of `Counter({…})`, `deque([…])` and their like.
pub(super) fn inside(text: &str) -> Option<Literal> {
    let (name, rest) = text.split_once('(')?;
    let named = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let inner = rest.strip_suffix(')').filter(|_| named)?;
    let value = literal::parse(inner).ok()?;
    value.len().is_some().then_some(value)
}

/// Length of a string or container that was cut, from what its text leaves out: `…+N`.
pub(super) fn length(text: &str) -> Option<usize> {
    if text.starts_with(['\'', '"']) {
        // `'head' …+N 'tail'`
        let (head, after) = literal::parse_prefix(text).ok()?;
        let rest = text[after..].strip_prefix(" …+")?;
        let digits = rest.find(' ')?;
        let tail = literal::parse(&rest[digits + 1..]).ok()?;
        let left_out: usize = rest[..digits].parse().ok()?;
        return Some(head.len()? + left_out + tail.len()?);
    }
    let inner = text
        .strip_prefix(['[', '(', '{'])?
        .strip_suffix([']', ')', '}'])?;
    let mut items = 0;
    let mut depth = 0_i32;
    let (mut quote, mut escaped, mut start) = (None, false, 0);
    let mut count = |item: &str| {
        let item = item.trim();
        items += match item.strip_prefix("…+") {
            Some(number) => number.parse().unwrap_or(0),
            None => usize::from(!item.is_empty()),
        };
    };
    for (at, c) in inner.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{' | '<') => depth += 1,
            (None, ')' | ']' | '}' | '>') => depth -= 1,
            (None, ',') if depth == 0 => {
                count(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    count(&inner[start..]);
    Some(items)
}

/// Positions of names and of their `=`, outside of quotes and brackets.
fn field_starts(inner: &str) -> Vec<(usize, usize)> {
    let bytes = inner.as_bytes();
    let mut starts = Vec::new();
    let mut depth = 0_i32;
    let mut quote = 0;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if quote != 0 {
            if byte == b'\\' {
                at += 1;
            } else if byte == quote {
                quote = 0;
            }
        } else {
            match byte {
                b'\'' | b'"' => quote = byte,
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b')' | b']' | b'}' | b'>' => depth -= 1,
                b' ' if depth == 0 => {
                    let rest = &inner[at + 1..];
                    let length = rest
                        .find(|c: char| !c.is_alphanumeric() && c != '_')
                        .unwrap_or(rest.len());
                    if length > 0 && rest[length..].starts_with('=') {
                        starts.push((at + 1, at + 1 + length));
                        at += length + 1;
                    }
                }
                _ => {}
            }
        }
        at += 1;
    }
    starts
}
