//! Branches and conditions that are missing or the wrong way round.

use tree_sitter::Node;

use crate::seed::site::{Site, children, field, operand};

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    match node.kind() {
        "if_statement" => {
            lost_arm(node, site);
            lost_condition(node, site);
            swapped(node, site);
        }
        "elif_clause" | "else_clause" => lost_clause(node, site),
        "conditional_expression" => conditional(node, site),
        "boolean_operator" => lost_operand(node, site),
        "if_clause" => {
            let text = site.text(node);
            let source = site.source();
            let before = source[..node.start_byte()].trim_end().len();
            site.propose(
                "lost-condition",
                vec![(before..node.end_byte(), String::new())],
                format!("the filter `{text}` is missing"),
            );
        }
        _ => {}
    }
}

/// An `if` without `else` is missing; of one with a plain `else` only the other arm is left.
fn lost_arm<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let Some(condition) = node.child_by_field_name("condition") else {
        return;
    };
    let condition = site.text(condition);
    match field(node, "alternative")[..] {
        [] => {
            if let Some(edit) = site.removal(node) {
                site.propose(
                    "lost-branch",
                    vec![edit],
                    format!("the case `{condition}` is missing"),
                );
            }
        }
        [only] if only.kind() == "else_clause" => {
            if let Some(body) = only.child_by_field_name("body")
                && let Some(indent) = site.indent(node)
                && let Some(text) = site.reindented(body, indent)
            {
                site.replace(
                    "lost-branch",
                    node,
                    text,
                    format!("the case `{condition}` is missing"),
                );
            }
        }
        _ => {}
    }
}

/// An `elif` or `else` arm is missing.
fn lost_clause<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let what = match node.child_by_field_name("condition") {
        Some(condition) => format!("the case `{}` is missing", site.text(condition)),
        None => "the `else` is missing".to_owned(),
    };
    let source = site.source();
    // From the end of what comes before, so that no empty line stays.
    let before = source[..node.start_byte()].trim_end().len();
    if source[before..node.start_byte()].contains('\n') {
        site.propose(
            "lost-branch",
            vec![(before..node.end_byte(), String::new())],
            what,
        );
    }
}

/// The body of an `if` runs always.
fn lost_condition<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let (Some(condition), Some(body)) = (
        node.child_by_field_name("condition"),
        node.child_by_field_name("consequence"),
    ) else {
        return;
    };
    // What follows a `return` would never run: nobody leaves that.
    let ends = children(body)
        .last()
        .is_some_and(|last| matches!(last.kind(), "return_statement" | "raise_statement"));
    if ends || node.child_by_field_name("alternative").is_some() {
        return;
    }
    if let Some(indent) = site.indent(node)
        && let Some(text) = site.reindented(body, indent)
    {
        let condition = site.text(condition);
        site.replace(
            "lost-condition",
            node,
            text,
            format!("`{condition}` is not checked"),
        );
    }
}

/// The bodies of `if` and `else` are the wrong way round.
fn swapped<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let [only] = field(node, "alternative")[..] else {
        return;
    };
    let (Some(first), Some(second)) = (
        node.child_by_field_name("consequence"),
        only.child_by_field_name("body"),
    ) else {
        return;
    };
    if only.kind() != "else_clause" {
        return;
    }
    let (a, b) = (site.text(first), site.text(second));
    site.propose(
        "swapped-branch",
        vec![
            (first.byte_range(), b.to_owned()),
            (second.byte_range(), a.to_owned()),
        ],
        "the branches are the wrong way round",
    );
}

/// `a if c else b` is the wrong way round, or only one of the two.
fn conditional<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let [yes, condition, no] = children(node)[..] else {
        return;
    };
    let (a, b) = (site.text(yes), site.text(no));
    site.propose(
        "swapped-branch",
        vec![
            (yes.byte_range(), operand(site, no)),
            (no.byte_range(), operand(site, yes)),
        ],
        format!("`{a}` and `{b}` are the wrong way round"),
    );
    let condition = site.text(condition);
    for left in [yes, no] {
        let text = operand(site, left);
        site.replace(
            "lost-branch",
            node,
            text,
            format!("`{condition}` makes no difference"),
        );
    }
}

/// `a and b` becomes `a` or `b`.
fn lost_operand<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let (Some(left), Some(right)) = (
        node.child_by_field_name("left"),
        node.child_by_field_name("right"),
    ) else {
        return;
    };
    for (kept, lost) in [(left, right), (right, left)] {
        let (text, lost) = (operand(site, kept), site.text(lost));
        site.replace(
            "lost-condition",
            node,
            text,
            format!("`{lost}` is not checked"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn branches_are_lost() {
        check(
            propose,
            &[
                (
                    "if a:\n    x = 1\nreturn x",
                    &["lost-branch: return x", "lost-condition: x = 1\nreturn x"],
                ),
                ("if a:\n    return 1\nreturn 2", &["lost-branch: return 2"]),
                (
                    "if a:\n    x = 1\nelif b:\n    x = 2\nelse:\n    x = 3",
                    &[
                        "lost-branch: if a:\n    x = 1\nelse:\n    x = 3",
                        "lost-branch: if a:\n    x = 1\nelif b:\n    x = 2",
                    ],
                ),
                (
                    "if a:\n    x = 1\nelse:\n    x = 2\n    y = 3",
                    &[
                        "lost-branch: x = 2\ny = 3",
                        "swapped-branch: if a:\n    x = 2\n    y = 3\nelse:\n    x = 1",
                        "lost-branch: if a:\n    x = 1",
                    ],
                ),
            ],
        );
    }

    #[test]
    fn conditions_are_lost() {
        check(
            propose,
            &[
                (
                    "x = a if b else c",
                    &[
                        "swapped-branch: x = c if b else a",
                        "lost-branch: x = a",
                        "lost-branch: x = c",
                    ],
                ),
                (
                    "x = a and b < c",
                    &["lost-condition: x = a", "lost-condition: x = (b < c)"],
                ),
                (
                    "x = [n for n in a if n > 1]",
                    &["lost-condition: x = [n for n in a]"],
                ),
                ("if a:\n    x = '''1\n2'''\n", &["lost-branch: pass"]),
            ],
        );
    }
}
