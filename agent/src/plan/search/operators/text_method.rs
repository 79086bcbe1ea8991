//! The wrong method of a string or container, or one that is missing.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "text-method",
    rationale: "strip for lstrip, append for extend, a missing `.lower()`",
    prior: 0.75,
    propose,
};

const KIN: &[(&str, &[&str])] = &[
    (
        "strip",
        &["rstrip", "lstrip", "removesuffix", "removeprefix"],
    ),
    ("lstrip", &["strip", "rstrip", "removeprefix"]),
    ("rstrip", &["strip", "lstrip", "removesuffix"]),
    ("split", &["rsplit", "splitlines", "partition"]),
    ("rsplit", &["split", "rpartition"]),
    ("splitlines", &["split"]),
    ("partition", &["rpartition", "split"]),
    ("rpartition", &["partition"]),
    ("lower", &["upper", "casefold", "title"]),
    ("upper", &["lower", "title", "capitalize"]),
    ("title", &["capitalize", "upper", "lower"]),
    ("capitalize", &["title", "upper"]),
    ("startswith", &["endswith"]),
    ("endswith", &["startswith"]),
    ("find", &["rfind", "index"]),
    ("rfind", &["find", "rindex"]),
    ("index", &["rindex", "find", "count"]),
    ("ljust", &["rjust", "center"]),
    ("rjust", &["ljust", "zfill", "center"]),
    ("isdigit", &["isalnum", "isnumeric", "isalpha"]),
    ("isalpha", &["isalnum", "isdigit"]),
    ("isalnum", &["isalpha", "isdigit"]),
    ("isupper", &["islower"]),
    ("islower", &["isupper"]),
    ("append", &["extend", "add", "insert"]),
    ("extend", &["append", "update"]),
    ("add", &["append", "update", "discard", "remove"]),
    ("update", &["add", "extend", "setdefault"]),
    ("remove", &["discard", "pop", "append"]),
    ("discard", &["add", "remove"]),
    ("pop", &["popleft", "remove", "get"]),
    ("popleft", &["pop"]),
    ("appendleft", &["append"]),
    ("extendleft", &["extend"]),
    ("keys", &["values", "items"]),
    ("values", &["keys", "items"]),
    ("items", &["values", "keys"]),
    ("get", &["pop", "setdefault"]),
    ("setdefault", &["get"]),
    ("union", &["intersection", "update", "difference"]),
    ("intersection", &["union", "difference"]),
    (
        "difference",
        &["intersection", "symmetric_difference", "union"],
    ),
    ("issubset", &["issuperset", "isdisjoint"]),
    ("issuperset", &["issubset"]),
    ("read", &["readlines", "readline"]),
    ("readline", &["readlines", "read"]),
    ("readlines", &["read", "readline"]),
    ("encode", &["decode"]),
    ("decode", &["encode"]),
    ("sort", &["reverse"]),
    ("group", &["groups"]),
    ("groups", &["group"]),
];

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() == "call" {
        call(site, out);
    }
    added(site, out);
}

