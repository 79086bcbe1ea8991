//! A missing or spare `await`, `yield` or `yield from`.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "await-yield",
    rationale: "a coroutine or generator is handed on instead of its results",
    prior: 0.8,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    let scope = site.unit.scope;
    match site.kind() {
        "call" if scope.asynchronous && site.parent_kind() != "await" => {
            let known = site.callee(site.node).is_some_and(|c| c.is_async);
            let method = site
                .field("function")
                .is_some_and(|f| f.kind() == "attribute");
            let fit = if known {
                1.0
            } else if method {
                0.7
            } else {
                0.4
            };
            out.replace(
                site.node,
                site.fitted(&format!("await {}", site.own()), Level::Await),
                fit,
            );
        }
        "await" => {
            if let Some(inner) = site.node.named_child(0) {
                out.replace(site.node, site.text(inner), 0.5);
            }
        }
        "yield" => {
            let start = site.node.start_byte();
            let from = site.node.child(1).filter(|c| c.kind() == "from");
            if let Some(from) = from {
                if let Some(value) = site.node.named_child(0) {
                    out.range(from.start_byte()..value.start_byte(), "", 0.8);
                }
            } else if let Some(value) = site.node.named_child(0) {
                let types = site.types(value);
                let fit = if types.may_be(Types::ITERABLE) {
                    1.0
                } else {
                    0.3
                };
                out.range(start..value.start_byte(), "yield from ", fit);
            }
        }
        "return_statement" if scope.function.is_some() => {
            let generator = if scope.generator { 0.9 } else { 0.12 };
            if site.node.named_child(0).is_some() {
                let start = site.node.start_byte();
                out.range(start..start + 6, "yield", generator);
                out.range(start..start + 6, "yield from", generator * 0.8);
            }
        }
        "expression_statement" if scope.generator => {
            if let Some(value) = site.node.named_child(0).filter(|v| v.kind() == "call") {
                let start = value.start_byte();
                let recursive = value
                    .child_by_field_name("function")
                    .and_then(|f| f.child_by_field_name("attribute").or(Some(f)));
                let recursive = recursive.map(|f| site.text(f)) == site.function_name();
                out.range(
                    start..start,
                    "yield from ",
                    if recursive { 1.0 } else { 0.4 },
                );
                out.range(start..start, "yield ", 0.3);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn results_are_awaited_and_yielded() {
        let source = "async def f(c):\n    r = c.get()\n    return await r\n\ndef g(xs):\n    for x in xs:\n        if x:\n            yield x\n        else:\n            g(x)\n";
        check(
            &OPERATOR,
            source,
            &[
                ("c.get()", "await c.get()"),
                ("await r", "r"),
                ("yield x", "yield from x"),
                ("            g(x)", "            yield from g(x)"),
            ],
        );
    }
}
