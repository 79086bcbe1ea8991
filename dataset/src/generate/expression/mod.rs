//! Expressions of a wanted type.

mod argument;
mod call;
mod comprehension;
mod condition;
mod operator;
mod subscript;
mod text;

use super::Author;
use super::code::{Code, Rank};
use super::literal::literal;
use super::types::Type;
use crate::profile::Metric;

pub(super) use argument::small;
pub(super) use call::{call_helper, mutation};
pub(super) use condition::{condition, contradiction};
pub(super) use operator::{divisor, operand};

/// A way of writing an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Name,
    Attribute,
    Literal,
    Method,
    Builtin,
    Helper,
    Operator,
    Unary,
    Comparison,
    AndOr,
    Not,
    Conditional,
    Subscript,
    Comprehension,
    Generator,
    Formatted,
}

/// Height of the next expression tree, as the profile has it.
pub(super) fn height(author: &mut Author<'_>) -> usize {
    author.count(Metric::Height, 1, 8)
}

/// An expression of a type whose tree is at most `height` high.
pub(super) fn expression(author: &mut Author<'_>, wanted: &Type, height: usize) -> Code {
    write(author, wanted, height, true)
}

/// The same, but no literal as long as anything else can be written.
pub(super) fn term(author: &mut Author<'_>, wanted: &Type, height: usize) -> Code {
    write(author, wanted, height, false)
}

fn write(author: &mut Author<'_>, wanted: &Type, height: usize, literals: bool) -> Code {
    let mut ways = ways(author, wanted, height, literals);
    while !ways.is_empty() {
        let weights: Vec<f64> = ways
            .iter()
            .map(|(_, kind, factor)| factor * author.weight(Metric::Expression, kind))
            .collect();
        let Some(at) = author.random.weighted(&weights) else {
            break;
        };
        let (way, _, _) = ways.swap_remove(at);
        if let Some(code) = attempt(author, wanted, height, way) {
            return code;
        }
    }
    match wanted {
        Type::Object(_) | Type::Optional(_) | Type::Nothing => Code::atom("None"),
        _ => literal(author, wanted),
    }
}

fn literal_kind(wanted: &Type) -> &'static str {
    match wanted {
        Type::Int => "integer",
        Type::Float => "float",
        Type::Bool => "boolean",
        Type::Str => "string",
        Type::List(_) => "list",
        Type::Set(_) => "set",
        Type::Dict(..) => "dict",
        Type::Tuple(_) => "tuple",
        _ => "none",
    }
}

fn ways(
    author: &Author<'_>,
    wanted: &Type,
    height: usize,
    literals: bool,
) -> Vec<(Way, &'static str, f64)> {
    let mut ways = Vec::with_capacity(16);
    // A tree that may be high should not end at once.
    let leaf = if height >= 3 { 0.3 } else { 1.0 };
    let named = |attribute: bool| {
        author
            .variables
            .iter()
            .any(|one| one.ty == *wanted && one.is_attribute() == attribute)
    };
    if named(false) {
        ways.push((Way::Name, "name", leaf));
    }
    if named(true) {
        ways.push((Way::Attribute, "attribute", leaf));
    }
    if literals && !matches!(wanted, Type::Object(_) | Type::Optional(_)) {
        ways.push((Way::Literal, literal_kind(wanted), leaf));
    }
    if height < 2 || matches!(wanted, Type::Optional(_)) {
        return ways;
    }
    ways.push((Way::Method, "method", 1.0));
    ways.push((Way::Subscript, "subscript", 1.0));
    ways.push((Way::Builtin, "call", 1.0));
    ways.push((Way::Helper, "call", 0.6));
    match wanted {
        Type::Int | Type::Float => {
            ways.push((Way::Operator, "operator", 1.0));
            ways.push((Way::Unary, "unary", 1.0));
            ways.push((Way::Generator, "generator", 1.0));
        }
        Type::Str => {
            ways.push((Way::Operator, "operator", 0.6));
            ways.push((Way::Formatted, "f-string", 1.0));
        }
        Type::List(_) => {
            ways.push((Way::Operator, "operator", 0.5));
            ways.push((Way::Comprehension, "list-comprehension", 1.0));
        }
        Type::Set(_) => {
            ways.push((Way::Operator, "operator", 0.5));
            ways.push((Way::Comprehension, "set-comprehension", 1.0));
        }
        Type::Dict(..) => ways.push((Way::Comprehension, "dict-comprehension", 1.0)),
        Type::Tuple(_) => ways.push((Way::Literal, "tuple", 1.0)),
        Type::Bool => {
            ways.push((Way::Comparison, "comparison", 1.0));
            ways.push((Way::AndOr, "and-or", 1.0));
            ways.push((Way::Not, "not", 1.0));
            ways.push((Way::Generator, "generator", 1.0));
        }
        _ => {}
    }
    if height >= 3 && !matches!(wanted, Type::Object(_)) {
        ways.push((Way::Conditional, "conditional", 1.0));
    }
    ways
}

