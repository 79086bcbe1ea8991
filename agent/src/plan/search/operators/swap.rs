//! Things in the wrong order: arguments, operands, parts of a tuple, sides of a comparison.

use super::Operator;
use crate::plan::search::precedence::{self, Level, fitted};
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "swap",
    rationale: "two values of one type in a row are easily given in the wrong order",
    prior: 0.85,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    let source = site.source();
    match site.kind() {
        "argument_list" | "tuple" | "expression_list" | "list" | "pattern_list" => {
            let mut cursor = site.node.walk();
            let parts: Vec<_> = site
                .node
                .named_children(&mut cursor)
                .filter(|c| !c.is_extra())
                .collect();
            let base = match site.kind() {
                "argument_list" => 1.0,
                "list" => 0.3,
                "pattern_list" => 0.5,
                _ => 0.8,
            };
            for (i, a) in parts.iter().enumerate().take(6) {
                for (j, b) in parts.iter().enumerate().take(7).skip(i + 1) {
                    let keyword = |k: &str| k == "keyword_argument";
                    if keyword(a.kind()) != keyword(b.kind()) {
                        continue;
                    }
                    let far = 1.0 / (j - i) as f64;
                    if keyword(a.kind()) {
                        let value = |n: tree_sitter::Node<'_>| {
                            n.child_by_field_name("value").map(|v| v.byte_range())
                        };
                        if let (Some(x), Some(y)) = (value(*a), value(*b)) {
                            let text = format!(
                                "{}{}{}",
                                &source[y.clone()],
                                &source[x.end..y.start],
                                &source[x.clone()]
                            );
                            out.range(x.start..y.end, text, 0.5 * far);
                        }
                        continue;
                    }
                    let types = site.types(*a).fit(site.types(*b));
                    out.swap(source, *a, *b, base * far * (0.4 + 0.6 * types));
                }
            }
        }
        "subscript" => {
            let mut cursor = site.node.walk();
            let parts: Vec<_> = site
                .node
                .children_by_field_name("subscript", &mut cursor)
                .collect();
            if let [a, b] = parts[..] {
                out.swap(source, a, b, 0.9);
            }
            // `grid[i][j]` for `grid[j][i]`.
            if let (Some(value), Some(last)) = (site.field("value"), site.field("subscript"))
                && value.kind() == "subscript"
                && let Some(first) = value.child_by_field_name("subscript")
            {
                out.swap(source, first, last, 0.8);
            }
        }
        "binary_operator" => operands(site, out),
        "comparison_operator" if site.node.named_child_count() == 2 => {
            if let (Some(a), Some(b)) = (site.node.named_child(0), site.node.named_child(1)) {
                let operator = site.field("operators").map_or("", |o| o.kind());
                let fit = match operator {
                    "==" | "!=" | "is" | "is not" => 0.02,
                    "in" | "not in" => 0.5,
                    _ => 0.45,
                };
                out.swap(source, a, b, fit);
            }
        }
        _ => {}
    }
}

fn operands(site: &Site<'_>, out: &mut Proposals) {
    let (Some(left), Some(right), Some(operator)) = (
        site.field("left"),
        site.field("right"),
        site.field("operator"),
    ) else {
        return;
    };
    let sort = operator.kind();
    let sequence = Types::SEQUENCE;
    let fit = match sort {
        "-" | "/" | "//" | "%" | "**" | "<<" | ">>" | "@" => 0.9,
        "+" => {
            let (a, b) = (site.types(left), site.types(right));
            if a.meets(sequence) || b.meets(sequence) {
                1.0
            } else if a.within(Types::NUMBER) || b.within(Types::NUMBER) {
                0.01
            } else {
                0.5
            }
        }
        _ => 0.01,
    };
    let level = precedence::of_operator(sort);
    let text = format!(
        "{} {sort} {}",
        fitted(site.text(right), precedence::of(right), level),
        fitted(
            site.text(left),
            precedence::of(left),
            if level == Level::Plus {
                Level::Times
            } else {
                Level::Unary
            }
        )
    );
    out.replace(site.node, text, fit);
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn arguments_parts_and_operands() {
        let source = "def f(a, b, c):\n    if a < b:\n        a, b = b, a\n    g(a, b, k=1, m=2)\n    return a - b * c\n";
        check(
            &OPERATOR,
            source,
            &[
                ("g(a, b", "g(b, a"),
                ("k=1, m=2", "k=2, m=1"),
                ("a < b", "b < a"),
                ("= b, a", "= a, b"),
                ("a - b * c", "b * c - a"),
            ],
        );
        check(
            &OPERATOR,
            "def f(g, i, j):\n    return g[i][j] + g[i, j]\n",
            &[("g[i][j]", "g[j][i]"), ("g[i, j]", "g[j, i]")],
        );
    }
}
