//! A statement that should not be there.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "delete-statement",
    rationale: "a left-over reset, increment or early exit",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_statement() {
        return;
    }
    let fit = match site.kind() {
        "expression_statement" => match site.node.named_child(0).map(|c| c.kind()) {
            Some("assignment") => 0.6,
            Some("augmented_assignment") => 0.8,
            _ => 0.9,
        },
        "return_statement" => 0.6,
        "raise_statement" | "break_statement" | "continue_statement" => 0.9,
        "delete_statement" | "assert_statement" => 0.7,
        "if_statement" => {
            out.change(
                Some(layout::remove(site.syntax(), site.node)),
                0.6,
                "the condition and what hangs on it should go",
            );
            return;
        }
        _ => return,
    };
    out.change(
        Some(layout::remove(site.syntax(), site.node)),
        fit,
        "the statement should go",
    );
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn statements_go_with_their_lines() {
        let source = "def f(xs):\n    n = 0\n    for x in xs:\n        n = 0  # why\n        n += x\n    if n: n = 1\n    a = 1; b = 2\n    return n\n";
        check(
            &OPERATOR,
            source,
            &[
                ("        n = 0  # why\n", ""),
                ("    if n: n = 1\n", ""),
                ("if n: n = 1", "if n: pass"),
                ("a = 1; b", "pass; b"),
            ],
        );
    }
}
