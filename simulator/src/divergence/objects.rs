//! Objects as recordings describe them: `<Account owner='Ann' balance=3>`.

/// The type of a described object; none where the text is no such description.
pub(super) fn type_of(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find([' ', '>'])?;
    let name = &inner[..end];
    (!name.is_empty() && name != "class").then_some(name)
}

/// The text of an attribute of a described object.
pub(super) fn attribute<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    attributes(text)?
        .into_iter()
        .find(|(held, _)| *held == name)
        .map(|(_, value)| value)
}

/// Attributes of a described object in order; none where the text is no whole description.
pub(super) fn attributes(text: &str) -> Option<Vec<(&str, &str)>> {
    let inner = text.strip_prefix('<')?.strip_suffix('>')?;
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    let mut start = 0;
    for (at, byte) in inner.bytes().enumerate() {
        if let Some(open) = quote {
            if escaped {
                escaped = false;
            } else if byte == b'\\' {
                escaped = true;
            } else if byte == open {
                quote = None;
            }
            continue;
        }
        match byte {
            b'\'' | b'"' => quote = Some(byte),
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let pairs = parts.into_iter().skip(1);
    Some(pairs.filter_map(|part| part.split_once('=')).collect())
}

/// Whether a described object is gone through once: a second walk finds it empty.
pub(super) fn is_iterator(text: &str) -> bool {
    type_of(text).is_some_and(|name| {
        matches!(
            name,
            "generator" | "map" | "filter" | "zip" | "enumerate" | "reversed" | "reader"
        ) || name.ends_with("_iterator")
            || name.ends_with("_reader")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_past_quotes_and_nested_objects() {
        let text = "<Order lines={'a b': <Line n=1>} note='x=\\' y' total=3>";
        assert_eq!(type_of(text), Some("Order"));
        assert_eq!(attribute(text, "lines"), Some("{'a b': <Line n=1>}"));
        assert_eq!(attribute(text, "note"), Some("'x=\\' y'"));
        assert_eq!(attribute(text, "total"), Some("3"));
        assert_eq!(attribute(text, "n"), None);
    }
}
