//! What an operator sees: a node, the statement and function around it, and the names in scope.

use ndbg_tools::source::syntax::Syntax;
use tree_sitter::Node;

use super::bindings::Origin;
use super::layout::{self, Change, Line};
use super::names::Callee;
use super::precedence::{self, Level, fitted};
use super::types::{Types, infer, infer_elements};
use super::unit::{Name, Unit};

/// A step on the way from the root to a node.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The node.
    pub node: Node<'a>,
    /// Its field in the parent.
    pub field: Option<&'static str>,
}
/// A place where an operator may propose something.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// The node.
    pub node: Node<'a>,
    /// The way from the root to the node, both included.
    pub path: &'a [Step<'a>],
    /// The statement around it.
    pub unit: &'a Unit<'a>,
    /// Whether the node is assigned to rather than read.
    pub store: bool,
}

impl<'a> Site<'a> {
    /// The file's syntax.
    pub fn syntax(&self) -> &'a Syntax {
        self.unit.index.syntax
    }

    /// The file's text.
    pub fn source(&self) -> &'a str {
        self.syntax().file().text()
    }

    /// Text of a node.
    pub fn text(&self, node: Node<'_>) -> &'a str {
        &self.source()[node.byte_range()]
    }

    /// Text of the site's node.
    pub fn own(&self) -> &'a str {
        self.text(self.node)
    }

    /// Kind of the site's node.
    pub fn kind(&self) -> &'static str {
        self.node.kind()
    }

    /// A field of the node.
    pub fn field(&self, name: &str) -> Option<Node<'a>> {
        self.node.child_by_field_name(name)
    }

    /// The node's own field in its parent.
    pub fn role(&self) -> Option<&'static str> {
        self.path.last().and_then(|s| s.field)
    }

    /// The ancestor `up` steps above the node.
    pub fn above(&self, up: usize) -> Option<Step<'a>> {
        self.path.len().checked_sub(up + 1).map(|i| self.path[i])
    }

    /// The parent.
    pub fn parent(&self) -> Option<Node<'a>> {
        self.above(1).map(|s| s.node)
    }

    /// Kind of the parent.
    pub fn parent_kind(&self) -> &'static str {
        self.parent().map_or("", |p| p.kind())
    }

    /// Whether the node is the statement itself.
    pub fn is_statement(&self) -> bool {
        self.node.id() == self.unit.statement.id()
    }

    /// Ancestors from the parent up to the statement.
    pub fn ancestors(&self) -> impl Iterator<Item = Step<'a>> + 'a {
        let from = self.unit.depth.min(self.path.len());
        self.path[from..self.path.len().saturating_sub(1)]
            .iter()
            .rev()
            .copied()
    }

    /// Whether the node stands in an f-string's braces, where quotes and backslashes are delicate.
    pub fn in_format(&self) -> bool {
        self.ancestors().any(|s| s.node.kind() == "interpolation")
    }

    /// Whether the node is a non-store expression.
    pub fn is_value(&self) -> bool {
        !self.store && is_expression(self.kind())
    }

    /// Types of a node.
    pub fn types(&self, node: Node<'_>) -> Types {
        infer(node, self.unit)
    }

    /// Types of what iterating over a node gives.
    pub fn elements(&self, node: Node<'_>) -> Types {
        infer_elements(node, self.unit)
    }

    /// Names usable at the node, closest first.
    pub fn names(&self) -> impl Iterator<Item = &'a Name> + 'a {
        let at = self.node.start_byte();
        self.unit
            .names
            .iter()
            .filter(move |n| n.only_in.as_ref().is_none_or(|r| r.contains(&at)))
    }

    /// Names that hold values: no functions, classes or modules.
    pub fn variables(&self) -> impl Iterator<Item = &'a Name> + 'a {
        self.names().filter(|n| {
            !matches!(n.origin, Origin::Definition | Origin::Import)
                && !n
                    .types
                    .within(Types::CALLABLE.or(Types::CLASS).or(Types::MODULE))
                && Some(&n.text) != self.unit.scope.receiver.as_ref()
                && n.text != "_"
        })
    }

    /// Variables of the function itself (and of its instance).
    pub fn locals(&self) -> impl Iterator<Item = &'a Name> + 'a {
        self.variables()
            .filter(|n| !matches!(n.origin, Origin::Module))
    }

    /// The text of a replacement for the node, parenthesised as its surroundings demand.
    pub fn fitted(&self, text: &str, level: Level) -> String {
        let required = self.above(1).map_or(Level::List, |parent| {
            precedence::required(parent.node, self.node, self.role())
        });
        fitted(text, level, required)
    }

    /// A number's text in place of the node; a sign may need parentheses.
    pub fn fitted_number(&self, value: i64) -> String {
        let level = if value < 0 { Level::Unary } else { Level::Atom };
        self.fitted(&value.to_string(), level)
    }

    /// The node's text as an operand that must bind at `level`.
    pub fn operand(&self, node: Node<'_>, level: Level) -> String {
        fitted(self.text(node), precedence::of(node), level)
    }

    /// A function of the file by the text of a call's function: `f`, `self.f`, `x.f`, `Class`.
    pub fn callee(&self, call: Node<'a>) -> Option<&'a Callee> {
        let function = call.child_by_field_name("function")?;
        match function.kind() {
            "identifier" => self.unit.index.callee_named(self.text(function), false),
            "attribute" => {
                let name = function.child_by_field_name("attribute")?;
                self.unit.index.callee_named(self.text(name), true)
            }
            _ => None,
        }
    }

    /// Name of the function that holds the site.
    pub fn function_name(&self) -> Option<&'a str> {
        self.unit
            .scope
            .function
            .and_then(|f| f.child_by_field_name("name"))
            .map(|n| self.text(n))
    }

    /// Text of the function's body, the whole file at module level.
    pub fn function_text(&self) -> &'a str {
        self.unit
            .scope
            .function
            .and_then(|f| f.child_by_field_name("body"))
            .map_or(self.source(), |b| self.text(b))
    }

    /// Whether the node is a parameter or part of a parameter's default.
    pub fn is_default(&self) -> bool {
        self.ancestors().any(|s| s.node.kind() == "parameters")
    }

    /// Whether the node is a statement of a function beside which another one can stand.
    pub fn is_simple_place(&self) -> bool {
        self.is_statement()
            && self.unit.scope.function.is_some()
            && self.kind().ends_with("_statement")
            && !matches!(self.kind(), "global_statement" | "nonlocal_statement")
    }

    /// Whether the statement is the last one of its block.
    pub fn is_last_in_block(&self) -> bool {
        self.unit.last
    }

    /// Inserts lines in front of a statement of the function.
    pub fn insert_before(&self, statement: Node<'_>, lines: &[Line<'_>]) -> Option<Change> {
        layout::insert_before(self.syntax(), statement, self.unit.step, lines)
    }

    /// Inserts lines behind a statement of the function.
    pub fn insert_after(&self, statement: Node<'_>, lines: &[Line<'_>]) -> Option<Change> {
        layout::insert_after(self.syntax(), statement, self.unit.step, lines)
    }

    /// Where a new line can go beside the statement: in front of it, and behind it when it is the
    /// last one of its block. The weight says how much the place suits.
    pub fn insertions(&self, line: &str) -> Vec<(Change, f64)> {
        let mut out = Vec::new();
        let lines = [(0, line)];
        if let Some(change) = self.insert_before(self.node, &lines) {
            out.push((change, 1.0));
        }
        if self.is_last_in_block()
            && !layout::leaves(self.node)
            && let Some(change) = self.insert_after(self.node, &lines)
        {
            out.push((change, 1.0));
        }
        out
    }

    /// The statement's block.
    pub fn block(&self) -> Option<Step<'a>> {
        self.unit
            .depth
            .checked_sub(2)
            .and_then(|i| self.path.get(i).copied())
    }
}

