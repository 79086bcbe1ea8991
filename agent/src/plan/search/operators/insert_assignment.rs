//! A missing assignment: a variable is not set, advanced or reset.

use super::Operator;
use crate::plan::search::names::Origin;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::site::similarity;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "insert-assignment",
    rationale: "the line that advances or stores a value is forgotten",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_simple_place() {
        return;
    }
    let mut lines = Vec::new();
    assignments(site, &mut lines);
    for (line, fit) in lines {
        for (change, weight) in site.insertions(&line) {
            out.change(Some(change), fit * weight, "an assignment is missing");
        }
    }
}

fn assignments(site: &Site<'_>, lines: &mut Vec<(String, f64)>) {
    let body = site.function_text();
    let names: Vec<_> = site
        .locals()
        .filter(|n| n.only_in.is_none() && !n.types.within(Types::CALLABLE))
        .take(10)
        .collect();
    let looped = if site.unit.loops > 0 { 1.0 } else { 0.5 };
    for target in &names {
        let t = &target.text;
        // Only variables that change are forgotten to be changed.
        let changes = target.attribute || target.origin != Origin::Loop;
        if !changes {
            continue;
        }
        let certain = if target.bound { 1.0 } else { 0.4 };
        let own_parameter = if target.origin == Origin::Parameter {
            0.75
        } else {
            1.0
        };
        if target.types.may_be(Types::INT.or(Types::FLOAT)) {
            let known = if target.types.unknown() { 0.5 } else { 1.0 };
            lines.push((
                format!("{t} += 1"),
                certain * known * looped * own_parameter,
            ));
            lines.push((
                format!("{t} -= 1"),
                certain * known * looped * 0.6 * own_parameter,
            ));
            lines.push((format!("{t} = 0"), certain * known * 0.5 * own_parameter));
        }
        if target.types.meets(Types::LIST) {
            lines.push((format!("{t} = []"), certain * 0.5));
        }
        if target.types.meets(Types::OBJECT.or(Types::NONE)) {
            lines.push((format!("{t} = None"), certain * 0.35));
        }
        if target.types.within(Types::BOOL) {
            lines.push((format!("{t} = True"), certain * 0.8));
            lines.push((format!("{t} = False"), certain * 0.7));
        }
        for value in &names {
            if value.text == *t || body.contains(&format!("{t} = {}\n", value.text)) {
                continue;
            }
            let suits = value.types.fit(target.types) * if value.bound { 1.0 } else { 0.3 };
            let alike = similarity(
                t.trim_start_matches("self."),
                value.text.trim_start_matches("self."),
            );
            let store = if target.attribute && !value.attribute {
                0.5 + 0.5 * alike
            } else {
                0.7
            };
            lines.push((
                format!("{t} = {}", value.text),
                certain * suits * store * own_parameter,
            ));
            if target.types.meets(Types::NUMBER) && value.types.may_be(Types::NUMBER) {
                lines.push((
                    format!("{t} += {}", value.text),
                    certain * suits * looped * 0.7,
                ));
            }
        }
        // A variable moved along its own chain: `node = node.next`.
        for (attribute, uses) in &site.unit.index.attributes {
            let object = target.types.may_be(Types::OBJECT.or(Types::NONE));
            let link = site
                .unit
                .index
                .classes
                .iter()
                .any(|c| c.attributes.contains_key(attribute));
            if object && !target.attribute && link && body.contains(t.as_str()) {
                let common = (*uses as f64 / 3.0).min(1.0);
                lines.push((
                    format!("{t} = {t}.{attribute}"),
                    certain * looped * (0.5 + 0.3 * common),
                ));
            }
        }
        for seen in &site.unit.scope.seen {
            if seen.derived
                || seen.text == *t
                || seen.kind == "comparison_operator"
                || !super::replace_expression::usable(site, &seen.names)
            {
                continue;
            }
            let fit = seen.types.fit(target.types) * 0.45;
            lines.push((
                format!("{t} = {}", seen.text),
                certain * fit * own_parameter,
            ));
        }
    }
    // A parameter that is never stored on the instance.
    if let (Some(receiver), Some("__init__")) = (&site.unit.scope.receiver, site.function_name()) {
        for name in names.iter().filter(|n| n.origin == Origin::Parameter) {
            if !body.contains(&format!("{receiver}.{} =", name.text)) {
                lines.push((format!("{receiver}.{0} = {0}", name.text), 1.0));
            }
        }
    }
    items(site, lines);
}

/// `table[key] = value`.
fn items(site: &Site<'_>, lines: &mut Vec<(String, f64)>) {
    let tables: Vec<_> = site
        .variables()
        .filter(|n| n.types.meets(Types::DICT))
        .take(4)
        .collect();
    let values: Vec<_> = site
        .locals()
        .filter(|n| n.only_in.is_none() && n.bound)
        .take(7)
        .collect();
    for table in tables {
        for key in values.iter().filter(|k| {
            !k.types.within(Types::LIST.or(Types::DICT).or(Types::SET)) && k.text != table.text
        }) {
            for value in values
                .iter()
                .filter(|v| v.text != key.text && v.text != table.text)
            {
                let fit = 0.6 * key.types.fit(table.elements);
                lines.push((
                    format!("{}[{}] = {}", table.text, key.text, value.text),
                    fit,
                ));
            }
            lines.push((format!("{0}[{1}] += 1", table.text, key.text), 0.3));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn variables_are_advanced_and_stored() {
        let source = "class Node:\n    def __init__(self, value, link):\n        self.value = value\n        self.next = None\n\ndef f(node, limit: int):\n    count = 0\n    cache = {}\n    while node:\n        previous = node\n        count += node.value\n    return count\n";
        check(
            &OPERATOR,
            source,
            &[
                (
                    "        self.next = None\n",
                    "        self.next = None\n        self.link = link\n",
                ),
                (
                    "        count += node.value\n",
                    "        count += node.value\n        node = node.next\n",
                ),
                ("    return count\n", "    count += 1\n    return count\n"),
                (
                    "    return count\n",
                    "    cache[limit] = count\n    return count\n",
                ),
            ],
        );
    }
}
