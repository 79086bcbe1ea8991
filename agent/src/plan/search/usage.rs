//! Types guessed from use and from naming habits, where nothing better is known.

use std::collections::BTreeMap;

use ndbg_tools::source::syntax::Syntax;
use tree_sitter::Node;

use super::types::Types;

/// What names mean by convention, where nothing else is known.
pub fn conventional(name: &str) -> Types {
    let last = name.rsplit('_').next().unwrap_or(name);
    let first = name.split('_').next().unwrap_or(name);
    if matches!(first, "is" | "has" | "should" | "can") && name != first {
        return Types::BOOL;
    }
    match last {
        "i" | "j" | "k" | "n" | "m" | "idx" | "index" | "count" | "size" | "length" | "width"
        | "height" | "depth" | "total" | "amount" | "limit" | "number" | "num" | "step"
        | "offset" | "start" | "end" | "stop" | "position" | "pos" | "lo" | "hi" | "low"
        | "high" | "age" | "year" | "price" | "rate" | "score" | "weight" => {
            Types::INT.or(Types::FLOAT)
        }
        "name" | "text" | "line" | "word" | "char" | "letter" | "title" | "prefix" | "suffix"
        | "message" | "string" => Types::STR,
        "items" | "values" | "numbers" | "words" | "lines" | "xs" | "ys" | "rows" | "names"
        | "nums" | "arr" | "lst" | "results" | "elements" => Types::LIST,
        _ => Types::UNKNOWN,
    }
}

/// Guesses the types of names from what is done with them.
pub fn usages<'a>(node: Node<'a>, syntax: &'a Syntax, out: &mut BTreeMap<&'a str, Types>) {
    let text = |n: Node<'a>| &syntax.file().text()[n.byte_range()];
    let mut learn = |n: Option<Node<'a>>, types: Types| {
        if let Some(n) = n.filter(|n| n.kind() == "identifier") {
            let known = out.entry(text(n)).or_default();
            // A stronger hint narrows a weaker one.
            *known = if known.unknown() || types.within(*known) {
                types
            } else {
                *known
            };
        }
    };
    match node.kind() {
        "call" => {
            let function = node.child_by_field_name("function");
            let arguments = node.child_by_field_name("arguments");
            let first = arguments.and_then(|a| a.named_child(0));
            match function.map(|f| (f.kind(), text(f))) {
                Some(("identifier", "len")) => learn(first, Types::SIZED),
                Some(("identifier", "range" | "chr")) => learn(first, Types::INT),
                Some(("identifier", "sorted" | "sum" | "enumerate" | "reversed" | "zip")) => {
                    learn(first, Types::LIST.or(Types::TUPLE));
                }
                Some(("attribute", _)) => {
                    let object = function.and_then(|f| f.child_by_field_name("object"));
                    let method = function
                        .and_then(|f| f.child_by_field_name("attribute"))
                        .map_or("", text);
                    let types = match method {
                        "append" | "extend" | "insert" | "sort" | "reverse" | "popleft" => {
                            Types::LIST
                        }
                        "items" | "keys" | "values" | "get" | "setdefault" => Types::DICT,
                        "add" | "discard" | "issubset" | "union" | "intersection" => Types::SET,
                        "split" | "strip" | "lower" | "upper" | "startswith" | "endswith"
                        | "replace" | "join" | "splitlines" | "isdigit" | "encode" | "lstrip"
                        | "rstrip" | "format" | "isalpha" | "isspace" => Types::STR,
                        _ => Types::UNKNOWN,
                    };
                    if !types.unknown() {
                        learn(object, types);
                    }
                }
                _ => {}
            }
        }
        // Weak: methods of texts and containers say more, and narrow this down no further.
        "attribute" => {
            let called = node.parent().is_some_and(|p| {
                p.kind() == "call" && p.child_by_field_name("function") == Some(node)
            });
            if !called {
                learn(node.child_by_field_name("object"), Types::OBJECT);
            }
        }
        "subscript" => learn(
            node.child_by_field_name("value"),
            Types::LIST.or(Types::TUPLE).or(Types::DICT).or(Types::STR),
        ),
        "for_statement" | "for_in_clause" => {
            learn(node.child_by_field_name("right"), Types::ITERABLE);
        }
        "binary_operator" => {
            let operator = node
                .child_by_field_name("operator")
                .map_or("", |o| o.kind());
            let (left, right) = (
                node.child_by_field_name("left"),
                node.child_by_field_name("right"),
            );
            if matches!(operator, "-" | "/" | "//" | "**" | "%" | "*") {
                let string = left.is_some_and(|l| l.kind() == "string");
                if !string {
                    learn(left, Types::INT.or(Types::FLOAT));
                    if operator != "*" {
                        learn(right, Types::INT.or(Types::FLOAT));
                    }
                }
            }
            let number = |n: Option<Node<'a>>| n.is_some_and(|n| n.kind() == "integer");
            if number(right) {
                learn(left, Types::INT.or(Types::FLOAT));
            }
            if number(left) {
                learn(right, Types::INT.or(Types::FLOAT));
            }
        }
        "comparison_operator" => {
            let (left, right) = (node.named_child(0), node.named_child(1));
            for (a, b) in [(left, right), (right, left)] {
                match b.map(|n| n.kind()) {
                    Some("integer" | "float") => learn(a, Types::INT.or(Types::FLOAT)),
                    Some("string") if node.child(1).is_some_and(|o| o.kind() == "==") => {
                        learn(a, Types::STR);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        usages(child, syntax, out);
    }
}
