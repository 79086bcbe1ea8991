//! Texts of values that calls returned, as far as a test can be made of them.

use std::fmt::Write as _;

use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::python::executions::Outcome;

use super::genes::is_name;

/// Whether two values have to be compared by their texts: where Python takes them for equal, and where a value is
/// not equal to itself.
pub fn needs_text(value: &Literal, differs: Option<&Outcome>) -> bool {
    if !value.equals(value) {
        return true;
    }
    match differs {
        Some(Outcome::Returned { text, .. }) => {
            literal::parse(&readable(text)).is_ok_and(|other| other.equals(value))
        }
        _ => false,
    }
}

/// A text in which `nan` and `inf` can be read.
pub fn readable(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"', 'n', 'i']) {
        made.push_str(&rest[..at]);
        rest = &rest[at..];
        // Texts are left as they are.
        if rest.starts_with(['\'', '"'])
            && let Ok((_, length)) = literal::parse_prefix(rest)
        {
            made.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let is_word = made.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '\'');
        let special = ["nan", "inf"].into_iter().find(|word| {
            let after = rest.strip_prefix(word);
            after.is_some_and(|after| {
                !after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '\'')
            })
        });
        match special {
            Some(word) if !is_word => {
                let sign = if made.ends_with('-') {
                    made.pop();
                    "-"
                } else {
                    ""
                };
                let _ = write!(made, "float('{sign}{word}')");
                rest = &rest[3..];
            }
            _ => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                made.push_str(&rest[..length]);
                rest = &rest[length..];
            }
        }
    }
    made + rest
}

/// How the text of a value begins that is not there as a whole.
pub fn beginning(text: &str, cut: bool) -> Option<String> {
    const SHOWN: usize = 120;
    let whole = match text.find('…') {
        Some(at) => &text[..at],
        None if cut => text,
        None => return None,
    };
    let start: String = whole.chars().take(SHOWN).collect();
    let start = start.trim_end_matches([' ', ',']);
    (start.len() > 1 && !start.contains('<')).then(|| start.to_owned())
}

/// The class in `<Cart owner='Ann'>`.
pub fn class_of(text: &str) -> Option<String> {
    let inner = text.strip_prefix('<')?.strip_suffix('>')?;
    let end = inner
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(inner.len());
    let rest = &inner[end..];
    let is_object = rest.is_empty() || (rest.starts_with(' ') && rest.contains('='));
    (is_object && is_name(&inner[..end])).then(|| inner[..end].to_owned())
}

/// `<A x=1>` at the start of a text.
pub fn first_object(text: &str) -> Option<&str> {
    let end = text.find('>')?;
    text.starts_with('<').then(|| &text[..=end])
}

/// Whether a text is that of one value of Python's own, such as `datetime.date(2024, 1, 1)`.
pub fn literal_like(text: &str) -> bool {
    !text.contains('…') && ruff_python_parser::parse_expression(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_can_be_read() {
        for (text, written) in [
            ("nan", "float('nan')"),
            (
                "[-inf, 'nan', {inf: \"-inf\"}]",
                "[float('-inf'), 'nan', {float('inf'): \"-inf\"}]",
            ),
            ("float('nan')", "float('nan')"),
            ("nano", "nano"),
            ("'it is'", "'it is'"),
        ] {
            assert_eq!(readable(text), written);
        }
    }

    #[test]
    fn what_is_not_whole_has_a_beginning() {
        assert_eq!(beginning("[0, 0, …+9]", false).as_deref(), Some("[0, 0"));
        assert_eq!(beginning("'abc", true).as_deref(), Some("'abc"));
        assert_eq!(beginning("[1]", false), None);
        assert_eq!(class_of("<Cart x=1>").as_deref(), Some("Cart"));
        assert_eq!(class_of("<function f>"), None);
    }
}
