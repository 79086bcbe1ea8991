//! Statements that are missing or in the wrong order.

use tree_sitter::Node;

use crate::seed::site::{Site, children, statements};

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    match node.kind() {
        "expression_statement" => {
            lost(node, site);
            swapped(node, site);
        }
        "delete_statement" | "break_statement" | "continue_statement" => {
            remove("lost-statement", node, site);
        }
        _ => {}
    }
}

fn remove<'a>(operator: &'static str, node: Node<'a>, site: &mut Site<'a>) {
    if let Some(edit) = site.removal(node) {
        let text = site.text(node).lines().next().unwrap_or_default();
        site.propose(operator, vec![edit], format!("`{text}` is missing"));
    }
}

fn lost<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let [only] = children(node)[..] else {
        return;
    };
    match only.kind() {
        "call" | "await" | "yield" => {
            let changes_self = only
                .child_by_field_name("function")
                .is_some_and(|function| site.text(function).starts_with("self."));
            let operator = if changes_self {
                "lost-update"
            } else {
                "lost-statement"
            };
            remove(operator, node, site);
        }
        "assignment" | "augmented_assignment" => {
            let Some(left) = only.child_by_field_name("left") else {
                return;
            };
            let target = site.text(left);
            if target.starts_with("self.") {
                remove("lost-update", node, site);
            } else if left.kind() != "identifier"
                || only.kind() == "augmented_assignment"
                || has_value_before(node, target, site)
            {
                remove("lost-statement", node, site);
            }
        }
        _ => {}
    }
}

/// Whether `name` is mentioned before `node` in its function: otherwise its loss is a `NameError`,
/// which nobody would commit.
fn has_value_before<'a>(node: Node<'a>, name: &str, site: &Site<'a>) -> bool {
    crate::seed::site::enclosing_function(node).is_some_and(|function| {
        site.source()[function.start_byte()..node.start_byte()]
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == name)
    })
}

/// Two neighbours that have a name in common are in the wrong order.
fn swapped<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let Some(block) = node.parent() else {
        return;
    };
    let all = statements(block);
    let Some(next) = all
        .iter()
        .position(|statement| *statement == node)
        .and_then(|place| all.get(place + 1))
    else {
        return;
    };
    let is_docstring = children(node)
        .first()
        .is_some_and(|only| only.kind() == "string");
    if next.kind() != "expression_statement" || is_docstring {
        return;
    }
    let (a, b) = (site.text(node), site.text(*next));
    let words = |text: &'a str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| {
                word.starts_with(|c: char| c.is_alphabetic() || c == '_') && *word != "self"
            })
    };
    if words(a).any(|word| words(b).any(|other| other == word)) {
        site.propose(
            "swapped-lines",
            vec![
                (node.byte_range(), b.to_owned()),
                (next.byte_range(), a.to_owned()),
            ],
            "two statements are in the wrong order",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn statements_are_lost_or_swapped() {
        check(
            propose,
            &[
                ("f(a)\nreturn b", &["lost-statement: return b"]),
                ("f(a)", &["lost-statement: pass"]),
                ("x = a\nreturn x", &[]),
                ("a = abs(a)\nreturn a", &["lost-statement: return a"]),
                ("self.x = a\nreturn b", &["lost-update: return b"]),
                ("self.items.append(a)", &["lost-update: pass"]),
                (
                    "b[0] = a\nb.append(c)",
                    &[
                        "lost-statement: b.append(c)",
                        "swapped-lines: b.append(c)\nb[0] = a",
                        "lost-statement: b[0] = a",
                    ],
                ),
                ("'doc'\nf(a)", &["lost-statement: 'doc'"]),
                ("f(a); g(b)", &[]),
            ],
        );
    }
}