fn call(site: &Site<'_>, out: &mut Proposals) {
    let (Some(function), Some(arguments)) = (site.field("function"), site.field("arguments"))
    else {
        return;
    };
    let (Some(object), Some(name)) = (
        function.child_by_field_name("object"),
        function.child_by_field_name("attribute"),
    ) else {
        return;
    };
    let own = site.text(name);
    for (method, kin) in KIN {
        if *method == own {
            for (k, new) in kin.iter().enumerate() {
                let arity = match *new {
                    "insert" => continue,
                    _ => 1.0,
                };
                out.replace(name, *new, arity * 0.95 / (1.0 + 0.35 * k as f64));
            }
        }
    }
    if arguments.kind() != "argument_list" {
        return;
    }
    let mut cursor = arguments.walk();
    let parts: Vec<_> = arguments
        .named_children(&mut cursor)
        .filter(|p| !p.is_extra())
        .collect();
    let end = arguments.end_byte() - 1;
    match (own, &parts[..]) {
        ("split" | "rsplit" | "strip" | "rstrip" | "lstrip", [_]) => {
            out.replace(arguments, "()", 0.9);
        }
        ("split" | "rsplit", []) if !site.in_format() => {
            out.replace(arguments, "(',')", 0.6);
            out.replace(arguments, "(' ')", 0.5);
            out.replace(arguments, "('\\n')", 0.3);
        }
        ("pop", []) => out.replace(arguments, "(0)", 0.9),
        ("pop", [one]) if matches!(site.text(*one), "0" | "-1") => {
            out.replace(arguments, "()", 0.9);
        }
        ("insert", [first, value]) if site.text(*first) == "0" => {
            out.replace(
                site.node,
                format!("{}.append({})", site.text(object), site.text(*value)),
                0.7,
            );
        }
        ("append", [value]) => {
            out.replace(
                site.node,
                format!("{}.insert(0, {})", site.text(object), site.text(*value)),
                0.5,
            );
            out.replace(*value, format!("[{}]", site.text(*value)), 0.25);
            out.replace(*value, format!("({},)", site.text(*value)), 0.08);
        }
        ("extend", [value]) => out.replace(*value, format!("[{}]", site.text(*value)), 0.5),
        _ => {}
    }
    if matches!(own, "split" | "rsplit" | "replace")
        && (parts.len() == 1 || (own == "replace" && parts.len() == 2))
    {
        out.range(end..end, ", 1", 0.6);
    }
    if matches!(own, "split" | "rsplit") && parts.len() == 2 {
        out.range(parts[0].end_byte()..parts[1].end_byte(), "", 0.6);
    }
    if own == "replace" && parts.len() == 3 {
        out.range(parts[1].end_byte()..parts[2].end_byte(), "", 0.7);
    }
}

/// A method that is missing on a text.
fn added(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value()
        || !matches!(
            site.kind(),
            "identifier" | "attribute" | "subscript" | "call"
        )
    {
        return;
    }
    if matches!(site.role(), Some("function")) || site.parent_kind() == "expression_statement" {
        return;
    }
    if site.role() == Some("value") && matches!(site.parent_kind(), "subscript") {
        return;
    }
    let types = site.types(site.node);
    let slot = match site.parent_kind() {
        "comparison_operator" | "argument_list" => 0.8,
        "return_statement" | "assignment" => 0.7,
        "attribute" => 0.5,
        _ => 0.45,
    };
    let own = site.own();
    let known = if types.unknown() { 0.35 } else { 1.0 };
    if types.may_be(Types::STR) {
        for (method, fit) in [
            ("strip", 0.9),
            ("lower", 0.9),
            ("upper", 0.7),
            ("rstrip", 0.35),
            ("title", 0.25),
            ("capitalize", 0.25),
            ("split", 0.3),
            ("isdigit", 0.1),
        ] {
            let call = format!(".{method}()");
            if !own.ends_with(&call) {
                out.replace(site.node, format!("{own}{call}"), slot * known * fit);
            }
        }
    }
    if types.meets(Types::DICT) {
        for (method, fit) in [("values", 0.7), ("items", 0.6), ("keys", 0.4)] {
            out.replace(site.node, format!("{own}.{method}()"), slot * fit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn methods_are_swapped_added_and_relieved() {
        let source = "def f(text: str, xs: list):\n    a = text.strip()\n    b = text.split(' ')\n    c = xs.pop()\n    xs.append(a)\n    d = text.replace('a', 'b')\n    return text == 'x'\n";
        check(
            &OPERATOR,
            source,
            &[
                ("text.strip()", "text.rstrip()"),
                ("split(' ')", "split()"),
                ("xs.pop()", "xs.pop(0)"),
                ("xs.append(a)", "xs.extend(a)"),
                ("'b')", "'b', 1)"),
                ("text == 'x'", "text.lower() == 'x'"),
            ],
        );
    }
}
