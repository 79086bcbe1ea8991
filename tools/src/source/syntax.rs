//! The syntax tree of a Python file and an index of its functions and statements.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use camino::Utf8PathBuf;
use thiserror::Error;
use tree_sitter::{Node, Parser, Tree};

use super::SourceFile;

/// Why a file has no syntax tree.
#[derive(Debug, Error)]
pub enum SyntaxError {
    /// The parser gave up: a version mismatch or an operation limit.
    #[error("{path}: could not be parsed")]
    Unparsed {
        /// File, relative to the project.
        path: Utf8PathBuf,
    },
}

/// A function or method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Dotted name inside the module: `Class.method`, `outer.inner`.
    pub qualname: String,
    /// Text range of the `def` statement, decorators excluded.
    pub span: Range<usize>,
    /// Text range of the body.
    pub body: Range<usize>,
    /// One-based line of `def`.
    pub first_line: usize,
    /// One-based line of the first decorator, or of `def`.
    pub outer_line: usize,
    /// One-based last line.
    pub last_line: usize,
    /// Innermost enclosing class, when the function is defined directly in it.
    pub class: Option<String>,
    /// Index of the enclosing function, if any.
    pub parent: Option<usize>,
}

/// A statement, or a clause of one (`elif`, `except`, `case`); compound statements span their header
/// only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Grammar kind, for example `if_statement`.
    pub kind: &'static str,
    /// Text range; of a compound statement everything up to and with the colon.
    pub span: Range<usize>,
    /// Text range of the whole statement, blocks included.
    pub full: Range<usize>,
    /// One-based first line.
    pub first_line: usize,
    /// One-based last line of [`Self::span`].
    pub last_line: usize,
    /// Index of the innermost enclosing function; none at module or class level.
    pub function: Option<usize>,
}

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Syntax {
    file: SourceFile,
    tree: Tree,
    functions: Arc<[Function]>,
    statements: Arc<[Statement]>,
    line_ending: &'static str,
}

impl Syntax {
    /// Parses `file`. Syntax errors in it do not fail: see [`Self::has_errors`].
    pub fn parse(file: SourceFile) -> Result<Self, SyntaxError> {
        let tree = parse_text(file.text()).ok_or_else(|| SyntaxError::Unparsed {
            path: file.path().to_owned(),
        })?;
        let mut index = Index {
            file: &file,
            functions: Vec::new(),
            statements: Vec::new(),
        };
        index.visit(tree.root_node(), "", None, None);
        let (functions, statements) = (index.functions.into(), index.statements.into());
        Ok(Self {
            line_ending: file.line_ending(),
            file,
            tree,
            functions,
            statements,
        })
    }

    /// The file parsed.
    pub fn file(&self) -> &SourceFile {
        &self.file
    }

    /// [`SourceFile::line_ending`], counted once.
    pub fn line_ending(&self) -> &'static str {
        self.line_ending
    }

    /// Root of the tree.
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// Whether the tree holds error nodes.
    pub fn has_errors(&self) -> bool {
        self.tree.root_node().has_error()
    }

    /// Text of a node.
    pub fn text(&self, node: Node<'_>) -> &str {
        &self.file.text()[node.byte_range()]
    }

    /// All functions in source order.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// All statements in source order, function and class definitions included.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The innermost function whose lines hold `line`.
    pub fn function_at_line(&self, line: usize) -> Option<usize> {
        self.functions
            .iter()
            .enumerate()
            .filter(|(_, f)| f.first_line <= line && line <= f.last_line)
            .min_by_key(|(_, f)| f.last_line - f.first_line)
            .map(|(i, _)| i)
    }

    /// The innermost statement whose header lines hold `line`.
    pub fn statement_at_line(&self, line: usize) -> Option<usize> {
        self.statements
            .iter()
            .enumerate()
            .filter(|(_, s)| s.first_line <= line && line <= s.last_line)
            .min_by_key(|(_, s)| s.last_line - s.first_line)
            .map(|(i, _)| i)
    }
}

/// Parses a text as Python.
pub fn parse_text(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_python::LANGUAGE.into())
        .ok()?;
    parser.parse(as_python_reads(text).as_ref(), None)
}

/// The text with a line feed in place of every lone carriage return: to Python it ends a line, to
/// the grammar it is white space. Offsets stay the same.
pub fn as_python_reads(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let lone = c == '\r' && characters.peek() != Some(&'\n');
        out.push(if lone { '\n' } else { c });
    }
    Cow::Owned(out)
}

