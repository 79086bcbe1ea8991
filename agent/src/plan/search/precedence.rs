//! Where a replacement needs parentheses.

use tree_sitter::Node;

/// How tightly an expression binds; higher binds tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `a, b`, `yield x`.
    List,
    /// `x := y`.
    Walrus,
    /// `lambda: x`, `a if b else c`.
    Ternary,
    /// `a or b`.
    Or,
    /// `a and b`.
    And,
    /// `not a`.
    Not,
    /// `a < b`, `a in b`.
    Compare,
    /// `a | b`.
    BitOr,
    /// `a ^ b`.
    BitXor,
    /// `a & b`.
    BitAnd,
    /// `a << b`.
    Shift,
    /// `a + b`.
    Plus,
    /// `a * b`.
    Times,
    /// `-a`.
    Unary,
    /// `a ** b`.
    Power,
    /// `await a`.
    Await,
    /// `a.b`, `a[b]`, `a(b)`, names, literals, everything in brackets.
    Atom,
}

/// The level of a binary operator's text.
pub fn of_operator(operator: &str) -> Level {
    match operator {
        "or" => Level::Or,
        "and" => Level::And,
        "|" => Level::BitOr,
        "^" => Level::BitXor,
        "&" => Level::BitAnd,
        "<<" | ">>" => Level::Shift,
        "+" | "-" => Level::Plus,
        "*" | "/" | "//" | "%" | "@" => Level::Times,
        "**" => Level::Power,
        _ => Level::Compare,
    }
}

/// The level of an expression.
pub fn of(node: Node<'_>) -> Level {
    match node.kind() {
        "expression_list" | "pattern_list" | "yield" | "as_pattern" => Level::List,
        "named_expression" => Level::Walrus,
        "conditional_expression" | "lambda" => Level::Ternary,
        "boolean_operator" | "binary_operator" => node
            .child_by_field_name("operator")
            .map_or(Level::Ternary, |o| of_operator(o.kind())),
        "not_operator" => Level::Not,
        "comparison_operator" => Level::Compare,
        "unary_operator" => Level::Unary,
        "await" => Level::Await,
        _ => Level::Atom,
    }
}

/// The least level that an expression must have to stand unparenthesised as `child` of `parent`.
pub fn required(parent: Node<'_>, child: Node<'_>, field: Option<&str>) -> Level {
    match parent.kind() {
        "boolean_operator" | "binary_operator" => {
            let operator = parent
                .child_by_field_name("operator")
                .map_or("", |o| o.kind());
            let level = of_operator(operator);
            let right = field == Some("right");
            // `**` groups to the right and binds tighter than a sign on its left only.
            match (operator, right) {
                ("**", true) => Level::Unary,
                ("**", false) => Level::Await,
                (_, true) => next(level),
                (_, false) => level,
            }
        }
        "comparison_operator" => Level::BitOr,
        "not_operator" => Level::Not,
        "unary_operator" => Level::Unary,
        "await" => Level::Atom,
        "attribute" => Level::Atom,
        "subscript" | "call" if field == Some("value") || field == Some("function") => Level::Atom,
        "conditional_expression" => {
            if parent
                .named_child(2)
                .is_some_and(|last| last.id() == child.id())
            {
                Level::Ternary
            } else {
                Level::Or
            }
        }
        "list_splat" | "dictionary_splat" | "list_splat_pattern" => Level::BitOr,
        "for_in_clause" | "if_clause" => Level::Or,
        "interpolation" => Level::Or,
        "return_statement" | "expression_statement" | "yield" => Level::List,
        "assignment" | "augmented_assignment" | "for_statement" => Level::List,
        "subscript" => Level::Ternary,
        _ => Level::Ternary,
    }
}

const fn next(level: Level) -> Level {
    match level {
        Level::List => Level::Walrus,
        Level::Walrus => Level::Ternary,
        Level::Ternary => Level::Or,
        Level::Or => Level::And,
        Level::And => Level::Not,
        Level::Not => Level::Compare,
        Level::Compare => Level::BitOr,
        Level::BitOr => Level::BitXor,
        Level::BitXor => Level::BitAnd,
        Level::BitAnd => Level::Shift,
        Level::Shift => Level::Plus,
        Level::Plus => Level::Times,
        Level::Times => Level::Unary,
        Level::Unary => Level::Power,
        Level::Power => Level::Await,
        Level::Await | Level::Atom => Level::Atom,
    }
}

/// `text`, parenthesised when `level` is too loose.
pub fn fitted(text: &str, level: Level, required: Level) -> String {
    if level >= required {
        text.to_owned()
    } else {
        format!("({text})")
    }
}
