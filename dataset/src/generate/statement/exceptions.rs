//! Errors: raised, caught, suppressed, asserted.

use super::super::Author;
use super::super::expression::{contradiction, height, term};
use super::super::types::Type;
use super::branch::conditional;
use super::{Flow, block, raise_text, statement};
use crate::profile::Metric;

/// Errors that an expression can raise by itself, and what catches them.
const EXPECTED: &[&str] = &[
    "KeyError",
    "IndexError",
    "ValueError",
    "ZeroDivisionError",
    "LookupError",
    "Exception",
];

/// A `try` statement around something that may fail.
pub(super) fn attempt(author: &mut Author<'_>) -> Option<Flow> {
    let only_finally = author.random.chance(0.12);
    let own: Option<&'static str> = author.callables.iter().find_map(|one| one.raises);
    let error = match own.filter(|_| author.random.chance(0.5)) {
        Some(error) => error,
        None => author.random.word(EXPECTED),
    };
    author.line("try:");
    if !only_finally {
        author.caught.push(error);
    }
    let start = author.lines.len();
    let inner = conditional(author, |author| {
        author.indented(|author| {
            risky(author, error);
            let more = author.random.below(3);
            for at in 0..more {
                if author.left == 0 || statement(author, at + 1, at + 1 == more) == Flow::Ends {
                    break;
                }
            }
        });
        Flow::Next
    });
    debug_assert_eq!(inner, Flow::Next);
    if author.lines.len() == start {
        return None;
    }
    if !only_finally {
        author.caught.pop();
        handler(author, error);
    }
    if only_finally || author.random.chance(0.08) {
        author.line("finally:");
        // Leaving from here would swallow the error: a trap, and a warning since 3.14.
        let (loops, conditional) = (author.loops, author.conditional);
        author.conditional = false;
        author.scoped(|author| author.indented(|author| super::assign::assign_new(author)));
        author.loops = loops;
        author.conditional = conditional;
    }
    Some(Flow::Next)
}

/// A statement that may raise `error`.
fn risky(author: &mut Author<'_>, error: &str) {
    let height = height(author).max(2);
    let (ty, text) = match error {
        "KeyError" => lookup(author),
        "ValueError" => number(author),
        "ZeroDivisionError" => quotient(author),
        "LookupError" if author.random.chance(0.5) => lookup(author),
        "IndexError" | "LookupError" => position(author),
        _ => None,
    }
    .unwrap_or_else(|| {
        let ty = super::assign::likely_type(author);
        let code = term(author, &ty, height);
        (ty, code.text)
    });
    let name = super::super::vocabulary::name(author, &ty);
    author.line(&format!("{name} = {text}"));
    author.bind(name, ty, &super::super::code::Code::atom(text));
}

fn lookup(author: &mut Author<'_>) -> Option<(Type, String)> {
    let at = author.find(|one| matches!(one.ty, Type::Dict(..)))?;
    let Type::Dict(key, value) = author.variables[at].ty.clone() else {
        return None;
    };
    let dict = author.read(at).text;
    let key = if author.random.chance(0.7) {
        term(author, &key, 1)
    } else {
        term(author, &key, 2)
    };
    Some((*value, format!("{dict}[{}]", key.text)))
}

fn position(author: &mut Author<'_>) -> Option<(Type, String)> {
    let at = author.find(|one| matches!(one.ty, Type::List(_) | Type::Str))?;
    let item = author.variables[at].ty.item()?;
    let list = author.read(at).text;
    let index = if author.random.chance(0.5) {
        author.random.between(1, 6).to_string()
    } else {
        term(author, &Type::Int, 2).text
    };
    Some((item, format!("{list}[{index}]")))
}

fn number(author: &mut Author<'_>) -> Option<(Type, String)> {
    if author.random.chance(0.5) {
        let at = author.find(|one| one.ty == Type::Str)?;
        return Some((Type::Int, format!("int({})", author.read(at).text)));
    }
    let at = author.find(|one| matches!(&one.ty, Type::List(item) if item.depth() == 0))?;
    let item = author.variables[at].ty.item()?;
    let list = author.read(at).text;
    let value = term(author, &item, 2).text;
    Some((Type::Int, format!("{list}.index({value})")))
}

