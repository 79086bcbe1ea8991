//! Places of a function where another value can be put in, and the marks that make them so.

use std::collections::HashSet;
use std::ops::Range;

use ndbg_tools::source::Edit;
use ndbg_tools::source::syntax::{Function, Syntax, is_statement};
use tree_sitter::Node;

use crate::plan::search::layout;

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What a branch, a loop or a ternary asks.
    Condition,
    /// What is returned.
    Returned,
    /// What is assigned.
    Assigned,
    /// A positional argument.
    Argument,
    /// Whether a simple statement runs at all.
    Runs,
}

/// A place.
#[derive(Debug, Clone)]
pub struct Place {
    /// Number in its function.
    pub number: usize,
    /// What stands there.
    pub kind: Kind,
    /// The expression, or the statement.
    pub range: Range<usize>,
    /// Its text.
    pub text: String,
    /// The statement around it.
    pub statement: Range<usize>,
    /// One-based line of the statement.
    pub line: usize,
    /// Whether the expression may lose its marks in a text of its own: calls with their arguments.
    pub call: Option<Call>,
    /// What the statement assigns to, where that is a plain name or attribute.
    pub target: Option<String>,
    /// What the statement adds to, with `+=`.
    pub added: Option<String>,
}

/// A call with positional arguments alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What is called.
    pub callee: String,
    /// Its arguments: number of the place, text.
    pub arguments: Vec<(usize, String)>,
}

/// Most places of a function.
const PLACES: usize = 120;

/// All places of a function, those of functions within it left out.
pub fn places(syntax: &Syntax, function: &Function) -> Vec<Place> {
    let mut finder = Finder {
        syntax,
        found: Vec::new(),
        seen: HashSet::new(),
    };
    let Some(body) = syntax
        .root()
        .descendant_for_byte_range(function.body.start, function.body.end)
    else {
        return Vec::new();
    };
    finder.visit(body, None);
    finder.found
}

struct Finder<'a> {
    syntax: &'a Syntax,
    found: Vec<Place>,
    /// Calls whose arguments are places.
    seen: HashSet<usize>,
}

impl Finder<'_> {
    fn visit(&mut self, node: Node<'_>, statement: Option<Node<'_>>) {
        let kind = node.kind();
        // Code of its own, and text in which a mark would be something else.
        if matches!(
            kind,
            "function_definition"
                | "class_definition"
                | "lambda"
                | "string"
                | "decorated_definition"
                | "type"
        ) {
            return;
        }
        let statement = if is_statement(kind) || kind == "elif_clause" {
            Some(node)
        } else {
            statement
        };
        if let Some(around) = statement {
            self.at(node, around);
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.visit(child, statement);
        }
    }

    fn at(&mut self, node: Node<'_>, around: Node<'_>) {
        match node.kind() {
            "if_statement" | "elif_clause" | "while_statement" => {
                if let Some(condition) = node.child_by_field_name("condition") {
                    self.add(Kind::Condition, condition, node);
                }
            }
            "conditional_expression" => {
                if let Some(condition) = node.named_child(1) {
                    self.add(Kind::Condition, condition, around);
                }
            }
            "if_clause" => {
                if let Some(condition) = node.named_child(0) {
                    self.add(Kind::Condition, condition, around);
                }
            }
            "return_statement" => {
                if let Some(value) = node.named_child(0)
                    && value.kind() != "expression_list"
                {
                    self.value(Kind::Returned, value, node);
                }
                self.runs(node);
            }
            "assignment" | "augmented_assignment" => {
                if let Some(value) = node.child_by_field_name("right")
                    && !matches!(
                        value.kind(),
                        "expression_list" | "assignment" | "augmented_assignment"
                    )
                    && node
                        .parent()
                        .is_some_and(|p| p.kind() == "expression_statement")
                {
                    self.value(Kind::Assigned, value, around);
                }
            }
            "call" => {
                self.arguments(node, around);
            }
            "expression_statement"
            | "raise_statement"
            | "continue_statement"
            | "break_statement" => self.runs(node),
            _ => {}
        }
    }

    /// A value, with the arguments of the call that it is.
    fn value(&mut self, kind: Kind, value: Node<'_>, statement: Node<'_>) {
        let Some(at) = self.add(kind, value, statement) else {
            return;
        };
        if value.kind() == "call" {
            let arguments = self.arguments(value, statement);
            let callee = value.child_by_field_name("function");
            if let Some(callee) = callee
                && !arguments.is_empty()
            {
                self.found[at].call = Some(Call {
                    callee: self.syntax.text(callee).to_owned(),
                    arguments,
                });
            }
        }
    }

    /// The positional arguments of a call; none where it has others as well.
    fn arguments(&mut self, call: Node<'_>, statement: Node<'_>) -> Vec<(usize, String)> {
        let Some(list) = call.child_by_field_name("arguments") else {
            return Vec::new();
        };
        // Those of returned and assigned calls are there already.
        if list.kind() != "argument_list" || !self.seen.insert(call.id()) {
            return Vec::new();
        }
        let mut cursor = list.walk();
        let arguments: Vec<Node<'_>> = list
            .named_children(&mut cursor)
            .filter(|node| !node.is_extra())
            .collect();
        let mut found = Vec::new();
        let mut plain = true;
        for argument in arguments {
            if matches!(
                argument.kind(),
                "keyword_argument" | "list_splat" | "dictionary_splat"
            ) {
                plain = false;
            } else if let Some(at) = self.add(Kind::Argument, argument, statement) {
                found.push((self.found[at].number, self.syntax.text(argument).to_owned()));
            }
        }
        if plain { found } else { Vec::new() }
    }

    /// Whether a statement runs, where it has its line to itself.
    fn runs(&mut self, statement: Node<'_>) {
        if layout::own_lines(self.syntax, statement).is_some() && !layout::is_docstring(statement) {
            self.add(Kind::Runs, statement, statement);
        }
    }

    fn add(&mut self, kind: Kind, node: Node<'_>, statement: Node<'_>) -> Option<usize> {
        if self.found.len() >= PLACES || has(node, &["yield", "await", "named_expression"]) {
            return None;
        }
        let target = (kind == Kind::Assigned)
            .then(|| node.parent())
            .flatten()
            .filter(|parent| parent.kind() == "assignment")
            .and_then(|parent| parent.child_by_field_name("left"))
            .filter(|left| matches!(left.kind(), "identifier" | "attribute" | "subscript"))
            .map(|left| self.syntax.text(left).to_owned());
        let added = (kind == Kind::Assigned)
            .then(|| node.parent())
            .flatten()
            .filter(|parent| parent.kind() == "augmented_assignment")
            .filter(|parent| {
                let operator = parent.child_by_field_name("operator");
                operator.is_some_and(|operator| self.syntax.text(operator) == "+=")
            })
            .and_then(|parent| parent.child_by_field_name("left"))
            .filter(|left| matches!(left.kind(), "identifier" | "attribute"))
            .map(|left| self.syntax.text(left).to_owned());
        self.found.push(Place {
            number: self.found.len(),
            kind,
            range: node.start_byte()..layout::code_end(self.syntax, node),
            text: self.syntax.text(node).trim_end().to_owned(),
            statement: statement.byte_range(),
            line: statement.start_position().row + 1,
            call: None,
            target,
            added,
        });
        Some(self.found.len() - 1)
    }
}

