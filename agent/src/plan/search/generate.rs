//! Walks the suspicious statements and lets every operator look at every node.

use std::collections::BTreeMap;

use camino::Utf8Path;
use ndbg_tools::source::syntax::{Syntax, is_statement};
use tree_sitter::{Node, TreeCursor};

use super::layout::is_docstring;
use super::names::{Binding, FileIndex, bindings, returned};
use super::operators::{OPERATORS, Operator};
use super::precedence::{self, Level};
use super::proposals::{Draft, Place, Proposals};
use super::site::{Recorded, Scope, Seen, Site, Step, Unit};
use super::types::{NameTypes, Types, infer};
use crate::plan::{Facts, SuspectFunction, SuspectStatement};

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
        let index = FileIndex::new(syntax);
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

/// The suspicious places of a file.
struct Suspicion<'f> {
    functions: Vec<&'f SuspectFunction>,
    statements: Vec<&'f SuspectStatement>,
    all_functions: bool,
}

impl<'f> Suspicion<'f> {
    fn of(facts: &'f Facts, path: &Utf8Path, max_functions: usize) -> Self {
        Self {
            functions: facts
                .functions
                .iter()
                .take(max_functions)
                .filter(|f| f.file == path)
                .collect(),
            statements: facts.statements.iter().filter(|s| s.file == path).collect(),
            all_functions: facts.functions.is_empty(),
        }
    }

    fn function(&self, line: usize) -> f64 {
        self.functions
            .iter()
            .filter(|f| f.first_line <= line && line <= f.last_line)
            .min_by_key(|f| f.last_line - f.first_line)
            .map_or(0.0, |f| f.score)
    }

    fn listed(&self, line: usize) -> Option<&SuspectStatement> {
        self.statements
            .iter()
            .filter(|s| s.first_line <= line && line <= s.last_line)
            .min_by_key(|s| s.last_line - s.first_line)
            .copied()
    }

    /// Suspiciousness of the statement at `line`; none when it is not to be edited.
    fn statement(&self, line: usize, in_function: bool) -> Option<f64> {
        let function = if in_function && !self.all_functions {
            self.function(line)
        } else {
            1.0
        };
        if function <= 0.0 {
            return None;
        }
        if let Some(found) = self.listed(line) {
            return Some(found.score * (0.5 + 0.5 * function));
        }
        if !in_function || self.all_functions {
            return None;
        }
        // A statement that the tests do not reach is an unlikely place, unless nothing is known
        // about statements at all.
        let span = self
            .functions
            .iter()
            .filter(|f| f.first_line <= line && line <= f.last_line)
            .min_by_key(|f| f.last_line - f.first_line)?;
        let least = self
            .statements
            .iter()
            .filter(|s| span.first_line <= s.first_line && s.last_line <= span.last_line)
            .map(|s| s.score)
            .min_by(f64::total_cmp);
        Some(least.map_or(function, |least| least * 0.3))
    }