fn quotient(author: &mut Author<'_>) -> Option<(Type, String)> {
    let at = author.find(|one| one.ty == Type::Int)?;
    let left = author.read(at).text;
    let sized = author.find(|one| one.ty.is_sized());
    let right = if let Some(at) = sized.filter(|_| author.random.chance(0.5)) {
        format!("len({})", author.read(at).text)
    } else {
        let at = author.find(|one| one.ty == Type::Int && one.name != left)?;
        author.read(at).text
    };
    let operator = author.random.word(&["//", "%", "/"]);
    let ty = if operator == "/" {
        Type::Float
    } else {
        Type::Int
    };
    Some((
        ty,
        author
            .style
            .operator(author.random, &left, operator, &right),
    ))
}

fn handler(author: &mut Author<'_>, error: &str) {
    let shown = match author.random.below(12) {
        0 if error == "KeyError" => "(KeyError, IndexError)".to_owned(),
        1 if error == "ValueError" => "(ValueError, TypeError)".to_owned(),
        2 => "Exception".to_owned(),
        _ => error.to_owned(),
    };
    let named = !author.is_taken("error") && !author.is_taken("e") && author.random.chance(0.3);
    let name = author.random.word(&["e", "error", "exc"]);
    if named {
        author.line(&format!("except {shown} as {name}:"));
    } else {
        author.line(&format!("except {shown}:"));
    }
    let flow = conditional(author, |author| {
        if named && author.random.chance(0.4) {
            let target = super::super::vocabulary::name(author, &Type::Str);
            author.indented(|author| author.line(&format!("{target} = str({name})")));
            return Flow::Next;
        }
        block(author)
    });
    if flow == Flow::Next && author.random.chance(0.1) {
        author.line("else:");
        conditional(author, block);
    }
}

/// A `raise` statement where something handles it, or, seldom, where nothing does.
pub(super) fn raise(author: &mut Author<'_>) -> Option<()> {
    let error = author.choose(
        Metric::Raised,
        &[
            "ValueError",
            "TypeError",
            "KeyError",
            "IndexError",
            "RuntimeError",
            "ZeroDivisionError",
            "LookupError",
        ],
    );
    if !author.is_caught(error) {
        if !author.random.chance(if author.helper { 0.5 } else { 0.06 }) {
            return None;
        }
        author.raises = Some(static_name(error));
    }
    let text = raise_text(author, error);
    author.line(&text);
    Some(())
}

fn static_name(error: &str) -> &'static str {
    [
        "ValueError",
        "TypeError",
        "KeyError",
        "IndexError",
        "RuntimeError",
        "ZeroDivisionError",
        "LookupError",
    ]
    .into_iter()
    .find(|known| *known == error)
    .unwrap_or("Exception")
}

/// An `assert` of what is known.
pub(super) fn assertion(author: &mut Author<'_>) -> Option<()> {
    if let Some((test, at)) = contradiction(author).filter(|_| author.random.chance(0.6)) {
        let name = author.variables[at].name.clone();
        let text = if test.text.contains('<') {
            author.style.operator(author.random, &name, ">=", "0")
        } else if test.text.starts_with("not") {
            name
        } else {
            author
                .style
                .operator(author.random, &format!("len({name})"), ">", "0")
        };
        let message = if author.random.chance(0.3) {
            let message = author
                .random
                .word(super::super::vocabulary::words("sentence"));
            format!(", {}", author.style.string(author.random, message))
        } else {
            String::new()
        };
        author.line(&format!("assert {text}{message}"));
        return Some(());
    }
    let at = author.find(|one| {
        matches!(
            one.ty,
            Type::Int | Type::Str | Type::List(_) | Type::Dict(..)
        )
    })?;
    let name = author.read(at).text;
    let ty = author.variables[at].ty.to_string();
    let class = ty.split('[').next().unwrap_or("object");
    author.line(&format!("assert isinstance({name}, {class})"));
    Some(())
}

/// A `with` statement that suppresses an error.
pub(super) fn suppressed(author: &mut Author<'_>) {
    let error = author
        .random
        .word(&["KeyError", "IndexError", "ValueError", "ZeroDivisionError"]);
    author.imports.insert("from contextlib import suppress");
    author.line(&format!("with suppress({error}):"));
    author.caught.push(error);
    conditional(author, |author| {
        author.indented(|author| {
            risky(author, error);
            if author.random.chance(0.5) && author.left > 0 {
                statement(author, 1, false);
            }
        });
        Flow::Next
    });
    author.caught.pop();
}
