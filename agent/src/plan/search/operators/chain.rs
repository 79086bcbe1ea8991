//! Chained comparisons that should be split, or the other way round.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "chained-comparison",
    rationale: "`a < b < c` and `a < b and b < c` are easily mixed up with their near misses",
    prior: 0.35,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "comparison_operator" if site.node.named_child_count() == 3 => {
            let (Some(a), Some(b), Some(c)) = (
                site.node.named_child(0),
                site.node.named_child(1),
                site.node.named_child(2),
            ) else {
                return;
            };
            let mut cursor = site.node.walk();
            let signs: Vec<_> = site
                .node
                .children_by_field_name("operators", &mut cursor)
                .map(|o| site.text(o))
                .collect();
            let [first, second] = signs[..] else {
                return;
            };
            let (a, b, c) = (site.text(a), site.text(b), site.text(c));
            out.replace(
                site.node,
                site.fitted(&format!("{a} {first} {b}"), Level::Compare),
                0.8,
            );
            out.replace(
                site.node,
                site.fitted(&format!("{b} {second} {c}"), Level::Compare),
                0.8,
            );
            out.replace(
                site.node,
                site.fitted(&format!("{a} {first} {b} or {b} {second} {c}"), Level::Or),
                0.4,
            );
        }
        "comparison_operator" if site.node.named_child_count() == 2 => {
            let (Some(a), Some(b), Some(sign)) = (
                site.node.named_child(0),
                site.node.named_child(1),
                site.field("operators"),
            ) else {
                return;
            };
            let sign = sign.kind();
            if !matches!(sign, "<" | "<=" | ">" | ">=") {
                return;
            }
            let (a, b) = (site.text(a), site.text(b));
            for name in site
                .locals()
                .filter(|n| n.bound && n.types.may_be(Types::NUMBER))
                .take(6)
            {
                let n = &name.text;
                if n != a && n != b {
                    let fit = 0.5 * name.fit(Types::NUMBER);
                    out.replace(site.node, format!("{n} {sign} {a} {sign} {b}"), fit);
                    out.replace(site.node, format!("{a} {sign} {b} {sign} {n}"), fit);
                }
            }
            if sign.starts_with('<') {
                out.replace(site.node, format!("0 < {a} {sign} {b}"), 0.5);
                out.replace(site.node, format!("0 <= {a} {sign} {b}"), 0.7);
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
    fn chains_grow_and_shrink() {
        let source = "def f(lo: int, x: int, hi: int):\n    if lo < x < hi:\n        return True\n    return x < hi\n";
        check(
            &OPERATOR,
            source,
            &[
                ("lo < x < hi", "lo < x"),
                ("lo < x < hi", "x < hi"),
                ("return x < hi", "return lo < x < hi"),
                ("return x < hi", "return 0 <= x < hi"),
            ],
        );
    }
}
