//! Lost negations, `and` for `or`, the wrong comparison.

use tree_sitter::Node;

use crate::seed::site::{Site, field, operand, token};

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    match node.kind() {
        "not_operator" => {
            if let Some(argument) = node.child_by_field_name("argument") {
                let text = operand(site, argument);
                let summary = format!("the `not` before `{}` is missing", site.text(argument));
                site.replace("lost-not", node, text, summary);
            }
        }
        "boolean_operator" => {
            if let Some(sign) = token(node, &["and", "or"]) {
                let text = site.text(sign);
                let other = if text == "and" { "or" } else { "and" };
                site.replace(
                    "and-or",
                    sign,
                    other,
                    format!("`{other}` instead of `{text}`"),
                );
            }
        }
        "comparison_operator" => comparison(node, site),
        _ => {}
    }
}

fn comparison<'a>(node: Node<'a>, site: &mut Site<'a>) {
    for sign in field(node, "operators") {
        let text = site.text(sign);
        let (operator, other) = match text {
            "not in" => ("lost-not", "in"),
            "is not" => ("lost-not", "is"),
            "!=" => ("lost-not", "=="),
            "<" => ("wrong-compare", ">"),
            ">" => ("wrong-compare", "<"),
            "<=" => ("wrong-compare", ">="),
            ">=" => ("wrong-compare", "<="),
            // What people write when they mean equality is the identity.
            "==" => ("wrong-compare", "is"),
            _ => continue,
        };
        site.replace(
            operator,
            sign,
            other,
            format!("`{other}` instead of `{text}`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn logic_is_wrong() {
        check(
            propose,
            &[
                ("x = not a", &["lost-not: x = a"]),
                (
                    "x = not a < b",
                    &["lost-not: x = (a < b)", "wrong-compare: x = not a > b"],
                ),
                ("x = a not in b", &["lost-not: x = a in b"]),
                ("x = a is not None", &["lost-not: x = a is None"]),
                ("x = a and b", &["and-or: x = a or b"]),
                ("x = a == b", &["wrong-compare: x = a is b"]),
                (
                    "x = a <= b < c",
                    &[
                        "wrong-compare: x = a >= b < c",
                        "wrong-compare: x = a <= b > c",
                    ],
                ),
            ],
        );
    }
}
