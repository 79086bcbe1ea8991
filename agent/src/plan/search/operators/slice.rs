//! A wrong, missing or spare slice.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "slice",
    rationale: "one end of a slice forgotten or taken for the other",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() == "slice" {
        bounds(site, out);
        return;
    }
    if !site.is_value()
        || !matches!(
            site.kind(),
            "identifier" | "attribute" | "call" | "subscript"
        )
        || matches!(site.role(), Some("function" | "object" | "value"))
        || site.parent_kind() == "expression_statement"
    {
        return;
    }
    let types = site.types(site.node);
    if !types.may_be(Types::SEQUENCE) {
        return;
    }
    let slot = match site.parent_kind() {
        "for_statement" | "for_in_clause" | "argument_list" | "return_statement" => 1.0,
        "assignment" | "binary_operator" => 0.7,
        "comparison_operator" => 0.4,
        _ => 0.4,
    };
    let known = if types.unknown() { 0.4 } else { 1.0 };
    let own = site.own();
    for (text, fit) in [
        ("[1:]", 0.9),
        ("[:-1]", 0.8),
        ("[::-1]", 0.7),
        ("[2:]", 0.2),
        ("[:1]", 0.15),
    ] {
        out.replace(site.node, format!("{own}{text}"), fit * slot * known);
    }
    for name in site
        .locals()
        .filter(|n| n.text != own && n.types.may_be(Types::INT))
    {
        let fit = 0.7 * slot * known * name.fit(Types::INT);
        out.replace(site.node, format!("{own}[{}:]", name.text), fit);
        out.replace(site.node, format!("{own}[:{}]", name.text), fit);
    }
    if site.parent_kind() == "return_statement" || site.parent_kind() == "assignment" {
        out.replace(site.node, format!("{own}[0]"), 0.4 * slot * known);
        out.replace(site.node, format!("{own}[-1]"), 0.4 * slot * known);
    }
}

fn bounds(site: &Site<'_>, out: &mut Proposals) {
    let source = site.own();
    let mut cursor = site.node.walk();
    let mut parts = vec![""];
    for child in site.node.children(&mut cursor) {
        if child.kind() == ":" {
            parts.push("");
        } else if let Some(last) = parts.last_mut().filter(|_| child.is_named()) {
            *last = site.text(child);
        }
    }
    let (low, high) = (parts[0], parts.get(1).copied().unwrap_or(""));
    let step = parts.get(2).copied();
    let tail = step.map_or(String::new(), |s| format!(":{s}"));
    let mut offer = |low: &str, high: &str, fit: f64| {
        let text = format!("{low}:{high}{tail}");
        if text != source {
            out.replace(site.node, text, fit);
        }
    };
    offer(high, low, 0.8);
    if !low.is_empty() {
        offer("", high, 0.5);
    }
    if !high.is_empty() {
        offer(low, "", 0.6);
    }
    if low.is_empty() {
        offer("1", high, 0.6);
    }
    if high.is_empty() {
        offer(low, "-1", 0.6);
    }
    let names: Vec<_> = site
        .locals()
        .filter(|n| n.types.may_be(Types::INT))
        .take(8)
        .collect();
    for name in names {
        let fit = 0.5 * name.fit(Types::INT);
        if low.is_empty() {
            offer(&name.text, high, fit);
        }
        if high.is_empty() {
            offer(low, &name.text, fit);
        }
    }
    if step.is_none() {
        out.replace(site.node, format!("{source}:-1"), 0.15);
        out.replace(site.node, format!("{source}:2"), 0.1);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn slices_come_go_and_turn() {
        let source =
            "def f(xs: list, k: int):\n    for x in xs:\n        g(x)\n    return xs[k:]\n";
        check(
            &OPERATOR,
            source,
            &[
                ("in xs:", "in xs[1:]:"),
                ("in xs:", "in xs[k:]:"),
                ("xs[k:]", "xs[:k]"),
                ("xs[k:]", "xs[:]"),
                ("xs[k:]", "xs[k:-1]"),
            ],
        );
    }
}
