//! Conditions.

use super::super::Author;
use super::super::code::{Code, Rank};
use super::super::literal::{content, literal, number};
use super::super::types::Type;
use super::{Way, attempt, expression, term};
use crate::profile::Metric;

/// What an `if` or `while` tests.
pub(in crate::generate) fn condition(author: &mut Author<'_>, height: usize) -> Code {
    let before = std::mem::replace(&mut author.pure, true);
    let code = test(author, height.max(1));
    author.pure = before;
    code
}

fn test(author: &mut Author<'_>, height: usize) -> Code {
    let mut kinds: Vec<&str> = if height < 2 {
        vec!["name", "attribute", "comparison"]
    } else {
        vec![
            "comparison",
            "name",
            "attribute",
            "not",
            "and-or",
            "method",
            "call",
            "operator",
            "subscript",
        ]
    };
    while !kinds.is_empty() {
        let kind = author.choose(Metric::Condition, &kinds);
        kinds.retain(|other| *other != kind);
        let code = match kind {
            "comparison" => comparison(author, height.max(2)),
            "name" => truthy(author, false),
            "attribute" => truthy(author, true),
            "not" => Some(not(author, height)),
            "and-or" => Some(and_or(author, height)),
            "method" => attempt(author, &Type::Bool, height, Way::Method),
            "call" => {
                let way = *author
                    .random
                    .pick(&[Way::Builtin, Way::Helper, Way::Generator]);
                attempt(author, &Type::Bool, height, way)
            }
            "operator" => {
                let left = term(author, &Type::Int, height - 1);
                let divisor = number(*author.random.pick(&[2, 2, 3, 5, 10]));
                let left = left.at(Rank::Product);
                Some(Code::new(
                    author
                        .style
                        .operator(author.random, &left, "%", &divisor.text),
                    Rank::Product,
                ))
            }
            _ => attempt(author, &Type::Bool, height, Way::Subscript),
        };
        if let Some(code) = code {
            return code;
        }
    }
    literal(author, &Type::Bool)
}

/// A variable whose truth says something.
fn truthy(author: &mut Author<'_>, attribute: bool) -> Option<Code> {
    let at = author.find(|one| {
        one.is_attribute() == attribute
            && (one.ty == Type::Bool || one.ty == Type::Int || one.ty.is_sized())
    })?;
    Some(author.read(at))
}

pub(super) fn not(author: &mut Author<'_>, height: usize) -> Code {
    let inner = if height >= 3 {
        test(author, height - 1)
    } else {
        test(author, 1)
    };
    Code::new(format!("not {}", inner.at(Rank::Not)), Rank::Not)
}

pub(super) fn and_or(author: &mut Author<'_>, height: usize) -> Code {
    let (operator, rank) = if author.random.chance(0.6) {
        ("and", Rank::And)
    } else {
        ("or", Rank::Or)
    };
    let inner = height.saturating_sub(1).max(1);
    let left = test(author, inner);
    let mut right = test(author, inner);
    for _ in 0..4 {
        if right.text != left.text {
            break;
        }
        right = test(author, inner);
    }
    Code::new(
        format!("{} {operator} {}", left.at(rank), right.at(rank)),
        rank,
    )
}

/// A comparison.
pub(super) fn comparison(author: &mut Author<'_>, height: usize) -> Option<Code> {
    let inner = height.saturating_sub(1).max(1);
    let mut operators = vec![
        "==", "!=", "<", ">", "<=", ">=", "in", "not in", "is", "is not",
    ];
    while !operators.is_empty() {
        let operator = author.choose(Metric::Comparison, &operators);
        operators.retain(|other| *other != operator);
        for _ in 0..3 {
            let code = match operator {
                "in" | "not in" => membership(author, operator, inner),
                "is" | "is not" => identity(author, operator),
                _ => ordering(author, operator, inner),
            };
            if code.is_some() {
                return code;
            }
        }
    }
    None
}

