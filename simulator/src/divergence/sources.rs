//! What the value of an expression rests on: names, attributes and calls in it.

use std::collections::HashSet;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Comprehension, Expr, ExprAttribute, ExprCall};

use super::syntax;

/// Something whose value an expression uses.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source<'p> {
    Name(&'p Expr, &'p str),
    Attribute(&'p ExprAttribute),
    /// A call that was recorded.
    Call(&'p ExprCall),
}

/// What an expression uses, in its order; `recorded` are the functions whose calls are gone into.
pub(super) fn of<'p>(expression: &'p Expr, recorded: &HashSet<&str>) -> Vec<Source<'p>> {
    let mut finder = Finder {
        recorded,
        bound: Vec::new(),
        found: Vec::new(),
    };
    finder.visit_expr(expression);
    finder.found
}

/// What a call uses whose own body is not gone into: its arguments, and the object of a method.
pub(super) fn of_arguments<'p>(call: &'p ExprCall, recorded: &HashSet<&str>) -> Vec<Source<'p>> {
    let mut finder = Finder {
        recorded,
        bound: Vec::new(),
        found: Vec::new(),
    };
    finder.given(call);
    finder.found
}

struct Finder<'p, 'n> {
    recorded: &'n HashSet<&'n str>,
    /// Names of comprehensions and lambdas.
    bound: Vec<&'p str>,
    found: Vec<Source<'p>>,
}

impl<'p> Finder<'p, '_> {
    fn given(&mut self, call: &'p ExprCall) {
        if let Expr::Attribute(method) = &*call.func {
            self.visit_expr(&method.value);
        }
        for argument in &call.arguments.args {
            self.visit_expr(argument);
        }
        for keyword in &call.arguments.keywords {
            self.visit_expr(&keyword.value);
        }
    }

    fn comprehension(&mut self, generators: &'p [Comprehension], elements: &[&'p Expr]) {
        let before = self.bound.len();
        for generator in generators {
            self.visit_expr(&generator.iter);
            names_of(&generator.target, &mut self.bound);
        }
        for generator in generators {
            for test in &generator.ifs {
                self.visit_expr(test);
            }
        }
        for element in elements {
            self.visit_expr(element);
        }
        self.bound.truncate(before);
    }
}

impl<'p> Visitor<'p> for Finder<'p, '_> {
    fn visit_expr(&mut self, expression: &'p Expr) {
        match expression {
            Expr::Name(name) => {
                let text = name.id.as_str();
                if !self.bound.contains(&text) {
                    self.found.push(Source::Name(expression, text));
                }
            }
            Expr::Attribute(attribute) => self.found.push(Source::Attribute(attribute)),
            Expr::Call(call) => {
                if syntax::callee(call).is_some_and(|name| self.recorded.contains(name)) {
                    self.found.push(Source::Call(call));
                } else {
                    self.given(call);
                }
            }
            Expr::ListComp(inner) => self.comprehension(&inner.generators, &[&inner.elt]),
            Expr::SetComp(inner) => self.comprehension(&inner.generators, &[&inner.elt]),
            Expr::Generator(inner) => self.comprehension(&inner.generators, &[&inner.elt]),
            Expr::DictComp(inner) => {
                let mut elements: Vec<&Expr> = vec![&inner.value];
                elements.extend(inner.key.as_deref());
                self.comprehension(&inner.generators, &elements);
            }
            Expr::Lambda(lambda) => {
                let before = self.bound.len();
                let parameters = lambda.parameters.iter().flat_map(|held| held.iter());
                self.bound
                    .extend(parameters.map(|parameter| parameter.name().as_str()));
                self.visit_expr(&lambda.body);
                self.bound.truncate(before);
            }
            _ => walk_expr(self, expression),
        }
    }
}

fn names_of<'p>(target: &'p Expr, found: &mut Vec<&'p str>) {
    match target {
        Expr::Name(name) => found.push(name.id.as_str()),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| names_of(one, found)),
        Expr::List(list) => list.elts.iter().for_each(|one| names_of(one, found)),
        Expr::Starred(starred) => names_of(&starred.value, found),
        _ => {}
    }
}

/// What an expression uses apart from calls of one function, whose arguments are used.
pub(super) fn of_statement<'p>(expression: &'p Expr, function: &str) -> Vec<Source<'p>> {
    let found = of(expression, &HashSet::new());
    let is_function =
        |source: &Source<'_>| matches!(source, Source::Name(_, name) if *name == function);
    found
        .into_iter()
        .filter(|source| !is_function(source))
        .collect()
}