    /// Suspiciousness of a function as a whole.
    fn whole(&self, first: usize, last: usize) -> Option<f64> {
        let function = if self.all_functions {
            1.0
        } else {
            self.functions
                .iter()
                .filter(|f| f.first_line <= first && last <= f.last_line)
                .map(|f| f.score)
                .max_by(f64::total_cmp)?
        };
        let inner = self
            .statements
            .iter()
            .filter(|s| first <= s.first_line && s.last_line <= last)
            .map(|s| s.score)
            .max_by(f64::total_cmp);
        match inner {
            Some(inner) => Some(inner * (0.5 + 0.5 * function)),
            None if self.all_functions => None,
            None => Some(function),
        }
    }
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
                    let recorded = self.recorded(line, around.scope);
                    let unit = Unit::new(
                        self.index,
                        node,
                        around.scope,
                        &recorded,
                        suspicion,
                        around.loops,
                        path.len(),
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
                if child.kind() == "block" && kind != "class_definition" {
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
        let scope = self.scope(node, path, around.scope);
        let recorded = self.recorded(first, &scope);
        let unit = Unit::new(
            self.index,
            node,
            &scope,
            &recorded,
            suspicion * 0.9,
            0,
            path.len(),
        );
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

    fn scope(&self, node: Node<'w>, path: &[Step<'w>], outer: &Scope<'w>) -> Scope<'w> {
        let index = self.index;
        let mut outers: Vec<Binding> = outer.bindings.clone();
        outers.retain(|b| b.only_in.is_none());
        for binding in &outer.outer {
            if !outers.iter().any(|b| b.name == binding.name) {
                outers.push(binding.clone());
            }
        }
        let own = bindings(node, index, &outers);
        // The class counts when nothing but its block (and decorators) stands in between.
        let class = path
            .iter()
            .rev()
            .skip(1)
            .find(|s| matches!(s.node.kind(), "function_definition" | "class_definition"))
            .filter(|s| s.node.kind() == "class_definition")
            .and_then(|s| s.node.child_by_field_name("name"))
            .and_then(|n| self.index.class_named(self.index.syntax.text(n)));
        let class = class.or(outer.class.filter(|_| outer.receiver.is_some()));
        let decorators = super::names::decorators(node, self.index.syntax);
        let first = own
            .iter()
            .find(|b| matches!(b.origin, super::names::Origin::Parameter))
            .map(|b| b.name.clone());
        let receiver = if outer.function.is_some() {
            outer.receiver.clone()
        } else if class.is_some() && !decorators.contains("@staticmethod") {
            first
        } else {
            None
        };
        let mut results = Vec::new();
        returned(node, &mut results);
        let mut scope = Scope {
            function: Some(node),
            class,
            bindings: own,
            outer: outers,
            seen: Vec::new(),
            receiver,
            returns: Types::UNKNOWN,
            generator: yields(node),
            asynchronous: node.child(0).is_some_and(|c| c.kind() == "async"),
            returns_value: !results.is_empty(),
        };
        let env = ScopeTypes {
            scope: &scope,
            index: self.index,
        };
        let annotated = node
            .child_by_field_name("return_type")
            .map_or(Types::UNKNOWN, |t| {
                Types::annotated(self.index.syntax.text(t))
            });
        let returns = if annotated.unknown() {
            results
                .iter()
                .map(|r| infer(*r, &env))
                .filter(|t| !t.unknown())
                .reduce(Types::or)
                .unwrap_or_default()
        } else {
            annotated
        };
        let mut seen = Vec::new();
        if let Some(body) = node.child_by_field_name("body") {
            collect_seen(body, self.index.syntax, &env, false, &mut seen);
        }
        derive(&mut seen);
        scope.seen = seen;
        scope.returns = returns;
        scope
    }

    fn recorded(&self, line: usize, scope: &Scope<'_>) -> Recorded {
        let seen = self.facts.observations.at(self.path, line);
        let mut out = Recorded {
            any: !seen.is_empty(),
            ..Recorded::default()
        };
        // The types hardly change from visit to visit; a few of them are enough.
        for observation in seen.iter().take(24) {
            for (name, value) in &observation.locals {
                let types = Types::named(&value.kind);
                let elements = Types::elements_of_text(types, &value.text);
                note(&mut out.locals, name, types, elements);
                if scope.receiver.as_ref() == Some(name) {
                    for (attribute, value) in &value.attrs {
                        let types = Types::named(&value.kind);
                        let elements = Types::elements_of_text(types, &value.text);
                        note(&mut out.attributes, attribute, types, elements);
                    }
                }
            }
        }
        out
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

struct ScopeTypes<'s> {
    scope: &'s Scope<'s>,
    index: &'s FileIndex<'s>,
}

impl ScopeTypes<'_> {
    fn find(&self, name: &str) -> Option<&Binding> {
        self.scope
            .bindings
            .iter()
            .chain(&self.scope.outer)
            .chain(&self.index.module)
            .find(|b| b.name == name)
    }
}

impl NameTypes for ScopeTypes<'_> {
    fn name(&self, name: &str) -> Types {
        self.find(name).map_or(Types::UNKNOWN, |b| b.types)
    }

    fn elements(&self, name: &str) -> Types {
        self.find(name).map_or(Types::UNKNOWN, |b| b.elements)
    }

    fn attribute(&self, name: &str) -> Types {
        self.scope
            .class
            .and_then(|c| c.attributes.get(name))
            .copied()
            .unwrap_or_default()
    }

    fn returns(&self, callee: &str) -> Types {
        self.index.returns(callee)
    }

    fn source(&self, node: Node<'_>) -> &str {
        self.index.source(node)
    }
}

fn note(map: &mut BTreeMap<String, (Types, Types)>, name: &str, types: Types, elements: Types) {
    let known = map.entry(name.to_owned()).or_default();
    *known = (known.0.or(types), known.1.or(elements));
}

fn yields(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|c| match c.kind() {
        "yield" => true,
        "function_definition" | "lambda" | "class_definition" => false,
        _ => yields(c),
    })
}

