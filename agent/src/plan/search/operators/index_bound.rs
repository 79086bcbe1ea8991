//! A condition looks at an item without asking whether there is one.

use tree_sitter::Node;

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "index-bound",
    rationale: "the index runs past the end before the item tells to stop",
    prior: 0.8,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    let condition = matches!(
        (site.parent_kind(), site.role()),
        (
            "if_statement" | "elif_clause" | "while_statement",
            Some("condition")
        )
    );
    if !condition || !site.is_value() {
        return;
    }
    let mut items = Vec::new();
    indexed(site, site.node, &mut items);
    items.sort();
    items.dedup();
    // The failure says that this is it.
    let raised = site.unit.index.raised.iter().any(|r| r == "IndexError");
    let fit = if raised { 1.5 } else { 0.5 };
    for (index, sequence) in items {
        let bound = format!("{index} < len({sequence})");
        if site.own().contains(&bound) {
            continue;
        }
        let rest = site.operand(site.node, Level::And);
        out.replace(site.node, format!("{bound} and {rest}"), fit);
    }
}

/// Index and sequence of every `s[i]` with a name as its index.
fn indexed(site: &Site<'_>, node: Node<'_>, out: &mut Vec<(String, String)>) {
    if node.kind() == "subscript"
        && let (Some(value), Some(index)) = (
            node.child_by_field_name("value"),
            node.child_by_field_name("subscript"),
        )
        && (index.kind() == "identifier" || index.kind() == "binary_operator")
    {
        out.push((site.text(index).to_owned(), site.text(value).to_owned()));
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        indexed(site, child, out);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn the_end_is_asked_for_first() {
        check(
            &OPERATOR,
            "def f(s, i):\n    while s[i] == ' ' or s[i] in '_':\n        i += 1\n    return i\n",
            &[(
                "s[i] == ' ' or s[i] in '_'",
                "i < len(s) and (s[i] == ' ' or s[i] in '_')",
            )],
        );
    }
}
