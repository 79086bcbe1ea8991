//! Arithmetic and the operators of strings, lists and sets.

use super::super::Author;
use super::super::code::{Code, Rank};
use super::super::literal::{literal, number};
use super::super::types::Type;
use super::argument::small;
use super::{expression, term};
use crate::profile::Metric;

/// Digits beyond which products stop.
const LARGEST: u8 = 6;

/// A binary operation of type `wanted`.
pub(super) fn binary(author: &mut Author<'_>, wanted: &Type, height: usize) -> Option<Code> {
    match wanted {
        Type::Int => integers(author, height),
        Type::Float => floats(author, height),
        Type::Str => strings(author, height),
        Type::List(item) => lists(author, wanted, item, height),
        Type::Set(_) => {
            let operator = author.choose(Metric::Operator, &["|", "&", "-", "^"]);
            let left = variable_term(author, wanted, height - 1)?;
            let right = term(author, wanted, height - 1);
            let rank = match operator {
                "|" => Rank::BitOr,
                "&" => Rank::BitAnd,
                "^" => Rank::BitXor,
                _ => Rank::Sum,
            };
            (left.text != right.text).then(|| join(author, &left, operator, &right, rank))
        }
        _ => None,
    }
}

fn join(author: &mut Author<'_>, left: &Code, operator: &str, right: &Code, rank: Rank) -> Code {
    // The right operand of a left-associative operator needs parentheses at the same rank.
    let above = match rank {
        Rank::Sum => Rank::Product,
        Rank::Product => Rank::Unary,
        Rank::Shift => Rank::Sum,
        Rank::BitAnd => Rank::Shift,
        Rank::BitXor => Rank::BitAnd,
        Rank::BitOr => Rank::BitXor,
        _ => Rank::Atom,
    };
    let left_rank = if rank == Rank::Power {
        Rank::Atom
    } else {
        rank
    };
    let (left, right) = (left.at(left_rank), right.at(above));
    Code::new(
        author
            .style
            .operator(author.random, &left, operator, &right),
        rank,
    )
}

/// A right operand for an operation of the type: often a small literal.
pub(in crate::generate) fn operand(author: &mut Author<'_>, wanted: &Type, height: usize) -> Code {
    match wanted {
        Type::Int if author.random.chance(0.4) => number(author.random.between(1, 3)),
        _ => expression(author, wanted, height.max(1)),
    }
}

/// A number that is not zero.
pub(in crate::generate) fn divisor(author: &mut Author<'_>) -> Code {
    let found = author.find(|one| one.ty == Type::Int && one.nonzero && one.size <= 3);
    if let Some(at) = found.filter(|_| author.random.chance(0.3)) {
        return author.read(at);
    }
    let sized = author.find(|one| one.ty.is_sized() && one.least > 0);
    if let Some(at) = sized.filter(|_| author.random.chance(0.3)) {
        let mut code = author.read(at);
        code.text = format!("len({})", code.text);
        code.nonzero = true;
        code.size = 1;
        code.nonnegative = true;
        return code;
    }
    if author.may_raise("ZeroDivisionError") {
        return term(author, &Type::Int, 1);
    }
    let usual = *author.random.pick(&[2, 2, 2, 3, 10, 10, 5, 7, 4, 100]);
    number(usual)
}

fn integers(author: &mut Author<'_>, height: usize) -> Option<Code> {
    let left = variable_term(author, &Type::Int, height - 1)?;
    let operators: &[&str] = if author.pure || author.loops == 0 {
        &["+", "-", "*", "//", "%", "**", "&", "|", "^", "<<", ">>"]
    } else {
        &["+", "-", "*", "//", "%", "&", "|", "^", ">>"]
    };
    let operator = author.choose(Metric::Operator, operators);
    let (right, rank) = match operator {
        "*" => {
            let right = operand(author, &Type::Int, height - 1);
            let fits = right.size.saturating_add(left.size) <= LARGEST;
            (
                if fits {
                    right
                } else {
                    number(author.random.between(2, 9))
                },
                Rank::Product,
            )
        }
        "//" | "%" => (divisor(author), Rank::Product),
        "**" if left.size <= 3 => (number(author.random.between(2, 3)), Rank::Power),
        "&" | "|" | "^" => {
            let rank = match operator {
                "&" => Rank::BitAnd,
                "|" => Rank::BitOr,
                _ => Rank::BitXor,
            };
            (number(*author.random.pick(&[1, 1, 3, 7, 15, 255])), rank)
        }
        "<<" | ">>" => (small(author), Rank::Shift),
        _ => {
            let right = operand(author, &Type::Int, height - 1);
            let same = right.text == left.text;
            (
                if same {
                    number(author.random.between(1, 2))
                } else {
                    right
                },
                Rank::Sum,
            )
        }
    };
    let operator = if operator == "**" && rank != Rank::Power {
        "+"
    } else {
        operator
    };
    let mut code = join(author, &left, operator, &right, rank);
    code.nonnegative = left.nonnegative && right.nonnegative && operator != "-";
    code.size = match operator {
        "*" => left.size + right.size,
        "//" | ">>" | "&" => left.size,
        "%" => right.size,
        "**" => left.size.saturating_mul(3),
        "<<" => left.size + 3,
        _ => left.size.max(right.size) + 1,
    };
    if operator == "%" {
        code.nonnegative = right.nonnegative;
    }
    code.nonzero = code.nonnegative && operator == "+" && (left.nonzero || right.nonzero);
    Some(code)
}

