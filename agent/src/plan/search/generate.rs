//! Walks the suspicious statements and lets every operator look at every node.

use camino::Utf8Path;
use tree_sitter::{Node, TreeCursor};

use super::layout::is_docstring;
use super::names::FileIndex;
use super::operators::{OPERATORS, Operator};
use super::proposals::{Draft, Place, Proposals};
use super::roles::{is_clause, is_unit, skipped, stores};
use super::scope::Scope;
use super::site::{Site, Step};
use super::suspicion::Suspicion;
use super::unit::{Recorded, Unit};
use crate::plan::Facts;

/// All single edits of the suspicious code, best first.
pub fn generate(facts: &Facts, max_functions: usize) -> Vec<Draft> {
    let all: Vec<&Operator> = OPERATORS.iter().collect();
    generate_with(facts, max_functions, &all)
}

/// The same with some operators only.
pub fn generate_with(facts: &Facts, max_functions: usize, operators: &[&Operator]) -> Vec<Draft> {
    let mut out = Proposals::default();
    for (number, (path, syntax)) in facts.files.iter().enumerate() {
        if is_test_file(path) {
            continue;
        }
        let suspicion = Suspicion::of(facts, path, max_functions);
        if suspicion.functions.is_empty() && suspicion.statements.is_empty() {
            continue;
        }
        let mut index = FileIndex::new(syntax);
        index.note_raised(facts.failures.iter().map(|f| f.exception.as_str()));
        let mut walker = Walker {
            facts,
            path,
            file: number,
            index: &index,
            suspicion,
            operators,
            out: &mut out,
        };
        walker.module();
    }
    out.finish()
}

fn is_test_file(path: &Utf8Path) -> bool {
    path.file_name().is_some_and(|name| {
        name == "conftest.py" || name.starts_with("test_") || name.ends_with("_test.py")
    })
}

struct Walker<'w> {
    facts: &'w Facts,
    path: &'w Utf8Path,
    file: usize,
    index: &'w FileIndex<'w>,
    suspicion: Suspicion<'w>,
    operators: &'w [&'w Operator],
    out: &'w mut Proposals,
}

/// What changes on the way down.
#[derive(Clone, Copy)]
struct Around<'s> {
    scope: &'s Scope<'s>,
    unit: Option<&'s Unit<'s>>,
    store: bool,
    loops: usize,
    /// Start of the outermost function.
    outermost: Option<usize>,
}

impl<'w> Walker<'w> {
    fn module(&mut self) {
        let scope = Scope::default();
        let syntax = self.index.syntax;
        let around = Around {
            scope: &scope,
            unit: None,
            store: false,
            loops: 0,
            outermost: None,
        };
        let mut path = vec![Step {
            node: syntax.root(),
            field: None,
        }];
        self.children(&mut path, around);
    }

    fn line(&self, node: Node<'_>) -> usize {
        self.index.syntax.file().line_of(node.start_byte())
    }

    fn visit(&mut self, path: &mut Vec<Step<'w>>, around: Around<'_>) {
        let Some(Step { node, .. }) = path.last().copied() else {
            return;
        };
        match node.kind() {
            "import_statement"
            | "import_from_statement"
            | "future_import_statement"
            | "type"
            | "decorator"
            | "type_parameter"
            | "case_pattern"
            | "comment"
            | "type_alias_statement" => return,
            "if_statement" if self.is_type_checking(node) => return,
            "expression_statement" if is_docstring(node) => return,
            "function_definition" => {
                self.function(path, around);
                return;
            }
            _ => {}
        }
        if is_unit(node.kind()) {
            let line = self.line(node);
            let in_function = around.scope.function.is_some();
            let suspicion = if is_clause(node.kind()) {
                self.suspicion
                    .listed(line)
                    .and_then(|_| self.suspicion.statement(line, in_function))
                    .or(around.unit.map(|u| u.suspicion))
            } else {
                self.suspicion.statement(line, in_function)
            };
            let around = Around {
                store: false,
                ..around
            };
            match suspicion {
                Some(suspicion) => {
                    let recorded = Recorded::at(self.facts, self.path, line, around.scope);
                    let unit = Unit::new(
                        self.index,
                        path,
                        around.scope,
                        &recorded,
                        suspicion,
                        around.loops,
                    );
                    let around = Around {
                        unit: Some(&unit),
                        ..around
                    };
                    self.propose(path, around);
                    self.children(path, around);
                }
                None => self.children(
                    path,
                    Around {
                        unit: None,
                        ..around
                    },
                ),
            }
            return;
        }
        self.propose(path, around);
        self.children(path, around);
    }