fn collect_seen(
    node: Node<'_>,
    syntax: &Syntax,
    env: &dyn NameTypes,
    store: bool,
    out: &mut Vec<Seen>,
) {
    let kind = node.kind();
    let wanted = matches!(
        kind,
        "attribute"
            | "subscript"
            | "call"
            | "binary_operator"
            | "comparison_operator"
            | "unary_operator"
    );
    let text = syntax.text(node);
    if wanted && text.len() <= 36 && !text.contains(['\n', '\r', '#']) {
        if let Some(known) = out.iter_mut().find(|s| s.text == text) {
            known.assigned |= store;
        } else if out.len() < 80 {
            let mut names = Vec::new();
            identifiers(node, syntax, &mut names);
            out.push(Seen {
                text: text.to_owned(),
                kind,
                level: precedence::of(node),
                types: infer(node, env),
                at: node.start_byte(),
                names,
                assigned: store,
                derived: false,
            });
        }
    }
    if matches!(
        kind,
        "function_definition" | "class_definition" | "lambda" | "type" | "import_statement"
    ) {
        return;
    }
    let mut cursor = node.walk();
    if !cursor.goto_first_child() {
        return;
    }
    loop {
        let child = cursor.node();
        let field = cursor.field_name();
        if child.is_named() && !skipped(kind, field) {
            // A method's name without its call is hardly a value.
            let callee = kind == "call" && field == Some("function") && child.kind() == "attribute";
            if callee {
                if let Some(object) = child.child_by_field_name("object") {
                    collect_seen(object, syntax, env, false, out);
                }
            } else {
                collect_seen(child, syntax, env, stores(kind, field, store), out);
            }
        }
        if !cursor.goto_next_sibling() {
            return;
        }
    }
}

/// Adds the counterparts of what was seen: quotient and remainder, head and tail.
fn derive(seen: &mut Vec<Seen>) {
    let mut more: Vec<Seen> = Vec::new();
    for found in seen.iter() {
        let mut offer = |text: String, kind: &'static str, level: Level, types: Types| {
            let known = seen.iter().chain(&more).any(|s| s.text == text);
            if !known {
                more.push(Seen {
                    text,
                    kind,
                    level,
                    types,
                    at: found.at,
                    names: found.names.clone(),
                    assigned: false,
                    derived: true,
                });
            }
        };
        match found.kind {
            "binary_operator" => {
                if let Some((a, b)) = found.text.split_once(" // ") {
                    offer(
                        format!("{a} % {b}"),
                        "binary_operator",
                        Level::Times,
                        Types::INT,
                    );
                } else if let Some((a, b)) = found.text.split_once(" % ")
                    && !found.types.meets(Types::STR)
                {
                    offer(
                        format!("{a} // {b}"),
                        "binary_operator",
                        Level::Times,
                        Types::INT,
                    );
                }
            }
            "subscript" => {
                if let Some(base) = found.text.strip_suffix("[1:]") {
                    offer(
                        format!("{base}[0]"),
                        "subscript",
                        Level::Atom,
                        Types::UNKNOWN,
                    );
                } else if let Some(base) = found.text.strip_suffix("[0]") {
                    offer(
                        format!("{base}[1:]"),
                        "subscript",
                        Level::Atom,
                        Types::UNKNOWN,
                    );
                    offer(format!("{base}[-1]"), "subscript", Level::Atom, found.types);
                } else if let Some(base) = found.text.strip_suffix("[:-1]") {
                    offer(
                        format!("{base}[-1]"),
                        "subscript",
                        Level::Atom,
                        Types::UNKNOWN,
                    );
                } else if let Some(base) = found.text.strip_suffix("[-1]") {
                    offer(
                        format!("{base}[:-1]"),
                        "subscript",
                        Level::Atom,
                        Types::UNKNOWN,
                    );
                    offer(format!("{base}[0]"), "subscript", Level::Atom, found.types);
                }
            }
            _ => {}
        }
    }
    seen.append(&mut more);
}

fn identifiers(node: Node<'_>, syntax: &Syntax, out: &mut Vec<String>) {
    if node.kind() == "identifier" {
        out.push(syntax.text(node).to_owned());
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        identifiers(child, syntax, out);
    }
}

fn is_clause(kind: &str) -> bool {
    matches!(kind, "elif_clause" | "except_clause" | "case_clause")
}

fn is_unit(kind: &str) -> bool {
    is_statement(kind) || is_clause(kind)
}

/// Children that no operator has any business with.
fn skipped(kind: &str, field: Option<&str>) -> bool {
    matches!(
        (kind, field),
        ("attribute", Some("attribute"))
            | (
                "keyword_argument" | "named_expression" | "class_definition" | "default_parameter",
                Some("name")
            )
            | ("lambda", Some("parameters"))
            | ("assignment" | "typed_parameter", Some("type"))
            | ("typed_default_parameter", Some("type" | "name"))
            | ("class_definition", Some("superclasses" | "type_parameters"))
    ) || matches!(
        kind,
        "global_statement" | "nonlocal_statement" | "typed_parameter"
    )
}

fn stores(kind: &str, field: Option<&str>, store: bool) -> bool {
    match (kind, field) {
        (
            "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause",
            Some("left"),
        )
        | ("as_pattern", Some("alias"))
        | ("parameters", _) => true,
        (
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "dictionary_splat_pattern"
            | "as_pattern_target",
            _,
        ) => store,
        _ => false,
    }
}
