//! A parsed module.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, Identifier, Keyword, ModModule, Stmt};
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
    /// Text of the call.
    call_text: String,
    /// For each line, from 1, the first line of the statement that it belongs to; 0 for none.
    starts: Vec<u32>,
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
        let expression = *expression.into_syntax().body;
        if let Some(keyword) = repeated_keyword(&expression) {
            let place = call_lines.line_column(keyword.range().start(), call);
            return Err(Unparsable {
                line: place.line.get(),
                column: place.column.get(),
                message: "a keyword argument is repeated".to_owned(),
            });
        }
        let mut program = Self {
            source: source.to_owned(),
            module: parsed.into_syntax(),
            lines,
            call: expression,
            call_text: call.to_owned(),
            starts: vec![0; source.lines().count() + 2],
        };
        program.starts = Starts::of(&program);
        Ok(program)
    }

    /// Statements of the module.
    pub fn body(&self) -> &[Stmt] {
        &self.module.body
    }

    /// The expression to evaluate.
    pub fn call(&self) -> &Expr {
        &self.call
    }

    /// The function's name and the arguments' text of a call like `f([3], k=1)`; none for another
    /// expression.
    pub fn plain_call(&self) -> Option<(&str, &str)> {
        let Expr::Call(call) = &self.call else {
            return None;
        };
        let Expr::Name(name) = &*call.func else {
            return None;
        };
        let inner = self.call_text[call.arguments.range()].strip_prefix('(')?;
        Some((name.id.as_str(), inner.strip_suffix(')')?))
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

    /// The first line of the statement that a line belongs to, or of its header; the line itself where
    /// there is none.
    pub fn statement_line(&self, line: u32) -> u32 {
        match self.starts.get(line as usize) {
            Some(&start) if start > 0 => start,
            _ => line,
        }
    }

    /// Whether the statement that begins on a line goes on on the next one.
    pub fn spans_lines(&self, line: u32) -> bool {
        self.starts.get(line as usize + 1) == Some(&line)
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

/// Python's compiler refuses what its grammar allows.
fn repeated_keyword(call: &Expr) -> Option<&Keyword> {
    let Expr::Call(call) = call else {
        return None;
    };
    let keywords = &call.arguments.keywords;
    keywords.iter().enumerate().find_map(|(at, keyword)| {
        let name = keyword.arg.as_ref()?;
        let before = keywords[..at].iter().filter_map(|other| other.arg.as_ref());
        before
            .map(Identifier::as_str)
            .any(|other| other == name.as_str())
            .then_some(keyword)
    })
}

/// Finds the first line of each line's statement.
struct Starts<'p> {
    program: &'p Program,
    starts: Vec<u32>,
}

impl Starts<'_> {
    fn of(program: &Program) -> Vec<u32> {
        let mut found = Starts {
            program,
            starts: program.starts.clone(),
        };
        found.visit_body(program.body());
        found.starts
    }

    fn mark(&mut self, start: TextSize, end: TextSize) {
        let (first, last) = (self.program.line_at(start), self.program.line_at(end));
        for line in first..=last {
            if let Some(held) = self.starts.get_mut(line as usize) {
                *held = first;
            }
        }
    }
}

impl<'p> Visitor<'p> for Starts<'_> {
    fn visit_stmt(&mut self, statement: &'p Stmt) {
        // A compound statement is its header; what is in it comes after and covers its own lines.
        let end = match statement {
            Stmt::FunctionDef(inner) => inner.body.first().map(Ranged::start),
            Stmt::ClassDef(inner) => inner.body.first().map(Ranged::start),
            Stmt::For(inner) => Some(inner.iter.end()),
            Stmt::While(inner) => Some(inner.test.end()),
            Stmt::If(inner) => {
                for clause in &inner.elif_else_clauses {
                    if let Some(test) = &clause.test {
                        self.mark(test.start(), test.end());
                    }
                }
                Some(inner.test.end())
            }
            Stmt::With(_) | Stmt::Try(_) | Stmt::Match(_) => Some(statement.start()),
            _ => Some(statement.end()),
        };
        let header = match statement {
            // The `def` line is the call's; a decorator's line is the statement's.
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => statement.start(),
            _ => end.unwrap_or(statement.start()),
        };
        self.mark(statement.start(), header);
        walk_stmt(self, statement);
    }
}
