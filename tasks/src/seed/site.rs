//! What a mutation operator sees of a file, and how it says what it would do.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ndbg_tools::source::Edit;
use ndbg_tools::source::syntax::{Syntax, is_statement};
use tree_sitter::Node;

/// A bug that could be put into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// Operator, for example `lost-branch`.
    pub operator: &'static str,
    /// Edits of one file.
    pub edits: Vec<Edit>,
    /// Function, dotted; empty at module level.
    pub function: String,
    /// One-based first line edited, in the file without the bug.
    pub line: usize,
    /// What is wrong afterwards, in words.
    pub summary: String,
}

/// A file and the mutations proposed for it.
#[derive(Debug)]
pub struct Site<'a> {
    syntax: &'a Syntax,
    /// Attribute names of the file, and whether each is called.
    attributes: BTreeMap<&'a str, BTreeSet<bool>>,
    /// String keys of the file, as written.
    keys: BTreeSet<&'a str>,
    /// Exception types that the file raises or catches.
    exceptions: BTreeSet<&'a str>,
    proposed: Vec<Mutation>,
}

impl<'a> Site<'a> {
    /// Collects what the operators need to know of a file.
    pub fn new(syntax: &'a Syntax) -> Self {
        let mut site = Self {
            syntax,
            attributes: BTreeMap::new(),
            keys: BTreeSet::new(),
            exceptions: BTreeSet::new(),
            proposed: Vec::new(),
        };
        site.collect(syntax.root());
        site
    }

    fn collect(&mut self, node: Node<'a>) {
        let text = |node: Node<'_>| &self.syntax.file().text()[node.byte_range()];
        match node.kind() {
            "attribute" => {
                if let Some(name) = node.child_by_field_name("attribute") {
                    let called = node.parent().is_some_and(|parent| {
                        parent.kind() == "call"
                            && parent.child_by_field_name("function") == Some(node)
                    });
                    self.attributes
                        .entry(text(name))
                        .or_default()
                        .insert(called);
                }
            }
            "subscript" => {
                if let Some(key) = node.child_by_field_name("subscript")
                    && is_plain_string(key, text(key))
                {
                    self.keys.insert(text(key));
                }
            }
            "pair" => {
                if let Some(key) = node.child_by_field_name("key")
                    && is_plain_string(key, text(key))
                {
                    self.keys.insert(text(key));
                }
            }
            "raise_statement" | "except_clause" => {
                for name in exception_names(node) {
                    self.exceptions.insert(text(name));
                }
            }
            _ => {}
        }
        for child in children(node) {
            self.collect(child);
        }
    }

    /// Text of a node.
    pub fn text(&self, node: Node<'_>) -> &'a str {
        &self.syntax.file().text()[node.byte_range()]
    }

    /// Text of the whole file.
    pub fn source(&self) -> &'a str {
        self.syntax.file().text()
    }

    /// Attribute names that are called (or not), in order.
    pub fn attributes(&self, called: bool) -> impl Iterator<Item = &'a str> + '_ {
        self.attributes
            .iter()
            .filter(move |(_, uses)| uses.contains(&called))
            .map(|(name, _)| *name)
    }

    /// String keys, as written.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.keys.iter().copied()
    }

    /// Exception types.
    pub fn exceptions(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.exceptions.iter().copied()
    }

    /// Proposes to replace `node` by `text`.
    pub fn replace(
        &mut self,
        operator: &'static str,
        node: Node<'_>,
        text: impl Into<String>,
        summary: impl Into<String>,
    ) {
        self.propose(operator, vec![(node.byte_range(), text.into())], summary);
    }

    /// Proposes edits that belong together.
    pub fn propose(
        &mut self,
        operator: &'static str,
        edits: Vec<(Range<usize>, String)>,
        summary: impl Into<String>,
    ) {
        let file = self.syntax.file();
        let changes = edits
            .iter()
            .any(|(range, text)| self.source()[range.clone()] != **text);
        let Some(first) = edits.iter().map(|(range, _)| range.start).min() else {
            return;
        };
        if !changes {
            return;
        }
        // An edit may start at the indentation or the line break before what it is about.
        let shown = first
            + self.source()[first..]
                .find(|c: char| !c.is_whitespace())
                .unwrap_or(0);
        let line = file.line_of(shown);
        let function = self
            .syntax
            .function_at_line(line)
            .map(|index| self.syntax.functions()[index].qualname.clone());
        self.proposed.push(Mutation {
            operator,
            edits: edits
                .into_iter()
                .map(|(range, text)| Edit::replace(file.path(), range, text))
                .collect(),
            function: function.unwrap_or_default(),
            line,
            summary: summary.into(),
        });
    }

    /// What was proposed.
    pub fn finish(self) -> Vec<Mutation> {
        self.proposed
    }

    /// White space in front of the first word of the line that `node` starts on; none when something
    /// else stands there.
    pub fn indent(&self, node: Node<'_>) -> Option<&'a str> {
        let source = self.source();
        let start = line_start(source, node.start_byte());
        let before = &source[start..node.start_byte()];
        before
            .chars()
            .all(|c| c == ' ' || c == '\t')
            .then_some(before)
    }

    /// The edit that removes a statement with its lines, or puts `pass` where a block would be empty.
    /// None when something else stands on its lines.
    pub fn removal(&self, statement: Node<'_>) -> Option<(Range<usize>, String)> {
        let block = statement.parent()?;
        if statements(block).len() < 2 {
            return Some((statement.byte_range(), "pass".into()));
        }
        let indent = self.indent(statement)?;
        let source = self.source();
        let rest = &source[statement.end_byte()..];
        let line = rest.find('\n').map_or(rest, |at| &rest[..at]);
        let comment = line.trim_start();
        if !comment.is_empty() && !comment.starts_with('#') {
            return None;
        }
        let start = statement.start_byte() - indent.len();
        let end = statement.end_byte() + (line.len() + 1).min(rest.len());
        Some((start..end, String::new()))
    }

    /// The text of a block as it reads at the indentation `indent`, without leading white space.
    pub fn reindented(&self, block: Node<'_>, indent: &str) -> Option<String> {
        let body = statements(block);
        let first = *body.first()?;
        let last = *body.last()?;
        let own = self.indent(first)?;
        if spans_lines(block) {
            return None;
        }
        let text = &self.source()[first.start_byte()..last.end_byte()];
        let mut out = String::new();
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                out.push('\n');
                let line = line.trim_end_matches('\r');
                if line.trim().is_empty() {
                    continue;
                }
                out.push_str(indent);
                out.push_str(line.strip_prefix(own).unwrap_or_else(|| line.trim_start()));
            } else {
                out.push_str(line.trim_end_matches('\r'));
            }
        }
        Some(out)
    }
}

