//! A parsed module.

use ruff_python_ast::{Expr, ModModule, Stmt};
use ruff_source_file::LineIndex;
use ruff_text_size::{Ranged, TextSize};
use thiserror::Error;

/// Source that Python would not accept.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Unparsable {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What the parser says.
    pub message: String,
}

/// The source and syntax tree of a module, and of a call to be made in it.
#[derive(Debug)]
pub struct Program {
    source: String,
    module: ModModule,
    lines: LineIndex,
    call: Expr,
}

impl Program {
    /// Parses a module and the expression that is evaluated after it, such as `f([3, 1, 2])`.
    pub fn parse(source: &str, call: &str) -> Result<Self, Unparsable> {
        let lines = LineIndex::from_source_text(source);
        let parsed = ruff_python_parser::parse_module(source)
            .map_err(|error| unparsable(&error, &lines, source))?;
        let call_lines = LineIndex::from_source_text(call);
        let expression = ruff_python_parser::parse_expression(call)
            .map_err(|error| unparsable(&error, &call_lines, call))?;
        Ok(Self {
            source: source.to_owned(),
            module: parsed.into_syntax(),
            lines,
            call: *expression.into_syntax().body,
        })
    }

    /// Statements of the module.
    pub fn body(&self) -> &[Stmt] {
        &self.module.body
    }

    /// The expression to evaluate.
    pub fn call(&self) -> &Expr {
        &self.call
    }

    /// The module's text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The line of a place, from 1.
    pub fn line_at(&self, offset: TextSize) -> u32 {
        self.lines.line_index(offset).get() as u32
    }

    /// The line on which a node begins, from 1.
    pub fn line_of(&self, node: &impl Ranged) -> u32 {
        self.line_at(node.start())
    }

    /// Text of a line, from 1, without its end.
    pub fn line_text(&self, line: u32) -> &str {
        self.source
            .lines()
            .nth(line.saturating_sub(1) as usize)
            .unwrap_or_default()
    }
}

fn unparsable(
    error: &ruff_python_parser::ParseError,
    lines: &LineIndex,
    source: &str,
) -> Unparsable {
    let place = lines.line_column(error.location.start(), source);
    Unparsable {
        line: place.line.get(),
        column: place.column.get(),
        message: error.error.to_string(),
    }
}
