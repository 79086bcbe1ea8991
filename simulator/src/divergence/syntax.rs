//! Parts of expressions and statements: what a call names, the call in a statement, constants.

use std::collections::HashSet;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Number, Stmt, StmtClassDef, UnaryOp};

use super::sources::{self, Source};
use crate::literal::Literal;

/// What a call names: `f` of `f(x)` and of `m.f(x)`.
pub fn callee(call: &ExprCall) -> Option<&str> {
    match &*call.func {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// The call of a function in a statement, when there is one alone.
pub fn call_in<'p>(statement: &'p Stmt, function: &str) -> Option<&'p ExprCall> {
    struct Calls<'p, 'n> {
        name: &'n str,
        found: Vec<&'p ExprCall>,
    }
    impl<'p> Visitor<'p> for Calls<'p, '_> {
        fn visit_expr(&mut self, expression: &'p Expr) {
            if let Expr::Call(call) = expression
                && callee(call) == Some(self.name)
            {
                self.found.push(call);
            }
            walk_expr(self, expression);
        }

        // The blocks of a compound statement run at other states.
        fn visit_body(&mut self, _: &'p [Stmt]) {}
    }
    let mut calls = Calls {
        name: function.rsplit('.').next().unwrap_or(function),
        found: Vec::new(),
    };
    calls.visit_stmt(statement);
    match calls.found.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// The expression that a call gives for a parameter.
pub fn argument_of<'p>(
    call: &'p ExprCall,
    name: &str,
    position: Option<usize>,
) -> Option<&'p Expr> {
    let keyword = call
        .arguments
        .keywords
        .iter()
        .find(|keyword| keyword.arg.as_ref().is_some_and(|key| key.as_str() == name));
    if let Some(keyword) = keyword {
        return Some(&keyword.value);
    }
    let argument = call.arguments.args.get(position?)?;
    (!argument.is_starred_expr()).then_some(argument)
}

/// The value of a literal in the source.
pub fn constant(expression: &Expr) -> Option<Literal> {
    Some(match expression {
        Expr::NoneLiteral(_) => Literal::None,
        Expr::BooleanLiteral(held) => Literal::Bool(held.value),
        Expr::StringLiteral(held) => Literal::Str(held.value.to_str().to_owned()),
        Expr::NumberLiteral(held) => match &held.value {
            Number::Int(value) => Literal::Int(value.to_string().parse().ok()?),
            Number::Float(value) => Literal::Float(*value),
            Number::Complex { .. } => return None,
        },
        Expr::UnaryOp(operation) if operation.op == UnaryOp::USub => {
            match constant(&operation.operand)? {
                Literal::Int(value) => Literal::Int(-value),
                Literal::Float(value) => Literal::Float(-value),
                _ => return None,
            }
        }
        Expr::List(list) => Literal::List(list.elts.iter().map(constant).collect::<Option<_>>()?),
        Expr::Tuple(tuple) => {
            Literal::Tuple(tuple.elts.iter().map(constant).collect::<Option<_>>()?)
        }
        Expr::Dict(dict) if dict.items.is_empty() => Literal::Dict(Vec::new()),
        _ => return None,
    })
}

/// Fields of a data class or named tuple, in order.
pub fn fields(class: &StmtClassDef) -> impl Iterator<Item = &str> {
    class.body.iter().filter_map(|statement| match statement {
        Stmt::AnnAssign(field) => match &*field.target {
            Expr::Name(name) => Some(name.id.as_str()),
            _ => None,
        },
        _ => None,
    })
}

/// The expressions of a statement itself, without those of its blocks and its targets.
pub fn expressions(statement: &Stmt) -> Vec<&Expr> {
    match statement {
        Stmt::Assign(assign) => vec![&*assign.value],
        Stmt::AnnAssign(assign) => assign.value.as_deref().into_iter().collect(),
        Stmt::AugAssign(assign) => vec![&*assign.target, &*assign.value],
        Stmt::Return(inner) => inner.value.as_deref().into_iter().collect(),
        Stmt::Expr(inner) => vec![&*inner.value],
        Stmt::For(walked) => vec![&*walked.iter],
        Stmt::If(choice) => vec![&*choice.test],
        Stmt::While(repeated) => vec![&*repeated.test],
        Stmt::Assert(held) => vec![&*held.test],
        Stmt::Raise(raised) => raised.exc.as_deref().into_iter().collect(),
        Stmt::Delete(deleted) => deleted.targets.iter().collect(),
        Stmt::With(managed) => managed
            .items
            .iter()
            .map(|item| &item.context_expr)
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether a statement itself uses a name.
pub fn mentions(statement: &Stmt, name: &str) -> bool {
    let none = HashSet::new();
    expressions(statement)
        .into_iter()
        .flat_map(|one| sources::of(one, &none))
        .any(|source| match source {
            Source::Name(_, held) => held == name,
            Source::Attribute(attribute) => {
                matches!(&*attribute.value, Expr::Name(held) if held.id.as_str() == name)
            }
            Source::Call(_) => false,
        })
}

/// The type that a `raise` names.
pub fn raised_name(exception: &Expr) -> Option<&str> {
    match exception {
        Expr::Call(call) => callee(call),
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// Whether assigning to a target binds a name, or an item of it.
pub fn binds(target: &Expr, name: &str) -> bool {
    match target {
        Expr::Name(held) => held.id.as_str() == name,
        Expr::Tuple(tuple) => tuple.elts.iter().any(|one| binds(one, name)),
        Expr::List(list) => list.elts.iter().any(|one| binds(one, name)),
        Expr::Starred(starred) => binds(&starred.value, name),
        Expr::Subscript(subscript) => binds(&subscript.value, name),
        _ => false,
    }
}

/// Whether a statement itself calls something.
pub fn has_call(statement: &Stmt) -> bool {
    struct Calls(bool);
    impl<'p> Visitor<'p> for Calls {
        fn visit_expr(&mut self, expression: &'p Expr) {
            self.0 |= expression.is_call_expr();
            walk_expr(self, expression);
        }
    }
    let mut calls = Calls(false);
    for expression in expressions(statement) {
        calls.visit_expr(expression);
    }
    calls.0
}