/// Named children, comments left out.
pub fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| child.kind() != "comment")
        .collect()
}

/// Children of a field.
pub fn field<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(name, &mut cursor).collect()
}

/// Statements directly in a block or module.
pub fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    children(block)
        .into_iter()
        .filter(|child| is_statement(child.kind()) || child.kind() == "decorated_definition")
        .collect()
}

/// The unnamed child that is an operator or a keyword of this text.
pub fn token<'t>(node: Node<'t>, texts: &[&str]) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .find(|child| !child.is_named() && texts.contains(&child.kind()))
}

/// Positional arguments and the others of a call; none when there is no argument list.
pub fn arguments(call: Node<'_>) -> Option<(Vec<Node<'_>>, Vec<Node<'_>>)> {
    let list = call.child_by_field_name("arguments")?;
    if list.kind() != "argument_list" {
        return None;
    }
    Some(children(list).into_iter().partition(|argument| {
        !matches!(
            argument.kind(),
            "keyword_argument" | "list_splat" | "dictionary_splat"
        )
    }))
}

/// The function around a node.
pub fn enclosing_function(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node;
    while let Some(parent) = at.parent() {
        if parent.kind() == "function_definition" {
            return Some(parent);
        }
        at = parent;
    }
    None
}

/// Whether `expression` keeps its meaning when it is put into the place of an operand.
pub fn is_atom(expression: Node<'_>) -> bool {
    matches!(
        expression.kind(),
        "identifier"
            | "attribute"
            | "subscript"
            | "call"
            | "string"
            | "integer"
            | "float"
            | "true"
            | "false"
            | "none"
            | "list"
            | "tuple"
            | "dictionary"
            | "set"
            | "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "parenthesized_expression"
    )
}

/// Text of an expression for the place of another one, in parentheses where it may need them.
pub fn operand(site: &Site<'_>, expression: Node<'_>) -> String {
    let text = site.text(expression);
    if is_atom(expression) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// Whether a string inside the node spans several lines, so that its lines cannot be moved.
fn spans_lines(node: Node<'_>) -> bool {
    (node.kind() == "string" && node.start_position().row != node.end_position().row)
        || children(node).into_iter().any(spans_lines)
}

/// Whether a node is a string literal without prefix and interpolation.
pub fn is_plain_string(node: Node<'_>, text: &str) -> bool {
    node.kind() == "string"
        && (text.starts_with('"') || text.starts_with('\''))
        && !text.starts_with("\"\"\"")
        && !text.starts_with("'''")
}

/// Identifiers of the exception types in a `raise` or an `except`.
pub fn exception_names(node: Node<'_>) -> Vec<Node<'_>> {
    let Some(first) = children(node).into_iter().next() else {
        return Vec::new();
    };
    let first = match first.kind() {
        "as_pattern" => children(first).into_iter().next().unwrap_or(first),
        "call" => first.child_by_field_name("function").unwrap_or(first),
        _ => first,
    };
    match first.kind() {
        "identifier" => vec![first],
        "tuple" => children(first)
            .into_iter()
            .filter(|name| name.kind() == "identifier")
            .collect(),
        _ => Vec::new(),
    }
}

fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |line| line + 1)
}
