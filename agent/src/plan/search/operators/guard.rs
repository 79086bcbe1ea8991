//! A missing guard: an early way out for `None`, the empty and the boundary case.

use tree_sitter::Node;

use super::Operator;
use crate::plan::search::bindings::Origin;
use crate::plan::search::layout;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;
use crate::plan::search::unit::Name;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "guard",
    rationale: "the empty, missing or boundary case was not thought of",
    prior: 0.75,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() == "function_definition" {
        at_start(site, out);
    } else if site.is_statement() && site.unit.scope.function.is_some() {
        before_statement(site, out);
    }
}

/// Values that end a function early, likeliest first.
fn results(site: &Site<'_>) -> Vec<(String, f64)> {
    let scope = site.unit.scope;
    if scope.generator || !scope.returns_value {
        return vec![("return".to_owned(), 1.0)];
    }
    let mut out = Vec::new();
    let returns = scope.returns;
    let mut offer = |text: &str, types: Types, fit: f64| {
        let fit = fit * types.fit(returns);
        out.push((format!("return {text}"), fit));
    };
    offer("[]", Types::LIST, 0.9);
    offer("0", Types::INT, 0.9);
    offer("False", Types::BOOL, 0.9);
    offer("True", Types::BOOL, 0.8);
    offer("None", Types::NONE, 0.9);
    offer("''", Types::STR, 0.9);
    offer("{}", Types::DICT, 0.9);
    offer("0.0", Types::FLOAT, 0.6);
    offer("1", Types::INT, 0.7);
    offer("set()", Types::SET, 0.9);
    offer("()", Types::TUPLE, 0.7);
    offer("-1", Types::INT, 0.35);
    if returns.unknown() {
        for (text, fit) in &mut out {
            if text == "return None" {
                *fit *= 1.3;
            }
        }
    }
    out.sort_by(|a, b| b.1.total_cmp(&a.1));
    out.truncate(6);
    out
}

/// Conditions of a name that call for a way out.
fn conditions(name: &Name) -> Vec<(String, f64)> {
    let n = &name.text;
    let mut out = Vec::new();
    let types = name.types;
    if types.unknown() || types.meets(Types::NONE) || types.meets(Types::OBJECT) {
        out.push((format!("{n} is None"), 0.8));
    }
    if types.may_be(Types::ITERABLE) {
        out.push((format!("not {n}"), 1.0));
    }
    if types.meets(Types::INT.or(Types::FLOAT)) {
        out.push((format!("{n} == 0"), 0.9));
        out.push((format!("{n} <= 0"), 0.6));
        out.push((format!("{n} < 0"), 0.6));
        out.push((format!("{n} <= 1"), 0.5));
    }
    out
}

fn at_start(site: &Site<'_>, out: &mut Proposals) {
    let Some(body) = site.field("body") else {
        return;
    };
    let Some(first) = layout::statements(body)
        .into_iter()
        .find(|s| !layout::is_docstring(*s))
    else {
        return;
    };
    let results = results(site);
    let parameters: Vec<&Name> = site
        .names()
        .filter(|n| n.origin == Origin::Parameter && n.only_in.is_none())
        .filter(|n| Some(&n.text) != site.unit.scope.receiver.as_ref())
        .collect();
    for name in &parameters {
        for (condition, fit) in conditions(name) {
            for (result, suits) in &results {
                insert(site, first, &condition, result, fit * suits, out);
            }
            for other in &parameters {
                let suits = other.types.fit(site.unit.scope.returns);
                if !site.unit.scope.generator && suits > 0.3 && site.unit.scope.returns_value {
                    let result = format!("return {}", other.text);
                    insert(site, first, &condition, &result, fit * suits * 0.7, out);
                }
            }
        }
    }
    for (i, a) in parameters.iter().enumerate() {
        for b in parameters.iter().skip(i + 1) {
            if a.types.fit(b.types) < 0.9 && !a.types.unknown() {
                continue;
            }
            let condition = format!("{} == {}", a.text, b.text);
            for (result, suits) in results.iter().take(3) {
                insert(site, first, &condition, result, 0.35 * suits, out);
            }
        }
    }
}

/// A way out in front of a statement, asked of the names that it uses.
fn before_statement(site: &Site<'_>, out: &mut Proposals) {
    if matches!(
        site.kind(),
        "function_definition"
            | "class_definition"
            | "global_statement"
            | "nonlocal_statement"
            | "elif_clause"
            | "except_clause"
            | "case_clause"
            | "pass_statement"
    ) {
        return;
    }
    let mut used = Vec::new();
    identifiers(site.node, site, &mut used);
    let results = results(site);
    for name in site.names().filter(|n| n.bound && n.only_in.is_none()) {
        if !used.contains(&name.text.as_str())
            || matches!(
                name.origin,
                Origin::Definition | Origin::Import | Origin::Module
            )
            || Some(&name.text) == site.unit.scope.receiver.as_ref()
        {
            continue;
        }
        for (condition, fit) in conditions(name) {
            if site.unit.loops > 0 {
                insert(site, site.node, &condition, "continue", fit * 0.5, out);
                insert(site, site.node, &condition, "break", fit * 0.35, out);
            }
            for (result, suits) in results.iter().take(3) {
                insert(site, site.node, &condition, result, fit * suits * 0.4, out);
            }
        }
    }
}

fn insert(
    site: &Site<'_>,
    before: Node<'_>,
    condition: &str,
    result: &str,
    fit: f64,
    out: &mut Proposals,
) {
    let header = format!("if {condition}:");
    out.change(
        site.insert_before(before, &[(0, &header), (1, result)]),
        fit,
        "a case is not handled",
    );
}

fn identifiers<'a>(node: Node<'_>, site: &Site<'a>, out: &mut Vec<&'a str>) {
    match node.kind() {
        "block" => return,
        "identifier" | "attribute" => out.push(site.text(node)),
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        identifiers(child, site, out);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn ways_out_at_the_start_and_in_loops() {
        let source = "def f(xs, n=1):\n\t\"\"\"Doc.\"\"\"\n\tout = []\n\tfor x in xs:\n\t\tout.append(x.name)\n\treturn out\n";
        check(
            &OPERATOR,
            source,
            &[
                ("\tout = []", "\tif not xs:\n\t\treturn []\n\tout = []"),
                ("\tout = []", "\tif n == 0:\n\t\treturn []\n\tout = []"),
                (
                    "\t\tout.append",
                    "\t\tif x is None:\n\t\t\tcontinue\n\t\tout.append",
                ),
            ],
        );
    }

    #[test]
    fn line_endings_are_kept() {
        check(
            &OPERATOR,
            "def f(n):\r\n    return 10 / n\r\n",
            &[(
                "    return 10",
                "    if n == 0:\r\n        return 0.0\r\n    return 10",
            )],
        );
    }
}
