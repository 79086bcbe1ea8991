//! A missing or spare condition of a comprehension.

use super::Operator;
use crate::plan::search::names::Origin;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "comprehension-condition",
    rationale: "elements that should have been left out, or kept",
    prior: 0.65,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "if_clause" => {
            let mut start = site.node.start_byte();
            while site.source()[..start].ends_with(' ') {
                start -= 1;
            }
            out.range(start..site.node.end_byte(), "", 0.6);
        }
        "list_comprehension"
        | "set_comprehension"
        | "generator_expression"
        | "dictionary_comprehension" => add(site, out),
        _ => {}
    }
}

fn add(site: &Site<'_>, out: &mut Proposals) {
    let mut cursor = site.node.walk();
    let parts: Vec<_> = site
        .node
        .named_children(&mut cursor)
        .filter(|c| !c.is_extra())
        .collect();
    let Some(last) = parts.last().copied() else {
        return;
    };
    let filtered = parts.iter().any(|p| p.kind() == "if_clause");
    let end = last.end_byte();
    let word = if filtered { " and" } else { " if" };
    let range = site.node.byte_range();
    let body = site.field("body");
    let mut offer = |test: &str, fit: f64| {
        let fit = if filtered { fit * 0.6 } else { fit };
        out.range(end..end, format!("{word} {test}"), fit);
    };
    let mut own: Vec<_> = site
        .unit
        .names
        .iter()
        .filter(|n| n.only_in.as_ref() == Some(&range))
        .collect();
    own.dedup_by(|a, b| a.text == b.text);
    for name in &own {
        let n = &name.text;
        if !name.types.within(Types::NUMBER) {
            offer(n, 0.8);
        }
        offer(&format!("{n} is not None"), 0.6);
        if name.types.may_be(Types::NUMBER) {
            let known = if name.types.unknown() { 0.5 } else { 1.0 };
            for (test, fit) in [
                ("> 0", 0.7),
                ("!= 0", 0.5),
                (">= 0", 0.4),
                ("% 2 == 0", 0.3),
                ("< 0", 0.3),
            ] {
                offer(&format!("{n} {test}"), known * fit);
            }
        }
        if name.types.may_be(Types::STR) {
            let known = if name.types.unknown() { 0.4 } else { 1.0 };
            offer(&format!("{n}.strip()"), known * 0.5);
        }
        let others: Vec<_> = site
            .unit
            .names
            .iter()
            .filter(|o| {
                o.only_in.is_none()
                    && o.bound
                    && o.origin != Origin::Definition
                    && o.origin != Origin::Import
                    && o.text != *n
            })
            .take(8)
            .collect();
        for other in others {
            let o = &other.text;
            if Some(o) == site.unit.scope.receiver.as_ref() {
                continue;
            }
            let fit = name.types.fit(other.types);
            if other
                .types
                .meets(Types::SET.or(Types::DICT).or(Types::LIST))
            {
                offer(&format!("{n} in {o}"), 0.6);
                offer(&format!("{n} not in {o}"), 0.6);
            } else if fit >= 0.5 && !other.types.within(Types::ITERATOR) {
                for (sign, weight) in [
                    ("!=", 0.7),
                    ("==", 0.6),
                    ("<", 0.5),
                    (">", 0.5),
                    (">=", 0.4),
                    ("<=", 0.4),
                ] {
                    offer(&format!("{n} {sign} {o}"), fit * weight);
                }
            }
        }
    }
    // What the body asks of the element is often what must be there.
    if let Some(body) = body.filter(|b| matches!(b.kind(), "attribute" | "subscript" | "call")) {
        let text = site.text(body);
        if text.len() <= 40 && !text.contains('\n') {
            offer(text, 0.7);
            offer(&format!("{text} is not None"), 0.3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn conditions_come_and_go() {
        let source = "def f(xs, seen: set):\n    a = [y for y in xs if y > 3]\n    return [x.name for x in xs]\n";
        check(
            &OPERATOR,
            source,
            &[
                (" if y > 3]", "]"),
                ("[x.name for x in xs]", "[x.name for x in xs if x]"),
                ("[x.name for x in xs]", "[x.name for x in xs if x.name]"),
                (
                    "[x.name for x in xs]",
                    "[x.name for x in xs if x not in seen]",
                ),
                (" if y > 3]", " if y > 3 and y not in seen]"),
            ],
        );
    }
}
