//! What a source defines: functions that can be called from outside, and what only looks like one.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

/// Something that a source defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defined {
    /// `f`, `C.m`; of a function within a function `f.g`.
    pub name: String,
    /// What it is.
    pub what: What,
}

/// What is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A function or a method.
    Function {
        /// Whether it is accessed as an attribute.
        is_property: bool,
        /// Whether it yields and is awaited.
        is_async_generator: bool,
    },
    /// A function within another one.
    Inner,
    /// A class.
    Class,
    /// A name for a lambda.
    Lambda,
}

/// What a source defines, in its order; nothing if it does not parse.
pub fn outline(source: &str) -> Vec<Defined> {
    let mut found = Vec::new();
    if let Ok(parsed) = ruff_python_parser::parse_module(source) {
        read(&parsed.syntax().body, "", false, &mut found);
    }
    found
}

fn read(body: &[Stmt], prefix: &str, within: bool, found: &mut Vec<Defined>) {
    let defined = |name: &str, what| Defined {
        name: format!("{prefix}{name}"),
        what,
    };
    for statement in body {
        match statement {
            Stmt::FunctionDef(function) => {
                let name = function.name.as_str();
                let what = if within { What::Inner } else { of(function) };
                found.push(defined(name, what));
                read(&function.body, &format!("{prefix}{name}."), true, found);
            }
            Stmt::ClassDef(class) => {
                let name = class.name.as_str();
                if !within {
                    found.push(defined(name, What::Class));
                }
                read(&class.body, &format!("{prefix}{name}."), within, found);
            }
            Stmt::Assign(assigned) if !within && matches!(*assigned.value, Expr::Lambda(_)) => {
                for target in &assigned.targets {
                    if let Expr::Name(name) = target {
                        found.push(defined(name.id.as_str(), What::Lambda));
                    }
                }
            }
            Stmt::If(branch) => {
                read(&branch.body, prefix, within, found);
                for clause in &branch.elif_else_clauses {
                    read(&clause.body, prefix, within, found);
                }
            }
            Stmt::Try(tried) => {
                read(&tried.body, prefix, within, found);
                read(&tried.orelse, prefix, within, found);
            }
            Stmt::With(with) => read(&with.body, prefix, within, found),
            _ => {}
        }
    }
}

fn of(function: &StmtFunctionDef) -> What {
    let is_property = function.decorator_list.iter().any(|decorator| {
        let name = match &decorator.expression {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        matches!(name, "property" | "cached_property" | "getter")
    });
    let mut yields = Yields(false);
    yields.visit_body(&function.body);
    What::Function {
        is_property,
        is_async_generator: function.is_async && yields.0,
    }
}

/// Whether a body yields, functions within it left out.
struct Yields(bool);

impl<'p> Visitor<'p> for Yields {
    fn visit_stmt(&mut self, statement: &'p Stmt) {
        if !matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            walk_stmt(self, statement);
        }
    }

    fn visit_expr(&mut self, expression: &'p Expr) {
        match expression {
            Expr::Yield(_) | Expr::YieldFrom(_) => self.0 = true,
            Expr::Lambda(_) => {}
            _ => walk_expr(self, expression),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_from_what_only_looks_like_one() {
        let found = outline(
            "double = lambda x: 2 * x\n\nclass C:\n    @property\n    def size(self): return 1\n    \
             def m(self):\n        def inner(): yield 1\n        return inner\n\n\
             async def stream(n):\n    for i in range(n):\n        yield i\n\n\
             async def plain():\n    def within(): yield 1\n\nif True:\n    def late(): ...\n",
        );
        let function = |is_property, is_async_generator| What::Function {
            is_property,
            is_async_generator,
        };
        let found: Vec<(&str, What)> = found
            .iter()
            .map(|defined| (defined.name.as_str(), defined.what))
            .collect();
        assert_eq!(
            found,
            [
                ("double", What::Lambda),
                ("C", What::Class),
                ("C.size", function(true, false)),
                ("C.m", function(false, false)),
                ("C.m.inner", What::Inner),
                ("stream", function(false, true)),
                ("plain", function(false, false)),
                ("plain.within", What::Inner),
                ("late", function(false, false)),
            ]
        );
        assert!(outline("def f(:").is_empty());
    }
}