/// Whether a node holds one of some kinds.
fn has(node: Node<'_>, kinds: &[&str]) -> bool {
    if kinds.contains(&node.kind()) {
        return true;
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .any(|child| has(child, kinds))
}

/// The edits that mark all places. Where several stand at one offset, those that close come first, and the outer
/// ones open first.
pub fn marks(syntax: &Syntax, places: &[Place]) -> Vec<Edit> {
    let path = syntax.file().path();
    let mut open: Vec<(usize, std::cmp::Reverse<usize>, String)> = Vec::new();
    let mut close: Vec<(usize, std::cmp::Reverse<usize>, String)> = Vec::new();
    for place in places {
        let number = place.number;
        let (start, end) = (place.range.start, place.range.end);
        if place.kind == Kind::Runs {
            let text = format!("if __ndbg_at__({number}, True): ");
            open.push((start, std::cmp::Reverse(usize::MAX), text));
        } else {
            open.push((
                start,
                std::cmp::Reverse(end),
                format!("__ndbg_at__({number}, ("),
            ));
            close.push((end, std::cmp::Reverse(start), "))".to_owned()));
        }
    }
    open.sort();
    close.sort();
    let mut edits: Vec<(usize, usize, Edit)> = Vec::new();
    for (at, _, text) in close {
        edits.push((at, 0, Edit::replace(path, at..at, text)));
    }
    for (at, _, text) in open {
        edits.push((at, 1, Edit::replace(path, at..at, text)));
    }
    edits.sort_by_key(|(at, order, _)| (*at, *order));
    edits.into_iter().map(|(_, _, edit)| edit).collect()
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use ndbg_tools::source::SourceFile;

    use super::*;

    fn syntax(text: &str) -> Syntax {
        let file = SourceFile::decode(Utf8Path::new("a.py"), text.as_bytes()).unwrap();
        Syntax::parse(file).unwrap()
    }

    fn marked(text: &str) -> String {
        let syntax = syntax(text);
        let found = places(&syntax, &syntax.functions()[0]);
        let mut out = text.to_owned();
        for edit in marks(&syntax, &found).into_iter().rev() {
            out.insert_str(edit.start, &edit.text);
        }
        out
    }

    #[test]
    fn places_nest_and_their_marks_do_too() {
        assert_eq!(
            marked("def f(a):\n    if a > 1:\n        return g(a)\n    b = a\n"),
            "def f(a):\n    if __ndbg_at__(0, (a > 1)):\n        \
             if __ndbg_at__(3, True): return __ndbg_at__(1, (g(__ndbg_at__(2, (a)))))\n    \
             if __ndbg_at__(4, True): b = __ndbg_at__(5, (a))\n"
        );
    }

    #[test]
    fn inner_functions_and_texts_are_left_alone() {
        let text = "def f(a):\n    def g():\n        return a\n    return f'{g(a)}'\n";
        let syntax = syntax(text);
        let found = places(&syntax, &syntax.functions()[0]);
        let kinds: Vec<Kind> = found.iter().map(|place| place.kind).collect();
        assert_eq!(kinds, [Kind::Returned, Kind::Runs]);
    }
}
