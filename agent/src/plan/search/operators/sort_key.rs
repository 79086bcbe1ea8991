//! A missing or wrong sort key or direction.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "sort-key",
    rationale: "ascending for descending, whole tuples for one of their parts",
    prior: 0.8,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "call" {
        return;
    }
    let (Some(function), Some(arguments)) = (site.field("function"), site.field("arguments"))
    else {
        return;
    };
    if arguments.kind() != "argument_list" {
        return;
    }
    let name = site.text(function);
    let sort = function
        .child_by_field_name("attribute")
        .is_some_and(|n| site.text(n) == "sort");
    let method = function.child_by_field_name("object");
    if !(matches!(name, "sorted" | "min" | "max") || sort) {
        return;
    }
    let mut cursor = arguments.walk();
    let parts: Vec<_> = arguments
        .named_children(&mut cursor)
        .filter(|p| !p.is_extra())
        .collect();
    let plain = parts
        .iter()
        .filter(|p| p.kind() != "keyword_argument")
        .count();
    if matches!(name, "min" | "max") && plain != 1 {
        return;
    }
    let keyword = |wanted: &str| {
        parts.iter().copied().find(|p| {
            p.kind() == "keyword_argument"
                && p.child_by_field_name("name")
                    .is_some_and(|n| site.text(n) == wanted)
        })
    };
    let end = arguments.end_byte() - 1;
    let comma = if parts.is_empty() { "" } else { ", " };
    let trailing = site.source()[..end].trim_end().ends_with(',');
    let comma = if trailing { "" } else { comma };
    let elements = match (sort, method, parts.first()) {
        (true, Some(object), _) => site.elements(object),
        (false, _, Some(first)) => site.elements(*first),
        _ => Types::UNKNOWN,
    };
    if !matches!(name, "min" | "max") {
        match keyword("reverse") {
            None => out.range(end..end, format!("{comma}reverse=True"), 1.0),
            Some(found) => {
                drop_part(site, &parts, found, 0.9, out);
                if let Some(value) = found.child_by_field_name("value") {
                    match site.text(value) {
                        "True" => out.replace(value, "False", 0.3),
                        "False" => out.replace(value, "True", 0.9),
                        _ => {}
                    }
                }
            }
        }
    }
    match keyword("key") {
        None => {
            // The key goes in front of the direction.
            let place = keyword("reverse").map(|r| r.start_byte());
            let place = |key: &str| match place {
                Some(at) => (at..at, format!("key={key}, ")),
                None => (end..end, format!("{comma}key={key}")),
            };
            for (key, types, fit) in [
                ("len", Types::SIZED, 0.8),
                ("lambda x: x[1]", Types::TUPLE.or(Types::LIST), 0.9),
                ("lambda x: x[0]", Types::TUPLE.or(Types::LIST), 0.6),
                ("lambda x: x[-1]", Types::TUPLE.or(Types::LIST), 0.3),
                ("abs", Types::NUMBER, 0.7),
                ("str.lower", Types::STR, 0.7),
                ("lambda x: -x", Types::NUMBER, 0.4),
                ("lambda x: (-x[1], x[0])", Types::TUPLE, 0.35),
                ("str", Types::NUMBER, 0.2),
                ("int", Types::STR, 0.3),
            ] {
                let fit = fit * types.fit(elements);
                let (range, text) = place(key);
                out.range(range, text, fit);
            }
            for (attribute, uses) in &site.unit.index.attributes {
                let object = elements.unknown() || elements.meets(Types::OBJECT);
                let value = site
                    .unit
                    .index
                    .classes
                    .iter()
                    .any(|c| c.attributes.contains_key(attribute));
                if object && value {
                    let fit = 0.5 + 0.1 * (*uses as f64).min(3.0);
                    let (range, text) = place(&format!("lambda x: x.{attribute}"));
                    out.range(range, text, fit);
                }
            }
            if elements.meets(Types::STR) || elements.unknown() {
                for table in site
                    .variables()
                    .filter(|n| n.types.meets(Types::DICT))
                    .take(3)
                {
                    let (range, text) = place(&format!("{}.get", table.text));
                    out.range(range, text, 0.7);
                }
            }
        }
        Some(found) => {
            drop_part(site, &parts, found, 0.5, out);
            if let Some(value) = found.child_by_field_name("value") {
                change_key(site, value, out);
            }
        }
    }
    if sort && parts.is_empty() {
        return;
    }
    // `min` and `max` of a table: by its values.
    if matches!(name, "min" | "max")
        && keyword("key").is_none()
        && let Some(first) = parts.first().filter(|p| site.types(**p).meets(Types::DICT))
    {
        out.range(end..end, format!(", key={}.get", site.text(*first)), 1.0);
    }
}

fn change_key(site: &Site<'_>, value: Node<'_>, out: &mut Proposals) {
    if value.kind() != "lambda" {
        return;
    }
    let Some(body) = value.child_by_field_name("body") else {
        return;
    };
    let text = site.text(body);
    match body.kind() {
        "unary_operator" => {
            if let Some(argument) = body.child_by_field_name("argument") {
                out.replace(body, site.text(argument), 0.8);
            }
        }
        "tuple" => {
            let mut cursor = body.walk();
            for part in body.named_children(&mut cursor) {
                if part.kind() == "unary_operator" {
                    if let Some(argument) = part.child_by_field_name("argument") {
                        out.replace(part, site.text(argument), 0.7);
                    }
                } else {
                    out.replace(part, format!("-{}", site.text(part)), 0.7);
                }
            }
        }
        "subscript" | "attribute" | "identifier" | "call" => {
            out.replace(body, format!("-{text}"), 0.7);
            let parameter = value
                .child_by_field_name("parameters")
                .and_then(|p| p.named_child(0))
                .map_or("", |p| site.text(p));
            if !parameter.is_empty() {
                out.replace(body, format!("({text}, {parameter})"), 0.5);
                if body.kind() == "subscript" {
                    out.replace(body, format!("({text}, {parameter}[0])"), 0.6);
                    out.replace(body, format!("(-{text}, {parameter}[0])"), 0.6);
                }
            }
        }
        _ => {}
    }
}

fn drop_part(_site: &Site<'_>, parts: &[Node<'_>], part: Node<'_>, fit: f64, out: &mut Proposals) {
    let Some(at) = parts.iter().position(|p| p.id() == part.id()) else {
        return;
    };
    if at > 0 {
        out.range(parts[at - 1].end_byte()..part.end_byte(), "", fit);
    } else if let Some(next) = parts.get(1) {
        out.range(part.start_byte()..next.start_byte(), "", fit);
    } else {
        out.replace(part, "", fit);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn keys_and_directions() {
        let source = "def f(pairs, words: list[str], table: dict):\n    pairs.sort()\n    a = sorted(words, reverse=True)\n    b = max(table)\n    return min(pairs, key=lambda p: p[1])\n";
        check(
            &OPERATOR,
            source,
            &[
                ("pairs.sort()", "pairs.sort(reverse=True)"),
                ("pairs.sort()", "pairs.sort(key=lambda x: x[1])"),
                ("words, reverse=True", "words"),
                ("words, reverse=True", "words, key=len, reverse=True"),
                ("max(table)", "max(table, key=table.get)"),
                ("p[1])", "-p[1])"),
            ],
        );
    }
}
