//! Kinds of operations, told from what they look like.

use serde::Serialize;

use crate::grammar::step::Operation;

/// What an operation is an instance of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// `v0 + v1`, `-v0`.
    Operator,
    /// `v0 < v1`, `v0 in v1`.
    Comparison,
    /// `v0 += v1` where that changes `v0`.
    InPlace,
    /// `len(v0)`.
    Builtin,
    /// `format(v0, v1)`, `str(v0)`, `repr(v0)`: what f-strings ask.
    Formatting,
    /// A method of a string.
    TextMethod,
    /// A method of a list.
    ListMethod,
    /// A method of a dictionary.
    DictMethod,
    /// A method of a set.
    SetMethod,
    /// A method of anything else.
    OtherMethod,
    /// `v0[v1:]`, read, written or deleted.
    Slice,
    /// `v0[v1]` of what is no known container.
    Item,
    /// `math.sqrt(v0)`.
    Module,
}

impl OperationKind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Comparison => "comparison",
            Self::InPlace => "operator in place",
            Self::Builtin => "builtin function",
            Self::Formatting => "formatting",
            Self::TextMethod => "text method",
            Self::ListMethod => "list method",
            Self::DictMethod => "dict method",
            Self::SetMethod => "set method",
            Self::OtherMethod => "other method",
            Self::Slice => "slice",
            Self::Item => "item",
            Self::Module => "module function",
        }
    }

    /// The kind of an operation.
    pub fn of(operation: &Operation) -> Self {
        let text = operation.expression.as_str();
        if let Some(rest) = text.strip_prefix("v0.") {
            let called = rest.contains('(');
            return if called {
                method_of(operation)
            } else {
                Self::OtherMethod
            };
        }
        if text.starts_with("v0[") || text.starts_with("del ") {
            return if text.contains(':') {
                Self::Slice
            } else {
                Self::Item
            };
        }
        if let Some((name, _)) = text.split_once('(')
            && !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
        {
            return match name {
                _ if name.contains('.') => Self::Module,
                "format" | "str" | "repr" | "ascii" => Self::Formatting,
                _ => Self::Builtin,
            };
        }
        let symbol = text
            .strip_prefix("v0 ")
            .and_then(|rest| rest.rsplit_once(' '));
        match symbol.map(|(symbol, _)| symbol) {
            Some("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in") => Self::Comparison,
            Some(symbol) if symbol.ends_with('=') => Self::InPlace,
            _ => Self::Operator,
        }
    }
}

fn method_of(operation: &Operation) -> OperationKind {
    let receiver = operation.operands.first().map_or("", |text| text.trim());
    let keyed = receiver.starts_with('{') && {
        // `{'a': 1}` and `{1: 2}`, not `{'a:'}`.
        matches!(
            crate::literal::parse(receiver),
            Ok(crate::literal::Literal::Dict(_))
        )
    };
    match receiver.as_bytes().first() {
        Some(b'\'' | b'"') => OperationKind::TextMethod,
        Some(b'[') => OperationKind::ListMethod,
        Some(b'{') if keyed => OperationKind::DictMethod,
        Some(b'{') => OperationKind::SetMethod,
        _ if receiver.starts_with("set(") || receiver.starts_with("frozenset(") => {
            OperationKind::SetMethod
        }
        _ => OperationKind::OtherMethod,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_from_the_expression_and_the_receiver() {
        let kind = |expression: &str, operands: &[&str]| {
            OperationKind::of(&Operation {
                expression: expression.into(),
                operands: operands.iter().map(|&text| text.into()).collect(),
            })
        };
        assert_eq!(kind("v0 + v1", &["1", "2"]), OperationKind::Operator);
        assert_eq!(kind("-v0", &["1"]), OperationKind::Operator);
        assert_eq!(
            kind("v0 not in v1", &["1", "[]"]),
            OperationKind::Comparison
        );
        assert_eq!(kind("v0 <= v1", &["1", "2"]), OperationKind::Comparison);
        assert_eq!(kind("v0 += v1", &["[]", "[1]"]), OperationKind::InPlace);
        assert_eq!(kind("len(v0)", &["[]"]), OperationKind::Builtin);
        assert_eq!(
            kind("format(v0, v1)", &["1", "'d'"]),
            OperationKind::Formatting
        );
        assert_eq!(kind("v0.upper()", &["'a'"]), OperationKind::TextMethod);
        assert_eq!(
            kind("v0.append(v1)", &["[1]", "2"]),
            OperationKind::ListMethod
        );
        assert_eq!(kind("v0.get(v1)", &["{}", "2"]), OperationKind::DictMethod);
        assert_eq!(kind("v0.add(v1)", &["{1}", "2"]), OperationKind::SetMethod);
        assert_eq!(
            kind("v0.add(v1)", &["set()", "2"]),
            OperationKind::SetMethod
        );
        assert_eq!(
            kind("v0.index(v1)", &["(1,)", "1"]),
            OperationKind::OtherMethod
        );
        assert_eq!(kind("v0[v1:]", &["'abc'", "1"]), OperationKind::Slice);
        assert_eq!(kind("v0[v1]", &["'abc'", "1"]), OperationKind::Item);
        assert_eq!(kind("math.sqrt(v0)", &["4"]), OperationKind::Module);
    }
}
