//! Wrong constants, defaults and keys.

use tree_sitter::Node;

use crate::seed::site::{Site, arguments, is_plain_string};

/// Longest text that is taken for a constant, not for prose.
const LONGEST: usize = 20;

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    match node.kind() {
        "integer" | "float" | "true" | "false" | "string" => {
            let parent = node.parent();
            let kind = parent.map_or("", |parent| parent.kind());
            match kind {
                "default_parameter" | "typed_default_parameter" => {
                    change("wrong-default", node, site);
                }
                // Indices and bounds are another family's; parts of a text have no value of their own.
                "subscript" | "slice" | "concatenated_string" | "unary_operator" => {}
                _ if parent.is_some_and(|parent| is_range(parent, site)) => {}
                _ => change("wrong-constant", node, site),
            }
            if parent.is_some_and(|parent| uses_key(parent, node, site)) {
                wrong_key(node, site);
            }
        }
        _ => {}
    }
}

fn is_range(list: Node<'_>, site: &Site<'_>) -> bool {
    list.parent()
        .and_then(|call| call.child_by_field_name("function"))
        .is_some_and(|function| matches!(site.text(function), "range" | "enumerate"))
}

fn change<'a>(operator: &'static str, node: Node<'a>, site: &mut Site<'a>) {
    let text = site.text(node);
    let others: Vec<String> = match node.kind() {
        "true" => vec!["False".into()],
        "false" => vec!["True".into()],
        "integer" => integers(text),
        "float" => floats(text),
        _ => texts(node, text),
    };
    for other in others {
        let summary = format!("{other} instead of {text}");
        site.replace(operator, node, other, summary);
    }
}

/// Off by one, or by a factor of ten where the number is round.
fn integers(text: &str) -> Vec<String> {
    let Ok(number) = text.parse::<u64>() else {
        return Vec::new();
    };
    let mut out = vec![(number + 1).to_string()];
    if number > 0 {
        out.push((number - 1).to_string());
    }
    if number >= 10 && number % 10 == 0 {
        out.push((number / 10).to_string());
    }
    out
}

fn floats(text: &str) -> Vec<String> {
    let Ok(number) = text.parse::<f64>() else {
        return Vec::new();
    };
    if number == 0.0 {
        vec!["1.0".into()]
    } else {
        vec![format!("{:?}", number * 10.0)]
    }
}

/// Another separator, another case, a letter too few.
fn texts(node: Node<'_>, text: &str) -> Vec<String> {
    if !is_plain_string(node, text) || text.len() < 3 {
        return Vec::new();
    }
    let (quote, inner) = (&text[..1], &text[1..text.len() - 1]);
    let quoted = |inner: String| format!("{quote}{inner}{quote}");
    if let Some(other) = match inner {
        " " => Some(""),
        "," | ":" => Some(";"),
        ", " | ";" | "." => Some(","),
        "-" => Some("_"),
        "_" => Some("-"),
        "\\n" | "\\t" => Some(" "),
        "/" => Some("//"),
        _ => None,
    } {
        return vec![quoted(other.into())];
    }
    if inner.len() > LONGEST || inner.contains('\\') || !inner.is_ascii() {
        return Vec::new();
    }
    let mut out = Vec::new();
    if inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        let flipped: String = inner
            .char_indices()
            .map(|(at, c)| match at {
                0 if c.is_ascii_lowercase() => c.to_ascii_uppercase(),
                0 => c.to_ascii_lowercase(),
                _ => c,
            })
            .collect();
        if flipped != inner {
            out.push(quoted(flipped));
        }
    }
    if inner.len() > 1 && !inner.ends_with('}') {
        out.push(quoted(inner[..inner.len() - 1].to_owned()));
    }
    out
}

/// Whether `node` is a key: of a subscript, or the first argument of `get`, `pop` or `setdefault`.
fn uses_key(parent: Node<'_>, node: Node<'_>, site: &Site<'_>) -> bool {
    match parent.kind() {
        "subscript" => parent.child_by_field_name("subscript") == Some(node),
        "argument_list" => parent.parent().is_some_and(|call| {
            let method = call
                .child_by_field_name("function")
                .and_then(|function| function.child_by_field_name("attribute"));
            method.is_some_and(|name| matches!(site.text(name), "get" | "pop" | "setdefault"))
                && arguments(call).is_some_and(|(positional, _)| positional.first() == Some(&node))
        }),
        _ => false,
    }
}

/// Another key that the file uses.
fn wrong_key<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let text = site.text(node);
    if !is_plain_string(node, text) {
        return;
    }
    let others: Vec<&str> = site.keys().filter(|key| *key != text).collect();
    // Its neighbours in the alphabet: near in spelling more often than chance.
    let place = others.partition_point(|key| *key < text);
    let near = others[place.saturating_sub(1)..(place + 1).min(others.len())].to_vec();
    for other in near {
        site.replace(
            "wrong-key",
            node,
            other,
            format!("the key {other} instead of {text}"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn constants_are_wrong() {
        check(
            propose,
            &[
                (
                    "x = 100",
                    &[
                        "wrong-constant: x = 101",
                        "wrong-constant: x = 99",
                        "wrong-constant: x = 10",
                    ],
                ),
                ("x = 0.5", &["wrong-constant: x = 5.0"]),
                ("x = True", &["wrong-constant: x = False"]),
                ("x = ', '", &["wrong-constant: x = ','"]),
                (
                    "x = 'name'",
                    &["wrong-constant: x = 'Name'", "wrong-constant: x = 'nam'"],
                ),
                ("x = f'{a}'", &[]),
                ("x = a[0]", &[]),
                ("x = range(3)", &[]),
                ("'doc'", &[]),
            ],
        );
    }

    #[test]
    fn defaults_and_keys_are_wrong() {
        check(
            propose,
            &[
                (
                    "def f(a, b=False, c: int = 1):\n    return a",
                    &[
                        "wrong-default: def f(a, b=True, c: int = 1):\n    return a",
                        "wrong-default: def f(a, b=False, c: int = 2):\n    return a",
                        "wrong-default: def f(a, b=False, c: int = 0):\n    return a",
                    ],
                ),
                (
                    "x = a['key'], b['kin']",
                    &[
                        "wrong-key: x = a['kin'], b['kin']",
                        "wrong-key: x = a['key'], b['key']",
                    ],
                ),
            ],
        );
    }
}
