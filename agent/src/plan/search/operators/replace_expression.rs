//! An expression that another one of the function should replace.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::site::similarity;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "replace-expression",
    rationale: "the right expression is often spelled out elsewhere in the function",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    let own = site.own();
    if site.store {
        if matches!(site.kind(), "attribute" | "subscript" | "identifier") {
            targets(site, out);
        }
        return;
    }
    let composite = matches!(
        site.kind(),
        "attribute"
            | "subscript"
            | "call"
            | "binary_operator"
            | "unary_operator"
            | "list"
            | "list_comprehension"
    );
    let name = site.kind() == "identifier";
    if !(composite || name) || (site.role() == Some("function") && site.parent_kind() == "call") {
        return;
    }
    if site.parent_kind() == "expression_statement" || (site.role() == Some("object") && name) {
        return;
    }
    let expected = site.types(site.node);
    if composite {
        for other in site.variables().filter(|n| n.text != own) {
            let inside = own.contains(other.text.as_str());
            let fit = other.fit(expected) * if inside { 1.0 } else { 0.7 };
            out.replace(site.node, other.text.as_str(), fit * 0.9);
        }
    }
    for seen in &site.unit.scope.seen {
        if seen.text == own || !usable(site, &seen.names) {
            continue;
        }
        if matches!(seen.kind, "comparison_operator") != (site.kind() == "comparison_operator") {
            continue;
        }
        let kin = if seen.kind == site.kind() { 1.0 } else { 0.7 };
        let near = 0.6 + 0.4 * similarity(own, &seen.text);
        let whole = if name { 0.75 } else { 1.0 };
        let derived = if seen.derived { 0.5 } else { 1.0 };
        let fit = seen.types.fit(expected) * kin * near * whole * derived;
        out.replace(site.node, site.fitted(&seen.text, seen.level), fit);
    }
}

/// Whether all names of an expression can be used at the site.
pub fn usable(site: &Site<'_>, names: &[String]) -> bool {
    names.iter().all(|n| {
        let mut known = site.unit.names.iter().filter(|k| k.text == *n).peekable();
        known.peek().is_none()
            || known.any(|k| {
                k.only_in
                    .as_ref()
                    .is_none_or(|r| r.contains(&site.node.start_byte()))
            })
    })
}

/// Another place to assign to.
fn targets(site: &Site<'_>, out: &mut Proposals) {
    if !matches!(site.parent_kind(), "assignment" | "augmented_assignment") {
        return;
    }
    let own = site.own();
    let composite = site.kind() != "identifier";
    for seen in &site.unit.scope.seen {
        if seen.text == own
            || !matches!(seen.kind, "attribute" | "subscript")
            || seen.text.contains("()")
            || !usable(site, &seen.names)
        {
            continue;
        }
        let assigned = if seen.assigned { 0.8 } else { 0.6 };
        let near = 0.5 + 0.5 * similarity(own, &seen.text);
        out.replace(
            site.node,
            seen.text.as_str(),
            assigned * near * if composite { 1.0 } else { 0.6 },
        );
    }
    if composite {
        for name in site
            .locals()
            .filter(|n| !n.attribute && n.only_in.is_none())
        {
            out.replace(site.node, name.text.as_str(), 0.35);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn expressions_and_targets() {
        let source = "def f(d, e, k, v):\n    d[k] = d[v] + len(e)\n    return e[k]\n";
        check(
            &OPERATOR,
            source,
            &[
                ("d[v] + len(e)", "e[k] + len(e)"),
                ("return e[k]", "return d[k]"),
                ("d[v] +", "v +"),
                ("d[k] =", "e[k] ="),
                ("return e[k]", "return len(e)"),
            ],
        );
    }
}
