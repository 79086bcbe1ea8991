//! A statement that is needed a second time elsewhere in the function.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "copy-statement",
    rationale: "the step after the loop, or in the other branch, repeats one that is already there",
    prior: 0.5,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_simple_place() {
        return;
    }
    let Some(body) = site
        .unit
        .scope
        .function
        .and_then(|f| f.child_by_field_name("body"))
    else {
        return;
    };
    let mut found = Vec::new();
    simple(site, body, &mut found);
    found.truncate(24);
    let last = site.is_last_in_block();
    let final_place = site.kind() == "return_statement" || last;
    for (statement, text) in found {
        let distance = statement.start_byte().abs_diff(site.node.start_byte());
        if distance == 0 {
            continue;
        }
        let near = 1.0 / (1.0 + distance as f64 / 600.0);
        let fit = (0.5 + 0.5 * near) * if final_place { 1.0 } else { 0.5 };
        for (change, weight) in site.insertions(text) {
            out.change(
                Some(change),
                fit * weight,
                "a statement is missing that the function has elsewhere",
            );
        }
        if site.kind() == "pass_statement" {
            out.replace(site.node, text, 0.6);
        }
    }
}

fn simple<'a>(site: &Site<'a>, node: Node<'a>, out: &mut Vec<(Node<'a>, &'a str)>) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "expression_statement" => {
                let text = site.text(child);
                if text.len() <= 90
                    && !text.contains(['\n', '\r'])
                    && !layout::is_docstring(child)
                    && !out.iter().any(|o| o.1 == text)
                {
                    out.push((child, text));
                }
            }
            "function_definition" | "class_definition" | "decorated_definition" => {}
            _ => simple(site, child, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn a_step_is_repeated_after_the_loop() {
        let source = "def f(lines):\n    out, block = [], []\n    for line in lines:\n        if not line:\n            out.append(block)\n            block = []\n    return out\n";
        check(
            &OPERATOR,
            source,
            &[(
                "    return out\n",
                "    out.append(block)\n    return out\n",
            )],
        );
    }
}
