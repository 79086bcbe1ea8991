//! Literals as a person writes them: everything that Python's `ast.literal_eval` takes, and what this crate
//! prints beyond that. Recorded texts have a parser of their own, which is faster and knows fewer spellings.

use num_bigint::BigInt;
use ruff_python_ast::{Arguments, Expr, Number, Operator, UnaryOp};

use super::{Literal, NotLiteral};

/// Nesting that is followed; Python itself reads no more than twice as much.
const DEEPEST: usize = 100;
/// Digits of an integer that Python reads.
const DIGITS: usize = 4_300;
/// Stack of the thread that reads: a chain of operators is a tree as deep as it is long.
const STACK: usize = 256 << 20;

/// Reads a text that is one literal in Python's source.
///
/// # Errors
/// No expression, one that is no literal, or one that is nested too deeply.
pub fn parse_source(text: &str) -> Result<Literal, NotLiteral> {
    let done = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let started = thread.spawn_scoped(scope, || read(text));
        started.ok().and_then(|running| running.join().ok())
    });
    done.unwrap_or(Err(NotLiteral {
        offset: 0,
        reason: "it cannot be read",
    }))
}

fn read(text: &str) -> Result<Literal, NotLiteral> {
    let start = text.len() - text.trim_start().len();
    let body = text.trim();
    match ruff_python_parser::parse_expression(body) {
        Ok(parsed) => value(parsed.expr(), DEEPEST).map_err(|mut error| {
            error.offset += start;
            error
        }),
        Err(error) => Err(NotLiteral {
            offset: start + error.location.start().to_usize(),
            reason: reason(body),
        }),
    }
}

/// Why a text that is no expression is none, as far as its brackets and quotes tell.
fn reason(text: &str) -> &'static str {
    if text.is_empty() {
        return "a value is missing";
    }
    let mut open = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '(' | '[' | '{' => open.push(letter),
            ')' | ']' | '}' => {
                let fits = matches!(
                    (open.pop(), letter),
                    (Some('('), ')') | (Some('['), ']') | (Some('{'), '}')
                );
                if !fits {
                    return "a bracket closes nothing";
                }
            }
            '\'' | '"' => {
                let mut escaped = false;
                let closed = letters.by_ref().any(|inner| {
                    let closes = inner == letter && !escaped;
                    escaped = inner == '\\' && !escaped;
                    closes
                });
                if !closed {
                    return "a text has no end";
                }
            }
            _ => {}
        }
    }
    if open.is_empty() {
        "it is no expression"
    } else if open.len() > DEEPEST {
        "nested too deeply"
    } else {
        "a bracket is not closed"
    }
}

