//! A missing bound: the larger or smaller of two values is meant.

use super::Operator;
use super::wrap::{caller, slot};
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "extremes",
    rationale: "a running maximum that is overwritten, a result that must not fall below zero",
    prior: 0.7,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    let types = site.types(site.node);
    let Some(slot) = slot(site).filter(|_| types.may_be(Types::NUMBER)) else {
        return;
    };
    let slot = slot * if types.unknown() { 0.6 } else { 1.0 };
    let own = site.own();
    if own.len() > 120 || matches!(caller(site), "min" | "max" | "range" | "len" | "sum") {
        return;
    }
    let difference = site.field("operator").is_some_and(|o| o.kind() == "-");
    out.replace(
        site.node,
        format!("max(0, {own})"),
        slot * if difference { 0.7 } else { 0.45 },
    );
    out.replace(site.node, format!("max(1, {own})"), slot * 0.25);
    let target = site
        .parent()
        .filter(|p| p.kind() == "assignment" && site.role() == Some("right"))
        .and_then(|p| p.child_by_field_name("left"));
    let mut offer = |other: &str, fit: f64| {
        out.replace(site.node, format!("max({other}, {own})"), slot * fit);
        out.replace(site.node, format!("min({other}, {own})"), slot * fit * 0.9);
    };
    if let Some(target) = target {
        // `best = score` for `best = max(best, score)`.
        offer(
            site.text(target),
            if site.unit.loops > 0 { 0.9 } else { 0.4 },
        );
    }
    let target = target.map_or("", |t| site.text(t));
    for name in site
        .locals()
        .filter(|n| n.text != own && n.text != target)
        .take(8)
    {
        offer(&name.text, 0.45 * name.fit(Types::NUMBER));
    }
    for seen in &site.unit.scope.seen {
        if seen.text != own
            && seen.types.may_be(Types::NUMBER)
            && seen.text.len() < 24
            && !seen.derived
            && super::replace_expression::usable(site, &seen.names)
            && matches!(seen.kind, "subscript" | "attribute" | "call")
        {
            // What the function compares is what it takes the larger one of.
            let compared = site
                .unit
                .scope
                .seen
                .iter()
                .any(|s| s.kind == "comparison_operator" && s.text.contains(&seen.text));
            let weight = if compared { 0.7 } else { 0.35 };
            offer(&seen.text, weight * seen.types.fit(Types::NUMBER));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn bounds_by_targets_names_and_zero() {
        let source = "def f(xs, count: int, limit: int):\n    best = count\n    if count < xs[0]:\n        return best, limit\n    return count - limit\n";
        check(
            &OPERATOR,
            source,
            &[
                ("best = count", "best = max(best, count)"),
                ("best = count", "best = min(limit, count)"),
                ("best, limit", "best, max(xs[0], limit)"),
                ("return count - limit", "return max(0, count - limit)"),
            ],
        );
    }
}
