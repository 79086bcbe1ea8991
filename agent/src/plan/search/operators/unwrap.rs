//! A call, index or container too many.

use super::Operator;
use crate::plan::search::precedence;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "unwrap",
    rationale: "a conversion or an index that was applied twice or too early",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.store {
        return;
    }
    match site.kind() {
        "call" => {
            let (Some(function), Some(arguments)) =
                (site.field("function"), site.field("arguments"))
            else {
                return;
            };
            let mut cursor = arguments.walk();
            let parts: Vec<_> = arguments
                .named_children(&mut cursor)
                .filter(|c| !c.is_extra())
                .collect();
            if function.kind() == "attribute"
                && let Some(object) = function.child_by_field_name("object")
                && site.parent_kind() != "expression_statement"
            {
                out.replace(
                    site.node,
                    site.text(object),
                    if parts.is_empty() { 0.9 } else { 0.4 },
                );
            }
            if arguments.kind() == "generator_expression"
                || site.parent_kind() == "expression_statement"
            {
                return;
            }
            for (i, part) in parts.iter().enumerate().take(4) {
                if matches!(
                    part.kind(),
                    "keyword_argument" | "list_splat" | "dictionary_splat"
                ) {
                    continue;
                }
                let fit = match (parts.len(), i) {
                    (1, _) => 0.9,
                    (_, 0) => 0.5,
                    _ => 0.35,
                };
                let fit = fit * (0.5 + 0.5 * site.types(*part).fit(site.types(site.node)));
                out.replace(
                    site.node,
                    site.fitted(site.text(*part), precedence::of(*part)),
                    fit,
                );
            }
        }
        "subscript" => {
            if let Some(value) = site.field("value") {
                let slice = site.field("subscript").is_some_and(|s| s.kind() == "slice");
                out.replace(site.node, site.text(value), if slice { 0.8 } else { 0.4 });
            }
        }
        "list" | "set" | "tuple" if site.node.named_child_count() == 1 => {
            if let Some(part) = site
                .node
                .named_child(0)
                .filter(|p| p.kind() != "list_splat")
            {
                out.replace(
                    site.node,
                    site.fitted(site.text(part), precedence::of(part)),
                    0.6,
                );
            }
        }
        "unary_operator" => {
            if let Some(argument) = site.field("argument") {
                out.replace(
                    site.node,
                    site.fitted(site.text(argument), precedence::of(argument)),
                    0.7,
                );
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
    fn inner_parts_stay() {
        let source = "def f(x, y):\n    y = [x]\n    return str(x.strip()) + y[0] + y[1:] + -x\n";
        check(
            &OPERATOR,
            source,
            &[
                ("y = [x]", "y = x"),
                ("str(x.strip())", "x.strip()"),
                ("x.strip()", "x"),
                ("y[1:]", "y"),
                ("-x", "x"),
            ],
        );
    }
}
