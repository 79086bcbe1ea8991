//! A missing sign.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "sign",
    rationale: "a value that should be subtracted, or turned round",
    prior: 0.45,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value()
        || !matches!(
            site.kind(),
            "identifier" | "attribute" | "call" | "subscript" | "integer" | "float"
        )
    {
        return;
    }
    let slot = match (site.parent_kind(), site.role()) {
        ("return_statement", _) => 0.7,
        ("argument_list", _) => 0.6,
        ("assignment" | "augmented_assignment", Some("right")) => 0.6,
        ("subscript", Some("subscript")) | ("slice", _) => 0.7,
        ("tuple" | "expression_list" | "list" | "pair" | "keyword_argument", _) => 0.4,
        ("binary_operator", Some("left")) => 0.3,
        ("comparison_operator", _) => 0.3,
        _ => return,
    };
    // Descending and ascending parts of one key: a part without its sign stands out.
    let signed = site.parent_kind() == "tuple"
        && site.parent().is_some_and(|tuple| {
            let mut cursor = tuple.walk();
            tuple
                .named_children(&mut cursor)
                .any(|part| part.kind() == "unary_operator")
        });
    let slot = if signed { 1.6 } else { slot };
    let types = site.types(site.node);
    if !types.may_be(Types::INT.or(Types::FLOAT)) || site.own() == "0" {
        return;
    }
    let known = if types.unknown() && !signed { 0.4 } else { 1.0 };
    out.replace(
        site.node,
        site.fitted(&format!("-{}", site.own()), Level::Unary),
        slot * known,
    );
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn signs_are_added() {
        check(
            &OPERATOR,
            "def f(x: float, xs):\n    g(x)\n    return xs[1]\n",
            &[("g(x)", "g(-x)"), ("xs[1]", "xs[-1]")],
        );
    }
}
