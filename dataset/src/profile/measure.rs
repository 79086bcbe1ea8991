//! Counting what functions are made of.

use std::collections::BTreeMap;

use thiserror::Error;
use tree_sitter::{Node, Parser};

use super::kinds::{self, BUILTINS, METHODS, integer, slice};
use super::selection::{Selection, selects};
use super::{Metric, Profile, length_bucket};

/// A text that the parser could not read.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the source could not be parsed")]
pub struct Unparsed;

/// Counts, added up over files.
#[derive(Debug, Clone, Default)]
pub struct Measurement {
    functions: u64,
    counts: BTreeMap<Metric, BTreeMap<String, u64>>,
}

impl Measurement {
    /// Adds the functions of a module. `main` without parameters is left out: in generated programs
    /// it only holds the call. A text with syntax errors counts as unparsed.
    pub fn add(&mut self, source: &str, selection: Selection) -> Result<(), Unparsed> {
        let mut parser = Parser::new();
        parser
            .set_language(&tree_sitter_python::LANGUAGE.into())
            .map_err(|_| Unparsed)?;
        let tree = parser.parse(source, None).ok_or(Unparsed)?;
        if tree.root_node().has_error() {
            return Err(Unparsed);
        }
        self.find(tree.root_node(), source, selection);
        Ok(())
    }

    /// Functions counted so far.
    pub fn functions(&self) -> u64 {
        self.functions
    }

    /// The counts as shares. Values rarer than one in a hundred thousand are dropped.
    pub fn profile(&self, about: &str) -> Profile {
        let tables = self.counts.iter().map(|(metric, counts)| {
            let total = counts.values().sum::<u64>() as f64;
            let shares = counts
                .iter()
                .map(|(value, count)| (value.clone(), *count as f64 / total));
            (
                *metric,
                shares.filter(|(_, share)| *share >= 1e-5).collect(),
            )
        });
        Profile {
            about: about.to_owned(),
            functions: self.functions,
            tables: tables.collect(),
            weights: BTreeMap::new(),
        }
    }

