//! A recursive call without effect: its result or an argument is lost.

use super::Operator;
use crate::plan::search::names::Origin;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "recursion",
    rationale: "the recursive call passes on too little or drops what comes back",
    prior: 0.75,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "call" {
        return;
    }
    let (Some(function), Some(arguments)) = (site.field("function"), site.field("arguments"))
    else {
        return;
    };
    let name = match function.kind() {
        "attribute" => function
            .child_by_field_name("attribute")
            .map(|n| site.text(n)),
        "identifier" => Some(site.text(function)),
        _ => None,
    };
    if name != site.function_name() || arguments.kind() != "argument_list" {
        return;
    }
    let mut cursor = arguments.walk();
    for argument in arguments.named_children(&mut cursor) {
        if argument.is_extra() {
            continue;
        }
        let types = site.types(argument);
        let text = site.text(argument);
        let simple = matches!(argument.kind(), "identifier" | "attribute" | "subscript");
        if simple && types.may_be(Types::INT) {
            let known = if types.unknown() { 0.6 } else { 1.0 };
            for (new, fit) in [
                ("- 1", 1.0),
                ("+ 1", 0.9),
                ("// 2", 0.5),
                ("// 10", 0.4),
                ("- 2", 0.2),
            ] {
                out.replace(argument, format!("{text} {new}"), known * fit);
            }
        }
        if simple && types.may_be(Types::SEQUENCE) {
            let known = if types.unknown() { 0.6 } else { 1.0 };
            out.replace(argument, format!("{text}[1:]"), known);
            out.replace(argument, format!("{text}[:-1]"), known * 0.7);
        }
        if simple && types.may_be(Types::OBJECT) {
            for (attribute, uses) in &site.unit.index.attributes {
                let link = site
                    .unit
                    .index
                    .classes
                    .iter()
                    .any(|c| c.attributes.contains_key(attribute));
                if link || *uses > 1 {
                    out.replace(argument, format!("{text}.{attribute}"), 0.35);
                }
            }
        }
    }
    results(site, out);
}

/// What comes back is added to something.
fn results(site: &Site<'_>, out: &mut Proposals) {
    let own = site.own();
    let used = site.parent_kind();
    if used == "expression_statement" {
        for name in site.locals().filter(|n| n.bound && n.only_in.is_none()) {
            if name.types.may_be(Types::LIST) {
                out.replace(site.node, format!("{}.extend({own})", name.text), 0.5);
            }
            if name.types.may_be(Types::NUMBER.or(Types::SEQUENCE)) && name.origin == Origin::Local
            {
                out.replace(site.node, format!("{} += {own}", name.text), 0.8);
                out.replace(site.node, format!("{} = {own}", name.text), 0.7);
            }
        }
        return;
    }
    if !matches!(
        used,
        "return_statement" | "assignment" | "augmented_assignment" | "argument_list"
    ) {
        return;
    }
    let returns = site.unit.scope.returns;
    if returns.may_be(Types::NUMBER) {
        let known = if returns.unknown() { 0.6 } else { 1.0 };
        out.replace(
            site.node,
            site.fitted(&format!("1 + {own}"), Level::Plus),
            known,
        );
        out.replace(
            site.node,
            site.fitted(&format!("{own} + 1"), Level::Plus),
            known * 0.5,
        );
    }
    for seen in &site.unit.scope.seen {
        if !super::replace_expression::usable(site, &seen.names)
            || own.contains(&seen.text) && !seen.derived
            || seen.text == own
        {
            continue;
        }
        if !matches!(seen.kind, "subscript" | "attribute" | "binary_operator") {
            continue;
        }
        let fit = seen.types.fit(returns) * 0.8;
        let number = seen.types.may_be(Types::NUMBER) && returns.may_be(Types::NUMBER);
        let plus = crate::plan::search::precedence::fitted(&seen.text, seen.level, Level::Plus);
        let times = crate::plan::search::precedence::fitted(&seen.text, seen.level, Level::Times);
        if number || seen.types.may_be(Types::SEQUENCE) {
            out.replace(
                site.node,
                site.fitted(&format!("{plus} + {own}"), Level::Plus),
                fit,
            );
        }
        if returns.may_be(Types::SEQUENCE) && !seen.types.within(Types::SEQUENCE) {
            out.replace(
                site.node,
                site.fitted(&format!("[{}] + {own}", seen.text), Level::Plus),
                0.5,
            );
        }
        if number {
            out.replace(
                site.node,
                site.fitted(&format!("{times} * {own}"), Level::Times),
                fit * 0.6,
            );
        }
    }
    for name in site.locals().filter(|n| n.only_in.is_none()) {
        let fit = name.fit(returns);
        if name.types.may_be(Types::NUMBER) && returns.may_be(Types::NUMBER) {
            out.replace(
                site.node,
                site.fitted(&format!("{} * {own}", name.text), Level::Times),
                fit * 0.8,
            );
            out.replace(
                site.node,
                site.fitted(&format!("{} + {own}", name.text), Level::Plus),
                fit * 0.8,
            );
        }
        if returns.may_be(Types::LIST) {
            out.replace(
                site.node,
                site.fitted(&format!("[{}] + {own}", name.text), Level::Plus),
                0.5,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn arguments_and_results() {
        let source = "def f(n, base):\n    if n == 0:\n        return 0\n    return f(n, base)\n\ndef g(xs: list):\n    if not xs:\n        return 0\n    return xs[0] + g(xs)\n\ndef h(n):\n    if n < 10:\n        return n\n    return h(n // 10)\n";
        check(
            &OPERATOR,
            source,
            &[
                ("return f(n, base)", "return f(n - 1, base)"),
                ("return f(n, base)", "return 1 + f(n, base)"),
                ("return f(n, base)", "return base * f(n, base)"),
                ("g(xs)\n", "g(xs[1:])\n"),
                ("return h(n // 10)", "return n % 10 + h(n // 10)"),
            ],
        );
    }
}