/// Whether a grammar kind is an expression that can be replaced by another.
pub fn is_expression(kind: &str) -> bool {
    matches!(
        kind,
        "identifier"
            | "attribute"
            | "subscript"
            | "call"
            | "binary_operator"
            | "boolean_operator"
            | "comparison_operator"
            | "not_operator"
            | "unary_operator"
            | "integer"
            | "float"
            | "string"
            | "concatenated_string"
            | "true"
            | "false"
            | "none"
            | "list"
            | "tuple"
            | "set"
            | "dictionary"
            | "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression"
            | "parenthesized_expression"
            | "conditional_expression"
            | "lambda"
            | "await"
    )
}

/// How alike two names are, 0 to 1: shared prefixes and suffixes, small spelling differences,
/// shared words.
pub fn similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let (left, right): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let longest = left.len().max(right.len()).max(1);
    let prefix = left.iter().zip(&right).take_while(|(p, q)| p == q).count();
    let suffix = left
        .iter()
        .rev()
        .zip(right.iter().rev())
        .take_while(|(p, q)| p == q)
        .count();
    let affix = (prefix + suffix).min(left.len().min(right.len())) as f64 / longest as f64;
    let words = |s: &str| {
        s.to_lowercase()
            .split('_')
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (ours, theirs) = (words(a), words(b));
    let shared = ours.iter().filter(|w| theirs.contains(w)).count() as f64;
    let overlap = shared / ours.len().max(theirs.len()).max(1) as f64;
    let short = if longest == 1 { 0.5 } else { 0.0 };
    affix.max(overlap).max(short)
}

#[cfg(test)]
mod tests {
    use super::similarity;

    #[test]
    fn alike_names_are_recognised() {
        assert!(similarity("max_width", "min_width") > similarity("max_width", "count"));
        assert!(similarity("start", "stop") > similarity("start", "value"));
        assert!(similarity("i", "j") > similarity("i", "total"));
    }
}