    fn find(&mut self, node: Node<'_>, source: &str, selection: Selection) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "function_definition" if selects(child, source, selection) => {
                    self.function(child, source);
                }
                "class_definition" if selection == Selection::SelfContained => continue,
                _ => {}
            }
            self.find(child, source, selection);
        }
    }

    fn count(&mut self, metric: Metric, value: &str) {
        *self
            .counts
            .entry(metric)
            .or_default()
            .entry(value.to_owned())
            .or_default() += 1;
    }

    fn function(&mut self, function: Node<'_>, source: &str) {
        let Some(body) = function.child_by_field_name("body") else {
            return;
        };
        let parameters = function.child_by_field_name("parameters");
        let number = parameters.map_or(0, |parameters| {
            let mut cursor = parameters.walk();
            parameters
                .named_children(&mut cursor)
                .filter(|one| one.kind() != "comment" && text(*one, source) != "self")
                .count()
        });
        if number == 0 && name(function, source) == "main" {
            return;
        }
        self.functions += 1;
        self.count(Metric::Parameters, length_bucket(number));
        let total = self.block(body, source, 1);
        self.count(Metric::FunctionLength, length_bucket(total));
    }

    /// Counts a block and what is nested in it; returns the number of statements.
    fn block(&mut self, block: Node<'_>, source: &str, depth: usize) -> usize {
        let (mut direct, mut nested) = (0, 0);
        let mut cursor = block.walk();
        for node in block.named_children(&mut cursor) {
            let Some(kind) = kinds::statement(node) else {
                continue;
            };
            direct += 1;
            self.count(Metric::Statement, kind);
            self.count(Metric::Depth, length_bucket(depth));
            nested += self.statement(node, source, depth);
        }
        let metric = if depth == 1 {
            Metric::BodyLength
        } else {
            Metric::BlockLength
        };
        self.count(metric, length_bucket(direct));
        direct + nested
    }

    fn statement(&mut self, node: Node<'_>, source: &str, depth: usize) -> usize {
        // Functions and classes within are counted by themselves.
        if matches!(
            node.kind(),
            "function_definition" | "class_definition" | "decorated_definition"
        ) {
            return 0;
        }
        match node.kind() {
            "if_statement" => self.branches(node),
            "for_statement" => self.iterable(node, source),
            "raise_statement" => self.raised(node, source),
            "return_statement" => self.value_of(Metric::Returned, node.named_child(0)),
            "expression_statement" => self.assignment(node, source),
            _ => {}
        }
        if matches!(
            node.kind(),
            "if_statement" | "while_statement" | "elif_clause"
        ) {
            self.value_of(Metric::Condition, node.child_by_field_name("condition"));
        }
        self.parts(node, source, depth)
    }

    /// The expressions and blocks directly below a statement or one of its clauses.
    fn parts(&mut self, node: Node<'_>, source: &str, depth: usize) -> usize {
        let mut nested = 0;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "block" => nested += self.block(child, source, depth + 1),
                "elif_clause" => {
                    self.value_of(Metric::Condition, child.child_by_field_name("condition"));
                    nested += self.parts(child, source, depth);
                }
                "else_clause" | "except_clause" | "finally_clause" | "with_clause"
                | "with_item" | "case_clause" => {
                    nested += self.parts(child, source, depth);
                }
                "assignment" | "augmented_assignment" => {
                    for side in ["left", "right"] {
                        if let Some(part) = child.child_by_field_name(side) {
                            self.side(part, source, side == "left");
                        }
                    }
                }
                "comment" | "case_pattern" | "dotted_name" | "aliased_import" => {}
                _ => {
                    let target = Some(child) == node.child_by_field_name("left");
                    self.side(child, source, target);
                }
            }
        }
        nested
    }

    fn side(&mut self, node: Node<'_>, source: &str, target: bool) {
        if target {
            self.target(node, source);
        } else {
            let height = self.expression(node, source);
            if height > 0 {
                self.count(Metric::Height, length_bucket(height));
            }
        }
    }

    /// A plain name that is bound is no expression; what stands around it may hold some.
    fn target(&mut self, node: Node<'_>, source: &str) {
        match node.kind() {
            "identifier" => {}
            "attribute" | "subscript" => {
                self.expression(node, source);
            }
            _ => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    self.target(child, source);
                }
            }
        }
    }

    /// Counts an expression and those in it; returns the height of its tree.
    fn expression(&mut self, node: Node<'_>, source: &str) -> usize {
        let kind = kinds::expression(node);
        if let Some(kind) = kind {
            self.count(Metric::Expression, kind);
        }
        self.details(node, source);
        let height = match node.kind() {
            "identifier" | "integer" | "float" | "comment" | "format_specifier" | "type" => 0,
            "string" | "concatenated_string" if !kinds::is_formatted(node) => 0,
            "lambda" => node
                .child_by_field_name("body")
                .map_or(0, |body| self.expression(body, source)),
            "attribute" => node
                .child_by_field_name("object")
                .map_or(0, |one| self.expression(one, source)),
            "keyword_argument" => node
                .child_by_field_name("value")
                .map_or(0, |one| self.expression(one, source)),
            "call" => self.call(node, source),
            "for_in_clause" => {
                self.iterable(node, source);
                node.child_by_field_name("right")
                    .map_or(0, |one| self.expression(one, source))
            }
            _ => {
                let mut cursor = node.walk();
                let children: Vec<_> = node.named_children(&mut cursor).collect();
                children
                    .into_iter()
                    .map(|child| self.expression(child, source))
                    .max()
                    .unwrap_or(0)
            }
        };
        height + usize::from(kind.is_some())
    }

    fn call(&mut self, node: Node<'_>, source: &str) -> usize {
        let callee = node.child_by_field_name("function");
        let mut height = 0;
        match callee.map(|callee| (callee, callee.kind())) {
            Some((callee, "attribute")) => {
                let method = callee
                    .child_by_field_name("attribute")
                    .map_or("", |one| text(one, source));
                if METHODS.contains(&method) {
                    self.count(Metric::Method, method);
                }
                height = callee
                    .child_by_field_name("object")
                    .map_or(0, |one| self.expression(one, source));
            }
            Some((callee, "identifier")) => {
                let function = text(callee, source);
                if BUILTINS.contains(&function) {
                    self.count(Metric::Builtin, function);
                }
            }
            Some((callee, _)) => height = self.expression(callee, source),
            None => {}
        }
        let arguments = node.child_by_field_name("arguments");
        height.max(arguments.map_or(0, |arguments| self.expression(arguments, source)))
    }

    fn details(&mut self, node: Node<'_>, source: &str) {
        let items = node.named_child_count();
        match node.kind() {
            "string" => {
                let quotes: String = text(node, source).chars().rev().take(3).collect();
                let quotes = match quotes.as_str() {
                    "\"\"\"" | "'''" if text(node, source).len() > 5 => "triple",
                    other if other.starts_with('"') => "double",
                    _ => "single",
                };
                self.count(Metric::Quotes, quotes);
                if !kinds::is_formatted(node) {
                    let mut cursor = node.walk();
                    let contents = node
                        .named_children(&mut cursor)
                        .filter(|one| one.kind() == "string_content");
                    let length = contents.map(|one| text(one, source).chars().count()).sum();
                    self.count(Metric::StringLength, length_bucket(length));
                }
            }
            "list" => self.count(Metric::ListLength, length_bucket(items)),
            "dictionary" => self.count(Metric::DictLength, length_bucket(items)),
            "tuple" | "expression_list" => self.count(Metric::TupleLength, length_bucket(items)),
            "integer" => self.count(Metric::Integer, integer(text(node, source))),
            "subscript" => {
                let index = node.child_by_field_name("subscript");
                self.count(
                    Metric::Subscript,
                    index.map_or("index", |index| slice(index, source)),
                );
            }
            "binary_operator" => self.operator(Metric::Operator, node, source),
            "comparison_operator" => {
                let mut cursor = node.walk();
                let operators = node.children_by_field_name("operators", &mut cursor);
                let operators: Vec<_> = operators.map(|one| text(one, source)).collect();
                for operator in operators {
                    self.count(Metric::Comparison, operator);
                }
            }
            _ => {}
        }
    }

    fn operator(&mut self, metric: Metric, node: Node<'_>, source: &str) {
        if let Some(operator) = node.child_by_field_name("operator") {
            self.count(metric, text(operator, source));
        }
    }

    fn assignment(&mut self, node: Node<'_>, source: &str) {
        let Some(inner) = node.named_child(0) else {
            return;
        };
        match inner.kind() {
            "augmented_assignment" => self.operator(Metric::Augmented, inner, source),
            "assignment" => {
                let target = match inner.child_by_field_name("left").map(|left| left.kind()) {
                    Some("identifier") => "name",
                    Some("attribute") => "attribute",
                    Some("subscript") => "subscript",
                    _ => "tuple",
                };
                self.count(Metric::Target, target);
            }
            _ => {}
        }
    }

    fn branches(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let kinds: Vec<_> = node
            .named_children(&mut cursor)
            .map(|child| child.kind())
            .collect();
        let shape = match (
            kinds.contains(&"elif_clause"),
            kinds.contains(&"else_clause"),
        ) {
            (false, false) => "if",
            (false, true) => "if-else",
            (true, false) => "if-elif",
            (true, true) => "if-elif-else",
        };
        self.count(Metric::Branches, shape);
    }

    fn iterable(&mut self, node: Node<'_>, source: &str) {
        let Some(right) = node.child_by_field_name("right") else {
            return;
        };
        let callee = right
            .child_by_field_name("function")
            .filter(|_| right.kind() == "call");
        let value = match callee.map(|callee| (callee, callee.kind())) {
            Some((callee, "identifier")) => match text(callee, source) {
                known @ ("range" | "enumerate" | "zip" | "sorted" | "reversed" | "list" | "map"
                | "set") => known,
                _ => "call",
            },
            Some((callee, _)) => {
                match callee
                    .child_by_field_name("attribute")
                    .map_or("", |one| text(one, source))
                {
                    known @ ("items" | "keys" | "values" | "split" | "splitlines") => known,
                    _ => "method",
                }
            }
            None => kinds::expression(right).unwrap_or("other"),
        };
        self.count(Metric::Iterable, value);
    }

    fn raised(&mut self, node: Node<'_>, source: &str) {
        let value = node.named_child(0).map_or("", |one| match one.kind() {
            "call" => one
                .child_by_field_name("function")
                .map_or("", |callee| text(callee, source)),
            _ => text(one, source),
        });
        let value = kinds::error(value);
        self.count(Metric::Raised, value);
    }

    fn value_of(&mut self, metric: Metric, node: Option<Node<'_>>) {
        let mut node = node;
        while let Some(inner) = node.filter(|one| one.kind() == "parenthesized_expression") {
            node = inner.named_child(0);
        }
        let kind = node.map_or("nothing", |node| kinds::expression(node).unwrap_or("other"));
        self.count(metric, kind);
    }
}

