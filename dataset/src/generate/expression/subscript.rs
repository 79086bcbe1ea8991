//! Subscripts and slices.

use super::super::Author;
use super::super::code::{Code, Rank};
use super::super::literal::number;
use super::super::scope::Role;
use super::super::types::Type;
use super::term;
use crate::profile::Metric;

/// A subscript or slice of type `wanted`.
pub(super) fn subscript(author: &mut Author<'_>, wanted: &Type, height: usize) -> Option<Code> {
    let sliceable = matches!(wanted, Type::Str | Type::List(_));
    let kind = author.choose(
        Metric::Subscript,
        if sliceable {
            &[
                "literal",
                "negative",
                "name",
                "index",
                ":",
                ":stop",
                "start:",
                "start:stop",
                "::step",
            ]
        } else {
            &["literal", "negative", "name", "index"]
        },
    );
    if kind.contains(':') {
        return slice(author, wanted, kind, height);
    }
    let key = author.find(|one| matches!(one.role, Role::KeyOf(_)));
    if let Some(at) = key.filter(|_| kind == "name" && author.random.chance(0.6))
        && let Some(code) = known_key(author, at, wanted)
    {
        return Some(code);
    }
    let at = author.find(|one| match &one.ty {
        Type::List(item) => **item == *wanted,
        Type::Str => *wanted == Type::Str,
        Type::Tuple(items) => items.contains(wanted),
        Type::Dict(_, value) => **value == *wanted,
        _ => false,
    })?;
    match author.variables[at].ty.clone() {
        Type::Tuple(items) => {
            let places: Vec<usize> = (0..items.len())
                .filter(|place| items[*place] == *wanted)
                .collect();
            let place = *author.random.pick(&places);
            let code = author.read(at);
            Some(Code::atom(format!("{}[{place}]", code.text)))
        }
        Type::Dict(key, _) => {
            if !author.may_raise("KeyError") {
                return None;
            }
            let code = author.read(at);
            let key = term(author, &key, height.saturating_sub(1).max(1));
            Some(Code::atom(format!("{}[{}]", code.text, key.text)))
        }
        _ => index(author, at, kind, height),
    }
}

fn known_key(author: &mut Author<'_>, at: usize, wanted: &Type) -> Option<Code> {
    let Role::KeyOf(owner) = author.variables[at].role.clone() else {
        return None;
    };
    let owner = author.variables.iter().position(|one| one.name == owner)?;
    if !matches!(&author.variables[owner].ty, Type::Dict(_, value) if **value == *wanted) {
        return None;
    }
    let (dict, key) = (author.read(owner), author.read(at));
    let mut code = Code::atom(format!("{}[{}]", dict.text, key.text));
    code.size = 3;
    Some(code)
}

/// An index into the sequence at `at` that exists, or one that may raise where that is fine.
fn index(author: &mut Author<'_>, at: usize, kind: &str, height: usize) -> Option<Code> {
    let name = author.variables[at].name.clone();
    let least = author.variables[at].least;
    let own = author.find(|one| matches!(&one.role, Role::IndexOf(owner) if *owner == name));
    let text = match kind {
        "literal" => {
            if least > 0 {
                // The first item mostly, others when they are there.
                if author.random.chance(0.75) {
                    "0".to_owned()
                } else {
                    author.random.below(least.min(4)).to_string()
                }
            } else if author.may_raise("IndexError") {
                author.random.below(3).to_string()
            } else {
                return None;
            }
        }
        "negative" if least > 0 || author.may_raise("IndexError") => {
            if least > 1 && author.random.chance(0.3) {
                "-2".to_owned()
            } else {
                "-1".to_owned()
            }
        }
        "name" => author.read(own?).text,
        "index" => match own {
            Some(own) if author.random.chance(0.8) => {
                let index = author.read(own).text;
                // One before wraps around at the start and is always there; one after is not.
                if author.random.chance(0.8) || !author.may_raise("IndexError") {
                    author.style.operator(author.random, &index, "-", "1")
                } else {
                    author.style.operator(author.random, &index, "+", "1")
                }
            }
            _ if least > 0 => {
                let value = term(author, &Type::Int, height.saturating_sub(2).max(1));
                let left = value.at(Rank::Product);
                let right = format!("len({name})");
                if author.random.chance(0.5) {
                    author.style.operator(author.random, &left, "%", &right)
                } else {
                    author.style.operator(author.random, &right, "//", "2")
                }
            }
            _ => return None,
        },
        _ => return None,
    };
    let mut code = author.read(at);
    code.text = format!("{}[{text}]", code.text);
    code.nonnegative = false;
    code.nonzero = false;
    code.least = usize::from(author.variables[at].ty == Type::Str);
    Some(code)
}

fn slice(author: &mut Author<'_>, wanted: &Type, kind: &str, height: usize) -> Option<Code> {
    let found = author.find(|one| one.ty == *wanted);
    let source = match found.filter(|_| height < 4 || author.random.chance(0.85)) {
        Some(at) => author.read(at),
        None if height >= 3 => term(author, wanted, height - 1),
        None => return None,
    };
    let bound = |author: &mut Author<'_>, early: bool| match author.random.below(10) {
        0..=4 => {
            number(if early {
                author.random.between(1, 2)
            } else {
                author.random.between(1, 5)
            })
            .text
        }
        5..=6 => format!("-{}", author.random.between(1, 2)),
        7..=8 => {
            let at = author.find(|one| one.ty == Type::Int && one.size <= 2);
            at.map_or_else(|| "1".to_owned(), |at| author.read(at).text)
        }
        _ => {
            let length = format!("len({})", source.text);
            if source.rank == Rank::Atom && source.text.len() < 12 {
                author.style.operator(author.random, &length, "//", "2")
            } else {
                "2".to_owned()
            }
        }
    };
    let inside = match kind {
        ":" => ":".to_owned(),
        ":stop" => format!(":{}", bound(author, false)),
        "start:" => format!("{}:", bound(author, true)),
        "start:stop" => format!("{}:{}", bound(author, true), bound(author, false)),
        _ => author
            .random
            .word(&["::-1", "::-1", "::2", "1::2", "::3"])
            .to_owned(),
    };
    let mut code = Code::atom(format!("{}[{inside}]", source.receiver()));
    code.size = source.size;
    code.least = if matches!(inside.as_str(), ":" | "::-1" | "::2" | "::3") {
        source.least.min(1)
    } else {
        0
    };
    Some(code)
}
