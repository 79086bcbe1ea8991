//! A value that is shared where a copy was meant.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "missing-copy",
    rationale: "assignment binds names, it copies nothing",
    prior: 0.5,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value() || !matches!(site.kind(), "identifier" | "attribute" | "subscript") {
        return;
    }
    let slot = match (site.parent_kind(), site.role()) {
        ("assignment", Some("right")) => 1.0,
        ("return_statement", _) => 0.7,
        ("argument_list", _) => 0.7,
        ("yield" | "list" | "tuple" | "pair", _) => 0.6,
        ("for_statement", Some("right")) => 0.5,
        ("binary_operator", _) => 0.3,
        _ => return,
    };
    if site.role() == Some("function") {
        return;
    }
    let types = site.types(site.node);
    let own = site.own();
    let mutable = Types::LIST.or(Types::DICT).or(Types::SET).or(Types::OBJECT);
    if !types.may_be(mutable) {
        return;
    }
    let known = if types.unknown() { 0.45 } else { 1.0 };
    let fit = slot * known;
    if types.may_be(Types::LIST) {
        out.replace(site.node, format!("list({own})"), fit);
        out.replace(site.node, format!("{own}[:]"), fit * 0.5);
    }
    if types.may_be(Types::LIST.or(Types::DICT).or(Types::SET)) {
        out.replace(site.node, format!("{own}.copy()"), fit * 0.8);
    }
    if types.meets(Types::DICT) {
        out.replace(site.node, format!("dict({own})"), fit * 0.9);
    }
    if types.meets(Types::SET) {
        out.replace(site.node, format!("set({own})"), fit * 0.9);
    }
    let index = site.unit.index;
    if index.imports("copy") {
        out.replace(site.node, format!("copy.deepcopy({own})"), fit);
        out.replace(site.node, format!("copy.copy({own})"), fit * 0.6);
    } else if index.imports("deepcopy") {
        out.replace(site.node, format!("deepcopy({own})"), fit);
    } else if site.elements(site.node).meets(Types::LIST) {
        out.replace(
            site.node,
            format!("[list(row) for row in {own}]"),
            fit * 0.6,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn copies_by_type() {
        let source = "import copy\n\ndef f(xs: list, d: dict):\n    ys = xs\n    return d\n";
        check(
            &OPERATOR,
            source,
            &[
                ("ys = xs", "ys = list(xs)"),
                ("ys = xs", "ys = xs[:]"),
                ("ys = xs", "ys = copy.deepcopy(xs)"),
                ("return d", "return dict(d)"),
            ],
        );
    }
}