/// Whether a node kind is a statement.
pub fn is_statement(kind: &str) -> bool {
    kind.ends_with("_statement") || matches!(kind, "function_definition" | "class_definition")
}

/// Whether a node kind is a part of a compound statement with a header that runs by itself.
fn is_clause(kind: &str) -> bool {
    matches!(
        kind,
        "elif_clause" | "except_clause" | "except_group_clause" | "case_clause"
    )
}

struct Index<'a> {
    file: &'a SourceFile,
    functions: Vec<Function>,
    statements: Vec<Statement>,
}

impl Index<'_> {
    fn visit(
        &mut self,
        node: Node<'_>,
        prefix: &str,
        class: Option<&str>,
        function: Option<usize>,
    ) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if is_statement(child.kind()) || is_clause(child.kind()) {
                self.push_statement(child, function);
            }
            match child.kind() {
                "function_definition" => {
                    let name = self.name_of(child);
                    let qualname = join(prefix, name);
                    let body = child
                        .child_by_field_name("body")
                        .map_or(child.byte_range(), |b| b.byte_range());
                    let decorated = node.kind() == "decorated_definition";
                    let outer = if decorated { node } else { child };
                    let index = self.functions.len();
                    self.functions.push(Function {
                        qualname: qualname.clone(),
                        first_line: self.file.line_of(child.start_byte()),
                        outer_line: self.file.line_of(outer.start_byte()),
                        last_line: self.file.line_of(last_byte(child)),
                        span: child.byte_range(),
                        body,
                        class: class.map(str::to_owned),
                        parent: function,
                    });
                    self.visit(child, &qualname, None, Some(index));
                }
                "class_definition" => {
                    let name = join(prefix, self.name_of(child));
                    self.visit(child, &name, Some(&name), function);
                }
                _ => self.visit(child, prefix, class, function),
            }
        }
    }

    fn name_of(&self, node: Node<'_>) -> &str {
        node.child_by_field_name("name")
            .map_or("", |n| &self.file.text()[n.byte_range()])
    }

    fn push_statement(&mut self, node: Node<'_>, function: Option<usize>) {
        let mut cursor = node.walk();
        let header_end = node
            .children(&mut cursor)
            .find(|c| c.kind() == ":")
            .map_or(node.end_byte(), |c| c.end_byte());
        self.statements.push(Statement {
            kind: node.kind(),
            span: node.start_byte()..header_end,
            full: node.byte_range(),
            first_line: self.file.line_of(node.start_byte()),
            last_line: self
                .file
                .line_of(header_end.saturating_sub(1).max(node.start_byte())),
            function,
        });
    }
}

fn last_byte(node: Node<'_>) -> usize {
    node.end_byte().saturating_sub(1).max(node.start_byte())
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
import os

LIMIT = 10

class Stack:
    size = 0

    @property
    def top(self):
        if self.items:
            return self.items[-1]
        return None

def outer(a, b=1):
    def inner():
        return a
    return inner
";

    fn parse(text: &str) -> Syntax {
        Syntax::parse(SourceFile::decode("a.py", text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn functions_have_qualified_names_and_lines() {
        let syntax = parse(SOURCE);
        let names: Vec<_> = syntax
            .functions()
            .iter()
            .map(|f| (f.qualname.as_str(), f.first_line, f.last_line, f.parent))
            .collect();
        assert_eq!(
            names,
            [
                ("Stack.top", 9, 12, None),
                ("outer", 14, 17, None),
                ("outer.inner", 15, 16, Some(1))
            ]
        );
        assert_eq!(syntax.functions()[0].class.as_deref(), Some("Stack"));
    }

    #[test]
    fn a_compound_statement_spans_its_header() {
        let syntax = parse(SOURCE);
        let index = syntax.statement_at_line(10).unwrap();
        let statement = &syntax.statements()[index];
        assert_eq!(statement.kind, "if_statement");
        assert_eq!(&SOURCE[statement.span.clone()], "if self.items:");
        assert_eq!(syntax.function_at_line(16), Some(2));
    }

    #[test]
    fn a_lone_carriage_return_ends_a_line() {
        let syntax = parse("def f():\r    a = 1 # one\r\n    return a\r");
        assert!(!syntax.has_errors());
        let lines: Vec<_> = syntax.statements().iter().map(|s| s.first_line).collect();
        assert_eq!(lines, [1, 2, 3]);
    }

    #[test]
    fn a_broken_file_still_has_a_tree() {
        assert!(parse("def f(:\n    return 1\n").has_errors());
    }
}
