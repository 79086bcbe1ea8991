//! A missing call around an expression.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "wrap",
    rationale: "the value is right but for a final `len`, `sorted`, `abs` and the like",
    prior: 0.7,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    let Some(slot) = slot(site) else {
        return;
    };
    let parent = site.parent_kind();
    let types = site.types(site.node);
    let own = site.own();
    if own.len() > 120 {
        return;
    }
    let parent_call = caller(site);
    let known = |fit: f64| if types.unknown() { fit * 0.55 } else { fit };
    if types.may_be(Types::SIZED) {
        let compared = matches!(parent, "comparison_operator" | "binary_operator");
        if parent_call != "len" {
            out.replace(
                site.node,
                format!("len({own})"),
                slot * known(if compared { 0.9 } else { 0.5 }),
            );
        }
    }
    if types.may_be(Types::ITERABLE) && !types.within(Types::STR) {
        for (name, fit) in [
            ("sorted", 0.9),
            ("list", 0.8),
            ("set", 0.6),
            ("sum", 0.6),
            ("max", 0.5),
            ("min", 0.5),
            ("tuple", 0.5),
            ("reversed", 0.4),
            ("dict", 0.2),
            ("any", 0.2),
            ("all", 0.2),
        ] {
            if parent_call == name {
                continue;
            }
            let same = match name {
                "list" => types.within(Types::LIST),
                "set" => types.within(Types::SET),
                "tuple" => types.within(Types::TUPLE),
                "dict" => types.within(Types::DICT.or(Types::SET)),
                _ => false,
            };
            out.replace(
                site.node,
                format!("{name}({own})"),
                slot * known(if same { fit * 0.25 } else { fit }),
            );
        }
        let strings = site.elements(site.node).within(Types::STR);
        if strings || types.within(Types::LIST) {
            let fit = if strings { 0.6 } else { 0.25 };
            if !site.in_format() {
                out.replace(site.node, format!("''.join({own})"), slot * fit);
                out.replace(site.node, format!("' '.join({own})"), slot * fit * 0.6);
            }
        }
        if types.within(Types::LIST.or(Types::TUPLE)) || site.kind() == "identifier" {
            out.replace(site.node, format!("[{own}]"), slot * 0.3);
        }
    } else if site.kind() == "identifier" && !types.within(Types::CALLABLE) {
        out.replace(site.node, format!("[{own}]"), slot * 0.3);
    }
    if types.may_be(Types::NUMBER) && parent_call != "abs" {
        let difference = site.field("operator").is_some_and(|o| o.kind() == "-");
        let known = if types.unknown() { 0.5 } else { 1.0 };
        let fit = if difference { 0.9 } else { 0.45 };
        out.replace(site.node, format!("abs({own})"), slot * known * fit);
    }
}

/// How likely a finished value stands at the site, and not the start of a longer expression.
pub fn slot(site: &Site<'_>) -> Option<f64> {
    if !site.is_value()
        || matches!(
            site.kind(),
            "lambda"
                | "none"
                | "true"
                | "false"
                | "integer"
                | "float"
                | "string"
                | "parenthesized_expression"
                | "comparison_operator"
                | "not_operator"
                | "boolean_operator"
        )
    {
        return None;
    }
    Some(match (site.parent_kind(), site.role()) {
        ("call", Some("function")) => return None,
        ("attribute", _) | ("subscript", Some("value")) => return None,
        ("expression_statement", _) => return None,
        ("return_statement", _) | ("assignment" | "augmented_assignment", Some("right")) => 1.0,
        ("argument_list", _) => 0.8,
        ("comparison_operator", _) => 0.7,
        ("for_statement" | "for_in_clause", _) => 0.4,
        (
            "yield"
            | "tuple"
            | "expression_list"
            | "list_comprehension"
            | "generator_expression"
            | "pair",
            _,
        ) => 0.6,
        _ => 0.45,
    })
}

/// The function that is called with the site as an argument.
pub fn caller<'a>(site: &Site<'a>) -> &'a str {
    site.above(2)
        .and_then(|c| c.node.child_by_field_name("function"))
        .map_or("", |f| site.text(f))
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn calls_that_fit_the_type() {
        let source = "def f(names: list, count: int, limit: int):\n    if names == 3:\n        return names\n    return count - limit\n";
        check(
            &OPERATOR,
            source,
            &[
                ("names == 3", "len(names) == 3"),
                ("return names", "return sorted(names)"),
                ("return count - limit", "return abs(count - limit)"),
            ],
        );
    }
}
