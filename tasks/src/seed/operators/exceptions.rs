//! The wrong exception raised or caught.

use tree_sitter::Node;

use crate::seed::site::{Site, children, exception_names};

const MISTAKEN: &[(&str, &str)] = &[
    ("ValueError", "TypeError"),
    ("TypeError", "ValueError"),
    ("KeyError", "IndexError"),
    ("IndexError", "KeyError"),
    ("AttributeError", "TypeError"),
    ("LookupError", "ValueError"),
    ("RuntimeError", "ValueError"),
    ("NotImplementedError", "RuntimeError"),
    ("StopIteration", "IndexError"),
    ("OSError", "ValueError"),
    ("IOError", "ValueError"),
    ("ImportError", "AttributeError"),
    ("OverflowError", "ValueError"),
    ("ZeroDivisionError", "ValueError"),
    ("UnicodeDecodeError", "UnicodeEncodeError"),
    ("Exception", "ValueError"),
];

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    if !matches!(node.kind(), "raise_statement" | "except_clause") {
        return;
    }
    let names = exception_names(node);
    for name in &names {
        let text = site.text(*name);
        let known = MISTAKEN.iter().find(|(right, _)| *right == text);
        let other = match known {
            Some((_, wrong)) => Some(*wrong),
            // A type of the project's own: another one that the file uses.
            None => site.exceptions().find(|other| *other != text),
        };
        if let Some(other) = other {
            site.replace(
                "wrong-except",
                *name,
                other,
                format!("`{other}` instead of `{text}`"),
            );
        }
    }
    if let [first, _, ..] = names.as_slice()
        && node.kind() == "except_clause"
        && let Some(tuple) = first.parent()
        && tuple.kind() == "tuple"
    {
        for kept in children(tuple) {
            let text = site.text(kept);
            site.replace(
                "wrong-except",
                tuple,
                text,
                format!("only `{text}` is caught"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn exceptions_are_wrong() {
        check(
            propose,
            &[
                (
                    "raise ValueError('x')",
                    &["wrong-except: raise TypeError('x')"],
                ),
                ("raise", &[]),
                ("raise OwnError", &[]),
                (
                    "try:\n    f()\nexcept KeyError as e:\n    pass",
                    &["wrong-except: try:\n    f()\nexcept IndexError as e:\n    pass"],
                ),
                (
                    "try:\n    f()\nexcept (KeyError, OwnError):\n    pass",
                    &[
                        "wrong-except: try:\n    f()\nexcept (IndexError, OwnError):\n    pass",
                        "wrong-except: try:\n    f()\nexcept (KeyError, KeyError):\n    pass",
                        "wrong-except: try:\n    f()\nexcept KeyError:\n    pass",
                        "wrong-except: try:\n    f()\nexcept OwnError:\n    pass",
                    ],
                ),
            ],
        );
    }
}
