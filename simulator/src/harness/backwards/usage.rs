//! What the body of a function says about its parameters without being run.

use std::collections::{HashMap, HashSet};

use num_bigint::BigInt;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Stmt, StmtFunctionDef, UnaryOp};

use crate::literal::{self, Literal};

/// What a value is, by how it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub(super) enum Usage {
    /// Nothing tells.
    #[default]
    Anything,
    /// It is walked through or has a length.
    Sequence,
    /// It is calculated with, or is an index.
    Number,
    List,
    Set,
    Dict,
    Text,
}

impl Usage {
    /// A value like it that is likely to do no harm.
    pub fn default_value(self) -> Literal {
        match self {
            Self::Anything | Self::Number => Literal::Int(BigInt::from(1)),
            Self::Sequence | Self::List => Literal::List(Vec::new()),
            Self::Set => Literal::Set(Vec::new()),
            Self::Dict => Literal::Dict(Vec::new()),
            Self::Text => Literal::Str("a".into()),
        }
    }

    /// Whether a value can be used in this way.
    pub fn takes(self, value: &Literal) -> bool {
        match self {
            Self::Anything => true,
            Self::Sequence => value.len().is_some(),
            Self::Number => matches!(
                value,
                Literal::Int(_) | Literal::Float(_) | Literal::Bool(_)
            ),
            Self::List => matches!(value, Literal::List(_)),
            Self::Set => matches!(value, Literal::Set(_)),
            Self::Dict => matches!(value, Literal::Dict(_)),
            Self::Text => matches!(value, Literal::Str(_)),
        }
    }