fn value(expression: &Expr, depth: usize) -> Result<Literal, NotLiteral> {
    let fail = |reason| {
        Err(NotLiteral {
            offset: ruff_text_size::Ranged::range(expression).start().to_usize(),
            reason,
        })
    };
    if depth == 0 {
        return fail("nested too deeply");
    }
    let all = |elements: &[Expr]| -> Result<Vec<Literal>, NotLiteral> {
        elements
            .iter()
            .map(|element| value(element, depth - 1))
            .collect()
    };
    Ok(match expression {
        Expr::NoneLiteral(_) => Literal::None,
        Expr::EllipsisLiteral(_) => Literal::Ellipsis,
        Expr::BooleanLiteral(held) => Literal::Bool(held.value),
        Expr::StringLiteral(text) => Literal::Str(text.value.to_str().to_owned()),
        Expr::BytesLiteral(bytes) => Literal::Bytes(bytes.value.bytes().collect()),
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(number) => match integer(&number.to_string()) {
                Some(number) => Literal::Int(number),
                None => return fail("a number has more digits than Python reads"),
            },
            Number::Float(number) => Literal::Float(*number),
            Number::Complex { real, imag } => Literal::Complex(*real, *imag),
        },
        Expr::UnaryOp(operation) => match (operation.op, value(&operation.operand, depth - 1)?) {
            (UnaryOp::UAdd, held) if is_number(&held) => held,
            (UnaryOp::USub, Literal::Int(number)) => Literal::Int(-number),
            (UnaryOp::USub, Literal::Float(number)) => Literal::Float(-number),
            (UnaryOp::USub, Literal::Complex(real, imaginary)) => {
                Literal::Complex(-real, -imaginary)
            }
            _ => return fail("it is calculated"),
        },
        Expr::BinOp(operation) => {
            let sign = match operation.op {
                Operator::Add => 1.0,
                Operator::Sub => -1.0,
                _ => return fail("it is calculated"),
            };
            // `1+2j` is how Python writes a complex number.
            let (real, imaginary) = (
                value(&operation.left, depth - 1)?,
                value(&operation.right, depth - 1)?,
            );
            match (real_part(&real), imaginary) {
                (Some(real), Literal::Complex(_, imaginary)) => {
                    Literal::Complex(real, sign * imaginary)
                }
                _ => return fail("it is calculated"),
            }
        }
        Expr::List(list) => Literal::List(all(&list.elts)?),
        Expr::Tuple(tuple) => Literal::Tuple(all(&tuple.elts)?),
        Expr::Set(set) => Literal::Set(all(&set.elts)?),
        Expr::Dict(dict) => {
            let mut pairs = Vec::with_capacity(dict.items.len());
            for item in &dict.items {
                let Some(key) = &item.key else {
                    return fail("a dictionary is spread out");
                };
                pairs.push((value(key, depth - 1)?, value(&item.value, depth - 1)?));
            }
            Literal::Dict(pairs)
        }
        Expr::Call(call) => match &*call.func {
            Expr::Name(name) => match called(name.id.as_str(), &call.arguments, depth)? {
                Some(made) => made,
                None => return fail("it calls something"),
            },
            _ => return fail("it calls something"),
        },
        Expr::Name(_) | Expr::Attribute(_) => return fail("it is a name"),
        Expr::FString(_) | Expr::TString(_) => return fail("it is calculated"),
        _ => return fail("it is no literal"),
    })
}

/// What Python writes as a call: `set()`, `frozenset({1})`, `float('nan')`, `range(3)`.
fn called(name: &str, arguments: &Arguments, depth: usize) -> Result<Option<Literal>, NotLiteral> {
    if !arguments.keywords.is_empty() {
        return Ok(None);
    }
    let mut held = Vec::with_capacity(arguments.args.len());
    for argument in &arguments.args {
        held.push(value(argument, depth - 1)?);
    }
    Ok(match (name, &held[..]) {
        ("set", []) => Some(Literal::Set(Vec::new())),
        ("frozenset", []) => Some(Literal::FrozenSet(Vec::new())),
        ("set", [Literal::Set(items) | Literal::List(items) | Literal::Tuple(items)]) => {
            Some(Literal::Set(items.clone()))
        }
        ("frozenset", [Literal::Set(items) | Literal::List(items) | Literal::Tuple(items)]) => {
            Some(Literal::FrozenSet(items.clone()))
        }
        ("bytearray", [Literal::Bytes(bytes)]) => Some(Literal::ByteArray(bytes.clone())),
        ("float", [Literal::Str(text)]) => {
            let number = match text.trim().to_ascii_lowercase().as_str() {
                "nan" => f64::NAN,
                "inf" | "infinity" => f64::INFINITY,
                "-inf" | "-infinity" => f64::NEG_INFINITY,
                _ => return Ok(None),
            };
            Some(Literal::Float(number))
        }
        ("range", [Literal::Int(end)]) => {
            Some(Literal::Range(BigInt::ZERO, end.clone(), BigInt::from(1)))
        }
        ("range", [Literal::Int(start), Literal::Int(end)]) => {
            Some(Literal::Range(start.clone(), end.clone(), BigInt::from(1)))
        }
        ("range", [Literal::Int(start), Literal::Int(end), Literal::Int(step)])
            if *step != BigInt::ZERO =>
        {
            Some(Literal::Range(start.clone(), end.clone(), step.clone()))
        }
        _ => None,
    })
}

