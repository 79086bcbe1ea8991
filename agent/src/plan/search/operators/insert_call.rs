//! A missing call: something is not added, removed or updated.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Name;
use crate::plan::search::site::Site;
use crate::plan::search::site::similarity;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "insert-call",
    rationale: "the line that records, removes or advances something is forgotten",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_simple_place() {
        return;
    }
    let mut lines = Vec::new();
    calls(site, &mut lines);
    for (line, fit) in lines {
        for (change, weight) in site.insertions(&line) {
            out.change(Some(change), fit * weight, "a call is missing");
        }
    }
}

/// Calls that could stand here, with how likely they are.
fn calls(site: &Site<'_>, lines: &mut Vec<(String, f64)>) {
    let around = site.own();
    let body = site.function_text();
    let containers: Vec<_> = site
        .variables()
        .filter(|n| n.bound && n.only_in.is_none())
        .filter(|n| n.types.may_be(Types::LIST.or(Types::SET).or(Types::DICT)))
        .take(8)
        .collect();
    let values: Vec<_> = site
        .locals()
        .filter(|n| n.only_in.is_none())
        .take(8)
        .collect();
    for container in containers {
        let c = &container.text;
        let certain = if container.types.unknown() { 0.5 } else { 1.0 };
        let called = |method: &str| body.contains(&format!("{c}.{method}("));
        let weight = |method: &str| if called(method) { 0.6 } else { 1.0 };
        let grows = if called("append") || called("add") || called("appendleft") {
            0.8
        } else {
            1.0
        };
        for value in &values {
            if value.text == *c || value.text.starts_with(&format!("{c}.")) {
                continue;
            }
            let near = if mentions(around, &value.text) {
                1.0
            } else {
                0.75
            };
            let suits = value.types.fit(container.elements);
            let fit = certain * near * (0.5 + 0.5 * suits) * if value.bound { 1.0 } else { 0.4 };
            let v = &value.text;
            if container.types.may_be(Types::LIST) {
                lines.push((format!("{c}.append({v})"), fit * grows));
                lines.push((format!("{c}.remove({v})"), fit * 0.3));
                if value.types.may_be(Types::LIST) {
                    lines.push((format!("{c}.extend({v})"), fit * 0.5));
                }
            }
            if container.types.may_be(Types::SET) {
                lines.push((
                    format!("{c}.add({v})"),
                    fit * if body.contains(&format!("in {c}")) {
                        1.0
                    } else {
                        0.7
                    },
                ));
                lines.push((format!("{c}.discard({v})"), fit * 0.4));
                lines.push((format!("{c}.remove({v})"), fit * 0.4));
            }
            if container.types.meets(Types::DICT) {
                lines.push((format!("{c}.pop({v}, None)"), fit * 0.4));
                if value.types.may_be(Types::DICT) {
                    lines.push((format!("{c}.update({v})"), fit * 0.5));
                }
            }
        }
        if container.types.meets(Types::LIST) {
            for (method, fit) in [
                ("pop()", 0.5),
                ("sort()", 0.5),
                ("reverse()", 0.35),
                ("pop(0)", 0.3),
                ("clear()", 0.3),
            ] {
                let name = method.split('(').next().unwrap_or("");
                lines.push((format!("{c}.{method}"), certain * fit * weight(name)));
            }
        } else if container.types.meets(Types::DICT.or(Types::SET)) {
            lines.push((format!("{c}.clear()"), certain * 0.3));
        }
    }
    methods(site, &values, lines);
}

/// Calls of the class's own methods and of the file's functions.
fn methods(site: &Site<'_>, values: &[&Name], lines: &mut Vec<(String, f64)>) {
    let (Some(receiver), Some(class)) = (&site.unit.scope.receiver, site.unit.scope.class) else {
        return;
    };
    for callee in &site.unit.index.callees {
        if callee.class.as_ref() != Some(&class.name)
            || callee.property
            || callee.name.starts_with("__")
            || Some(callee.name.as_str()) == site.function_name()
        {
            continue;
        }
        let required: Vec<_> = callee
            .parameters
            .iter()
            .filter(|p| p.default.is_none() && !p.variadic)
            .collect();
        let prefix = if callee.is_async { "await " } else { "" };
        if required.is_empty() {
            lines.push((format!("{prefix}{receiver}.{}()", callee.name), 0.6));
        } else if required.len() == 1 {
            for value in values.iter().filter(|v| !v.attribute).take(4) {
                let alike = similarity(&value.text, &required[0].name);
                lines.push((
                    format!("{prefix}{receiver}.{}({})", callee.name, value.text),
                    0.3 + 0.3 * alike,
                ));
            }
        }
    }
}

fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
        .any(|w| w == name)
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn containers_take_values() {
        let source = "def f(xs):\n    seen = set()\n    out = []\n    for x in xs:\n        if x in seen:\n            continue\n        out.append(x)\n    return out\n";
        check(
            &OPERATOR,
            source,
            &[
                (
                    "        out.append(x)\n",
                    "        seen.add(x)\n        out.append(x)\n",
                ),
                (
                    "        out.append(x)\n",
                    "        out.append(x)\n        seen.add(x)\n",
                ),
                ("    return out\n", "    out.sort()\n    return out\n"),
            ],
        );
    }
}
