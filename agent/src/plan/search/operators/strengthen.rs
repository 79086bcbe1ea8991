//! A condition that misses a part.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "strengthen",
    rationale: "a case that the condition should also cover or exclude",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value() || !super::negate::is_condition(site) || site.own().len() > 160 {
        return;
    }
    // Parts of a condition are left to the whole of it, but for the first and the last.
    if site.parent_kind() == "boolean_operator" {
        return;
    }
    let mut tests: Vec<(String, Level, f64)> = Vec::new();
    prefixes(site, site.node, &mut tests);
    let own = site.own();
    let mut names: Vec<_> = site.locals().filter(|n| n.bound).collect();
    // Names of the condition itself first: they are what it is about.
    names.sort_by_key(|n| !own.contains(n.text.as_str()));
    for name in names.iter().take(10) {
        let n = &name.text;
        let near = if own.contains(n.as_str()) { 0.9 } else { 0.75 };
        let types = name.types;
        if types.may_be(Types::ITERABLE.or(Types::BOOL)) {
            tests.push((format!("not {n}"), Level::Not, near));
            tests.push((n.clone(), Level::Atom, near));
        }
        if types.unknown() || types.meets(Types::NONE) || types.meets(Types::OBJECT) {
            tests.push((format!("{n} is None"), Level::Compare, near * 0.9));
            tests.push((format!("{n} is not None"), Level::Compare, near * 0.9));
        }
        if types.may_be(Types::NUMBER) && !types.within(Types::BOOL) {
            let known = if types.unknown() { 0.4 } else { 0.8 };
            for test in ["> 0", "== 0", "!= 0", "< 0", "> 1", "== 1"] {
                tests.push((format!("{n} {test}"), Level::Compare, near * known * 0.7));
            }
        }
    }
    for (i, a) in names.iter().enumerate().take(7) {
        for b in names.iter().take(8).skip(i + 1) {
            let fit = a.types.fit(b.types);
            if fit < 0.5 || a.types.within(Types::BOOL) {
                continue;
            }
            let fit = 0.5 * fit;
            let number = a.types.may_be(Types::NUMBER) && b.types.may_be(Types::NUMBER);
            for (sign, weight) in [
                ("==", 1.0),
                ("!=", 1.0),
                ("<", 0.9),
                (">", 0.9),
                ("<=", 0.8),
                (">=", 0.8),
            ] {
                if number || matches!(sign, "==" | "!=") {
                    tests.push((
                        format!("{} {sign} {}", a.text, b.text),
                        Level::Compare,
                        fit * weight,
                    ));
                }
            }
        }
        for b in &names {
            if b.text != a.text
                && b.types.meets(Types::SET.or(Types::DICT).or(Types::LIST))
                && !a
                    .types
                    .meets(Types::LIST.or(Types::SET).or(Types::DICT).or(Types::BOOL))
            {
                tests.push((format!("{} in {}", a.text, b.text), Level::Compare, 0.4));
                tests.push((
                    format!("{} not in {}", a.text, b.text),
                    Level::Compare,
                    0.45,
                ));
            }
        }
    }
    for seen in &site.unit.scope.seen {
        if seen.kind == "comparison_operator"
            && seen.text != own
            && super::replace_expression::usable(site, &seen.names)
        {
            tests.push((seen.text.clone(), Level::Compare, 0.55));
            tests.push((format!("not {}", seen.text), Level::Not, 0.35));
        }
    }
    for (test, level, fit) in tests {
        if own == test {
            continue;
        }
        for (word, word_level) in [("and", Level::And), ("or", Level::Or)] {
            let ours = site.operand(site.node, word_level);
            let theirs = crate::plan::search::precedence::fitted(&test, level, word_level);
            let front = format!("{theirs} {word} {ours}");
            let behind = format!("{ours} {word} {theirs}");
            // A test that shields the condition stands in front, others behind.
            let none = test.ends_with("None");
            let shields = (word == "or") == (test.ends_with("is None") || test.starts_with("not "));
            let weight = if shields { 1.0 } else { 0.6 };
            let (first, last) = if none { (1.0, 0.4) } else { (0.4, 1.0) };
            if none || own.contains(['.', '[', '/']) {
                out.replace(
                    site.node,
                    site.fitted(&front, word_level),
                    fit * weight * first,
                );
            }
            out.replace(
                site.node,
                site.fitted(&behind, word_level),
                fit * weight * last,
            );
        }
    }
    let mut parallel = Vec::new();
    parallels(site, site.node, &mut parallel);
    for (test, fit) in parallel {
        for (word, level) in [("and", Level::And), ("or", Level::Or)] {
            let text = format!("{} {word} {test}", site.operand(site.node, level));
            out.replace(site.node, site.fitted(&text, level), fit);
        }
    }
}

