//! The wrong exception is caught or raised.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "exception-type",
    rationale: "KeyError for IndexError, ValueError for TypeError",
    prior: 0.75,
    propose,
};

const KIN: &[(&str, &[&str])] = &[
    (
        "KeyError",
        &[
            "IndexError",
            "LookupError",
            "AttributeError",
            "ValueError",
            "TypeError",
        ],
    ),
    (
        "IndexError",
        &["KeyError", "LookupError", "ValueError", "StopIteration"],
    ),
    ("LookupError", &["KeyError", "IndexError"]),
    (
        "ValueError",
        &[
            "TypeError",
            "KeyError",
            "IndexError",
            "ArithmeticError",
            "AttributeError",
        ],
    ),
    ("TypeError", &["ValueError", "AttributeError", "KeyError"]),
    ("AttributeError", &["KeyError", "TypeError", "IndexError"]),
    (
        "ZeroDivisionError",
        &["ArithmeticError", "ValueError", "OverflowError"],
    ),
    ("OverflowError", &["ValueError", "ArithmeticError"]),
    (
        "OSError",
        &["FileNotFoundError", "PermissionError", "ValueError"],
    ),
    ("IOError", &["OSError", "FileNotFoundError", "ValueError"]),
    (
        "FileNotFoundError",
        &["OSError", "KeyError", "NotADirectoryError"],
    ),
    ("ImportError", &["ModuleNotFoundError", "AttributeError"]),
    ("StopIteration", &["IndexError", "ValueError"]),
    (
        "RuntimeError",
        &["ValueError", "NotImplementedError", "TypeError"],
    ),
    (
        "NotImplementedError",
        &["TypeError", "ValueError", "RuntimeError"],
    ),
    ("UnicodeDecodeError", &["UnicodeError", "ValueError"]),
    ("AssertionError", &["ValueError", "TypeError"]),
    (
        "Exception",
        &["ValueError", "TypeError", "KeyError", "RuntimeError"],
    ),
];

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "except_clause" => caught(site, out),
        "raise_statement" => {
            let Some(raised) = site.node.named_child(0).filter(|n| !n.is_extra()) else {
                return;
            };
            let class = match raised.kind() {
                "call" => raised.child_by_field_name("function"),
                _ => Some(raised),
            };
            if let Some(class) = class.filter(|c| c.kind() == "identifier") {
                kin(site, class, 1.0, out);
            }
        }
        _ => {}
    }
}

fn caught(site: &Site<'_>, out: &mut Proposals) {
    let Some(value) = site.field("value") else {
        return;
    };
    // `except X as e` parses as one pattern.
    let class = if value.kind() == "as_pattern" {
        value.named_child(0).unwrap_or(value)
    } else {
        value
    };
    match class.kind() {
        "identifier" => {
            kin(site, class, 1.0, out);
            let own = site.text(class);
            for (name, others) in KIN {
                if *name == own {
                    for other in *others {
                        out.replace(class, format!("({own}, {other})"), 0.5);
                    }
                }
            }
            if own != "Exception" {
                out.replace(class, "Exception", 0.5);
            }
        }
        "tuple" => {
            let mut cursor = class.walk();
            for part in class
                .named_children(&mut cursor)
                .filter(|c| c.kind() == "identifier")
            {
                kin(site, part, 0.7, out);
            }
        }
        _ => {}
    }
}

fn kin(site: &Site<'_>, class: Node<'_>, weight: f64, out: &mut Proposals) {
    let own = site.text(class);
    for (name, others) in KIN {
        if *name == own {
            for (k, other) in others.iter().enumerate() {
                out.replace(class, *other, weight / (1.0 + 0.3 * k as f64));
            }
        }
    }
    // Exceptions of the project: classes of the file and imported ones.
    for other in site.names() {
        let text = &other.text;
        let exception =
            text.ends_with("Error") || text.ends_with("Exception") || text.ends_with("Warning");
        if exception && text != own {
            out.replace(class, text.as_str(), weight * 0.7);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn exceptions_are_replaced_by_their_kin() {
        let source = "def f(d, k):\n    try:\n        return d[k]\n    except KeyError as e:\n        raise ValueError('no') from e\n";
        check(
            &OPERATOR,
            source,
            &[
                ("except KeyError", "except IndexError"),
                ("except KeyError", "except (KeyError, IndexError)"),
                ("raise ValueError", "raise TypeError"),
            ],
        );
    }
}
