//! A literal where a variable belongs.

use super::Operator;
use crate::plan::search::names::Origin;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "literal-to-name",
    rationale: "a constant that was put in for the moment, or a parameter that is not used",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    let literal = matches!(
        site.kind(),
        "integer"
            | "float"
            | "string"
            | "true"
            | "false"
            | "none"
            | "list"
            | "dictionary"
            | "tuple"
    );
    if !literal || site.store || site.node.named_child_count() > 2 {
        return;
    }
    if matches!(site.kind(), "list" | "dictionary" | "tuple") && site.node.named_child_count() > 0 {
        return;
    }
    if site.unit.scope.function.is_none() || site.is_default() {
        return;
    }
    let types = site.types(site.node);
    let expected = if matches!(site.kind(), "true" | "false" | "none") {
        Types::UNKNOWN
    } else {
        types
    };
    let condition = super::negate::is_condition(site);
    for name in site.variables() {
        let unused = if name.origin == Origin::Parameter && uses(site, &name.text) < 1 {
            1.4
        } else {
            1.0
        };
        let fit = name.fit(expected) * 0.9 * unused;
        let text = site.fitted(&name.text, Level::Atom);
        out.replace(
            site.node,
            text,
            fit.min(1.0) * if condition { 1.3 } else { 1.0 },
        );
        if types.within(Types::INT) && name.types.meets(Types::SIZED) {
            out.replace(site.node, format!("len({})", name.text), 0.4 * unused);
        }
        if condition && matches!(site.kind(), "true") {
            out.replace(
                site.node,
                site.fitted(&format!("not {}", name.text), Level::Not),
                fit * 0.6,
            );
        }
        if matches!(site.kind(), "list" | "dictionary") && name.types.may_be(Types::ITERABLE) {
            let ctor = if site.kind() == "list" {
                "list"
            } else {
                "dict"
            };
            out.replace(
                site.node,
                format!("{ctor}({})", name.text),
                0.25 * name.fit(Types::ITERABLE),
            );
        }
    }
    for seen in &site.unit.scope.seen {
        if super::replace_expression::usable(site, &seen.names)
            && seen.kind != "comparison_operator"
        {
            let fit = seen.types.fit(expected) * if seen.derived { 0.3 } else { 0.55 };
            out.replace(site.node, site.fitted(&seen.text, seen.level), fit);
        }
    }
}

/// How often a name occurs in the function's body.
fn uses(site: &Site<'_>, name: &str) -> usize {
    let Some(body) = site
        .unit
        .scope
        .function
        .and_then(|f| f.child_by_field_name("body"))
    else {
        return 1;
    };
    site.text(body)
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|w| *w == name)
        .count()
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn names_for_constants() {
        let source =
            "def f(xs: list, size: int, todo: list):\n    while True:\n        g(xs, 10)\n";
        check(
            &OPERATOR,
            source,
            &[
                ("while True", "while todo"),
                ("10", "size"),
                ("10", "len(xs)"),
            ],
        );
    }
}
