//! Reads expressions by recursive descent.

use thiserror::Error;

use super::{Comparison, Expression, SPECIAL};
use crate::literal;

/// Nesting that is followed.
const MAX_DEPTH: usize = 100;

/// An expression that does not parse.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("column {column}: {reason}")]
pub struct SyntaxError {
    /// One-based column, in characters.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
}

/// Reads an expression.
pub fn parse(text: &str) -> Result<Expression, SyntaxError> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let expression = reader.or()?;
    reader.blank();
    if reader.rest().is_empty() {
        return Ok(expression);
    }
    Err(match reader.rest().chars().next() {
        Some('=') => reader.error("comparing is `==`"),
        Some('(') => reader.error("nothing is called but `len`"),
        Some(c) if "+-*/%".contains(c) => reader.error("there is no arithmetic here"),
        _ => reader.error("nothing more was expected here"),
    })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn error(&self, reason: impl Into<String>) -> SyntaxError {
        self.error_at(self.at, reason)
    }

    fn error_at(&self, at: usize, reason: impl Into<String>) -> SyntaxError {
        SyntaxError {
            column: self.text[..at].chars().count() + 1,
            reason: reason.into(),
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.blank();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn peek_word(&mut self) -> &'a str {
        self.blank();
        let rest = self.rest();
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return "";
        }
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        &rest[..end]
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    fn enter(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        Ok(())
    }

    fn or(&mut self) -> Result<Expression, SyntaxError> {
        self.enter()?;
        let mut left = self.and()?;
        while self.take_word("or") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, SyntaxError> {
        let mut left = self.not()?;
        while self.take_word("and") {
            left = Expression::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expression, SyntaxError> {
        if !self.take_word("not") {
            return self.comparison();
        }
        self.enter()?;
        let inner = self.not()?;
        self.depth -= 1;
        Ok(Expression::Not(Box::new(inner)))
    }

    fn comparison(&mut self) -> Result<Expression, SyntaxError> {
        let first = self.primary()?;
        let mut rest = Vec::new();
        while let Some(operator) = self.operator() {
            rest.push((operator, self.primary()?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            Expression::Compare(Box::new(first), rest)
        })
    }

    fn operator(&mut self) -> Option<Comparison> {
        let symbols = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::LessEqual),
            (">=", Comparison::GreaterEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        for (symbol, operator) in symbols {
            if self.take(symbol) {
                return Some(operator);
            }
        }
        let start = self.at;
        if self.take_word("in") {
            return Some(Comparison::In);
        }
        if self.take_word("is") {
            let not = self.take_word("not");
            return Some(if not {
                Comparison::IsNot
            } else {
                Comparison::Is
            });
        }
        if self.take_word("not") && self.take_word("in") {
            return Some(Comparison::NotIn);
        }
        self.at = start;
        None
    }

    fn primary(&mut self) -> Result<Expression, SyntaxError> {
        let mut value = self.atom()?;
        loop {
            if self.take("[") {
                let key = self.or()?;
                if self.take(":") {
                    self.at -= 1;
                    return Err(self.error("slices are not supported"));
                }
                self.expect("]")?;
                value = Expression::Item(Box::new(value), Box::new(key));
            } else if self.take(".") {
                let name = self.peek_word();
                if name.is_empty() {
                    return Err(self.error("the name of an attribute is missing"));
                }
                self.at += name.len();
                value = Expression::Attribute(Box::new(value), name.to_owned());
            } else {
                return Ok(value);
            }
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), SyntaxError> {
        if self.take(token) {
            Ok(())
        } else {
            self.blank();
            Err(self.error(format!("`{token}` is missing")))
        }
    }

    fn atom(&mut self) -> Result<Expression, SyntaxError> {
        self.blank();
        if self.rest().is_empty() {
            return Err(self.error("a value is missing"));
        }
        if self.rest().starts_with('$') {
            return self.special();
        }
        let word = self.peek_word();
        // Words that begin a literal: `None`, `b'…'`, `set()`, `range(3)`.
        if let Ok((value, length)) = literal::parse_prefix(self.rest())
            && !self.rest().starts_with('(')
        {
            self.at += length;
            return Ok(Expression::Literal(value));
        }
        if word == "len" {
            self.at += word.len();
            self.expect("(")?;
            let inner = self.or()?;
            self.expect(")")?;
            return Ok(Expression::Length(Box::new(inner)));
        }
        if matches!(word, "and" | "or" | "not" | "in" | "is") {
            return Err(self.error(format!("a value is missing before `{word}`")));
        }
        if !word.is_empty() {
            self.at += word.len();
            return Ok(Expression::Name(word.to_owned()));
        }
        if self.rest().starts_with('(') {
            if let Ok((value, length)) = literal::parse_prefix(self.rest()) {
                self.at += length;
                return Ok(Expression::Literal(value));
            }
            self.at += 1;
            let inner = self.or()?;
            self.expect(")")?;
            return Ok(inner);
        }
        match literal::parse_prefix(self.rest()) {
            Err(error) if self.rest().starts_with(['\'', '"']) => {
                Err(self.error_at(self.at, error.reason))
            }
            Err(error) if self.rest().starts_with(['[', '{', '-', '+']) => {
                Err(self.error_at(self.at + error.offset, error.reason))
            }
            _ => Err(self.error("a value is missing")),
        }
    }

    fn special(&mut self) -> Result<Expression, SyntaxError> {
        let dollar = self.at;
        self.at += 1;
        let name = self.peek_word();
        if !SPECIAL.contains(&name) {
            let known: Vec<String> = SPECIAL.iter().map(|name| format!("${name}")).collect();
            return Err(self.error_at(dollar, format!("only {} exist", known.join(", "))));
        }
        self.at += name.len();
        Ok(Expression::Special(name.to_owned()))
    }
}
