//! A condition the wrong way round.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "negate",
    rationale: "a `not` too many or too few",
    prior: 0.7,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() == "not_operator" {
        if let Some(argument) = site.field("argument") {
            out.replace(site.node, site.text(argument), 1.0);
        }
        return;
    }
    if !site.is_value() || !is_condition(site) {
        return;
    }
    let fit = match site.kind() {
        // Comparisons have their opposite in another operator.
        "comparison_operator" => 0.15,
        "identifier" | "attribute" | "call" | "subscript" => 0.9,
        "true" | "false" | "parenthesized_expression" => return,
        _ => 0.6,
    };
    let text = format!("not {}", site.operand(site.node, Level::Not));
    out.replace(site.node, site.fitted(&text, Level::Not), fit);
}

/// Whether a truth value is asked of the node.
pub fn is_condition(site: &Site<'_>) -> bool {
    match site.parent_kind() {
        "if_statement" | "elif_clause" | "while_statement" => site.role() == Some("condition"),
        "boolean_operator" | "if_clause" | "assert_statement" => true,
        "conditional_expression" => site
            .parent()
            .and_then(|p| p.named_child(1))
            .is_some_and(|c| c.id() == site.node.id()),
        // `return a in b`, `return x.is_ready()`.
        "return_statement" => {
            let types = site.types(site.node);
            types.within(crate::plan::search::types::Types::BOOL)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn conditions_are_turned_round() {
        let source = "def f(a, b):\n    if a and b():\n        return [x for x in b if x]\n    return not a\n";
        check(
            &OPERATOR,
            source,
            &[
                ("if a and b()", "if not (a and b())"),
                ("if a and", "if not a and"),
                ("and b()", "and not b()"),
                ("if x]", "if not x]"),
                ("return not a", "return a"),
            ],
        );
    }
}