/// The same comparison asked of another name: `a > 0 and b > 0`, `x in these or x in those`.
fn parallels(site: &Site<'_>, node: Node<'_>, tests: &mut Vec<(String, f64)>) {
    if node.kind() == "comparison_operator" && site.text(node).len() <= 60 {
        let mut cursor = node.walk();
        let operands: Vec<_> = node
            .named_children(&mut cursor)
            .filter(|c| c.kind() == "identifier")
            .collect();
        for operand in operands {
            let expected = site.types(operand);
            for name in site.locals().filter(|n| n.bound).take(8) {
                if site.text(node).contains(name.text.as_str()) {
                    continue;
                }
                let (start, end) = (node.start_byte(), node.end_byte());
                let text = format!(
                    "{}{}{}",
                    &site.source()[start..operand.start_byte()],
                    name.text,
                    &site.source()[operand.end_byte()..end]
                );
                tests.push((text, 0.4 + 0.5 * name.fit(expected)));
            }
        }
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if matches!(
            child.kind(),
            "comparison_operator"
                | "boolean_operator"
                | "not_operator"
                | "parenthesized_expression"
        ) {
            parallels(site, child, tests);
        }
    }
}

/// `x is None` for every `x` of which the condition asks an attribute, item or method.
fn prefixes(site: &Site<'_>, node: Node<'_>, tests: &mut Vec<(String, Level, f64)>) {
    let object = match node.kind() {
        "attribute" => node.child_by_field_name("object"),
        "subscript" => node.child_by_field_name("value"),
        _ => None,
    };
    if let Some(object) =
        object.filter(|o| matches!(o.kind(), "identifier" | "attribute" | "subscript"))
    {
        let text = site.text(object);
        if Some(text) != site.unit.scope.receiver.as_deref()
            && !tests.iter().any(|t| t.0.starts_with(text))
        {
            tests.push((format!("{text} is None"), Level::Compare, 1.0));
            tests.push((format!("{text} is not None"), Level::Compare, 1.0));
            tests.push((text.to_owned(), Level::Atom, 0.8));
            tests.push((format!("not {text}"), Level::Not, 0.8));
            if let Some(subscript) = node
                .child_by_field_name("subscript")
                .filter(|s| matches!(s.kind(), "identifier" | "binary_operator" | "attribute"))
            {
                let index = site.text(subscript);
                tests.push((format!("{index} < len({text})"), Level::Compare, 0.7));
                tests.push((format!("{index} in {text}"), Level::Compare, 0.6));
                tests.push((format!("{index} > 0"), Level::Compare, 0.5));
            }
        }
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        prefixes(site, child, tests);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn parts_are_added_in_front_and_behind() {
        let source = "def f(xs: list, n: int, m: int, node):\n    if n < 0:\n        return m\n    while node.next.value != n:\n        pass\n    if xs[n] == m:\n        pass\n";
        check(
            &OPERATOR,
            source,
            &[
                ("if n < 0", "if n < 0 or not xs"),
                ("if n < 0", "if n < 0 or n == m"),
                (
                    "node.next.value != n",
                    "node.next is not None and node.next.value != n",
                ),
                ("if n < 0", "if n < 0 and m > 0"),
                ("xs[n] == m", "n < len(xs) and xs[n] == m"),
            ],
        );
    }
}
