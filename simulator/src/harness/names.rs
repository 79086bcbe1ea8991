//! Which names a function binds: they are its locals in all of its body.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt};

/// The names of one function or class body.
#[derive(Debug, Clone, Default)]
pub struct Names<'p> {
    /// Locals: parameters first, then in the order in which they are first bound.
    pub locals: Vec<&'p str>,
    /// Declared `global`.
    pub globals: Vec<&'p str>,
    /// Declared `nonlocal`.
    pub nonlocals: Vec<&'p str>,
    /// Whether it yields.
    pub generator: bool,
}

/// The names that a body binds.
pub fn names<'p>(parameters: Option<&'p Parameters>, body: &'p [Stmt]) -> Names<'p> {
    let mut found = Names::default();
    if let Some(parameters) = parameters {
        for parameter in parameters.iter_non_variadic_params() {
            found.bind(parameter.name().as_str());
        }
        for parameter in [&parameters.vararg, &parameters.kwarg]
            .into_iter()
            .flatten()
        {
            found.bind(parameter.name().as_str());
        }
    }
    for statement in body {
        found.visit_stmt(statement);
    }
    let Names {
        globals, nonlocals, ..
    } = &found;
    let declared: Vec<&str> = globals.iter().chain(nonlocals).copied().collect();
    found.locals.retain(|name| !declared.contains(name));
    found
}

impl<'p> Names<'p> {
    fn bind(&mut self, name: &'p str) {
        if !self.locals.contains(&name) {
            self.locals.push(name);
        }
    }
}

impl<'p> Visitor<'p> for Names<'p> {
    fn visit_stmt(&mut self, statement: &'p Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                self.bind(function.name.as_str());
                return;
            }
            Stmt::ClassDef(class) => {
                self.bind(class.name.as_str());
                return;
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    let first = name.as_str().split('.').next().unwrap_or_default();
                    self.bind(first);
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.bind(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
                }
            }
            Stmt::Global(global) => self
                .globals
                .extend(global.names.iter().map(ruff_python_ast::Identifier::as_str)),
            Stmt::Nonlocal(nonlocal) => {
                self.nonlocals.extend(
                    nonlocal
                        .names
                        .iter()
                        .map(ruff_python_ast::Identifier::as_str),
                );
            }
            Stmt::For(loop_) => {
                // As Python stores: the target before what the body binds.
                self.visit_expr(&loop_.target);
            }
            Stmt::Assign(assign) => {
                self.visit_expr(&assign.value);
            }
            Stmt::Try(attempt) => {
                walk_stmt(self, statement);
                for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                    if let Some(name) = &handler.name {
                        self.bind(name.as_str());
                    }
                }
                return;
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'p Expr) {
        match expression {
            Expr::Name(name) if name.ctx == ExprContext::Store || name.ctx == ExprContext::Del => {
                self.bind(name.id.as_str());
            }
            // Their targets are their own.
            Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::Generator(_)
            | Expr::Lambda(_) => return,
            Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_) => self.generator = true,
            _ => {}
        }
        walk_expr(self, expression);
    }

    fn visit_pattern(&mut self, pattern: &'p Pattern) {
        match pattern {
            Pattern::MatchAs(inner) => {
                if let Some(name) = &inner.name {
                    self.bind(name.as_str());
                }
            }
            Pattern::MatchStar(inner) => {
                if let Some(name) = &inner.name {
                    self.bind(name.as_str());
                }
            }
            _ => {}
        }
        walk_pattern(self, pattern);
    }
}
