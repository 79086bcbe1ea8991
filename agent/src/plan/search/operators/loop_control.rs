//! `break`, `continue` and `return` taken for each other, missing or too early.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "loop-control",
    rationale: "leaving the loop, the round and the function are easily confused",
    prior: 0.65,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "break_statement" => {
            out.replace(site.node, "continue", 0.9);
            out.replace(site.node, "return", 0.4);
            out.replace(site.node, "pass", 0.5);
            returns(site, out);
        }
        "continue_statement" => {
            out.replace(site.node, "break", 0.9);
            out.replace(site.node, "pass", 0.4);
            returns(site, out);
        }
        "pass_statement" => {
            if site.unit.loops > 0 {
                out.replace(site.node, "continue", 0.8);
                out.replace(site.node, "break", 0.7);
            }
            returns(site, out);
            out.replace(site.node, "raise", 0.2);
        }
        "return_statement" if site.unit.loops > 0 => {
            out.replace(site.node, "break", 0.4);
            out.replace(site.node, "continue", 0.5);
        }
        _ => {}
    }
    // A loop that goes on after it has found what it looked for.
    if site.is_simple_place()
        && site.unit.loops > 0
        && site.is_last_in_block()
        && !layout::leaves(site.node)
    {
        let inside = site.block().is_some_and(|b| b.node.kind() == "block");
        let conditional = site.unit.depth >= 3
            && matches!(
                site.path[site.unit.depth - 3].node.kind(),
                "if_statement"
                    | "elif_clause"
                    | "else_clause"
                    | "except_clause"
                    | "try_statement"
                    | "with_statement"
            );
        if inside {
            let fit = if conditional { 0.9 } else { 0.25 };
            out.change(
                site.insert_after(site.node, &[(0, "break")]),
                fit,
                "the loop should end here",
            );
            if conditional {
                out.change(
                    site.insert_after(site.node, &[(0, "continue")]),
                    fit * 0.6,
                    "the round should end here",
                );
            }
        }
    }
}

fn returns(site: &Site<'_>, out: &mut Proposals) {
    if site.unit.scope.function.is_none() || !site.unit.scope.returns_value {
        return;
    }
    for (text, fit) in [
        ("return False", 0.4),
        ("return True", 0.4),
        ("return None", 0.3),
    ] {
        out.replace(site.node, text, fit);
    }
    for name in site.locals().filter(|n| n.only_in.is_none()) {
        let fit = 0.4 * name.fit(site.unit.scope.returns);
        out.replace(site.node, format!("return {}", name.text), fit);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn ways_out_are_swapped_and_added() {
        let source = "def f(xs):\n    found = None\n    for x in xs:\n        if x:\n            found = x\n        if x == 3:\n            continue\n        return found\n";
        check(
            &OPERATOR,
            source,
            &[
                ("continue", "break"),
                (
                    "            found = x\n",
                    "            found = x\n            break\n",
                ),
                ("return found", "continue"),
            ],
        );
    }
}
