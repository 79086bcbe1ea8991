//! Which names a function, class or module binds, and to what.

use std::collections::BTreeMap;
use std::ops::Range;

use ndbg_tools::source::syntax::Syntax;
use tree_sitter::Node;

use super::names::FileIndex;
use super::types::{NameTypes, Types, infer, infer_elements};
use super::usage::{conventional, usages};

/// Where a name comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Loop variable, comprehension variable or lambda parameter.
    Loop,
    /// Assigned in the function.
    Local,
    /// Parameter.
    Parameter,
    /// Variable of an enclosing function.
    Outer,
    /// Assigned at module level.
    Module,
    /// Function or class of the file.
    Definition,
    /// Imported.
    Import,
}

/// A name bound somewhere.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The name.
    pub name: String,
    /// What it may hold.
    pub types: Types,
    /// What iterating over it may give.
    pub elements: Types,
    /// Where it comes from.
    pub origin: Origin,
    /// Offset of the first binding.
    pub at: usize,
    /// The only place where it can be used, for comprehension variables and lambda parameters.
    pub only_in: Option<Range<usize>>,
}

struct Raw<'a> {
    name: &'a str,
    value: Option<Node<'a>>,
    each_of: Option<Node<'a>>,
    annotation: Option<&'a str>,
    origin: Origin,
    at: usize,
    only_in: Option<Range<usize>>,
    fixed: Types,
}

/// The names bound in a function (parameters included), class body or module, in source order.
/// `outer` are the names of the enclosing functions, for inference.
pub fn bindings<'a>(node: Node<'a>, index: &FileIndex<'a>, outer: &[Binding]) -> Vec<Binding> {
    let mut raw = Vec::new();
    let mut collect = Collect {
        syntax: index.syntax,
        out: &mut raw,
    };
    if node.kind() == "function_definition" {
        if let Some(list) = node.child_by_field_name("parameters") {
            collect.parameters(list, None);
        }
        if let Some(body) = node.child_by_field_name("body") {
            collect.visit(body);
        }
    } else {
        collect.visit(node);
    }
    let mut scope = Partial {
        index,
        outer,
        own: Vec::new(),
    };
    // The second round sees names that are bound further down.
    for _ in 0..2 {
        for found in &raw {
            let annotated = found.annotation.map_or(Types::UNKNOWN, Types::annotated);
            let types = if !found.fixed.unknown() {
                found.fixed
            } else if !annotated.unknown() {
                annotated
            } else if let Some(value) = found.value {
                infer(value, &scope)
            } else if let Some(each) = found.each_of {
                infer_elements(each, &scope)
            } else {
                Types::UNKNOWN
            };
            let elements = match (found.annotation, found.value) {
                (Some(text), _) => Types::annotated_elements(text),
                (None, Some(value)) => infer_elements(value, &scope),
                _ => Types::UNKNOWN,
            };
            scope.bind(found, types, elements);
        }
    }
    if node.kind() == "function_definition"
        && let Some(body) = node.child_by_field_name("body")
    {
        let mut usage = BTreeMap::new();
        usages(body, index.syntax, &mut usage);
        for binding in &mut scope.own {
            if binding.types.unknown()
                && let Some(types) = usage.get(binding.name.as_str())
            {
                binding.types = *types;
            }
            if binding.types.unknown() {
                binding.types = conventional(&binding.name);
            }
        }
    }
    scope.own
}

struct Partial<'b, 'a> {
    index: &'b FileIndex<'a>,
    outer: &'b [Binding],
    own: Vec<Binding>,
}

impl Partial<'_, '_> {
    fn bind(&mut self, found: &Raw<'_>, types: Types, elements: Types) {
        let known = self
            .own
            .iter_mut()
            .find(|b| b.name == found.name && b.only_in == found.only_in);
        if let Some(binding) = known {
            binding.types = binding.types.or(types);
            binding.elements = binding.elements.or(elements);
        } else {
            self.own.push(Binding {
                name: found.name.to_owned(),
                types,
                elements,
                origin: found.origin,
                at: found.at,
                only_in: found.only_in.clone(),
            });
        }
    }

