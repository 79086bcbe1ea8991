//! Returns that are missing or come too early.

use tree_sitter::Node;

use crate::seed::site::{Site, children, statements};

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    match node.kind() {
        "return_statement" => {
            lost(node, site);
            inside_loop(node, site);
        }
        "continue_statement" => {
            site.replace(
                "early-return",
                node,
                "break",
                "the loop ends where it should go on",
            );
        }
        "break_statement" => {
            site.replace(
                "early-return",
                node,
                "continue",
                "the loop goes on where it should end",
            );
        }
        _ => {}
    }
}

/// `return f(x)` becomes `f(x)`; another last `return` of a function is missing altogether.
fn lost<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let [value] = children(node)[..] else {
        return;
    };
    let text = site.text(value);
    let summary = format!("the `return` before `{text}` is missing");
    if matches!(value.kind(), "call" | "await") {
        site.replace("lost-return", node, text, summary);
        return;
    }
    let Some(block) = node.parent() else {
        return;
    };
    let last = statements(block).last() == Some(&node)
        && block
            .parent()
            .is_some_and(|owner| owner.kind() == "function_definition");
    if last && let Some(edit) = site.removal(node) {
        site.propose("lost-return", vec![edit], summary);
    }
}

/// The `return` after a loop stands inside it, at its end.
fn inside_loop<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let Some(block) = node.parent() else {
        return;
    };
    let all = statements(block);
    let Some(place) = all.iter().position(|statement| *statement == node) else {
        return;
    };
    let Some(before) = place.checked_sub(1).map(|place| all[place]) else {
        return;
    };
    if !matches!(before.kind(), "for_statement" | "while_statement")
        || before.child_by_field_name("alternative").is_some()
    {
        return;
    }
    let Some(body) = before.child_by_field_name("body") else {
        return;
    };
    let Some(last) = statements(body).last().copied() else {
        return;
    };
    let (Some(indent), text) = (site.indent(last), site.text(node)) else {
        return;
    };
    // Comments between the two go away with the gap.
    site.propose(
        "early-return",
        vec![(
            before.end_byte()..node.end_byte(),
            format!("\n{indent}{text}"),
        )],
        format!("`{text}` stands inside the loop"),
    );
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn returns_are_lost_or_early() {
        check(
            propose,
            &[
                ("return f(a)", &["lost-return: f(a)"]),
                ("x = a\nreturn x", &["lost-return: x = a"]),
                ("if a:\n    return b\nreturn", &[]),
                (
                    "for n in a:\n    b += n\nreturn b",
                    &[
                        "lost-return: for n in a:\n    b += n",
                        "early-return: for n in a:\n    b += n\n    return b",
                    ],
                ),
                (
                    "for n in a:\n    if n:\n        continue\n    f(n)",
                    &["early-return: for n in a:\n    if n:\n        break\n    f(n)"],
                ),
            ],
        );
    }
}