    fn children(&mut self, path: &mut Vec<Step<'w>>, around: Around<'_>) {
        let Some(Step { node, .. }) = path.last().copied() else {
            return;
        };
        let mut cursor: TreeCursor<'w> = node.walk();
        if !cursor.goto_first_child() {
            return;
        }
        let kind = node.kind();
        loop {
            let child = cursor.node();
            let field = cursor.field_name();
            if child.is_named() && !child.is_extra() && !skipped(kind, field) {
                let mut down = around;
                down.store = stores(kind, field, around.store);
                if matches!(kind, "for_statement" | "while_statement") && field == Some("body") {
                    down.loops += 1;
                }
                if child.kind() == "block"
                    && !matches!(kind, "class_definition" | "match_statement")
                {
                    // Clauses of a compound statement fall back on its suspiciousness; statements
                    // of a block have their own.
                    down.unit = None;
                }
                path.push(Step { node: child, field });
                self.visit(path, down);
                path.pop();
            }
            if !cursor.goto_next_sibling() {
                return;
            }
        }
    }

    fn function(&mut self, path: &mut Vec<Step<'w>>, around: Around<'_>) {
        let Some(Step { node, .. }) = path.last().copied() else {
            return;
        };
        let first = self.line(node);
        let last = self
            .index
            .syntax
            .file()
            .line_of(node.end_byte().saturating_sub(1));
        let outermost = around.outermost.or(Some(node.start_byte()));
        let Some(suspicion) = self.suspicion.whole(first, last) else {
            return;
        };
        let scope = Scope::of(self.index, node, path, around.scope);
        let recorded = Recorded::at(self.facts, self.path, first, &scope);
        let unit = Unit::new(self.index, path, &scope, &recorded, suspicion * 0.9, 0);
        let inner = Around {
            scope: &scope,
            unit: Some(&unit),
            store: false,
            loops: 0,
            outermost,
        };
        self.propose(path, inner);
        let mut cursor = node.walk();
        if !cursor.goto_first_child() {
            return;
        }
        loop {
            let child = cursor.node();
            let field = cursor.field_name();
            if matches!(field, Some("parameters" | "body")) {
                let down = Around {
                    unit: if field == Some("body") {
                        None
                    } else {
                        Some(&unit)
                    },
                    ..inner
                };
                path.push(Step { node: child, field });
                self.children(path, down);
                path.pop();
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }

    fn propose(&mut self, path: &[Step<'w>], around: Around<'_>) {
        let (Some(Step { node, .. }), Some(unit)) = (path.last().copied(), around.unit) else {
            return;
        };
        let site = Site {
            node,
            path,
            unit,
            store: around.store,
        };
        let statement = unit.statement.start_byte();
        for (number, operator) in self.operators.iter().enumerate() {
            (operator.propose)(&site, self.out);
            let place = Place {
                file: self.file,
                function: around.outermost.unwrap_or(statement),
                statement,
                operator: number,
                suspicion: unit.suspicion,
            };
            self.out.close(&place, operator.prior);
        }
    }

    fn is_type_checking(&self, node: Node<'_>) -> bool {
        node.child_by_field_name("condition")
            .is_some_and(|c| self.index.syntax.text(c).ends_with("TYPE_CHECKING"))
    }
}
