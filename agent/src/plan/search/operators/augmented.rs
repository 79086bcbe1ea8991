//! A wrong augmented assignment: `+=` for `=`, `-=` for `+=`.

use super::{Operator, arithmetic};
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "augmented-assignment",
    rationale: "accumulating where assigning was meant, and the other way round",
    prior: 0.85,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "augmented_assignment" => {
            let Some(operator) = site.field("operator") else {
                return;
            };
            out.replace(operator, "=", 0.8);
            let base = operator.kind().trim_end_matches('=');
            let text = site
                .field("left")
                .is_some_and(|l| site.types(l).within(Types::STR.or(Types::LIST)));
            for (new, fit) in arithmetic::alternatives(base) {
                let fit = if text && *new != "*" { fit * 0.2 } else { *fit };
                out.replace(operator, format!("{new}="), fit);
            }
            // `s += x` for `s = x + s`.
            if base == "+"
                && let (Some(left), Some(right)) = (site.field("left"), site.field("right"))
                && !site.types(left).within(Types::NUMBER)
            {
                let (l, r) = (site.text(left), site.text(right));
                out.replace(site.node, format!("{l} = {r} + {l}"), 0.7);
            }
        }
        "assignment" => {
            let (Some(left), Some(right)) = (site.field("left"), site.field("right")) else {
                return;
            };
            if !matches!(left.kind(), "identifier" | "attribute" | "subscript")
                || site.field("type").is_some()
                || right.kind() == "assignment"
            {
                return;
            }
            let Some(sign) = site.node.child(1).filter(|c| c.kind() == "=") else {
                return;
            };
            let types = site.types(left);
            let known = left.kind() != "identifier"
                || site.names().any(|n| n.text == site.text(left) && n.bound);
            let known = if known { 1.0 } else { 0.15 };
            let number = if types.may_be(Types::NUMBER) {
                1.0
            } else {
                0.2
            };
            let looped = if site.unit.loops > 0 { 1.0 } else { 0.6 };
            if types.may_be(Types::NUMBER.or(Types::SEQUENCE)) {
                out.replace(sign, "+=", 0.9 * known * looped);
            }
            out.replace(sign, "-=", 0.5 * known * number * looped);
            out.replace(sign, "*=", 0.4 * known * number * looped);
            out.replace(sign, "|=", 0.15 * known * looped);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn accumulation_and_assignment() {
        let source = "def f(xs):\n    total = 0\n    bits = ''\n    for x in xs:\n        total = x\n        bits += x\n        total ^= x\n    return total\n";
        check(
            &OPERATOR,
            source,
            &[
                ("total = x", "total += x"),
                ("bits += x", "bits = x"),
                ("bits += x", "bits = x + bits"),
                ("total ^= x", "total &= x"),
            ],
        );
    }
}
