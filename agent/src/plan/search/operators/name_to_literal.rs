//! A variable where a constant belongs.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "name-to-literal",
    rationale: "the value must not depend on anything here",
    prior: 0.4,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value()
        || !matches!(
            site.kind(),
            "identifier"
                | "attribute"
                | "call"
                | "subscript"
                | "binary_operator"
                | "comparison_operator"
        )
        || matches!(site.role(), Some("function" | "object" | "value"))
        || matches!(
            site.parent_kind(),
            "expression_statement"
                | "for_statement"
                | "for_in_clause"
                | "dictionary_splat"
                | "list_splat"
        )
    {
        return;
    }
    let types = site.types(site.node);
    let whole = matches!(
        site.parent_kind(),
        "assignment" | "return_statement" | "argument_list"
    );
    let base = match site.kind() {
        "identifier" => 0.8,
        _ if whole => 0.5,
        _ => 0.3,
    };
    let mut offer = |text: &str, literal: Types, fit: f64| {
        let fit = base * fit * literal.fit(types);
        out.replace(site.node, text, fit);
    };
    offer("0", Types::INT, 1.0);
    offer("1", Types::INT, 0.9);
    offer("None", Types::NONE, 0.4);
    offer("True", Types::BOOL, 0.5);
    offer("False", Types::BOOL, 0.5);
    offer("[]", Types::LIST, 0.6);
    offer("{}", Types::DICT, 0.5);
    if !site.in_format() {
        offer("''", Types::STR, 0.6);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn constants_for_names() {
        check(
            &OPERATOR,
            "def f(a: int, out: list):\n    out = g(a)\n    return out\n",
            &[
                ("g(a)", "g(0)"),
                ("return out", "return []"),
                ("= g(a)", "= None"),
            ],
        );
    }
}
