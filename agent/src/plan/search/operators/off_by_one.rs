//! Off by one: indices, bounds, arguments, operands and counts.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "off-by-one",
    rationale: "half-open ranges and zero-based indices invite a missing or spare one",
    prior: 0.9,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value() {
        return;
    }
    if site.kind() == "integer" {
        if let Ok(value) = site.own().parse::<i64>() {
            let small = if value.abs() <= 3 { 0.9 } else { 0.7 };
            out.replace(site.node, site.fitted_number(value + 1), small);
            out.replace(site.node, site.fitted_number(value - 1), small);
        }
        return;
    }
    let types = site.types(site.node);
    if !types.may_be(Types::INT) {
        return;
    }
    let Some(slot) = slot(site) else {
        return;
    };
    let known = if types.unknown() { 0.6 } else { 1.0 };
    let fit = slot * known;
    let operand = site.operand(site.node, Level::Plus);
    out.replace(
        site.node,
        site.fitted(&format!("{operand} + 1"), Level::Plus),
        fit,
    );
    out.replace(
        site.node,
        site.fitted(&format!("{operand} - 1"), Level::Plus),
        fit,
    );
}

/// How likely a count or position stands here.
fn slot(site: &Site<'_>) -> Option<f64> {
    let parent = site.parent()?;
    if matches!(
        site.kind(),
        "string"
            | "list"
            | "tuple"
            | "dictionary"
            | "none"
            | "true"
            | "false"
            | "float"
            | "parenthesized_expression"
            | "comparison_operator"
            | "boolean_operator"
            | "not_operator"
            | "lambda"
            | "set"
            | "list_comprehension"
    ) {
        return None;
    }
    let fit = match parent.kind() {
        "subscript" if site.role() == Some("subscript") => 0.9,
        "slice" => 0.9,
        "argument_list" => {
            let function = site
                .above(2)
                .and_then(|c| c.node.child_by_field_name("function"))
                .map_or("", |f| site.text(f));
            match function {
                "range" => 1.0,
                "len" | "str" | "print" | "isinstance" | "sorted" | "list" | "set" | "sum" => {
                    return None;
                }
                f if Some(f) == site.function_name() => 0.9,
                _ => 0.6,
            }
        }
        "return_statement" => 0.75,
        "assignment" if site.role() == Some("right") => 0.65,
        "augmented_assignment" if site.role() == Some("right") => 0.5,
        "comparison_operator" => 0.6,
        // `a * b` and `a // b` of a count; sums have their own constant to change.
        "binary_operator" => 0.5,
        "parenthesized_expression" | "tuple" | "expression_list" | "list" => 0.45,
        "keyword_argument" => 0.4,
        "conditional_expression" => 0.4,
        "pair" | "unary_operator" => 0.3,
        _ => return None,
    };
    Some(fit)
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn arguments_indices_bounds_and_constants() {
        let source = "def f(xs, n):\n    for i in range(n):\n        xs[i] = xs[:n]\n    return len(xs) * n\n";
        check(
            &OPERATOR,
            source,
            &[
                ("range(n)", "range(n + 1)"),
                ("range(n)", "range(n - 1)"),
                ("xs[i]", "xs[i - 1]"),
                ("xs[:n]", "xs[:n - 1]"),
                ("len(xs) * n", "(len(xs) - 1) * n"),
                ("return len(xs) * n", "return len(xs) * n + 1"),
            ],
        );
        check(
            &OPERATOR,
            "def f(x):\n    return x[-1] + 2\n",
            &[("+ 2", "+ 3"), ("+ 2", "+ 1"), ("-1", "-2"), ("-1", "-0")],
        );
    }
}
