//! Names for the kinds of statements and expressions, from the grammar's.

use tree_sitter::Node;

/// Builtin functions and types that are counted when called: those that compute. Reflection
/// (`isinstance`, `getattr`) says little about values, and generated programs know their types.
pub(super) const BUILTINS: &[&str] = &[
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytes",
    "chr",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "hex",
    "int",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "oct",
    "ord",
    "pow",
    "print",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
];

/// Public methods of `str`, `list`, `dict`, `set`, `tuple`, `int` and `float`.
pub(super) const METHODS: &[&str] = &[
    "add",
    "append",
    "as_integer_ratio",
    "bit_length",
    "capitalize",
    "casefold",
    "center",
    "clear",
    "copy",
    "count",
    "difference",
    "difference_update",
    "discard",
    "encode",
    "endswith",
    "expandtabs",
    "extend",
    "find",
    "format",
    "format_map",
    "get",
    "index",
    "insert",
    "intersection",
    "intersection_update",
    "is_integer",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isdisjoint",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "issubset",
    "issuperset",
    "istitle",
    "isupper",
    "items",
    "join",
    "keys",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "pop",
    "popitem",
    "remove",
    "removeprefix",
    "removesuffix",
    "replace",
    "reverse",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "setdefault",
    "sort",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "symmetric_difference",
    "title",
    "translate",
    "union",
    "update",
    "upper",
    "values",
    "zfill",
];

/// Kind of a statement; none for a docstring and for what is no statement.
pub(super) fn statement(node: Node<'_>) -> Option<&'static str> {
    Some(match node.kind() {
        "expression_statement" => return inner(node.named_child(0)?),
        "if_statement" => "if",
        "for_statement" => "for",
        "while_statement" => "while",
        "return_statement" => "return",
        "try_statement" => "try",
        "raise_statement" => "raise",
        "with_statement" => "with",
        "assert_statement" => "assert",
        "break_statement" => "break",
        "continue_statement" => "continue",
        "pass_statement" => "pass",
        "delete_statement" => "del",
        "import_statement" | "import_from_statement" => "import",
        "global_statement" | "nonlocal_statement" => "global",
        "function_definition" | "decorated_definition" => "def",
        "class_definition" => "class",
        "match_statement" => "match",
        _ => return None,
    })
}

fn inner(node: Node<'_>) -> Option<&'static str> {
    Some(match node.kind() {
        "assignment" if node.child_by_field_name("right").is_none() => "annotation",
        "assignment" => "assign",
        "augmented_assignment" => "augmented",
        "string" | "concatenated_string" => return None,
        "yield" => "yield",
        "await" => "await",
        "call" => "call",
        _ => "expression",
    })
}

/// Kind of an expression; none for what is no expression of its own (parentheses, arguments).
pub(super) fn expression(node: Node<'_>) -> Option<&'static str> {
    Some(match node.kind() {
        "identifier" => "name",
        "integer" => "integer",
        "float" => "float",
        "true" | "false" => "boolean",
        "none" => "none",
        "string" if is_formatted(node) => "f-string",
        "string" | "concatenated_string" => "string",
        "attribute" => "attribute",
        "subscript" => "subscript",
        "call" => match node
            .child_by_field_name("function")
            .map(|callee| callee.kind())
        {
            Some("attribute") => "method",
            _ => "call",
        },
        "binary_operator" => "operator",
        "boolean_operator" => "and-or",
        "not_operator" => "not",
        "comparison_operator" => "comparison",
        "unary_operator" => "unary",
        "conditional_expression" => "conditional",
        "lambda" => "lambda",
        "list" => "list",
        "dictionary" => "dict",
        "set" => "set",
        "tuple" | "expression_list" => "tuple",
        "list_comprehension" => "list-comprehension",
        "dictionary_comprehension" => "dict-comprehension",
        "set_comprehension" => "set-comprehension",
        "generator_expression" => "generator",
        "list_splat" | "dictionary_splat" => "starred",
        "named_expression" => "walrus",
        "yield" => "yield",
        "await" => "await",
        _ => return None,
    })
}

/// Whether a string literal is an f-string.
pub(super) fn is_formatted(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .any(|child| child.kind() == "interpolation")
}

/// Size of an integer literal.
pub(super) fn integer(literal: &str) -> &'static str {
    match literal.parse::<u64>() {
        Ok(0) => "0",
        Ok(1) => "1",
        Ok(2) => "2",
        Ok(3..=9) => "3-9",
        Ok(10..=99) => "10-99",
        Ok(100..=999) => "100-999",
        Ok(_) => "1000+",
        Err(_) => "not decimal",
    }
}

/// Shape of what stands between the brackets of a subscript.
pub(super) fn slice(index: Node<'_>, source: &str) -> &'static str {
    if index.kind() != "slice" {
        return match index.kind() {
            "integer" => "literal",
            "unary_operator" => "negative",
            "identifier" => "name",
            "string" => "string",
            _ => "index",
        };
    }
    let text: String = source
        .get(index.byte_range())
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    match (
        text.starts_with(':'),
        text.ends_with(':'),
        text.matches(':').count(),
    ) {
        (_, _, 2..) => "::step",
        (true, true, _) => ":",
        (true, false, _) => ":stop",
        (false, true, _) => "start:",
        (false, false, _) => "start:stop",
    }
}

/// Kind of an exception, from what stands after `raise`.
pub(super) fn error(name: &str) -> &str {
    match name {
        "" => "bare",
        known @ ("ValueError"
        | "TypeError"
        | "KeyError"
        | "IndexError"
        | "RuntimeError"
        | "AssertionError"
        | "AttributeError"
        | "NotImplementedError"
        | "OSError"
        | "StopIteration"
        | "ZeroDivisionError"
        | "OverflowError"
        | "LookupError") => known,
        _ => "other",
    }
}
