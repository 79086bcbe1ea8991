//! A statement with the names that can be used at it.

use std::collections::BTreeMap;
use std::ops::Range;

use camino::Utf8Path;
use tree_sitter::Node;

use super::bindings::Origin;
use super::layout;
use super::names::FileIndex;
use super::scope::Scope;
use super::site::Step;
use super::types::{NameTypes, Types};
use crate::plan::Facts;

/// A name that can be used at a statement.
#[derive(Debug, Clone)]
pub struct Name {
    /// As it is written: `x`, `self.x`.
    pub text: String,
    /// What it holds, recorded if anything was, else inferred.
    pub types: Types,
    /// What its elements are.
    pub elements: Types,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it surely has a value when the statement runs.
    pub bound: bool,
    /// Whether it is an attribute of the method's instance.
    pub attribute: bool,
    /// Where it can be used, when not everywhere.
    pub only_in: Option<Range<usize>>,
}

/// A statement (or a clause with a header, such as `elif`) and its surroundings.
#[derive(Debug)]
pub struct Unit<'a> {
    /// The file.
    pub index: &'a FileIndex<'a>,
    /// The statement or clause.
    pub statement: Node<'a>,
    /// The function around it.
    pub scope: &'a Scope<'a>,
    /// Names in scope, the closest ones first.
    pub names: Vec<Name>,
    /// Suspiciousness.
    pub suspicion: f64,
    /// Number of loops around it in its function.
    pub loops: usize,
    /// Length of the path to the statement.
    pub depth: usize,
    /// One step of indentation.
    pub step: &'a str,
    /// Whether the statement is the last one of its block.
    pub last: bool,
}

impl Name {
    /// How well the name suits a slot that holds `expected`: by type, by whether it is bound, and
    /// close names before far ones.
    pub fn fit(&self, expected: Types) -> f64 {
        let mut fit = self.types.fit(expected);
        if !self.bound {
            fit *= 0.15;
        }
        match self.origin {
            Origin::Module => fit *= 0.6,
            Origin::Outer => fit *= 0.8,
            Origin::Definition | Origin::Import => fit *= 0.5,
            _ if self.attribute => fit *= 0.85,
            _ => {}
        }
        fit
    }
}

impl<'a> Unit<'a> {
    /// Gathers the names at a statement. `recorded` are the variables seen there at run time.
    pub fn new(
        index: &'a FileIndex<'a>,
        path: &[Step<'a>],
        scope: &'a Scope<'a>,
        recorded: &Recorded,
        suspicion: f64,
        loops: usize,
    ) -> Self {
        let statement = path.last().map_or(index.syntax.root(), |s| s.node);
        let mut names = Vec::new();
        let start = statement.start_byte();
        for binding in &scope.bindings {
            let known = recorded.locals.get(&binding.name);
            let bound = match binding.origin {
                Origin::Parameter => true,
                _ if binding.only_in.is_some() => true,
                _ if recorded.any => known.is_some(),
                _ => binding.at < start,
            };
            names.push(Name {
                text: binding.name.clone(),
                types: known.map_or(binding.types, |k| k.0),
                elements: known
                    .map(|k| k.1)
                    .filter(|t| !t.unknown())
                    .unwrap_or(binding.elements),
                origin: binding.origin,
                bound,
                attribute: false,
                only_in: binding.only_in.clone(),
            });
        }
        if let (Some(receiver), Some(class)) = (&scope.receiver, scope.class) {
            for (name, types) in &class.attributes {
                let known = recorded.attributes.get(name);
                names.push(Name {
                    text: format!("{receiver}.{name}"),
                    types: known.map_or(*types, |k| k.0),
                    elements: known.map_or(Types::UNKNOWN, |k| k.1),
                    origin: Origin::Local,
                    bound: true,
                    attribute: true,
                    only_in: None,
                });
            }
        }
        let local = names.len();
        let outer = scope.outer.iter().map(|b| (b, Origin::Outer));
        let module = index.module.iter().map(|b| (b, Origin::Module));
        for (binding, origin) in outer.chain(module) {
            let taken = |n: &Name| n.text == binding.name;
            if names[..local].iter().any(taken) || binding.only_in.is_some() {
                continue;
            }
            names.push(Name {
                text: binding.name.clone(),
                types: binding.types,
                elements: binding.elements,
                origin: match binding.origin {
                    Origin::Definition | Origin::Import => binding.origin,
                    _ => origin,
                },
                bound: scope.function.is_some() || binding.at < start,
                attribute: false,
                only_in: None,
            });
        }
        names.sort_by_key(|n| (!n.bound, n.origin, n.attribute));
        Self {
            index,
            statement,
            scope,
            names,
            suspicion,
            loops,
            depth: path.len(),
            step: layout::step(index.syntax, path.iter().map(|s| s.node)),
            last: is_last(path),
        }
    }
}

fn is_last(path: &[Step<'_>]) -> bool {
    let [.., block, own] = path else {
        return true;
    };
    layout::statements(block.node)
        .last()
        .is_some_and(|last| last.id() == own.node.id())
}

impl NameTypes for Unit<'_> {
    fn name(&self, name: &str) -> Types {
        self.names
            .iter()
            .find(|n| n.text == name)
            .map_or(Types::UNKNOWN, |n| n.types)
    }

    fn elements(&self, name: &str) -> Types {
        self.names
            .iter()
            .find(|n| n.text == name)
            .map_or(Types::UNKNOWN, |n| n.elements)
    }

    fn attribute(&self, name: &str) -> Types {
        self.scope
            .receiver
            .as_ref()
            .map_or(Types::UNKNOWN, |r| self.name(&format!("{r}.{name}")))
    }

    fn returns(&self, callee: &str) -> Types {
        self.index.returns(callee)
    }

    fn source(&self, node: Node<'_>) -> &str {
        self.index.source(node)
    }
}

/// Variables seen at a line at run time: types and types of elements.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Whether anything was seen.
    pub any: bool,
    /// Locals by name.
    pub locals: BTreeMap<String, (Types, Types)>,
    /// Attributes of the method's instance.
    pub attributes: BTreeMap<String, (Types, Types)>,
}

impl Recorded {
    /// What `facts` hold for `line` of the file `path`.
    pub fn at(facts: &Facts, path: &Utf8Path, line: usize, scope: &Scope<'_>) -> Self {
        let seen = facts.observations.at(path, line);
        let mut out = Self {
            any: !seen.is_empty(),
            ..Self::default()
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
}

fn note(map: &mut BTreeMap<String, (Types, Types)>, name: &str, types: Types, elements: Types) {
    let known = map.entry(name.to_owned()).or_default();
    *known = (known.0.or(types), known.1.or(elements));
}
