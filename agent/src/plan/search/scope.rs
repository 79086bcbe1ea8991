//! A function with what is known about its names.

use ndbg_tools::source::syntax::Syntax;
use tree_sitter::Node;

use super::bindings::{Binding, Origin, bindings};
use super::names::{Class, FileIndex, decorators, returned};
use super::precedence::{self, Level};
use super::roles::{skipped, stores};
use super::site::Step;
use super::types::{NameTypes, Types, infer};

/// An expression seen in the function.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Its text.
    pub text: String,
    /// Grammar kind.
    pub kind: &'static str,
    /// How tightly it binds.
    pub level: Level,
    /// What it may hold.
    pub types: Types,
    /// Offset of its first occurrence.
    pub at: usize,
    /// Names in it.
    pub names: Vec<String>,
    /// Whether some occurrence is assigned to.
    pub assigned: bool,
    /// Whether it does not occur itself but completes one that does: `n % 10` beside `n // 10`.
    pub derived: bool,
}

/// A function, or the module level, with what is known about its names.
#[derive(Debug, Default)]
pub struct Scope<'a> {
    /// The function; none at module or class level.
    pub function: Option<Node<'a>>,
    /// Class whose method the function is, or whose body is meant.
    pub class: Option<&'a Class>,
    /// Names bound in it.
    pub bindings: Vec<Binding>,
    /// Names of the enclosing functions.
    pub outer: Vec<Binding>,
    /// Small expressions seen in it.
    pub seen: Vec<Seen>,
    /// First parameter of a method.
    pub receiver: Option<String>,
    /// What it returns.
    pub returns: Types,
    /// Whether it yields.
    pub generator: bool,
    /// Whether it is an `async def`.
    pub asynchronous: bool,
    /// Whether it returns a value somewhere.
    pub returns_value: bool,
}

impl<'w> Scope<'w> {
    /// The scope of the function `node`, reached by `path` from within `outer`.
    pub fn of(
        index: &'w FileIndex<'w>,
        node: Node<'w>,
        path: &[Step<'w>],
        outer: &Scope<'w>,
    ) -> Self {
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
            .and_then(|n| index.class_named(index.syntax.text(n)));
        let class = class.or(outer.class.filter(|_| outer.receiver.is_some()));
        let decorators = decorators(node, index.syntax);
        let first = own
            .iter()
            .find(|b| matches!(b.origin, Origin::Parameter))
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
        let mut scope = Self {
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
            index,
        };
        let annotated = node
            .child_by_field_name("return_type")
            .map_or(Types::UNKNOWN, |t| Types::annotated(index.syntax.text(t)));
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
            collect_seen(body, index.syntax, &env, false, &mut seen);
        }
        derive(&mut seen);
        scope.seen = seen;
        scope.returns = returns;
        scope
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
