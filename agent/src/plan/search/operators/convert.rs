//! A missing conversion between text, bytes and numbers.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "convert",
    rationale: "text from outside is used as a number, or a number as text",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value()
        || !matches!(
            site.kind(),
            "identifier" | "attribute" | "call" | "subscript" | "binary_operator"
        )
    {
        return;
    }
    if matches!(site.role(), Some("function" | "object" | "value"))
        && site.parent_kind() != "pair"
        && site.parent_kind() != "keyword_argument"
    {
        return;
    }
    if site.parent_kind() == "expression_statement" {
        return;
    }
    let types = site.types(site.node);
    let own = site.own();
    let sibling = other_operand(site);
    let slot = match site.parent_kind() {
        "binary_operator" => 0.9,
        "comparison_operator" => 0.7,
        "return_statement" | "assignment" | "argument_list" | "subscript" | "pair" => 0.6,
        _ => 0.4,
    };
    let known = if types.unknown() { 0.5 } else { 1.0 };
    let with = |wanted: Types| {
        if sibling.unknown() {
            1.0
        } else if sibling.meets(wanted) {
            1.6
        } else {
            0.5
        }
    };
    let mut offer = |text: String, fit: f64| out.replace(site.node, text, (slot * fit).min(1.0));
    if !types.within(Types::STR) {
        let number = if types.meets(Types::NUMBER) { 1.0 } else { 0.7 };
        offer(
            format!("str({own})"),
            0.7 * known * number * with(Types::STR),
        );
    }
    if types.may_be(Types::STR.or(Types::FLOAT)) {
        offer(format!("int({own})"), 0.7 * known * with(Types::NUMBER));
        offer(format!("float({own})"), 0.5 * known * with(Types::NUMBER));
    } else if types.within(Types::INT) {
        offer(format!("float({own})"), 0.25);
    }
    if types.meets(Types::STR) {
        offer(format!("{own}.encode()"), 0.2 * with(Types::BYTES));
    }
    if types.meets(Types::BYTES) {
        offer(format!("{own}.decode()"), 0.7);
    }
    if matches!(site.parent_kind(), "return_statement" | "assignment") {
        offer(
            format!("bool({own})"),
            0.3 * if types.meets(Types::BOOL) { 0.1 } else { 1.0 },
        );
    }
}

fn other_operand(site: &Site<'_>) -> Types {
    let Some(parent) = site.parent() else {
        return Types::UNKNOWN;
    };
    if !matches!(parent.kind(), "binary_operator" | "comparison_operator") {
        return Types::UNKNOWN;
    }
    let mut cursor = parent.walk();
    parent
        .named_children(&mut cursor)
        .find(|c| c.id() != site.node.id())
        .map_or(Types::UNKNOWN, |c| site.types(c))
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn text_and_numbers() {
        let source = "def f(name: str, n: int, raw: bytes):\n    return name + n\n\ndef g(raw: bytes, text: str):\n    h(raw)\n    return text * 2 > 4\n";
        check(
            &OPERATOR,
            source,
            &[
                ("name + n", "name + str(n)"),
                ("h(raw)", "h(raw.decode())"),
                ("text * 2", "int(text) * 2"),
            ],
        );
    }
}
