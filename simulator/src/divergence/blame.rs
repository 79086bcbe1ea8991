//! How much of the belief a statement keeps: a mistake is likelier where more is decided.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, Number, Stmt};

/// What is kept by a statement that only hands a value on.
const LEAST: f64 = 0.05;
/// What is kept by a call that changes an object.
pub(super) const CHANGE: f64 = 0.15;
/// What one more decision leaves to the rest.
const LEFT: f64 = 0.88;
/// Decisions counted at most: a long statement is not wrong for certain.
const MOST: i32 = 5;

/// The share of a statement that should have done something else.
pub(super) fn of_statement(statement: &Stmt) -> f64 {
    match statement {
        // `total += x` decides what is done.
        Stmt::AugAssign(assign) => share(1 + decisions(&assign.value)),
        Stmt::Assign(assign) => share(decisions(&assign.value)),
        Stmt::AnnAssign(assign) => share(assign.value.as_deref().map_or(0, decisions)),
        Stmt::Return(inner) => share(inner.value.as_deref().map_or(0, decisions)),
        Stmt::Expr(inner) => share(decisions(&inner.value)),
        Stmt::For(walked) => share(decisions(&walked.iter)),
        Stmt::Delete(_) => share(1),
        _ => LEAST,
    }
}

/// The share of an expression that should have had another value.
pub(super) fn of_expression(expression: &Expr) -> f64 {
    share(decisions(expression))
}

fn share(decisions: i32) -> f64 {
    1.0 - (1.0 - LEAST) * LEFT.powi(decisions.min(MOST))
}

/// Operators, telling constants and conditions of an expression.
fn decisions(expression: &Expr) -> i32 {
    struct Count(i32);
    impl<'p> Visitor<'p> for Count {
        fn visit_expr(&mut self, expression: &'p Expr) {
            self.0 += match expression {
                Expr::BinOp(_)
                | Expr::UnaryOp(_)
                | Expr::BoolOp(_)
                | Expr::If(_)
                | Expr::Slice(_)
                | Expr::StringLiteral(_)
                | Expr::Lambda(_)
                | Expr::FString(_) => 1,
                Expr::NumberLiteral(held) => i32::from(!is_common(&held.value)),
                Expr::Compare(comparison) => comparison.ops.len() as i32,
                Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => 1,
                _ => 0,
            };
            walk_expr(self, expression);
        }
    }
    let mut count = Count(0);
    count.visit_expr(expression);
    count.0
}

/// 0 and 1: they begin a count or a row, whatever that means.
fn is_common(number: &Number) -> bool {
    match number {
        Number::Int(value) => value.as_u8().is_some_and(|value| value <= 1),
        _ => false,
    }
}