fn attempt(author: &mut Author<'_>, wanted: &Type, height: usize, way: Way) -> Option<Code> {
    match way {
        Way::Name | Way::Attribute => {
            let attribute = way == Way::Attribute;
            let at = author.find(|one| one.ty == *wanted && one.is_attribute() == attribute)?;
            Some(author.read(at))
        }
        Way::Literal => Some(display(author, wanted, height)),
        Way::Method => call::method(author, wanted, height),
        Way::Builtin => call::builtin(author, wanted, height),
        Way::Helper => call::helper(author, wanted, height),
        Way::Operator => operator::binary(author, wanted, height),
        Way::Unary => {
            let inner = term(author, wanted, height - 1);
            // A literal would only be a negative number, and `--x` is nothing people write.
            let plain =
                inner.rank >= Rank::Power && !inner.text.starts_with(|c: char| c.is_ascii_digit());
            let mut code = Code::new(format!("-{}", inner.at(Rank::Power)), Rank::Unary);
            code.size = inner.size;
            code.nonzero = inner.nonzero;
            plain.then_some(code)
        }
        Way::Comparison => condition::comparison(author, height),
        Way::AndOr => Some(condition::and_or(author, height)),
        Way::Not => Some(condition::not(author, height)),
        Way::Conditional => Some(conditional(author, wanted, height)),
        Way::Subscript => subscript::subscript(author, wanted, height),
        Way::Comprehension => comprehension::comprehension(author, wanted, height),
        Way::Generator => comprehension::reduction(author, wanted, height),
        Way::Formatted => Some(text::formatted(author, height)),
    }
}

/// A container written out, of expressions rather than of literals when there is room for them.
fn display(author: &mut Author<'_>, wanted: &Type, height: usize) -> Code {
    let parts: Vec<Type> = match wanted {
        Type::Tuple(items) => items.clone(),
        Type::List(item) if height >= 2 && author.random.chance(0.6) => {
            let length = author.count(Metric::ListLength, 0, 3);
            vec![(**item).clone(); length]
        }
        _ => return literal(author, wanted),
    };
    let items: Vec<String> = parts
        .iter()
        .map(|item| {
            if height >= 2 {
                expression(author, item, height - 1).text
            } else {
                literal(author, item).text
            }
        })
        .collect();
    let commas = author.style.commas(author.random, &items);
    let mut code = match wanted {
        Type::Tuple(_) => Code::atom(format!("({commas})")),
        _ => Code::atom(format!("[{commas}]")),
    };
    code.least = items.len();
    code.size = 1;
    code
}

fn conditional(author: &mut Author<'_>, wanted: &Type, height: usize) -> Code {
    let test = condition(author, height - 1);
    let yes = expression(author, wanted, height - 1);
    let mut no = expression(author, wanted, height - 1);
    if no.text == yes.text {
        no = literal(author, wanted);
    }
    let spelled = format!(
        "{} if {} else {}",
        yes.at(Rank::Or),
        test.at(Rank::Or),
        no.at(Rank::Conditional)
    );
    let mut code = Code::new(spelled, Rank::Conditional);
    code.size = yes.size.max(no.size);
    code.nonnegative = yes.nonnegative && no.nonnegative;
    code.nonzero = yes.nonzero && no.nonzero;
    code.least = yes.least.min(no.least);
    code
}