/// Whether an argument was left out, as far as the reader knows.
fn identity(author: &mut Author<'_>, operator: &str) -> Option<Code> {
    let at = author.find(|one| !one.own && !one.is_attribute() && one.reads < 3)?;
    Some(Code::new(
        format!("{} {operator} None", author.read(at).text),
        Rank::Comparison,
    ))
}

fn ordering(author: &mut Author<'_>, operator: &str, height: usize) -> Option<Code> {
    let equality = matches!(operator, "==" | "!=");
    let at = author.find(|one| match &one.ty {
        Type::Int | Type::Str | Type::Float => true,
        ty => ty.is_sized() || (equality && matches!(ty, Type::Tuple(_))),
    })?;
    let ty = author.variables[at].ty.clone();
    // Containers are compared by their length, mostly; text for equality.
    let wanted = match ty {
        Type::Int | Type::Float => ty,
        Type::Str if equality && author.random.chance(0.8) => Type::Str,
        _ if equality && height >= 2 && author.random.chance(0.1) => ty,
        _ => Type::Int,
    };
    let left = if height <= 1 && wanted != Type::Int {
        author.read(at)
    } else {
        term(author, &wanted, height)
    };
    let mut right = match wanted {
        Type::Int if author.random.chance(0.55) => literal(author, &Type::Int),
        Type::Str if author.random.chance(0.6) => {
            let length = *author.random.pick(&[0, 1, 1, 1, 2, 3, 4]);
            let value = content(author, length);
            Code::atom(author.style.string(author.random, &value))
        }
        _ => expression(author, &wanted, height.min(2)),
    };
    if right.text == left.text {
        right = literal(author, &wanted);
    }
    let constant = left
        .text
        .starts_with(|first: char| first.is_ascii_digit() || matches!(first, '\'' | '"' | '['));
    if constant && left.rank == Rank::Atom {
        return None;
    }
    let (left, right) = (left.at(Rank::BitOr), right.at(Rank::BitOr));
    if wanted == Type::Int && matches!(operator, "<" | "<=") && author.random.chance(0.04) {
        return Some(Code::new(
            format!("0 {operator} {left} {operator} {right}"),
            Rank::Comparison,
        ));
    }
    Some(Code::new(
        author
            .style
            .operator(author.random, &left, operator, &right),
        Rank::Comparison,
    ))
}

fn membership(author: &mut Author<'_>, operator: &str, height: usize) -> Option<Code> {
    let found = author.find(|one| one.ty.item().is_some_and(|item| item != Type::Bool));
    let (item, container) = if let Some(at) = found.filter(|_| author.random.chance(0.85)) {
        let item = author.variables[at].ty.item()?;
        let container = author.read(at);
        (item, container)
    } else {
        let text = author
            .random
            .word(&["aeiou", "0123456789", "abc", " \n", "+-*/", ".,;"]);
        (
            Type::Str,
            Code::atom(author.style.string(author.random, text)),
        )
    };
    let mut left = if author.random.chance(0.8) {
        term(author, &item, height)
    } else {
        expression(author, &item, 1)
    };
    if left.text == container.text || (item.depth() > 0 && left.text.len() > 30) {
        left = literal(author, &item);
    }
    Some(Code::new(
        format!(
            "{} {operator} {}",
            left.at(Rank::BitOr),
            container.at(Rank::BitOr)
        ),
        Rank::Comparison,
    ))
}

/// A condition that does not hold, as far as is known: the test of a guard. None when nothing is
/// known.
pub(in crate::generate) fn contradiction(author: &mut Author<'_>) -> Option<(Code, usize)> {
    let at = author.find(|one| {
        (one.ty.is_sized() && one.least > 0) || (one.ty == Type::Int && one.nonnegative)
    })?;
    let number = author.variables[at].ty == Type::Int;
    let name = author.read(at).text;
    let code = if number {
        Code::new(
            author.style.operator(author.random, &name, "<", "0"),
            Rank::Comparison,
        )
    } else if author.random.chance(0.7) {
        Code::new(format!("not {name}"), Rank::Not)
    } else {
        let length = format!("len({name})");
        Code::new(
            author.style.operator(author.random, &length, "==", "0"),
            Rank::Comparison,
        )
    };
    Some((code, at))
}
