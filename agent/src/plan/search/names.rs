//! Who is who in a file: functions with their parameters, classes with their attributes.

use std::collections::BTreeMap;

use ndbg_tools::source::syntax::Syntax;
use tree_sitter::Node;

use super::bindings::{Binding, Origin, bindings};
use super::types::{NameTypes, Types, infer};

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Text of its default.
    pub default: Option<String>,
    /// `*args`, `**kwargs`.
    pub variadic: bool,
}

/// A function of the file.
#[derive(Debug, Clone)]
pub struct Callee {
    /// Its name.
    pub name: String,
    /// Class that holds it.
    pub class: Option<String>,
    /// Its parameters, `self` and `cls` left out for methods.
    pub parameters: Vec<Parameter>,
    /// What it returns, from the annotation or the returned literals.
    pub returns: Types,
    /// Whether it is an `async def`.
    pub is_async: bool,
    /// Whether it is a property.
    pub property: bool,
}

/// A class of the file.
#[derive(Debug, Clone, Default)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Attributes seen as `self.name`, and names assigned in its body.
    pub attributes: BTreeMap<String, Types>,
    /// Whether it has base classes.
    pub derived: bool,
}

/// Everything that operators may know about a file beyond the function at hand.
#[derive(Debug)]
pub struct FileIndex<'a> {
    /// The file.
    pub syntax: &'a Syntax,
    /// Functions and methods.
    pub callees: Vec<Callee>,
    /// Classes.
    pub classes: Vec<Class>,
    /// Module-level names.
    pub module: Vec<Binding>,
    /// String literals as written, most frequent first.
    pub strings: Vec<String>,
    /// Exceptions of the failing tests, as this file can name them.
    pub raised: Vec<String>,
    /// Attribute names with the number of their uses.
    pub attributes: BTreeMap<String, usize>,
}

impl<'a> FileIndex<'a> {
    /// Reads a file.
    pub fn new(syntax: &'a Syntax) -> Self {
        let mut index = Self {
            syntax,
            callees: Vec::new(),
            classes: Vec::new(),
            module: Vec::new(),
            strings: Vec::new(),
            raised: Vec::new(),
            attributes: BTreeMap::new(),
        };
        let mut strings = BTreeMap::new();
        index.read(syntax.root(), None, &mut strings);
        let mut strings: Vec<_> = strings.into_iter().collect();
        strings.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        index.strings = strings.into_iter().map(|(s, _)| s).take(60).collect();
        index.module = bindings(syntax.root(), &index, &[]);
        index
    }

    fn read(
        &mut self,
        node: Node<'a>,
        class: Option<usize>,
        strings: &mut BTreeMap<String, usize>,
    ) {
        let syntax = self.syntax;
        let mut class = class;
        match node.kind() {
            "class_definition" => {
                let name = node
                    .child_by_field_name("name")
                    .map_or("", |n| syntax.text(n));
                self.classes.push(Class {
                    name: name.to_owned(),
                    attributes: BTreeMap::new(),
                    derived: node
                        .child_by_field_name("superclasses")
                        .is_some_and(|s| s.named_child_count() > 0),
                });
                class = Some(self.classes.len() - 1);
                if let Some(body) = node.child_by_field_name("body") {
                    let own = bindings(body, self, &[]);
                    for binding in own {
                        if binding.origin == Origin::Local {
                            self.attribute(class, &binding.name, binding.types);
                        }
                    }
                }
            }
            "function_definition" => self.callee(node, class),
            "string" => {
                let text = syntax.text(node);
                let statement = node
                    .parent()
                    .is_some_and(|p| p.kind() == "expression_statement");
                if text.len() <= 40 && !text.contains('\n') && !statement {
                    *strings.entry(text.to_owned()).or_default() += 1;
                }
            }
            "attribute" => {
                if let Some(name) = node.child_by_field_name("attribute") {
                    let name = syntax.text(name).to_owned();
                    let on_self = node
                        .child_by_field_name("object")
                        .is_some_and(|o| syntax.text(o) == "self");
                    if on_self {
                        self.attribute(class, &name, Types::UNKNOWN);
                    }
                    *self.attributes.entry(name).or_default() += 1;
                }
            }
            "assignment" => {
                if let Some((left, right)) = node
                    .child_by_field_name("left")
                    .zip(node.child_by_field_name("right"))
                    && left.kind() == "attribute"
                    && left
                        .child_by_field_name("object")
                        .is_some_and(|o| syntax.text(o) == "self")
                    && let Some(name) = left.child_by_field_name("attribute")
                {
                    let types = infer(right, self);
                    self.attribute(class, syntax.text(name), types);
                }
            }
            _ => {}
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.read(child, class, strings);
        }
    }

    fn attribute(&mut self, class: Option<usize>, name: &str, types: Types) {
        if let Some(class) = class.and_then(|c| self.classes.get_mut(c)) {
            let known = class.attributes.entry(name.to_owned()).or_default();
            *known = known.or(types);
        }
    }

