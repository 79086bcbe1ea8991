//! What a source defines: functions that can be called from outside, and what only looks like one.

use ruff_python_ast::{Expr, Stmt};

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
    Function,
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
                let what = if within { What::Inner } else { What::Function };
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
        let found: Vec<(&str, What)> = found
            .iter()
            .map(|defined| (defined.name.as_str(), defined.what))
            .collect();
        assert_eq!(
            found,
            [
                ("double", What::Lambda),
                ("C", What::Class),
                ("C.size", What::Function),
                ("C.m", What::Function),
                ("C.m.inner", What::Inner),
                ("stream", What::Function),
                ("plain", What::Function),
                ("plain.within", What::Inner),
                ("late", What::Function),
            ]
        );
        assert!(outline("def f(:").is_empty());
    }
}
