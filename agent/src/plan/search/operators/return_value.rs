//! The wrong thing is returned, or nothing is.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "return-value",
    rationale: "a result that is computed but not returned, or another one returned",
    prior: 0.65,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "return_statement" => returned(site, out),
        "expression_statement" => missing_return(site, out),
        "function_definition" => missing_at_end(site, out),
        _ => {}
    }
}

fn returned(site: &Site<'_>, out: &mut Proposals) {
    let expected = site.unit.scope.returns;
    let Some(value) = site.node.named_child(0).filter(|n| !n.is_extra()) else {
        for name in site.locals() {
            out.replace(
                site.node,
                format!("return {}", name.text),
                0.8 * name.fit(expected),
            );
        }
        out.replace(site.node, "return False", 0.2);
        out.replace(site.node, "return []", 0.2);
        return;
    };
    for name in site.locals() {
        let fit = name.fit(expected);
        if name.text == site.text(value) {
            continue;
        }
        out.replace(value, name.text.as_str(), 0.7 * fit);
        if value.kind() == "list" && value.named_child_count() == 0 {
            out.replace(value, format!("[{}]", name.text), 0.7);
            if name.types.may_be(Types::LIST) {
                out.replace(value, format!("[[{}]]", name.text), 0.15);
            }
        }
        if matches!(value.kind(), "true" | "false") {
            let n = &name.text;
            if name.types.may_be(Types::NUMBER) {
                out.replace(value, format!("{n} == 0"), 0.45);
                out.replace(value, format!("{n} > 0"), 0.3);
                out.replace(value, format!("{n} != 0"), 0.15);
            }
            if name.types.may_be(Types::SIZED) {
                out.replace(value, format!("not {n}"), 0.45);
                out.replace(value, format!("bool({n})"), 0.1);
            }
        }
    }
    if site.types(value).may_be(Types::NUMBER)
        && !matches!(
            value.kind(),
            "unary_operator" | "true" | "false" | "none" | "list" | "string"
        )
    {
        let text = format!("-{}", site.operand(value, Level::Unary));
        out.replace(value, text, 0.35);
    }
    if value.kind() == "none" || !matches!(value.kind(), "identifier" | "call") {
        return;
    }
    for text in ["None", "True", "False"] {
        out.replace(value, text, 0.12);
    }
}

/// `f(x)` for `return f(x)`, `total` for `return total`.
fn missing_return(site: &Site<'_>, out: &mut Proposals) {
    if site.unit.scope.function.is_none() || site.unit.scope.generator {
        return;
    }
    let Some(value) = site.node.named_child(0) else {
        return;
    };
    let start = value.start_byte();
    match value.kind() {
        "call" => {
            let own = site
                .callee(value)
                .is_some_and(|c| !c.returns.within(Types::NONE));
            let types = site.types(value);
            let fit = if types.within(Types::NONE) {
                0.08
            } else if own {
                1.0
            } else {
                0.5
            };
            out.range(start..start, "return ", fit);
        }
        "assignment" => {
            if let Some(right) = value.child_by_field_name("right") {
                out.range(start..right.start_byte(), "return ", 0.3);
            }
        }
        "identifier"
        | "attribute"
        | "binary_operator"
        | "comparison_operator"
        | "conditional_expression"
        | "list_comprehension"
        | "subscript" => {
            out.range(start..start, "return ", 1.0);
        }
        _ => {}
    }
}

/// A function that falls off its end although it has a result.
fn missing_at_end(site: &Site<'_>, out: &mut Proposals) {
    if site.unit.scope.generator {
        return;
    }
    let Some(last) = site
        .field("body")
        .and_then(|b| layout::statements(b).last().copied())
    else {
        return;
    };
    if matches!(last.kind(), "return_statement" | "raise_statement") {
        return;
    }
    if site.function_name().is_some_and(|n| n == "__init__") {
        return;
    }
    let expected = site.unit.scope.returns;
    let valued = site.unit.scope.returns_value;
    for name in site.names() {
        if name.only_in.is_some() || name.attribute && !name.bound {
            continue;
        }
        let receiver = Some(&name.text) == site.unit.scope.receiver.as_ref();
        let local = matches!(
            name.origin,
            crate::plan::search::bindings::Origin::Local
                | crate::plan::search::bindings::Origin::Loop
                | crate::plan::search::bindings::Origin::Parameter
        );
        if !local {
            continue;
        }
        let fit = if receiver {
            0.4
        } else {
            0.9 * name.types.fit(expected)
        };
        out.change(
            site.insert_after(last, &[(0, &format!("return {}", name.text))]),
            fit,
            "the result is not returned",
        );
    }
    if valued {
        for text in ["False", "True", "0", "[]", "-1"] {
            out.change(
                site.insert_after(last, &[(0, &format!("return {text}"))]),
                0.4,
                "the end of the function returns nothing",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn results_are_returned() {
        let source = "def f(xs, depth=0):\n    total = 0\n    if xs is None:\n        return []\n    for x in xs:\n        if x: return True\n        f(x)\n    total += 1\n";
        check(
            &OPERATOR,
            source,
            &[
                ("return []", "return [xs]"),
                ("return []", "return total"),
                ("return True", "return depth == 0"),
                ("        f(x)", "        return f(x)"),
                ("total += 1\n", "total += 1\n    return total\n"),
            ],
        );
    }
}
