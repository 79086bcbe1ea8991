//! Who is who in a file: bindings, functions with their parameters, classes with their attributes.

use std::collections::BTreeMap;
use std::ops::Range;

use ndbg_tools::source::syntax::Syntax;
use tree_sitter::Node;

use super::types::{NameTypes, Types, infer, infer_elements};

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

/// What names mean by convention, where nothing else is known.
fn conventional(name: &str) -> Types {
    let last = name.rsplit('_').next().unwrap_or(name);
    let first = name.split('_').next().unwrap_or(name);
    if matches!(first, "is" | "has" | "should" | "can") && name != first {
        return Types::BOOL;
    }
    match last {
        "i" | "j" | "k" | "n" | "m" | "idx" | "index" | "count" | "size" | "length" | "width"
        | "height" | "depth" | "total" | "amount" | "limit" | "number" | "num" | "step"
        | "offset" | "start" | "end" | "stop" | "position" | "pos" | "lo" | "hi" | "low"
        | "high" | "age" | "year" | "price" | "rate" | "score" | "weight" => {
            Types::INT.or(Types::FLOAT)
        }
        "name" | "text" | "line" | "word" | "char" | "letter" | "title" | "prefix" | "suffix"
        | "message" | "string" => Types::STR,
        "items" | "values" | "numbers" | "words" | "lines" | "xs" | "ys" | "rows" | "names"
        | "nums" | "arr" | "lst" | "results" | "elements" => Types::LIST,
        _ => Types::UNKNOWN,
    }
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

/// Guesses the types of names from what is done with them.
fn usages<'a>(node: Node<'a>, syntax: &'a Syntax, out: &mut BTreeMap<&'a str, Types>) {
    let text = |n: Node<'a>| &syntax.file().text()[n.byte_range()];
    let mut learn = |n: Option<Node<'a>>, types: Types| {
        if let Some(n) = n.filter(|n| n.kind() == "identifier") {
            let known = out.entry(text(n)).or_default();
            // A stronger hint narrows a weaker one.
            *known = if known.unknown() || types.within(*known) {
                types
            } else {
                *known
            };
        }
    };
    match node.kind() {
        "call" => {
            let function = node.child_by_field_name("function");
            let arguments = node.child_by_field_name("arguments");
            let first = arguments.and_then(|a| a.named_child(0));
            match function.map(|f| (f.kind(), text(f))) {
                Some(("identifier", "len")) => learn(first, Types::SIZED),
                Some(("identifier", "range" | "chr")) => learn(first, Types::INT),
                Some(("identifier", "sorted" | "sum" | "enumerate" | "reversed" | "zip")) => {
                    learn(first, Types::LIST.or(Types::TUPLE));
                }
                Some(("attribute", _)) => {
                    let object = function.and_then(|f| f.child_by_field_name("object"));
                    let method = function
                        .and_then(|f| f.child_by_field_name("attribute"))
                        .map_or("", text);
                    let types = match method {
                        "append" | "extend" | "insert" | "sort" | "reverse" | "popleft" => {
                            Types::LIST
                        }
                        "items" | "keys" | "values" | "get" | "setdefault" => Types::DICT,
                        "add" | "discard" | "issubset" | "union" | "intersection" => Types::SET,
                        "split" | "strip" | "lower" | "upper" | "startswith" | "endswith"
                        | "replace" | "join" | "splitlines" | "isdigit" | "encode" | "lstrip"
                        | "rstrip" | "format" | "isalpha" | "isspace" => Types::STR,
                        _ => Types::UNKNOWN,
                    };
                    if !types.unknown() {
                        learn(object, types);
                    }
                }
                _ => {}
            }
        }
        // Weak: methods of texts and containers say more, and narrow this down no further.
        "attribute" => {
            let called = node.parent().is_some_and(|p| {
                p.kind() == "call" && p.child_by_field_name("function") == Some(node)
            });
            if !called {
                learn(node.child_by_field_name("object"), Types::OBJECT);
            }
        }
        "subscript" => learn(
            node.child_by_field_name("value"),
            Types::LIST.or(Types::TUPLE).or(Types::DICT).or(Types::STR),
        ),
        "for_statement" | "for_in_clause" => {
            learn(node.child_by_field_name("right"), Types::ITERABLE);
        }
        "binary_operator" => {
            let operator = node
                .child_by_field_name("operator")
                .map_or("", |o| o.kind());
            let (left, right) = (
                node.child_by_field_name("left"),
                node.child_by_field_name("right"),
            );
            if matches!(operator, "-" | "/" | "//" | "**" | "%" | "*") {
                let string = left.is_some_and(|l| l.kind() == "string");
                if !string {
                    learn(left, Types::INT.or(Types::FLOAT));
                    if operator != "*" {
                        learn(right, Types::INT.or(Types::FLOAT));
                    }
                }
            }
            let number = |n: Option<Node<'a>>| n.is_some_and(|n| n.kind() == "integer");
            if number(right) {
                learn(left, Types::INT.or(Types::FLOAT));
            }
            if number(left) {
                learn(right, Types::INT.or(Types::FLOAT));
            }
        }
        "comparison_operator" => {
            let (left, right) = (node.named_child(0), node.named_child(1));
            for (a, b) in [(left, right), (right, left)] {
                match b.map(|n| n.kind()) {
                    Some("integer" | "float") => learn(a, Types::INT.or(Types::FLOAT)),
                    Some("string") if node.child(1).is_some_and(|o| o.kind() == "==") => {
                        learn(a, Types::STR);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        usages(child, syntax, out);
    }
}
