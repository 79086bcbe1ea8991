//! A spare operand: one side of an operation stands for the whole.

use super::Operator;
use crate::plan::search::precedence;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "drop-operand",
    rationale: "a term, factor or condition that was copied along or is obsolete",
    prior: 0.7,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !matches!(site.kind(), "binary_operator" | "boolean_operator") {
        return;
    }
    let (Some(left), Some(right)) = (site.field("left"), site.field("right")) else {
        return;
    };
    let whole = site.types(site.node);
    for side in [left, right] {
        let types = site.types(side);
        let fit = if whole.meets(Types::STR) && side.kind() == "string" {
            0.4
        } else {
            0.5 + 0.5 * types.fit(whole)
        };
        // A bare number hardly stands for the whole.
        let fit = if matches!(side.kind(), "integer" | "float" | "string") {
            fit * 0.35
        } else {
            fit
        };
        out.replace(
            site.node,
            site.fitted(site.text(side), precedence::of(side)),
            fit,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn either_side_stays() {
        let source = "def f(a, b, c):\n    if a and not b or c:\n        return a + b * c\n";
        check(
            &OPERATOR,
            source,
            &[
                ("a and not b or c", "a and not b"),
                ("a and not b or c", "c"),
                ("a and not b", "not b"),
                ("a + b * c", "a"),
                ("b * c", "c"),
            ],
        );
    }
}
