//! A statement in the wrong block: it belongs behind the loop, or into it.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::layout::Change;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "reindent",
    rationale: "one level of indentation too many or too few still runs",
    prior: 0.7,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_statement()
        || matches!(
            site.kind(),
            "elif_clause"
                | "except_clause"
                | "case_clause"
                | "function_definition"
                | "class_definition"
        )
    {
        return;
    }
    outwards(site, out);
    inwards(site, out);
}

/// The last statement of a block moves behind the block.
fn outwards(site: &Site<'_>, out: &mut Proposals) {
    let syntax = site.syntax();
    let Some(lines) = layout::own_lines(syntax, site.node) else {
        return;
    };
    if site
        .node
        .next_named_sibling()
        .is_some_and(|n| !n.is_extra())
        || layout::alone(site.node)
    {
        return;
    }
    // From the block up: the owner of each block that ends with this statement.
    let depth = site.unit.depth;
    let mut level = 0;
    for step in site.path[..depth.saturating_sub(1)].iter().rev() {
        let owner = step.node;
        match owner.kind() {
            "function_definition" | "class_definition" | "module" => return,
            "block" | "else_clause" | "elif_clause" | "except_clause" | "finally_clause"
            | "case_clause" => continue,
            _ => {}
        }
        if owner.child_by_field_name("body").is_none()
            && owner.child_by_field_name("consequence").is_none()
            && owner.kind() != "try_statement"
        {
            continue;
        }
        let Some(indent) = layout::indentation(syntax, owner) else {
            return;
        };
        let Some(text) = layout::reindented(syntax, site.node, indent) else {
            return;
        };
        let fit = 0.95 / f64::from(1 << level);
        if owner.end_byte() <= site.node.end_byte() {
            out.change(
                Some(Change::new(
                    lines.start..layout::code_end(syntax, site.node),
                    format!("{indent}{text}"),
                )),
                fit,
                "the statement belongs behind the block",
            );
        } else if let Some(behind) = site.insert_after(owner, &[(0, &text)]) {
            // Other clauses follow.
            out.together(
                vec![Change::new(lines.clone(), ""), behind],
                fit * 0.5,
                "the statement belongs behind the block",
            );
        }
        level += 1;
        if owner.next_named_sibling().is_some_and(|n| !n.is_extra()) {
            // Further out it would no longer be the next thing to run.
            break;
        }
    }
}

/// The statement behind a block moves to its end.
fn inwards(site: &Site<'_>, out: &mut Proposals) {
    let syntax = site.syntax();
    let Some(lines) = layout::own_lines(syntax, site.node) else {
        return;
    };
    let mut previous = site.node.prev_named_sibling();
    while let Some(comment) = previous.filter(Node::is_extra) {
        previous = comment.prev_named_sibling();
    }
    let mut at = previous;
    let mut level = 0;
    while let Some(block) = at.and_then(last_block) {
        let Some(last) = layout::statements(block).last().copied() else {
            return;
        };
        let Some(indent) = layout::indentation(syntax, last) else {
            return;
        };
        let Some(text) = layout::reindented(syntax, site.node, indent) else {
            return;
        };
        out.change(
            Some(Change::new(
                lines.start..layout::code_end(syntax, site.node),
                format!("{indent}{text}"),
            )),
            0.7 / f64::from(1 << level),
            "the statement belongs into the block",
        );
        level += 1;
        at = Some(last);
    }
}

fn last_block(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "if_statement" | "for_statement" | "while_statement" | "with_statement"
        | "try_statement" | "else_clause" | "elif_clause" | "except_clause" | "finally_clause" => {}
        _ => return None,
    }
    let last = u32::try_from(node.named_child_count())
        .ok()?
        .checked_sub(1)?;
    let last = node.named_child(last)?;
    match last.kind() {
        "block" => Some(last),
        "else_clause" | "elif_clause" | "except_clause" | "finally_clause" => last_block(last),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn out_of_a_block_and_into_it() {
        let source = "def f(xs):\n    n = 0\n    for x in xs:\n        if x:\n            n += x\n            n += 1\n        m = n\n        return n\n    n += 2\n    return m\n";
        check(
            &OPERATOR,
            source,
            &[
                ("        return n\n", "    return n\n"),
                ("            n += 1\n", "        n += 1\n"),
                ("        m = n\n", "            m = n\n"),
                ("    n += 2\n", "        n += 2\n"),
            ],
        );
    }

    #[test]
    fn past_another_clause() {
        check(
            &OPERATOR,
            "def f(x):\n    if x:\n        a = 1\n        b = 2\n    else:\n        a = 3\n    return a, b\n",
            &[(
                "        b = 2\n    else:\n        a = 3\n",
                "    else:\n        a = 3\n    b = 2\n",
            )],
        );
    }
}