    fn find(&self, name: &str) -> Option<&Binding> {
        self.own
            .iter()
            .chain(self.outer)
            .chain(&self.index.module)
            .find(|b| b.name == name)
    }
}

impl NameTypes for Partial<'_, '_> {
    fn name(&self, name: &str) -> Types {
        self.find(name).map_or(Types::UNKNOWN, |b| b.types)
    }

    fn elements(&self, name: &str) -> Types {
        self.find(name).map_or(Types::UNKNOWN, |b| b.elements)
    }

    fn attribute(&self, _name: &str) -> Types {
        Types::UNKNOWN
    }

    fn returns(&self, callee: &str) -> Types {
        self.index.returns(callee)
    }

    fn source(&self, node: Node<'_>) -> &str {
        self.index.source(node)
    }
}

struct Collect<'a, 'o> {
    syntax: &'a Syntax,
    out: &'o mut Vec<Raw<'a>>,
}

impl<'a> Collect<'a, '_> {
    fn text(&self, node: Node<'_>) -> &'a str {
        &self.syntax.file().text()[node.byte_range()]
    }

    fn push(&mut self, node: Node<'a>, origin: Origin) -> Option<&mut Raw<'a>> {
        let name = self.text(node);
        self.out.push(Raw {
            name,
            value: None,
            each_of: None,
            annotation: None,
            origin,
            at: node.start_byte(),
            only_in: None,
            fixed: Types::UNKNOWN,
        });
        self.out.last_mut()
    }

    fn parameters(&mut self, list: Node<'a>, only_in: Option<&Range<usize>>) {
        let origin = if only_in.is_some() {
            Origin::Loop
        } else {
            Origin::Parameter
        };
        let mut cursor = list.walk();
        for node in list.named_children(&mut cursor) {
            let (name, value, annotation, fixed) = match node.kind() {
                "identifier" => (Some(node), None, None, Types::UNKNOWN),
                "default_parameter" | "typed_default_parameter" => (
                    node.child_by_field_name("name"),
                    node.child_by_field_name("value")
                        .filter(|v| v.kind() != "none"),
                    node.child_by_field_name("type"),
                    Types::UNKNOWN,
                ),
                "typed_parameter" => (
                    node.named_child(0),
                    None,
                    node.child_by_field_name("type"),
                    Types::UNKNOWN,
                ),
                "list_splat_pattern" => (node.named_child(0), None, None, Types::TUPLE),
                "dictionary_splat_pattern" => (node.named_child(0), None, None, Types::DICT),
                _ => continue,
            };
            let Some(name) = name else { continue };
            let (name, fixed) = match name.kind() {
                "identifier" => (name, fixed),
                "list_splat_pattern" => (name.named_child(0).unwrap_or(name), Types::TUPLE),
                "dictionary_splat_pattern" => (name.named_child(0).unwrap_or(name), Types::DICT),
                _ => continue,
            };
            let annotation = annotation.map(|t| self.text(t));
            if let Some(raw) = self.push(name, origin) {
                raw.value = value;
                raw.annotation = annotation;
                raw.fixed = fixed;
                raw.only_in = only_in.cloned();
            }
        }
    }

    fn target(
        &mut self,
        node: Node<'a>,
        value: Option<Node<'a>>,
        each_of: Option<Node<'a>>,
        origin: Origin,
        only_in: Option<&Range<usize>>,
    ) {
        match node.kind() {
            "identifier" => {
                if let Some(raw) = self.push(node, origin) {
                    raw.value = value;
                    raw.each_of = each_of;
                    raw.only_in = only_in.cloned();
                }
            }
            "pattern_list" | "tuple_pattern" | "list_pattern" | "list_splat_pattern" => {
                let parts = value.filter(|v| {
                    matches!(v.kind(), "expression_list" | "tuple")
                        && v.named_child_count() == node.named_child_count()
                });
                let count = node.named_child_count();
                let counted = each_of.filter(|e| {
                    count == 2 && self.text(*e).starts_with("enumerate(") && e.kind() == "call"
                });
                for i in 0..count as u32 {
                    let Some(part) = node.named_child(i) else {
                        continue;
                    };
                    let before = self.out.len();
                    self.target(
                        part,
                        parts.and_then(|p| p.named_child(i)),
                        counted.filter(|_| i == 1).and_then(|c| {
                            c.child_by_field_name("arguments")
                                .and_then(|a| a.named_child(0))
                        }),
                        origin,
                        only_in,
                    );
                    if counted.is_some()
                        && i == 0
                        && let Some(raw) = self.out.get_mut(before)
                    {
                        raw.fixed = Types::INT;
                    }
                }
            }
            _ => {}
        }
    }

    fn visit(&mut self, node: Node<'a>) {
        match node.kind() {
            "function_definition" | "class_definition" => {
                if let Some(name) = node.child_by_field_name("name") {
                    let class = node.kind() == "class_definition";
                    if let Some(raw) = self.push(name, Origin::Definition) {
                        raw.fixed = if class { Types::CLASS } else { Types::CALLABLE };
                    }
                }
                return;
            }
            "lambda" => {
                let range = node.byte_range();
                if let Some(list) = node.child_by_field_name("parameters") {
                    self.parameters(list, Some(&range));
                }
            }
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                self.import(node);
                return;
            }
            "assignment" => {
                if let Some(left) = node.child_by_field_name("left") {
                    let annotation = node.child_by_field_name("type").map(|t| self.text(t));
                    let before = self.out.len();
                    self.target(
                        left,
                        node.child_by_field_name("right"),
                        None,
                        Origin::Local,
                        None,
                    );
                    if let (Some(text), Some(raw)) = (annotation, self.out.get_mut(before)) {
                        raw.annotation = Some(text);
                    }
                }
            }
            "augmented_assignment" => {
                if let Some(left) = node.child_by_field_name("left") {
                    self.target(
                        left,
                        node.child_by_field_name("right"),
                        None,
                        Origin::Local,
                        None,
                    );
                }
            }
            "named_expression" => {
                if let Some(left) = node.child_by_field_name("name") {
                    self.target(
                        left,
                        node.child_by_field_name("value"),
                        None,
                        Origin::Local,
                        None,
                    );
                }
            }
            "for_statement" => {
                if let Some(left) = node.child_by_field_name("left") {
                    let right = node.child_by_field_name("right");
                    self.target(left, None, right, Origin::Loop, None);
                }
            }
            "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => {
                let range = node.byte_range();
                let mut cursor = node.walk();
                let clauses: Vec<_> = node.named_children(&mut cursor).collect();
                for clause in clauses {
                    if clause.kind() == "for_in_clause"
                        && let Some(left) = clause.child_by_field_name("left")
                    {
                        let right = clause.child_by_field_name("right");
                        self.target(left, None, right, Origin::Loop, Some(&range));
                    }
                }
            }
            "as_pattern" => {
                if let Some(alias) = node
                    .child_by_field_name("alias")
                    .and_then(|a| a.named_child(0))
                {
                    self.target(alias, None, None, Origin::Local, None);
                }
            }
            _ => {}
        }
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        for child in children {
            self.visit(child);
        }
    }

    fn import(&mut self, node: Node<'a>) {
        let mut cursor = node.walk();
        let names: Vec<_> = node.children_by_field_name("name", &mut cursor).collect();
        for name in names {
            let from = node.kind() == "import_from_statement";
            let bound = match name.kind() {
                "aliased_import" => name.child_by_field_name("alias"),
                // `import a.b` binds `a`.
                _ => name.named_child(0),
            };
            if let Some(bound) = bound
                && let Some(raw) = self.push(bound, Origin::Import)
            {
                let text = raw.name;
                raw.fixed = if !from {
                    Types::MODULE
                } else if text.starts_with(char::is_uppercase) && text.contains(char::is_lowercase)
                {
                    Types::CLASS
                } else if text.starts_with(char::is_lowercase) {
                    Types::CALLABLE
                } else {
                    Types::UNKNOWN
                };
            }
        }
    }
}
