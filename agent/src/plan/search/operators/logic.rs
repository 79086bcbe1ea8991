//! Wrong logic words: and/or, any/all, is/==, in/not in, None tests and truth tests.

use super::Operator;
use super::negate::is_condition;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "logic",
    rationale: "and for or, all for any, identity for equality, `not x` for `x is None`",
    prior: 0.9,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "boolean_operator" => {
            if let Some(operator) = site.field("operator") {
                let new = if operator.kind() == "and" {
                    "or"
                } else {
                    "and"
                };
                out.replace(operator, new, 1.0);
            }
        }
        "call" => {
            if let Some(function) = site.field("function") {
                match site.text(function) {
                    "any" => out.replace(function, "all", 1.0),
                    "all" => out.replace(function, "any", 1.0),
                    _ => truth(site, out),
                }
            }
        }
        "comparison_operator" => comparison(site, out),
        "not_operator" => {
            if let Some(argument) = site.field("argument")
                && site.types(argument).may_be(
                    Types::NONE
                        .or(Types::NUMBER)
                        .or(Types::STR)
                        .or(Types::OBJECT),
                )
                && matches!(
                    argument.kind(),
                    "identifier" | "attribute" | "call" | "subscript"
                )
            {
                let text = format!("{} is None", site.text(argument));
                out.replace(site.node, site.fitted(&text, Level::Compare), 0.6);
            }
        }
        "identifier" | "attribute" | "subscript" => truth(site, out),
        _ => {}
    }
}

/// `if x` where `if x is not None` was meant.
fn truth(site: &Site<'_>, out: &mut Proposals) {
    if is_condition(site) && site.is_value() && !site.types(site.node).within(Types::BOOL) {
        let text = format!("{} is not None", site.own());
        out.replace(site.node, site.fitted(&text, Level::Compare), 0.55);
    }
}

fn comparison(site: &Site<'_>, out: &mut Proposals) {
    let (Some(left), Some(right), Some(operator)) = (
        site.node.named_child(0),
        site.node.named_child(1),
        site.field("operators"),
    ) else {
        return;
    };
    let new = match operator.kind() {
        "is" => "==",
        "is not" => "!=",
        "in" => "not in",
        "not in" => "in",
        "==" => "is",
        "!=" => "is not",
        _ => return,
    };
    let none = right.kind() == "none";
    let fit = match operator.kind() {
        "is" | "is not" if none => 0.05,
        "is" | "is not" => 0.8,
        "in" | "not in" => 0.8,
        _ if none => 0.3,
        _ => 0.06,
    };
    out.replace(operator, new, fit);
    match operator.kind() {
        "is" => out.replace(operator, "is not", 0.7),
        "is not" => out.replace(operator, "is", 0.7),
        "==" if !none => out.replace(operator, "in", in_fit(site, right)),
        "!=" if !none => out.replace(operator, "not in", in_fit(site, right)),
        "in" => out.replace(operator, "==", 0.25),
        "not in" => out.replace(operator, "!=", 0.25),
        _ => {}
    }
    if site.node.named_child_count() == 2 && none {
        let text = site.text(left);
        match operator.kind() {
            "is" | "==" => out.replace(
                site.node,
                site.fitted(
                    &format!("not {}", site.operand(left, Level::Not)),
                    Level::Not,
                ),
                0.7,
            ),
            _ => out.replace(site.node, site.fitted(text, Level::Atom), 0.6),
        }
    }
}

fn in_fit(site: &Site<'_>, right: tree_sitter::Node<'_>) -> f64 {
    let types = site.types(right);
    if types.within(Types::ITERABLE) && !types.meets(Types::STR) {
        0.6
    } else if types.may_be(Types::ITERABLE) {
        0.15
    } else {
        0.01
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn logic_words() {
        let source = "def f(a, b, xs):\n    if a is None or b in xs:\n        return any(xs)\n    if not a:\n        return b is 3\n    while b:\n        pass\n";
        check(
            &OPERATOR,
            source,
            &[
                ("None or b", "None and b"),
                ("b in xs", "b not in xs"),
                ("any(xs)", "all(xs)"),
                ("a is None", "not a"),
                ("a is None", "a is not None"),
                ("not a", "a is None"),
                ("b is 3", "b == 3"),
                ("while b", "while b is not None"),
            ],
        );
    }
}
