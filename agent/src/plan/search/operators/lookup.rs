//! Lookups with and without a default.

use super::Operator;
use crate::plan::search::names::Origin;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "lookup",
    rationale: "a missing key or item has a default, or the wrong one",
    prior: 0.65,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "subscript" if !site.store => subscript(site, out),
        "call" => call(site, out),
        _ => {}
    }
}

const DEFAULTS: &[(&str, f64)] = &[
    ("0", 0.9),
    ("None", 0.7),
    ("[]", 0.7),
    ("''", 0.6),
    ("{}", 0.4),
    ("1", 0.4),
    ("False", 0.4),
    ("True", 0.2),
    ("0.0", 0.15),
    ("set()", 0.2),
];

/// `d[k]` for `d.get(k, default)`.
fn subscript(site: &Site<'_>, out: &mut Proposals) {
    let (Some(value), Some(key)) = (site.field("value"), site.field("subscript")) else {
        return;
    };
    if key.kind() == "slice" || site.node.named_child_count() > 2 || site.in_format() {
        return;
    }
    if site.parent_kind() == "delete_statement" {
        return;
    }
    let types = site.types(value);
    if !types.may_be(Types::DICT) {
        return;
    }
    let known = if types.meets(Types::DICT) {
        1.0
    } else if key.kind() == "string" {
        0.8
    } else {
        0.35
    };
    let (object, key) = (site.text(value), site.text(key));
    out.replace(site.node, format!("{object}.get({key})"), known * 0.9);
    for (default, fit) in DEFAULTS {
        out.replace(
            site.node,
            format!("{object}.get({key}, {default})"),
            known * fit,
        );
    }
    for name in site
        .locals()
        .filter(|n| n.text != key && n.text != object && n.origin == Origin::Parameter)
    {
        out.replace(
            site.node,
            format!("{object}.get({key}, {})", name.text),
            known * 0.45,
        );
    }
    // `d.get(k, k)`: what has no entry stays as it is.
    out.replace(
        site.node,
        format!("{object}.get({key}, {key})"),
        known * 0.6,
    );
}

fn call(site: &Site<'_>, out: &mut Proposals) {
    let (Some(function), Some(arguments)) = (site.field("function"), site.field("arguments"))
    else {
        return;
    };
    if arguments.kind() != "argument_list" {
        return;
    }
    let method = match function.kind() {
        "attribute" => function
            .child_by_field_name("attribute")
            .map_or("", |n| site.text(n)),
        "identifier" => site.text(function),
        _ => "",
    };
    let position = match (function.kind(), method) {
        ("attribute", "get" | "pop" | "setdefault") => 1,
        ("identifier", "getattr") => 2,
        ("identifier", "next") => 1,
        ("identifier", "max" | "min") => {
            extremes(site, arguments, out);
            return;
        }
        _ => return,
    };
    let count = arguments.named_child_count();
    let end = arguments.end_byte() - 1;
    let quoted = site.in_format();
    if count == position {
        let types = function
            .child_by_field_name("object")
            .map_or(Types::UNKNOWN, |o| site.types(o));
        let known = if method == "pop" && !types.meets(Types::DICT) {
            0.3
        } else {
            1.0
        };
        for (default, fit) in DEFAULTS
            .iter()
            .filter(|(d, _)| !quoted || !d.contains('\''))
        {
            out.range(end..end, format!(", {default}"), fit * known);
        }
    } else if count == position + 1 {
        let (Some(default), Some(before)) = (
            arguments.named_child(position as u32),
            arguments.named_child(position as u32 - 1),
        ) else {
            return;
        };
        for (text, fit) in DEFAULTS
            .iter()
            .filter(|(d, _)| !quoted || !d.contains('\''))
        {
            if *text != site.text(default) {
                out.replace(default, *text, fit * 0.9);
            }
        }
        out.range(before.end_byte()..default.end_byte(), "", 0.4);
        if method == "get"
            && function.kind() == "attribute"
            && let Some(object) = function.child_by_field_name("object")
        {
            out.replace(
                site.node,
                format!("{}[{}]", site.text(object), site.text(before)),
                0.3,
            );
        }
    }
}

/// `max(xs)` for `max(xs, default=0)`.
fn extremes(site: &Site<'_>, arguments: Node<'_>, out: &mut Proposals) {
    if arguments.named_child_count() == 1 && arguments.kind() == "argument_list" {
        let end = arguments.end_byte() - 1;
        let splat = arguments
            .named_child(0)
            .is_some_and(|a| a.kind() == "list_splat");
        if !splat && site.unit.scope.function.is_some() {
            out.range(end..end, ", default=0", 0.7);
            out.range(end..end, ", default=None", 0.6);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn defaults_come_go_and_change() {
        let source = "def f(d: dict, k, xs):\n    a = d[k]\n    b = d.get(k, 1)\n    c = d.pop(k)\n    return max(xs)\n";
        check(
            &OPERATOR,
            source,
            &[
                ("d[k]", "d.get(k)"),
                ("d[k]", "d.get(k, 0)"),
                ("d.get(k, 1)", "d.get(k, 0)"),
                ("d.get(k, 1)", "d.get(k)"),
                ("d.get(k, 1)", "d[k]"),
                ("d.pop(k)", "d.pop(k, None)"),
                ("max(xs)", "max(xs, default=0)"),
            ],
        );
    }
}
