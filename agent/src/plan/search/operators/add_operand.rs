//! A missing operand: `x` for `x + y`, `x - y`, `x * y`.

use super::Operator;
use crate::plan::search::precedence::{self, Level};
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "add-operand",
    rationale: "a term of a sum or a factor is forgotten",
    prior: 0.55,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value() || matches!(site.kind(), "string" | "none" | "true" | "false" | "lambda") {
        return;
    }
    let slot = match (site.parent_kind(), site.role()) {
        ("argument_list" | "return_statement", _) => 1.0,
        ("assignment" | "augmented_assignment", Some("right")) => 0.8,
        ("comparison_operator", _) => 0.5,
        ("subscript", Some("subscript")) | ("slice", _) => 0.7,
        ("binary_operator", _) => 0.35,
        ("list_comprehension" | "generator_expression", Some("body")) => 0.6,
        ("pair" | "keyword_argument", Some("value")) => 0.4,
        ("tuple" | "expression_list" | "list", _) => 0.4,
        ("yield" | "parenthesized_expression" | "conditional_expression", _) => 0.4,
        _ => return,
    };
    if site.kind() == "parenthesized_expression" || site.kind() == "integer" {
        return;
    }
    let types = site.types(site.node);
    let own = site.own();
    if own.len() > 80 || own.contains('\n') {
        return;
    }
    let numeric = types.within(Types::NUMBER);
    let listing = types.within(Types::LIST.or(Types::STR).or(Types::TUPLE).or(Types::BYTES));
    if types.within(
        Types::DICT
            .or(Types::CALLABLE)
            .or(Types::CLASS)
            .or(Types::NONE)
            .or(Types::BOOL),
    ) {
        return;
    }
    let plus = site.operand(site.node, Level::Plus);
    let times = site.operand(site.node, Level::Times);
    // The right operand of a sum must bind tighter.
    let behind = if precedence::of(site.node) <= Level::Plus && !listing {
        format!("({own})")
    } else {
        own.to_owned()
    };
    for name in site.locals().filter(|n| n.text != own).take(16) {
        let fit = name.fit(types);
        let weak = if types.unknown() { 0.6 } else { 1.0 };
        let fit = fit * slot * weak;
        let n = &name.text;
        let names_number = name.types.may_be(Types::NUMBER);
        if listing || types.unknown() {
            let sequence = name.types.may_be(Types::SEQUENCE);
            if sequence {
                out.replace(
                    site.node,
                    site.fitted(&format!("{n} + {behind}"), Level::Plus),
                    fit,
                );
            }
        }
        if name.types.may_be(Types::NUMBER.or(Types::SEQUENCE)) {
            out.replace(
                site.node,
                site.fitted(&format!("{plus} + {n}"), Level::Plus),
                fit,
            );
        }
        if !listing && names_number {
            out.replace(
                site.node,
                site.fitted(&format!("{plus} - {n}"), Level::Plus),
                fit * 0.9,
            );
            out.replace(
                site.node,
                site.fitted(&format!("{times} * {n}"), Level::Times),
                fit * 0.6,
            );
            if numeric {
                out.replace(
                    site.node,
                    site.fitted(&format!("{times} // {n}"), Level::Times),
                    fit * 0.25,
                );
                out.replace(
                    site.node,
                    site.fitted(&format!("{times} / {n}"), Level::Times),
                    fit * 0.3,
                );
                out.replace(
                    site.node,
                    site.fitted(&format!("{times} % {n}"), Level::Times),
                    fit * 0.3,
                );
            }
        }
    }
    if !listing {
        let power = site.operand(site.node, Level::Await);
        let fit = slot * if numeric { 0.6 } else { 0.35 };
        out.replace(
            site.node,
            site.fitted(&format!("{power} ** 2"), Level::Power),
            fit,
        );
        out.replace(
            site.node,
            site.fitted(&format!("2 * {times}"), Level::Times),
            fit * 0.7,
        );
        out.replace(
            site.node,
            site.fitted(&format!("{times} // 2"), Level::Times),
            fit * 0.6,
        );
        out.replace(
            site.node,
            site.fitted(&format!("{times} / 100"), Level::Times),
            fit * 0.25,
        );
        out.replace(
            site.node,
            site.fitted(&format!("{times} * 100"), Level::Times),
            fit * 0.2,
        );
        out.replace(
            site.node,
            site.fitted(&format!("1 - {times}"), Level::Plus),
            fit * 0.35,
        );
        out.replace(
            site.node,
            site.fitted(&format!("1 + {plus}"), Level::Plus),
            fit * 0.3,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn terms_and_factors() {
        let source = "def f(price: float, tax: float, seen: list, new: list):\n    g(price)\n    return [seen]\n";
        check(
            &OPERATOR,
            source,
            &[
                ("g(price)", "g(price + tax)"),
                ("g(price)", "g(price - tax)"),
                ("g(price)", "g(price * tax)"),
                ("g(price)", "g(price ** 2)"),
                ("return [seen]", "return new + [seen]"),
            ],
        );
    }
}
