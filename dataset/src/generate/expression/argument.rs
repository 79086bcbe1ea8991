//! Arguments of methods and builtins that are narrower than their type.

use super::super::Author;
use super::super::code::Code;
use super::super::literal::{content, number, string};
use super::super::scope::Role;
use super::super::types::Type;
use super::comprehension;
use super::{expression, term};

/// An argument for a parameter of a signature; none when nothing fits.
pub(super) fn argument(author: &mut Author<'_>, wanted: &Type, height: usize) -> Option<Code> {
    let Type::Role(role) = wanted else {
        return Some(expression(author, wanted, height));
    };
    Some(match role.as_str() {
        "small" => small(author),
        "zero" => number(0),
        "one" => number(1 + i64::from(author.random.chance(0.2))),
        "width" => number(author.random.between(2, 12)),
        "index" => number(i64::from(author.random.chance(0.3))),
        "empty" => Code::atom(if author.style.quote == '"' {
            "\"\""
        } else {
            "''"
        }),
        "piece" => piece(author, height),
        "char" => {
            let value = content(author, 1);
            Code::atom(author.style.string(author.random, &value))
        }
        "sep" => {
            let value = author
                .random
                .word(&[" ", ",", "-", ":", "_", "=", "/", ", ", ".", "\n", ";", "|"]);
            Code::atom(author.style.string(author.random, value))
        }
        "chars" => {
            let value = author.random.word(&[
                " ", ".", "-", "0", "\n", ".,", "_-", "/", "abc", ".,!?", "aeiou",
            ]);
            Code::atom(author.style.string(author.random, value))
        }
        "letter" => {
            let at = author.find(|one| one.role == Role::Letter)?;
            author.read(at)
        }
        "digits" => {
            let at = author.find(|one| one.role == Role::Digits)?;
            author.read(at)
        }
        "sized" => sized(author, height)?,
        "strings" => strings(author, height),
        "type" => Code::atom(author.random.word(&[
            "int",
            "str",
            "list",
            "dict",
            "(int, float)",
            "(list, tuple)",
            "float",
        ])),
        _ => return None,
    })
}

/// A small number that is not negative.
pub(in crate::generate) fn small(author: &mut Author<'_>) -> Code {
    let found = author.find(|one| one.ty == Type::Int && one.size <= 1 && one.nonnegative);
    match found.filter(|_| author.random.chance(0.5)) {
        Some(at) => author.read(at),
        None => number(author.random.between(1, 4)),
    }
}

fn piece(author: &mut Author<'_>, height: usize) -> Code {
    if author.random.chance(0.35) {
        let code = term(author, &Type::Str, height.min(1));
        if code.size <= 2 {
            return code;
        }
    }
    let length = *author.random.pick(&[1, 1, 1, 2, 2, 3, 4]);
    string(author, length)
}

/// Something that has a length.
fn sized(author: &mut Author<'_>, height: usize) -> Option<Code> {
    let at = author.find(|one| one.ty.is_sized())?;
    if height >= 3 && author.random.chance(0.25) {
        let wanted = author.variables[at].ty.clone();
        return Some(term(author, &wanted, height - 1));
    }
    Some(author.read(at))
}

/// What `join` joins.
fn strings(author: &mut Author<'_>, height: usize) -> Code {
    let wanted = Type::list(Type::Str);
    if height >= 3
        && author.random.chance(0.5)
        && let Some(code) = comprehension::generator(author, &Type::Str, height - 1)
    {
        return code;
    }
    let numbers = author.find(|one| matches!(&one.ty, Type::List(item) if **item == Type::Int));
    if let Some(at) = numbers.filter(|_| height >= 2 && author.random.chance(0.3)) {
        let mut code = author.read(at);
        code.text = format!("map(str, {})", code.text);
        return code;
    }
    let at = author.find(|one| {
        one.ty == wanted || matches!(&one.ty, Type::Dict(key, _) if **key == Type::Str)
    });
    match at.filter(|_| author.random.chance(0.6)) {
        Some(at) => author.read(at),
        None => term(author, &wanted, height),
    }
}
