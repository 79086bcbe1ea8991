//! Kinds of statements, by the line on which they begin.

use std::collections::HashMap;

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::{Visitor, walk_stmt};
use serde::Serialize;

use crate::harness::Program;

/// What a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    /// `x = …`.
    Assignment,
    /// `x += …`.
    Augmented,
    /// The first time at a `for`: what it walks through.
    ForEntry,
    /// Coming back to a `for`.
    ForNext,
    /// The condition of an `if` or `elif`.
    If,
    /// The condition of a `while`.
    While,
    /// `return …`.
    Return,
    /// An expression on its own.
    Expression,
    /// `raise …`.
    Raise,
    /// `assert …`.
    Assert,
    /// `del …`.
    Delete,
    /// `try`, and what an `except` asks for.
    Try,
    /// `def` and `class` within a function.
    Definition,
    /// `pass`, `break`, `continue`, imports and the rest.
    Other,
}

impl StatementKind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assignment => "assignment",
            Self::Augmented => "augmented assignment",
            Self::ForEntry => "for, entry",
            Self::ForNext => "for, next item",
            Self::If => "if condition",
            Self::While => "while condition",
            Self::Return => "return",
            Self::Expression => "expression",
            Self::Raise => "raise",
            Self::Assert => "assert",
            Self::Delete => "del",
            Self::Try => "try and except",
            Self::Definition => "def and class",
            Self::Other => "pass, break and others",
        }
    }

    fn of(statement: &Stmt) -> Self {
        match statement {
            Stmt::Assign(_) | Stmt::AnnAssign(_) => Self::Assignment,
            Stmt::AugAssign(_) => Self::Augmented,
            Stmt::For(_) => Self::ForEntry,
            Stmt::If(_) => Self::If,
            Stmt::While(_) => Self::While,
            Stmt::Return(_) => Self::Return,
            Stmt::Expr(_) => Self::Expression,
            Stmt::Raise(_) => Self::Raise,
            Stmt::Assert(_) => Self::Assert,
            Stmt::Delete(_) => Self::Delete,
            Stmt::Try(_) => Self::Try,
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => Self::Definition,
            _ => Self::Other,
        }
    }
}

/// The kind of the first statement on each line.
pub fn kinds_by_line(program: &Program) -> HashMap<u32, StatementKind> {
    let mut found = Found {
        program,
        kinds: HashMap::new(),
    };
    found.visit_body(program.body());
    found.kinds
}

struct Found<'p> {
    program: &'p Program,
    kinds: HashMap<u32, StatementKind>,
}

impl<'p> Visitor<'p> for Found<'p> {
    fn visit_stmt(&mut self, statement: &'p Stmt) {
        let line = self.program.line_of(statement);
        self.kinds
            .entry(line)
            .or_insert(StatementKind::of(statement));
        match statement {
            Stmt::If(choice) => {
                for clause in &choice.elif_else_clauses {
                    if let Some(test) = &clause.test {
                        let line = self.program.line_of(test);
                        self.kinds.entry(line).or_insert(StatementKind::If);
                    }
                }
            }
            Stmt::Try(attempt) => {
                for handler in &attempt.handlers {
                    let line = self.program.line_of(handler);
                    self.kinds.entry(line).or_insert(StatementKind::Try);
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_the_kind_of_its_first_statement() {
        use StatementKind as Kind;
        let source = "\
def f(x):
    for i in x:
        if i: y = 1
        elif x:
            y += 2
    try:
        return y
    except ValueError:
        pass
";
        let program = Program::parse(source, "f([])").unwrap();
        let kinds = kinds_by_line(&program);
        let expected = [
            Kind::Definition,
            Kind::ForEntry,
            Kind::If,
            Kind::If,
            Kind::Augmented,
            Kind::Try,
            Kind::Return,
            Kind::Try,
            Kind::Other,
        ];
        for (line, kind) in (1..).zip(expected) {
            assert_eq!(kinds[&line], kind, "line {line}");
        }
    }
}