    fn callee(&mut self, node: Node<'a>, class: Option<usize>) {
        let syntax = self.syntax;
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        // A function nested in a method is no method.
        let class = class.filter(|_| {
            let mut up = node.parent();
            while let Some(parent) = up {
                match parent.kind() {
                    "class_definition" => return true,
                    "function_definition" => return false,
                    _ => up = parent.parent(),
                }
            }
            false
        });
        let decorators = decorators(node, syntax);
        let mut parameters = parameters(node, syntax);
        if class.is_some() && !decorators.contains("@staticmethod") && !parameters.is_empty() {
            parameters.remove(0);
        }
        let returns = node
            .child_by_field_name("return_type")
            .map_or(Types::UNKNOWN, |t| Types::annotated(syntax.text(t)));
        let returns = if returns.unknown() {
            let mut found = Vec::new();
            returned(node, &mut found);
            found
                .iter()
                .map(|n| infer(*n, self))
                .filter(|t| !t.unknown())
                .reduce(Types::or)
                .unwrap_or_default()
        } else {
            returns
        };
        self.callees.push(Callee {
            name: syntax.text(name).to_owned(),
            class: class.map(|c| self.classes[c].name.clone()),
            parameters,
            returns,
            is_async: node.child(0).is_some_and(|c| c.kind() == "async"),
            property: decorators.contains("property") || decorators.contains(".setter"),
        });
    }

    /// The function or method called `name`; `method` tells which of the two is meant.
    pub fn callee_named(&self, name: &str, method: bool) -> Option<&Callee> {
        self.callees
            .iter()
            .find(|c| c.name == name && c.class.is_some() == method)
            .or_else(|| self.constructor(name))
    }

    fn constructor(&self, class: &str) -> Option<&Callee> {
        self.callees
            .iter()
            .find(|c| c.name == "__init__" && c.class.as_deref() == Some(class))
    }

    /// The class called `name`.
    pub fn class_named(&self, name: &str) -> Option<&Class> {
        self.classes.iter().find(|c| c.name == name)
    }

    /// Takes the exceptions (qualified unless builtin) of failing tests that the file can name: as
    /// they are, through an imported module, or by their last name.
    pub fn note_raised<'e>(&mut self, exceptions: impl Iterator<Item = &'e str>) {
        for exception in exceptions {
            let (module, last) = exception.rsplit_once('.').unwrap_or(("", exception));
            let top = module.split('.').next().unwrap_or_default();
            let name = if module.is_empty() || self.module.iter().any(|b| b.name == last) {
                last
            } else if self.imports(top) {
                exception
            } else {
                continue;
            };
            if last != "AssertionError" && !self.raised.iter().any(|r| r == name) {
                self.raised.push(name.to_owned());
            }
        }
    }

    /// Whether a module-level import binds `name`.
    pub fn imports(&self, name: &str) -> bool {
        self.module
            .iter()
            .any(|b| b.origin == Origin::Import && b.name == name)
    }
}

impl NameTypes for FileIndex<'_> {
    fn name(&self, name: &str) -> Types {
        self.module
            .iter()
            .find(|b| b.name == name)
            .map_or(Types::UNKNOWN, |b| b.types)
    }

    fn elements(&self, name: &str) -> Types {
        self.module
            .iter()
            .find(|b| b.name == name)
            .map_or(Types::UNKNOWN, |b| b.elements)
    }

    fn attribute(&self, _name: &str) -> Types {
        Types::UNKNOWN
    }

    fn returns(&self, callee: &str) -> Types {
        if self.classes.iter().any(|c| c.name == callee) {
            return Types::OBJECT;
        }
        let mut found = self.callees.iter().filter(|c| c.name == callee);
        match (found.next(), found.next()) {
            (Some(only), None) => only.returns,
            _ => Types::UNKNOWN,
        }
    }

    fn source(&self, node: Node<'_>) -> &str {
        &self.syntax.file().text()[node.byte_range()]
    }
}

/// Text of the decorators of a function.
pub fn decorators<'a>(function: Node<'_>, syntax: &'a Syntax) -> &'a str {
    match function.parent() {
        Some(parent) if parent.kind() == "decorated_definition" => {
            &syntax.file().text()[parent.start_byte()..function.start_byte()]
        }
        _ => "",
    }
}

/// The parameters of a function or lambda, separators left out.
pub fn parameters(function: Node<'_>, syntax: &Syntax) -> Vec<Parameter> {
    let Some(list) = function.child_by_field_name("parameters") else {
        return Vec::new();
    };
    let mut cursor = list.walk();
    let mut out = Vec::new();
    for node in list.named_children(&mut cursor) {
        let text = |n: Node<'_>| syntax.file().text()[n.byte_range()].to_owned();
        let (name, default, variadic) = match node.kind() {
            "identifier" => (text(node), None, false),
            "default_parameter" | "typed_default_parameter" => (
                node.child_by_field_name("name").map_or(String::new(), text),
                node.child_by_field_name("value").map(text),
                false,
            ),
            "typed_parameter" => {
                let first = node.named_child(0);
                let plain = first.is_some_and(|n| n.kind() == "identifier");
                (
                    first.map_or(String::new(), text).replace('*', ""),
                    None,
                    !plain,
                )
            }
            "list_splat_pattern" | "dictionary_splat_pattern" => {
                (text(node).replace('*', ""), None, true)
            }
            _ => continue,
        };
        out.push(Parameter {
            name,
            default,
            variadic,
        });
    }
    out
}

/// The returned expressions of a function, nested functions left out.
pub fn returned<'a>(node: Node<'a>, out: &mut Vec<Node<'a>>) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "return_statement" => out.extend(child.named_child(0).filter(|n| !n.is_extra())),
            "function_definition" | "class_definition" | "lambda" => {}
            _ => returned(child, out),
        }
    }
}
