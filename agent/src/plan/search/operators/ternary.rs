//! A conditional expression with its arms the wrong way round.

use super::Operator;
use crate::plan::search::precedence;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "ternary",
    rationale: "the arms of a conditional expression are swapped, or one of them is the answer",
    prior: 0.8,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "conditional_expression" {
        return;
    }
    let (Some(yes), Some(no)) = (site.node.named_child(0), site.node.named_child(2)) else {
        return;
    };
    out.swap(site.source(), yes, no, 1.0);
    for arm in [yes, no] {
        out.replace(
            site.node,
            site.fitted(site.text(arm), precedence::of(arm)),
            0.45,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn arms_are_swapped() {
        check(
            &OPERATOR,
            "def f(a, b):\n    return a + 1 if b else b\n",
            &[
                ("a + 1 if b else b", "b if b else a + 1"),
                ("a + 1 if b else b", "a + 1"),
            ],
        );
    }
}
