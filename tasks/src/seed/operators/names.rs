//! Another variable of a plausible type instead of the right one.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::seed::site::{Site, children, enclosing_function};

/// Wrong names proposed for one place.
const CHOICES: usize = 2;

/// How a name is used; a bit each. Names with a use in common are taken for the same type.
mod uses {
    pub const CALLED: u32 = 1;
    pub const SUBSCRIPTED: u32 = 1 << 1;
    pub const ITERATED: u32 = 1 << 2;
    pub const ATTRIBUTES: u32 = 1 << 3;
    pub const ARITHMETIC: u32 = 1 << 4;
    pub const COMPARED: u32 = 1 << 5;
    pub const INDEX: u32 = 1 << 6;
    pub const MEASURED: u32 = 1 << 7;
}

/// What is known of a local name.
#[derive(Debug, Default, Clone, Copy)]
struct Local {
    /// Where it gets its first value, as a byte offset; 0 for parameters.
    since: Option<usize>,
    /// Uses.
    uses: u32,
}

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    if node.kind() != "identifier" || !is_read(node) {
        return;
    }
    let Some(function) = enclosing_function(node) else {
        return;
    };
    let name = site.text(node);
    let locals = locals(function, site);
    let Some(own) = locals.get(name).copied() else {
        return;
    };
    if own.since.is_none() || matches!(name, "self" | "cls" | "_") || own.uses & uses::CALLED != 0 {
        return;
    }
    let mut others: Vec<(usize, &str)> = locals
        .iter()
        .filter(|(other, local)| {
            **other != name
                && !matches!(**other, "self" | "cls" | "_")
                && local.since.is_some_and(|since| since < node.start_byte())
                && local.uses & own.uses != 0
                && local.uses & uses::CALLED == 0
        })
        .filter_map(|(other, local)| Some((local.since?, *other)))
        .collect();
    // What got its value last is what one has in mind.
    others.sort_by(|a, b| b.cmp(a));
    for (_, other) in others.into_iter().take(CHOICES) {
        site.replace(
            "wrong-variable",
            node,
            other,
            format!("`{other}` instead of `{name}`"),
        );
    }
}

/// Whether an identifier is a variable that is read here.
fn is_read(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else {
        return false;
    };
    match parent.kind() {
        "attribute" => parent.child_by_field_name("object") == Some(node),
        "keyword_argument" => parent.child_by_field_name("value") == Some(node),
        "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
            parent.child_by_field_name("right") == Some(node)
        }
        "default_parameter"
        | "typed_default_parameter"
        | "parameters"
        | "lambda_parameters"
        | "typed_parameter"
        | "list_splat_pattern"
        | "dictionary_splat_pattern"
        | "pattern_list"
        | "tuple_pattern"
        | "list_pattern"
        | "as_pattern_target"
        | "function_definition"
        | "class_definition"
        | "global_statement"
        | "nonlocal_statement"
        | "named_expression"
        | "delete_statement"
        | "dotted_name"
        | "aliased_import" => false,
        "call" => parent.child_by_field_name("function") != Some(node),
        _ => true,
    }
}

/// The local names of a function; those of functions inside it are their own.
fn locals<'a>(function: Node<'a>, site: &Site<'a>) -> BTreeMap<&'a str, Local> {
    let mut out = BTreeMap::new();
    if let Some(parameters) = function.child_by_field_name("parameters") {
        for parameter in children(parameters) {
            let name = match parameter.kind() {
                "identifier" => Some(parameter),
                "default_parameter" | "typed_default_parameter" => {
                    parameter.child_by_field_name("name")
                }
                "typed_parameter" => children(parameter).into_iter().next(),
                _ => None,
            };
            if let Some(name) = name.filter(|name| name.kind() == "identifier") {
                let local: &mut Local = out.entry(site.text(name)).or_default();
                local.since = Some(0);
            }
        }
    }
    if let Some(body) = function.child_by_field_name("body") {
        collect(body, site, &mut out);
    }
    out
}

fn collect<'a>(node: Node<'a>, site: &Site<'a>, out: &mut BTreeMap<&'a str, Local>) {
    match node.kind() {
        "function_definition" | "class_definition" | "lambda" => return,
        "assignment" | "for_statement" | "named_expression" => {
            let target = node
                .child_by_field_name("left")
                .or_else(|| node.child_by_field_name("name"));
            if let Some(target) = target {
                // Bound when the whole target is: the name is not there on the right side.
                let end = match node.kind() {
                    "for_statement" => target.end_byte(),
                    _ => node.end_byte(),
                };
                bind(target, end, site, out);
            }
        }
        "as_pattern_target" => {
            for name in children(node) {
                bind(name, node.end_byte(), site, out);
            }
        }
        "identifier" => {
            let bits = usage(node, site);
            out.entry(site.text(node)).or_default().uses |= bits;
        }
        _ => {}
    }
    for child in children(node) {
        collect(child, site, out);
    }
}

fn bind<'a>(target: Node<'a>, at: usize, site: &Site<'a>, out: &mut BTreeMap<&'a str, Local>) {
    match target.kind() {
        "identifier" => {
            let local = out.entry(site.text(target)).or_default();
            local.since.get_or_insert(at);
        }
        "pattern_list" | "tuple_pattern" | "list_pattern" => {
            for part in children(target) {
                bind(part, at, site, out);
            }
        }
        _ => {}
    }
}

/// What one occurrence of a name says about its type.
fn usage(node: Node<'_>, site: &Site<'_>) -> u32 {
    let Some(parent) = node.parent() else {
        return 0;
    };
    let is = |field: &str| parent.child_by_field_name(field) == Some(node);
    match parent.kind() {
        "call" if is("function") => uses::CALLED,
        "subscript" if is("value") => uses::SUBSCRIPTED,
        "subscript" | "slice" => uses::INDEX,
        "attribute" if is("object") => uses::ATTRIBUTES,
        "for_statement" | "for_in_clause" if is("right") => uses::ITERATED,
        "binary_operator" | "unary_operator" | "augmented_assignment" => uses::ARITHMETIC,
        "comparison_operator" => uses::COMPARED,
        "argument_list" => {
            let function = parent
                .parent()
                .and_then(|call| call.child_by_field_name("function"));
            match function.map(|function| site.text(function)) {
                Some("len") => uses::MEASURED,
                Some(
                    "list" | "tuple" | "set" | "sorted" | "iter" | "enumerate" | "reversed" | "zip"
                    | "map" | "sum" | "any" | "all",
                ) => uses::ITERATED,
                Some("range" | "abs" | "min" | "max" | "int" | "float") => uses::ARITHMETIC,
                _ => 0,
            }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn variables_are_mistaken_for_their_like() {
        check(
            propose,
            &[
                (
                    "return a + b",
                    &[
                        "wrong-variable: return b + b",
                        "wrong-variable: return a + a",
                    ],
                ),
                ("return a + len(b)", &[]),
                ("n = a - 1\nreturn n < 2", &[]),
                (
                    "n = a - 1\nreturn n - 2",
                    // `n` has no value yet on its own line.
                    &["wrong-variable: n = a - 1\nreturn a - 2"],
                ),
                ("return f(x=a)", &[]),
            ],
        );
    }
}
