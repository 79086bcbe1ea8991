//! Rules of Python's compiler that the grammar does not know.

use std::collections::HashSet;

use tree_sitter::Node;

#[derive(Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)]
struct Around {
    function: bool,
    asynchronous: bool,
    looped: bool,
    comprehension: bool,
    class: bool,
}

/// Whether code that parses also compiles, as far as the usual slips go.
pub fn legal(root: Node<'_>, source: &str) -> bool {
    visit(root, source, Around::default())
}

fn visit(node: Node<'_>, source: &str, around: Around) -> bool {
    let mut inside = around;
    match node.kind() {
        "print_statement" | "exec_statement" => return false,
        "return_statement" if !around.function => return false,
        "yield" if !around.function || around.comprehension => return false,
        "yield" if around.asynchronous && node.child(1).is_some_and(|c| c.kind() == "from") => {
            return false;
        }
        "await" if !around.asynchronous => return false,
        "break_statement" | "continue_statement" if !around.looped => return false,
        "nonlocal_statement" if !around.function => return false,
        "function_definition" => {
            inside = Around {
                function: true,
                asynchronous: node.child(0).is_some_and(|c| c.kind() == "async"),
                ..Around::default()
            };
            if !parameters_legal(node, source) {
                return false;
            }
        }
        "lambda" => {
            inside = Around {
                function: true,
                ..Around::default()
            };
        }
        "class_definition" => {
            inside = Around {
                class: true,
                ..Around::default()
            };
        }
        "list_comprehension"
        | "set_comprehension"
        | "dictionary_comprehension"
        | "generator_expression" => inside.comprehension = true,
        "argument_list" if !arguments_legal(node, source) => return false,
        "except_clause" if !except_legal(node) => return false,
        "named_expression" if around.class && around.comprehension => return false,
        "assignment" | "augmented_assignment" if !targets_legal(node) => return false,
        "delete_statement" if !deletable(node) => return false,
        "interpolation" if node.named_child_count() == 0 => return false,
        _ => {}
    }
    let looping = matches!(node.kind(), "for_statement" | "while_statement");
    let mut cursor = node.walk();
    if !cursor.goto_first_child() {
        return true;
    }
    loop {
        let child = cursor.node();
        let mut down = inside;
        if looping && cursor.field_name() == Some("body") {
            down.looped = true;
        }
        // Defaults and decorators belong to the outside; parameters hold nothing dangerous.
        if node.kind() == "function_definition" && cursor.field_name() != Some("body") {
            down = around;
        }
        if !visit(child, source, down) {
            return false;
        }
        if !cursor.goto_next_sibling() {
            return true;
        }
    }
}

fn parameters_legal(function: Node<'_>, source: &str) -> bool {
    let Some(list) = function.child_by_field_name("parameters") else {
        return true;
    };
    let (mut defaulted, mut keyword_only) = (false, false);
    let mut names = HashSet::new();
    let mut cursor = list.walk();
    for node in list.named_children(&mut cursor) {
        let name = node
            .child_by_field_name("name")
            .or_else(|| node.named_child(0))
            .unwrap_or(node);
        match node.kind() {
            "default_parameter" | "typed_default_parameter" => defaulted = true,
            "keyword_separator" | "list_splat_pattern" => keyword_only = true,
            "typed_parameter" if name.kind() == "list_splat_pattern" => keyword_only = true,
            "typed_parameter" if name.kind() == "dictionary_splat_pattern" => {}
            "identifier" | "typed_parameter" if defaulted && !keyword_only => return false,
            _ => {}
        }
        if matches!(
            node.kind(),
            "identifier" | "default_parameter" | "typed_default_parameter" | "typed_parameter"
        ) && !names.insert(&source[name.byte_range()])
        {
            return false;
        }
    }
    true
}

fn arguments_legal(list: Node<'_>, source: &str) -> bool {
    let mut names = HashSet::new();
    let mut unpacked = false;
    let mut cursor = list.walk();
    let count = list.named_child_count();
    for node in list.named_children(&mut cursor) {
        match node.kind() {
            "keyword_argument" => {
                let name = node
                    .child_by_field_name("name")
                    .map_or("", |n| &source[n.byte_range()]);
                if !names.insert(name) {
                    return false;
                }
            }
            "dictionary_splat" => unpacked = true,
            "comment" => {}
            "list_splat" if unpacked => return false,
            "list_splat" => {}
            "generator_expression" if count > 1 && !source[node.byte_range()].starts_with('(') => {
                return false;
            }
            _ if !names.is_empty() || unpacked => return false,
            _ => {}
        }
    }
    true
}

fn except_legal(clause: Node<'_>) -> bool {
    // A bare `except:` must be the last one.
    let bare = clause.child_by_field_name("value").is_none();
    !bare
        || clause
            .next_named_sibling()
            .is_none_or(|n| n.kind() != "except_clause")
}

fn targets_legal(node: Node<'_>) -> bool {
    let Some(left) = node.child_by_field_name("left") else {
        return true;
    };
    if node.kind() == "augmented_assignment" || node.child_by_field_name("type").is_some() {
        return matches!(left.kind(), "identifier" | "attribute" | "subscript");
    }
    true
}

fn deletable(node: Node<'_>) -> bool {
    let Some(target) = node.named_child(0) else {
        return false;
    };
    let ok = |n: Node<'_>| {
        matches!(
            n.kind(),
            "identifier"
                | "attribute"
                | "subscript"
                | "tuple"
                | "list"
                | "parenthesized_expression"
        )
    };
    if target.kind() == "expression_list" {
        let mut cursor = target.walk();
        return target.named_children(&mut cursor).all(ok);
    }
    ok(target)
}
