//! Attributes in the text of an object, `<Type name=value …>`.

/// Text of an attribute's value.
pub(super) fn attribute<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let inner = text.strip_prefix('<')?.strip_suffix('>')?;
    let starts = field_starts(inner);
    for (at, &(start, equals)) in starts.iter().enumerate() {
        if &inner[start..equals] == name {
            let end = starts
                .get(at + 1)
                .map_or(inner.len(), |&(next, _)| next - 1);
            return Some(&inner[equals + 1..end]);
        }
    }
    None
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
