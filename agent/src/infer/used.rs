//! Names that an expression takes from around it.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprContext};

/// Python's own names that calls are written with.
const OWN: &[&str] = &[
    "None",
    "True",
    "False",
    "bytearray",
    "float",
    "frozenset",
    "list",
    "range",
    "set",
    "tuple",
];

/// Names in an expression, but for Python's own; none of what does not parse.
pub fn names(expression: &str) -> BTreeSet<String> {
    let mut found = Found(BTreeSet::new());
    if let Ok(parsed) = ruff_python_parser::parse_expression(expression) {
        found.visit_expr(parsed.expr());
    }
    found.0
}

struct Found(BTreeSet<String>);

impl<'p> Visitor<'p> for Found {
    fn visit_expr(&mut self, expression: &'p Expr) {
        if let Expr::Name(name) = expression
            && name.ctx == ExprContext::Load
            && !OWN.contains(&name.id.as_str())
        {
            self.0.insert(name.id.to_string());
        }
        walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_a_call_needs_around_it() {
        let found: Vec<String> = names("asyncio.run(f(_Kind.B, _Pt(x=1), [float('nan'), set()]))")
            .into_iter()
            .collect();
        assert_eq!(found, ["_Kind", "_Pt", "asyncio", "f"]);
        assert!(names("f(").is_empty());
    }
}
