//! A position that must wrap around.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "modulus",
    rationale: "the end of a circular structure is followed by its start",
    prior: 0.55,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value() {
        return;
    }
    let types = site.types(site.node);
    if !types.may_be(Types::INT)
        || !matches!(
            site.kind(),
            "identifier" | "attribute" | "binary_operator" | "call"
        )
    {
        return;
    }
    let times = site.operand(site.node, Level::Times);
    if site.parent_kind() == "subscript" && site.role() == Some("subscript") {
        if let Some(value) = site.parent().and_then(|p| p.child_by_field_name("value"))
            && !site.types(value).within(Types::DICT)
            && !site.own().contains("len(")
        {
            let sum = if site.kind() == "binary_operator" {
                1.0
            } else {
                0.6
            };
            out.replace(
                site.node,
                format!("{times} % len({})", site.text(value)),
                sum,
            );
        }
        return;
    }
    if !matches!(
        site.parent_kind(),
        "assignment"
            | "augmented_assignment"
            | "return_statement"
            | "argument_list"
            | "comparison_operator"
    ) || site.kind() != "binary_operator"
    {
        return;
    }
    for name in site.locals().filter(|n| n.only_in.is_none()).take(8) {
        if name.types.meets(Types::INT) {
            out.replace(
                site.node,
                site.fitted(&format!("{times} % {}", name.text), Level::Times),
                0.5,
            );
        } else if name
            .types
            .meets(Types::LIST.or(Types::STR).or(Types::TUPLE))
        {
            out.replace(
                site.node,
                site.fitted(&format!("{times} % len({})", name.text), Level::Times),
                0.6,
            );
        }
    }
    for (number, fit) in [
        ("2", 0.2),
        ("7", 0.1),
        ("10", 0.2),
        ("12", 0.15),
        ("24", 0.15),
        ("26", 0.15),
        ("60", 0.15),
        ("256", 0.1),
        ("360", 0.1),
    ] {
        out.replace(
            site.node,
            site.fitted(&format!("{times} % {number}"), Level::Times),
            fit,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn positions_wrap_around() {
        let source = "def f(xs: list, i: int, n: int):\n    i = i + 1\n    return xs[i + 1]\n";
        check(
            &OPERATOR,
            source,
            &[
                ("xs[i + 1]", "xs[(i + 1) % len(xs)]"),
                ("i = i + 1", "i = (i + 1) % n"),
                ("i = i + 1", "i = (i + 1) % len(xs)"),
            ],
        );
    }
}