/// A left operand that is no literal: nobody writes `3 + 4`.
fn variable_term(author: &mut Author<'_>, wanted: &Type, height: usize) -> Option<Code> {
    let code = term(author, wanted, height);
    (!code.is_literal()).then_some(code)
}

fn floats(author: &mut Author<'_>, height: usize) -> Option<Code> {
    let operator = author.choose(Metric::Operator, &["+", "-", "*", "/"]);
    if operator == "/" {
        let ty = if author.random.chance(0.6) {
            Type::Int
        } else {
            Type::Float
        };
        let left = variable_term(author, &ty, height - 1)?;
        let right = divisor(author);
        return Some(join(author, &left, "/", &right, Rank::Product));
    }
    let left = variable_term(author, &Type::Float, height - 1)?;
    let ty = if author.random.chance(0.4) {
        Type::Int
    } else {
        Type::Float
    };
    let right = operand(author, &ty, height - 1);
    if operator == "*" && left.size.saturating_add(right.size) > LARGEST {
        return None;
    }
    let rank = if operator == "*" {
        Rank::Product
    } else {
        Rank::Sum
    };
    let mut code = join(author, &left, operator, &right, rank);
    code.size = match operator {
        "*" => left.size + right.size,
        _ => left.size.max(right.size) + 1,
    };
    (left.text != right.text).then_some(code)
}

fn strings(author: &mut Author<'_>, height: usize) -> Option<Code> {
    match author.choose(Metric::Operator, &["+", "*", "%"]) {
        "%" => Some(super::text::percent(author, height)),
        "*" => {
            let left = if author.random.chance(0.5) {
                let value = author
                    .random
                    .word(&["-", "*", " ", "=", "ab", "x", "0", "#"]);
                Code::atom(author.style.string(author.random, value))
            } else {
                term(author, &Type::Str, height - 1)
            };
            if left.size > 2 && author.loops > 0 {
                return None;
            }
            let right = small(author);
            let mut code = join(author, &left, "*", &right, Rank::Product);
            code.size = left.size + 1;
            Some(code)
        }
        _ => {
            let left = term(author, &Type::Str, height - 1);
            let right = if left.is_literal() {
                variable_term(author, &Type::Str, height - 1)?
            } else {
                expression(author, &Type::Str, height - 1)
            };
            let mut code = join(author, &left, "+", &right, Rank::Sum);
            code.size = left.size.max(right.size) + 1;
            code.least = left.least + right.least;
            // Both in reach of a loop would double in every round.
            (author.loops == 0 || right.size <= 3 || left.size <= 3).then_some(code)
        }
    }
}

fn lists(author: &mut Author<'_>, wanted: &Type, item: &Type, height: usize) -> Option<Code> {
    if !item.is_ordered() || author.choose(Metric::Operator, &["+", "*"]) == "+" {
        let left = variable_term(author, wanted, height - 1)?;
        let right = if author.random.chance(0.6) {
            let inner = expression(author, item, height.saturating_sub(2).max(1));
            let mut code = Code::atom(format!("[{}]", inner.text));
            code.least = 1;
            code.size = 1;
            code
        } else {
            term(author, wanted, height - 1)
        };
        if author.loops > 0 && right.size > 2 {
            return None;
        }
        let mut code = join(author, &left, "+", &right, Rank::Sum);
        code.least = left.least + right.least;
        code.size = left.size.max(right.size) + 1;
        return Some(code);
    }
    let inner = literal(author, item);
    let right = match author.find(|one| one.ty.is_sized() && one.size <= 2) {
        Some(at) if author.random.chance(0.5) => {
            let code = author.read(at);
            Code::atom(format!("len({})", code.text))
        }
        _ => small(author),
    };
    let left = Code::atom(format!("[{}]", inner.text));
    let mut code = join(author, &left, "*", &right, Rank::Product);
    code.size = 2;
    Some(code)
}
