//! What a name can refer to.

use ruff_python_ast::{ExprLambda, StmtClassDef, StmtFunctionDef};

use crate::literal::Literal;

/// A place in the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref(pub(super) u32);

/// A scope of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScopeId(pub(super) u32);

/// The code of a function.
#[derive(Debug, Clone, Copy)]
pub enum Code<'p> {
    Def(&'p StmtFunctionDef),
    Lambda(&'p ExprLambda),
}

/// How a function found on a class is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Plain,
    Static,
    Class,
    Property,
}

/// A value.
#[derive(Debug, Clone)]
pub enum Object<'p> {
    /// What never changes and holds nothing: no containers but `range`, strings and bytes.
    Atom(Literal),
    List(Vec<Ref>),
    Tuple(Vec<Ref>),
    /// In canonical order.
    Set(Vec<Ref>),
    FrozenSet(Vec<Ref>),
    Dict(Vec<(Ref, Ref)>),
    /// What `dict.keys()` and the like give: its kind and items.
    View(&'static str, Vec<Ref>),
    /// Items that are left of an iterator, and how far it is.
    Iterator(Vec<Ref>, usize),
    Function {
        code: Code<'p>,
        /// Where it was defined.
        scope: ScopeId,
        /// Values of the parameters that have defaults, in their order.
        defaults: Vec<Ref>,
        binding: Binding,
    },
    Bound {
        receiver: Ref,
        function: Ref,
    },
    /// A method of a builtin type that was not called at once.
    BuiltinMethod {
        receiver: Ref,
        name: &'p str,
    },
    Class {
        definition: &'p StmtClassDef,
        bases: Vec<Ref>,
        attributes: Vec<(&'p str, Ref)>,
        /// Fields of a data class, with defaults.
        fields: Option<Vec<(&'p str, Option<Ref>)>>,
    },
    Instance {
        class: Ref,
        attributes: Vec<(&'p str, Ref)>,
    },
    Exception {
        /// A builtin class's name, or a class of the program.
        kind: Kind,
        arguments: Vec<Ref>,
        attributes: Vec<(&'p str, Ref)>,
    },
    /// A builtin function or type, or one of a module: `len`, `str`, `math.sqrt`.
    Builtin(String),
    /// `super()` in a method: attributes are looked up behind the class.
    Super {
        receiver: Ref,
        class: Ref,
    },
    Module(String),
    /// Nobody knows, and why.
    Unknown(String),
}

/// The class of an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Builtin(String),
    Own(Ref),
}