fn text<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

fn name<'a>(function: Node<'_>, source: &'a str) -> &'a str {
    function
        .child_by_field_name("name")
        .map_or("", |name| text(name, source))
}

#[cfg(test)]
mod tests {
    use super::Measurement;
    use crate::profile::{Metric, Selection};

    fn shares(source: &str, selection: Selection, metric: Metric) -> Vec<(String, f64)> {
        let mut measurement = Measurement::default();
        measurement.add(source, selection).unwrap();
        measurement
            .profile("")
            .tables
            .remove(&metric)
            .unwrap_or_default()
            .into_iter()
            .collect()
    }

    #[test]
    fn statements_are_counted_with_their_depth() {
        let source =
            "def f(a):\n    'doc'\n    if a:\n        a += 1\n        return a\n    return 0\n";
        let kinds = shares(source, Selection::All, Metric::Statement);
        assert_eq!(
            kinds,
            [
                ("augmented".into(), 0.25),
                ("if".into(), 0.25),
                ("return".into(), 0.5)
            ]
        );
        let depths = shares(source, Selection::All, Metric::Depth);
        assert_eq!(depths, [("1".into(), 0.5), ("2".into(), 0.5)]);
    }

    #[test]
    fn names_bound_and_names_of_attributes_are_no_expressions() {
        let kinds = shares(
            "def f(a):\n    b = a.lower()\n",
            Selection::All,
            Metric::Expression,
        );
        assert_eq!(kinds, [("method".into(), 0.5), ("name".into(), 0.5)]);
    }

    #[test]
    fn functions_that_need_more_than_builtins_can_be_left_out() {
        let source = "def f(a):\n    b = c = d = 1\n    e = 1\n    b = 2\n    return a.x\ndef g(a):\n    b = 1\n    c = 1\n    d = 1\n    return a.upper()\nclass A:\n    def m(self):\n        return 1\n";
        let mut measurement = Measurement::default();
        measurement.add(source, Selection::SelfContained).unwrap();
        assert_eq!(measurement.functions(), 1);
        measurement.add(source, Selection::All).unwrap();
        assert_eq!(measurement.functions(), 4);
    }

    #[test]
    fn broken_source_is_said_to_be_broken() {
        assert!(
            Measurement::default()
                .add("def f(:\n", Selection::All)
                .is_err()
        );
    }
}