    /// The value in the form in which it is used, where that is only a form.
    pub fn fitted(self, value: Literal) -> Literal {
        match (self, value) {
            (Self::Text, Literal::List(items)) => {
                let texts: Option<Vec<&str>> = items
                    .iter()
                    .map(|item| match item {
                        Literal::Str(text) => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                match texts {
                    Some(texts) => Literal::Str(texts.concat()),
                    None => Literal::List(items),
                }
            }
            (Self::List, Literal::Str(text)) => {
                Literal::List(text.chars().map(|c| Literal::Str(c.into())).collect())
            }
            (Self::List, Literal::Tuple(items)) => Literal::List(items),
            (_, value) => value,
        }
    }
}

/// Names of the parameters that a call gives by place.
pub(super) fn parameters(definition: &StmtFunctionDef) -> Vec<&str> {
    let parameters = &definition.parameters;
    let positional = parameters.posonlyargs.iter().chain(&parameters.args);
    positional
        .map(|parameter| parameter.name().as_str())
        .collect()
}

/// Names that a function binds or takes, as its source spells them.
pub(super) fn names_in(definition: &StmtFunctionDef) -> HashSet<&str> {
    let mut names = bound_in(&definition.body);
    names.extend(parameters(definition));
    names
}

/// How the names of a function are used; the most telling use counts.
pub(super) fn usages(definition: &StmtFunctionDef) -> HashMap<&str, Usage> {
    let mut found = Uses(HashMap::new());
    found.visit_body(&definition.body);
    found.0
}

struct Uses<'p>(HashMap<&'p str, Usage>);

impl<'p> Uses<'p> {
    fn note(&mut self, expression: &'p Expr, usage: Usage) {
        if let Expr::Name(name) = expression {
            let held = self.0.entry(name.id.as_str()).or_default();
            *held = (*held).max(usage);
        }
    }
}

impl<'p> Visitor<'p> for Uses<'p> {
    fn visit_stmt(&mut self, statement: &'p Stmt) {
        if let Stmt::For(walked) = statement {
            self.note(&walked.iter, Usage::Sequence);
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'p Expr) {
        match expression {
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(method) => {
                    if let Some(usage) = receiver(method.attr.as_str()) {
                        self.note(&method.value, usage);
                    }
                    if method.attr.as_str() == "join"
                        && let Some(first) = call.arguments.args.first()
                    {
                        self.note(first, Usage::Sequence);
                    }
                }
                Expr::Name(name) => {
                    let usage = match name.id.as_str() {
                        "range" | "abs" | "chr" | "bin" | "hex" => Usage::Number,
                        "len" | "sorted" | "reversed" | "enumerate" | "sum" | "list" | "set"
                        | "tuple" | "iter" | "zip" => Usage::Sequence,
                        _ => Usage::Anything,
                    };
                    for argument in &call.arguments.args {
                        self.note(argument, usage);
                    }
                }
                _ => {}
            },
            Expr::BinOp(operation) => {
                for (one, other) in [
                    (&operation.left, &operation.right),
                    (&operation.right, &operation.left),
                ] {
                    let usage = match &**other {
                        Expr::NumberLiteral(_) => Usage::Number,
                        Expr::StringLiteral(_) | Expr::FString(_) => Usage::Text,
                        Expr::List(_) => Usage::List,
                        _ => Usage::Anything,
                    };
                    self.note(one, usage);
                }
            }
            Expr::Compare(comparison) => {
                if let [Expr::NumberLiteral(_)] = &*comparison.comparators {
                    self.note(&comparison.left, Usage::Number);
                }
            }
            Expr::Subscript(subscript) => {
                self.note(&subscript.value, Usage::Sequence);
                if let Expr::Slice(slice) = &*subscript.slice {
                    for part in [&slice.lower, &slice.upper, &slice.step]
                        .into_iter()
                        .flatten()
                    {
                        self.note(part, Usage::Number);
                    }
                }
            }
            Expr::ListComp(inner) => {
                for generator in &inner.generators {
                    self.note(&generator.iter, Usage::Sequence);
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// What has a method of this name and nothing else has.
fn receiver(method: &str) -> Option<Usage> {
    Some(match method {
        "append" | "extend" | "insert" | "remove" | "sort" | "reverse" => Usage::List,
        "items" | "keys" | "values" | "get" | "setdefault" | "popitem" => Usage::Dict,
        "add" | "discard" | "union" | "intersection" | "difference" | "issubset" => Usage::Set,
        "pop" | "index" | "count" | "copy" | "clear" => Usage::Sequence,
        "capitalize" | "casefold" | "center" | "encode" | "endswith" | "expandtabs" | "find"
        | "format" | "isalnum" | "isalpha" | "isascii" | "isdecimal" | "isdigit"
        | "isidentifier" | "islower" | "isnumeric" | "isprintable" | "isspace" | "istitle"
        | "isupper" | "join" | "ljust" | "lower" | "lstrip" | "partition" | "removeprefix"
        | "removesuffix" | "replace" | "rfind" | "rindex" | "rjust" | "rpartition" | "rsplit"
        | "rstrip" | "split" | "splitlines" | "startswith" | "strip" | "swapcase" | "title"
        | "translate" | "upper" | "zfill" => Usage::Text,
        _ => return None,
    })
}

/// Names that are bound once, to a literal: in the module, or on any line of the function.
pub(super) fn constants<'p>(
    module: &'p [Stmt],
    definition: &'p StmtFunctionDef,
) -> HashMap<&'p str, Literal> {
    let mut held = HashMap::new();
    let mut bindings = Bindings::default();
    bindings.visit_body(&definition.body);
    let own: HashSet<&str> = parameters(definition)
        .into_iter()
        .chain(bindings.count.keys().copied())
        .collect();
    for statement in module {
        if let Stmt::Assign(assign) = statement
            && let [Expr::Name(name)] = &assign.targets[..]
            && !own.contains(name.id.as_str())
            && let Some(value) = constant(&assign.value, &held)
        {
            held.insert(name.id.as_str(), value);
        }
    }
    for (name, value) in &bindings.assigned {
        if bindings.count.get(name) == Some(&1)
            && !parameters(definition).contains(name)
            && !bindings.changed.contains(name)
            && let Some(value) = constant(value, &held)
        {
            held.insert(name, value);
        }
    }
    held
}

/// Names that statements bind, or change in place.
pub(super) fn bound_in(body: &[Stmt]) -> HashSet<&str> {
    let mut bindings = Bindings::default();
    bindings.visit_body(body);
    bindings.count.into_keys().chain(bindings.changed).collect()
}

#[derive(Default)]
struct Bindings<'p> {
    count: HashMap<&'p str, usize>,
    assigned: Vec<(&'p str, &'p Expr)>,
    /// By a method or under a key.
    changed: HashSet<&'p str>,
}

impl<'p> Visitor<'p> for Bindings<'p> {
    fn visit_stmt(&mut self, statement: &'p Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                if let [Expr::Name(name)] = &assign.targets[..] {
                    self.assigned.push((name.id.as_str(), &assign.value));
                }
            }
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    // Its old value counts, too.
                    *self.count.entry(name.id.as_str()).or_default() += 1;
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'p Expr) {
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load => {
                *self.count.entry(name.id.as_str()).or_default() += 1;
            }
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func
                    && let Expr::Name(name) = &*method.value
                    && !matches!(receiver(method.attr.as_str()), Some(Usage::Text) | None)
                {
                    self.changed.insert(name.id.as_str());
                }
            }
            Expr::Subscript(subscript) if subscript.ctx != ExprContext::Load => {
                if let Expr::Name(name) = &*subscript.value {
                    self.changed.insert(name.id.as_str());
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// The value of an expression that holds literals and names of literals only.
pub(super) fn constant(expression: &Expr, held: &HashMap<&str, Literal>) -> Option<Literal> {
    let all = |elements: &[Expr]| -> Option<Vec<Literal>> {
        elements
            .iter()
            .map(|element| constant(element, held))
            .collect()
    };
    Some(match expression {
        Expr::NoneLiteral(_) => Literal::None,
        Expr::BooleanLiteral(value) => Literal::Bool(value.value),
        Expr::StringLiteral(text) => Literal::Str(text.value.to_str().to_owned()),
        Expr::BytesLiteral(bytes) => Literal::Bytes(bytes.value.bytes().collect()),
        Expr::NumberLiteral(number) => match &number.value {
            ruff_python_ast::Number::Int(value) => literal::parse(&value.to_string()).ok()?,
            ruff_python_ast::Number::Float(value) => Literal::Float(*value),
            ruff_python_ast::Number::Complex { real, imag } => Literal::Complex(*real, *imag),
        },
        Expr::UnaryOp(operation) if operation.op == UnaryOp::USub => {
            match constant(&operation.operand, held)? {
                Literal::Int(value) => Literal::Int(-value),
                Literal::Float(value) => Literal::Float(-value),
                _ => return None,
            }
        }
        Expr::List(list) => Literal::List(all(&list.elts)?),
        Expr::Tuple(tuple) => Literal::Tuple(all(&tuple.elts)?),
        Expr::Set(set) => Literal::Set(all(&set.elts)?),
        Expr::Dict(dict) => {
            let pairs = dict.items.iter().map(|item| {
                let key = constant(item.key.as_ref()?, held)?;
                Some((key, constant(&item.value, held)?))
            });
            Literal::Dict(pairs.collect::<Option<_>>()?)
        }
        Expr::Name(name) => held.get(name.id.as_str())?.clone(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Program;
    use super::*;

    fn definition(program: &Program) -> &StmtFunctionDef {
        program
            .body()
            .iter()
            .find_map(Stmt::as_function_def_stmt)
            .unwrap()
    }

    #[test]
    fn parameters_are_what_they_are_used_as() {
        let source = "\
def f(text, names, n, table, seen, other):
    names.append(text.upper())
    for key, value in table.items():
        if n % 2: pass
    len(seen)
";
        let program = Program::parse(source, "f()").unwrap();
        let found = usages(definition(&program));
        assert_eq!(found["text"], Usage::Text);
        assert_eq!(found["names"], Usage::List);
        assert_eq!(found["n"], Usage::Number);
        assert_eq!(found["table"], Usage::Dict);
        assert_eq!(found["seen"], Usage::Sequence);
        assert!(!found.contains_key("other"));
    }

    #[test]
    fn constants_are_bound_once_and_never_changed() {
        let source = "\
LIMIT = 3
def f(x):
    step = -1
    total = 0
    total += step
    items = []
    items.append(x)
    y = x
";
        let program = Program::parse(source, "f()").unwrap();
        let mut found: Vec<String> = constants(program.body(), definition(&program))
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        found.sort();
        assert_eq!(found, ["LIMIT=3", "step=-1"]);
    }

    #[test]
    fn letters_are_put_together_where_a_text_is_used() {
        let letters = literal::parse("['a', 'b']").unwrap();
        assert_eq!(Usage::Text.fitted(letters.clone()).to_string(), "'ab'");
        assert_eq!(Usage::List.fitted(Literal::Str("ab".into())), letters);
        assert!(Usage::Text.takes(&Literal::Str(String::new())));
        assert!(!Usage::Dict.takes(&letters));
    }
}
