//! What the parts of a statement are: read, assigned to, or no business of an operator.

use ndbg_tools::source::syntax::is_statement;

/// Whether a kind is a clause with a header of its own.
pub fn is_clause(kind: &str) -> bool {
    matches!(kind, "elif_clause" | "except_clause" | "case_clause")
}

/// Whether a kind is a statement or such a clause.
pub fn is_unit(kind: &str) -> bool {
    is_statement(kind) || is_clause(kind)
}

/// Children that no operator has any business with.
pub fn skipped(kind: &str, field: Option<&str>) -> bool {
    matches!(
        (kind, field),
        ("attribute", Some("attribute"))
            | (
                "keyword_argument" | "named_expression" | "class_definition" | "default_parameter",
                Some("name")
            )
            | ("lambda", Some("parameters"))
            | ("assignment" | "typed_parameter", Some("type"))
            | ("typed_default_parameter", Some("type" | "name"))
            | ("class_definition", Some("superclasses" | "type_parameters"))
    ) || matches!(
        kind,
        "global_statement" | "nonlocal_statement" | "typed_parameter"
    )
}

/// Whether a child is assigned to; `store` says whether its parent is.
pub fn stores(kind: &str, field: Option<&str>, store: bool) -> bool {
    match (kind, field) {
        (
            "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause",
            Some("left"),
        )
        | ("as_pattern", Some("alias"))
        | ("parameters", _) => true,
        (
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "dictionary_splat_pattern"
            | "as_pattern_target",
            _,
        ) => store,
        _ => false,
    }
}
