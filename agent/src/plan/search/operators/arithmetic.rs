//! A wrong arithmetic or bit operator.

use super::Operator;
use crate::plan::search::precedence;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "arithmetic",
    rationale: "plus for minus, true division for floor division, or for xor",
    prior: 0.85,
    propose,
};

/// Alternatives of an operator, likeliest first.
pub fn alternatives(operator: &str) -> &'static [(&'static str, f64)] {
    match operator {
        "+" => &[
            ("-", 1.0),
            ("*", 0.6),
            ("//", 0.15),
            ("|", 0.15),
            ("%", 0.1),
        ],
        "-" => &[
            ("+", 1.0),
            ("*", 0.35),
            ("%", 0.3),
            ("//", 0.25),
            ("/", 0.25),
        ],
        "*" => &[
            ("+", 0.7),
            ("/", 0.7),
            ("**", 0.6),
            ("//", 0.6),
            ("-", 0.4),
            ("%", 0.3),
        ],
        "/" => &[("//", 1.0), ("*", 0.8), ("%", 0.4), ("-", 0.3), ("+", 0.2)],
        "//" => &[
            ("/", 0.9),
            ("%", 0.8),
            ("*", 0.4),
            (">>", 0.15),
            ("-", 0.2),
            ("+", 0.2),
        ],
        "%" => &[
            ("//", 0.9),
            ("/", 0.4),
            ("*", 0.3),
            ("-", 0.2),
            ("&", 0.2),
            ("+", 0.2),
        ],
        "**" => &[("*", 0.9), ("^", 0.2), ("//", 0.2), ("+", 0.2)],
        "&" => &[
            ("|", 1.0),
            ("^", 0.7),
            ("-", 0.4),
            ("<<", 0.2),
            (">>", 0.2),
            ("%", 0.2),
        ],
        "|" => &[("&", 1.0), ("^", 0.7), ("-", 0.3), ("+", 0.3), ("<<", 0.2)],
        "^" => &[("&", 1.0), ("|", 0.9), ("**", 0.7), ("+", 0.2), ("-", 0.2)],
        "<<" => &[(">>", 1.0), ("*", 0.3), ("**", 0.2), ("|", 0.2), ("&", 0.2)],
        ">>" => &[("<<", 1.0), ("//", 0.4), ("&", 0.4), ("|", 0.1)],
        "@" => &[("*", 0.8)],
        _ => &[],
    }
}

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "binary_operator" {
        return;
    }
    let (Some(left), Some(right), Some(operator)) = (
        site.field("left"),
        site.field("right"),
        site.field("operator"),
    ) else {
        return;
    };
    let (a, b) = (site.types(left), site.types(right));
    let text = a.within(Types::STR.or(Types::LIST).or(Types::TUPLE))
        || b.within(Types::STR.or(Types::LIST).or(Types::TUPLE));
    for (new, fit) in alternatives(operator.kind()) {
        let fit = if text && !matches!(*new, "+" | "*") {
            fit * 0.15
        } else {
            *fit
        };
        let looser = precedence::of_operator(new) < precedence::of_operator(operator.kind());
        if precedence::of_operator(new) == precedence::of_operator(operator.kind()) {
            out.replace(operator, *new, fit);
        } else {
            // The grouping stays what it was: operands and the whole get parentheses as needed.
            let level = precedence::of_operator(new);
            let operand = |n: tree_sitter::Node<'_>, extra: bool| {
                let own = precedence::of(n);
                if own < level || (extra && own == level) {
                    format!("({})", site.text(n))
                } else {
                    site.text(n).to_owned()
                }
            };
            let whole = format!(
                "{} {new} {}",
                operand(left, *new == "**"),
                operand(right, true)
            );
            out.replace(site.node, site.fitted(&whole, level), fit);
            if looser {
                continue;
            }
            // And the grouping that a plain change of the sign gives, where that differs.
            if precedence::of(left) < level || precedence::of(right) <= level {
                out.replace(operator, *new, fit * 0.7);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn operators_keep_their_grouping() {
        let source = "def f(a, b, c):\n    return (a + b) / c - a * b\n";
        check(
            &OPERATOR,
            source,
            &[
                ("(a + b)", "(a - b)"),
                ("(a + b) / c", "(a + b) // c"),
                ("/ c - a", "/ c + a"),
                ("a * b", "(a + b)"),
                ("a * b", "a ** b"),
            ],
        );
    }
}
