//! Comparison operators: wrong boundary, wrong direction, equality for its opposite.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "comparison",
    rationale: "`<` for `<=` and its kin are the commonest slip at boundaries",
    prior: 1.0,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "comparison_operator" {
        return;
    }
    let mut cursor = site.node.walk();
    let operators: Vec<_> = site
        .node
        .children_by_field_name("operators", &mut cursor)
        .collect();
    let right = site.node.named_child(1);
    let number = right.is_some_and(|r| r.kind() == "integer");
    let ordered = right.is_some_and(|r| {
        !matches!(r.kind(), "string" | "none" | "true" | "false")
            && site
                .types(r)
                .may_be(Types::NUMBER.or(Types::OBJECT).or(Types::TIME))
    });
    for operator in operators {
        let alternatives: &[(&str, f64)] = match operator.kind() {
            "<" => &[
                ("<=", 1.0),
                (">", 0.7),
                (">=", 0.5),
                ("!=", 0.4),
                ("==", 0.3),
            ],
            "<=" => &[
                ("<", 1.0),
                (">=", 0.7),
                (">", 0.5),
                ("==", 0.35),
                ("!=", 0.25),
            ],
            ">" => &[
                (">=", 1.0),
                ("<", 0.7),
                ("<=", 0.5),
                ("!=", 0.4),
                ("==", 0.3),
            ],
            ">=" => &[
                (">", 1.0),
                ("<=", 0.7),
                ("<", 0.5),
                ("==", 0.35),
                ("!=", 0.25),
            ],
            "==" => &[
                ("!=", 0.9),
                ("<=", 0.45),
                (">=", 0.45),
                ("<", 0.3),
                (">", 0.3),
            ],
            "!=" => &[
                ("==", 0.9),
                ("<", 0.4),
                (">", 0.4),
                (">=", 0.25),
                ("<=", 0.25),
            ],
            _ => &[],
        };
        let was_order = !matches!(operator.kind(), "==" | "!=");
        for (text, fit) in alternatives {
            let needs_order = !matches!(*text, "==" | "!=");
            let fit = if needs_order && !was_order && !ordered {
                fit * 0.25
            } else {
                *fit
            };
            out.replace(operator, *text, fit);
        }
        // An equality test of a size or a counter often stands for a bound next to it.
        if number
            && operator.kind() == "=="
            && let Some(right) = right
            && let Ok(value) = site.text(right).parse::<i64>()
        {
            let range = operator.start_byte()..right.end_byte();
            out.range(range, format!("<= {}", value + 1), 0.5);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn boundaries_directions_and_equality() {
        let source = "def f(a, b):\n    while a < b:\n        a += 1\n    return a == 0\n";
        check(
            &OPERATOR,
            source,
            &[
                ("a < b", "a <= b"),
                ("a < b", "a > b"),
                ("a == 0", "a != 0"),
                ("a == 0", "a <= 1"),
            ],
        );
    }

    #[test]
    fn each_link_of_a_chain() {
        let source = "def f(lo, x, hi):\n    return lo < x < hi\n";
        check(
            &OPERATOR,
            source,
            &[("lo < x", "lo <= x"), ("x < hi", "x <= hi")],
        );
    }
}
