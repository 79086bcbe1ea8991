//! Calls that are missing or in the wrong order.

use tree_sitter::Node;

use super::copies;
use crate::seed::site::{Site, arguments, operand};

/// Calls whose loss is a mistake of another kind, or no mistake that anybody makes.
const KEPT: &[&str] = &[
    "super",
    "print",
    "isinstance",
    "issubclass",
    "range",
    "iter",
    "next",
];

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    if node.kind() != "call" {
        return;
    }
    dropped(node, site);
    swapped(node, site);
}

/// `f(x)` or `x.f()` becomes `x`.
fn dropped<'a>(call: Node<'a>, site: &mut Site<'a>) {
    let parent = call.parent().map_or("", |parent| parent.kind());
    if matches!(parent, "expression_statement" | "raise_statement" | "await")
        || copies::is_copy(call, site)
    {
        return;
    }
    let (Some(function), Some((positional, others))) =
        (call.child_by_field_name("function"), arguments(call))
    else {
        return;
    };
    let name = site.text(function);
    if KEPT.contains(&name) || !others.is_empty() {
        return;
    }
    let left = match (function.kind(), positional.as_slice()) {
        ("identifier" | "attribute", [only]) => *only,
        ("attribute", []) => {
            let Some(object) = function.child_by_field_name("object") else {
                return;
            };
            // `self` alone, or a module, is never what was meant.
            if object.kind() == "identifier" && matches!(site.text(object), "self" | "cls") {
                return;
            }
            object
        }
        _ => return,
    };
    // `1.name` is no expression.
    if parent == "attribute" && left.kind() == "integer" {
        return;
    }
    let text = operand(site, left);
    site.replace(
        "dropped-call",
        call,
        text,
        format!("the call of `{name}` is missing"),
    );
}

/// `f(g(x))` becomes `g(f(x))`, `x.f().g()` becomes `x.g().f()`.
fn swapped<'a>(outer: Node<'a>, site: &mut Site<'a>) {
    let (Some(function), Some(list)) = (
        outer.child_by_field_name("function"),
        outer.child_by_field_name("arguments"),
    ) else {
        return;
    };
    if let Some((positional, others)) = arguments(outer)
        && let ([inner], true) = (positional.as_slice(), others.is_empty())
        && inner.kind() == "call"
        && let Some(second) = inner.child_by_field_name("function")
        && matches!(function.kind(), "identifier" | "attribute")
        && matches!(second.kind(), "identifier" | "attribute")
        && arguments(*inner).is_some_and(|(first, _)| first.len() == 1)
    {
        let (a, b) = (site.text(function), site.text(second));
        site.propose(
            "swapped-calls",
            vec![
                (function.byte_range(), b.to_owned()),
                (second.byte_range(), a.to_owned()),
            ],
            format!("`{a}` and `{b}` are called in the wrong order"),
        );
    }
    if let Some(name) = function.child_by_field_name("attribute")
        && let Some(inner) = function.child_by_field_name("object")
        && inner.kind() == "call"
        && let Some(inner_function) = inner.child_by_field_name("function")
        && let Some(inner_name) = inner_function.child_by_field_name("attribute")
    {
        let first = inner_name.start_byte()..inner.end_byte();
        let second = name.start_byte()..list.end_byte();
        let source = site.source();
        let (a, b) = (&source[first.clone()], &source[second.clone()]);
        site.propose(
            "swapped-calls",
            vec![(first, b.to_owned()), (second, a.to_owned())],
            format!("`{a}` and `{b}` are called in the wrong order"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn calls_are_dropped_and_swapped() {
        check(
            propose,
            &[
                ("x = abs(a - b)", &["dropped-call: x = (a - b)"]),
                ("x = a.strip()", &["dropped-call: x = a"]),
                ("x = self.strip()", &[]),
                ("a.clear()", &[]),
                ("x = list(a)", &[]),
                (
                    "x = f(g(a))",
                    &[
                        "dropped-call: x = g(a)",
                        "swapped-calls: x = g(f(a))",
                        "dropped-call: x = f(a)",
                    ],
                ),
                ("x = a.f(1).g(2, 3)", &["swapped-calls: x = a.g(2, 3).f(1)"]),
                ("x = sum(n for n in a)", &[]),
            ],
        );
    }
}
