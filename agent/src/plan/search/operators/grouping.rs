//! Parentheses in the wrong place, missing or spare.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "grouping",
    rationale: "precedence is not what it looks like",
    prior: 0.65,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "binary_operator" | "boolean_operator" => operation(site, out),
        "not_operator" => negation(site, out),
        "parenthesized_expression" => spare(site, out),
        _ => {}
    }
}

/// `a + b * c` for `(a + b) * c`, and its mirror image.
fn operation(site: &Site<'_>, out: &mut Proposals) {
    let (Some(left), Some(right)) = (site.field("left"), site.field("right")) else {
        return;
    };
    let source = site.source();
    let (start, end) = (site.node.start_byte(), site.node.end_byte());
    // Everything up to an operand deep in the right side.
    let mut inner = right;
    let mut found = 0;
    while let Some(next) = operands(inner).map(|o| o.0) {
        inner = next;
        let text = format!(
            "({}){}",
            &source[start..inner.end_byte()],
            &source[inner.end_byte()..end]
        );
        out.replace(site.node, text, 0.9 / (1.0 + 0.2 * f64::from(found)));
        found += 1;
    }
    let mut inner = left;
    let mut found = 0;
    while let Some(next) = operands(inner).map(|o| o.1) {
        inner = next;
        let text = format!(
            "{}({})",
            &source[start..inner.start_byte()],
            &source[inner.start_byte()..end]
        );
        out.replace(site.node, text, 0.9 / (1.0 + 0.2 * f64::from(found)));
        found += 1;
    }
}

fn operands(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    if !matches!(node.kind(), "binary_operator" | "boolean_operator") {
        return None;
    }
    node.child_by_field_name("left")
        .zip(node.child_by_field_name("right"))
}

/// `not a or b` for `not (a or b)`.
fn negation(site: &Site<'_>, out: &mut Proposals) {
    let mut up = 1;
    let start = site.node.end_byte() - site.field("argument").map_or(0, |a| a.byte_range().len());
    while let Some(step) = site.above(up).filter(|s| {
        s.node.kind() == "boolean_operator" && s.node.start_byte() == site.node.start_byte()
    }) {
        let text = format!("not ({})", &site.source()[start..step.node.end_byte()]);
        out.replace(step.node, text, 0.7);
        up += 1;
    }
}

/// Parentheses that should not be there, or that should reach less far.
fn spare(site: &Site<'_>, out: &mut Proposals) {
    let Some(inner) = site.node.named_child(0) else {
        return;
    };
    if matches!(inner.kind(), "binary_operator" | "boolean_operator")
        && matches!(
            site.parent_kind(),
            "binary_operator" | "boolean_operator" | "not_operator" | "unary_operator"
        )
    {
        out.replace(site.node, site.text(inner), 0.8);
        if let Some((left, _)) = operands(inner) {
            let rest = &site.source()[left.end_byte()..inner.end_byte()];
            out.replace(site.node, format!("({}){rest}", site.text(left)), 0.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn parentheses_move() {
        let source = "def f(a, b, c, k):\n    x = a - b * c / k\n    y = a * b + c\n    z = (a + b) * c\n    return not a or b\n";
        check(
            &OPERATOR,
            source,
            &[
                ("a - b * c / k", "(a - b) * c / k"),
                ("a - b * c / k", "(a - b * c) / k"),
                ("a * b + c", "a * (b + c)"),
                ("(a + b) * c", "a + b * c"),
                ("not a or b", "not (a or b)"),
            ],
        );
    }
}
