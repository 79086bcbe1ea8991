//! Two statements in the wrong order.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "move-statement",
    rationale: "an update that comes before or after the use that it should follow",
    prior: 0.55,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_statement()
        || matches!(
            site.kind(),
            "function_definition" | "class_definition" | "global_statement" | "nonlocal_statement"
        )
    {
        return;
    }
    let Some(next) = following(site.node) else {
        return;
    };
    if layout::own_lines(site.syntax(), site.node).is_none()
        || layout::own_lines(site.syntax(), next).is_none()
    {
        return;
    }
    let leaves = |n: Node<'_>| {
        matches!(
            n.kind(),
            "return_statement" | "raise_statement" | "break_statement" | "continue_statement"
        )
    };
    // What would come behind a way out never runs.
    let fit = if leaves(next) || leaves(site.node) {
        0.15
    } else {
        0.9
    };
    let compound = |n: Node<'_>| {
        n.child_by_field_name("body").is_some() || n.child_by_field_name("consequence").is_some()
    };
    let fit = if compound(site.node) && compound(next) {
        fit * 0.5
    } else {
        fit
    };
    out.swap(site.source(), site.node, next, fit);
    // The statement behind the next one comes first.
    if let Some(third) = following(next).filter(|t| !compound(*t))
        && layout::own_lines(site.syntax(), third).is_some()
        && !leaves(third)
    {
        let gap = &site.source()[site.node.end_byte()..next.start_byte()];
        let kept = &site.source()[site.node.start_byte()..next.end_byte()];
        out.range(
            site.node.start_byte()..third.end_byte(),
            format!("{}{gap}{kept}", site.text(third)),
            fit * 0.6,
        );
    }
    if let Some(after) = following(next) {
        let text = format!(
            "{}{}",
            &site.source()[next.start_byte()..after.end_byte()],
            &site.source()[site.node.end_byte()..next.start_byte()]
        );
        if !leaves(after) && layout::own_lines(site.syntax(), after).is_some() {
            out.range(
                site.node.start_byte()..after.end_byte(),
                format!("{text}{}", site.own()),
                fit * 0.4,
            );
        }
    }
}

fn following(node: Node<'_>) -> Option<Node<'_>> {
    let next = node.next_named_sibling()?;
    (!next.is_extra() && next.kind().ends_with("_statement")).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn neighbours_change_places() {
        let source = "def f(xs):\n    for x in xs:\n        a = x\n        b = a\n        c = b\n    return c\n";
        check(
            &OPERATOR,
            source,
            &[
                (
                    "        a = x\n        b = a\n",
                    "        b = a\n        a = x\n",
                ),
                (
                    "        a = x\n        b = a\n        c = b\n",
                    "        b = a\n        c = b\n        a = x\n",
                ),
            ],
        );
    }
}