/// An integer in any of the bases that source has; none beyond what Python reads.
fn integer(text: &str) -> Option<BigInt> {
    let plain = text.replace('_', "");
    let (digits, radix) = match plain.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (&plain[2..], 16),
        Some("0o") => (&plain[2..], 8),
        Some("0b") => (&plain[2..], 2),
        _ => (&plain[..], 10),
    };
    let bits = digits.len() as f64 * f64::from(radix).log2();
    if bits > DIGITS as f64 * 10f64.log2() {
        return None;
    }
    BigInt::parse_bytes(digits.as_bytes(), radix)
}

fn is_number(value: &Literal) -> bool {
    matches!(
        value,
        Literal::Int(_) | Literal::Float(_) | Literal::Complex(..)
    )
}

fn real_part(value: &Literal) -> Option<f64> {
    match value {
        Literal::Int(number) => number.to_string().parse().ok(),
        Literal::Float(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_literal_is_read() {
        for (text, written) in [
            ("0x10", "16"),
            ("0b101", "5"),
            ("0o17", "15"),
            ("1_000", "1000"),
            (
                "0xFFFFFFFFFFFFFFFFFFFFFFFF",
                "79228162514264337593543950335",
            ),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            ("'a' 'b'", "'ab'"),
            ("('a'\n'b')", "'ab'"),
            (r"r'\d'", r"'\\d'"),
            ("'''x\ny'''", r"'x\ny'"),
            ("\"\"\"it's\"\"\"", "\"it's\""),
            ("u'x'", "'x'"),
            (r"'\101\x41\u0041\N{DIGIT ONE}'", "'AAA1'"),
            ("rb'\\x'", r"b'\\x'"),
            ("b'a' b'b'", "b'ab'"),
            ("1,2", "(1, 2)"),
            ("1,", "(1,)"),
            ("-  5", "-5"),
            ("+5", "5"),
            ("--1", "1"),
            ("-1.5e3", "-1500.0"),
            ("1+2j", "(1+2j)"),
            ("-1 - 2j", "(-1-2j)"),
            ("...", "Ellipsis"),
            ("  [1,\n 2, # two\n]  ", "[1, 2]"),
            ("{1: 'a', 'b': {2}}", "{1: 'a', 'b': {2}}"),
            ("set()", "set()"),
            ("frozenset([1])", "frozenset({1})"),
            ("float('-inf')", "-inf"),
            ("range(3)", "range(0, 3)"),
            ("((1))", "1"),
        ] {
            let read = parse_source(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(read.to_string(), written, "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_says_why() {
        for (text, reason) in [
            ("", "missing"),
            ("[1", "not closed"),
            ("[1)", "closes nothing"),
            ("'abc", "no end"),
            ("nan", "a name"),
            ("-inf", "a name"),
            ("Color.RED", "a name"),
            ("[Color.RED]", "a name"),
            ("f(1)", "calls"),
            ("date(2024, 1, 1)", "calls"),
            ("1 + 1", "calculated"),
            ("f'{x}'", "calculated"),
            ("[*a]", "no literal"),
            ("{**a}", "spread"),
            ("x = 1", "no expression"),
            ("A.B.", "no expression"),
        ] {
            let error = parse_source(text).expect_err(text);
            assert!(error.reason.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_far_too_deep_or_long_is_refused_without_a_crash() {
        for text in [
            "[".repeat(100_000),
            format!("{}{}", "[".repeat(101), "]".repeat(101)),
            "-".repeat(100_000) + "1",
            "1+".repeat(50_000) + "1",
            "9".repeat(5_000),
            format!("0x{}", "f".repeat(5_000)),
        ] {
            assert!(parse_source(&text).is_err());
        }
        let nested = format!("{}{}", "[".repeat(90), "]".repeat(90));
        assert_eq!(parse_source(&nested).unwrap().to_string(), nested);
        let long = format!("'{}'", "ab".repeat(50_000));
        assert_eq!(parse_source(&long).unwrap().len(), Some(100_000));
    }
}
