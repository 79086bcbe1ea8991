//! Comprehensions, generator expressions and what reduces them.

use super::super::Author;
use super::super::code::{Code, Rank};
use super::super::statement::{Walk, walk};
use super::super::types::Type;
use super::condition::condition;
use super::term;

/// A list, set or dict comprehension.
pub(super) fn comprehension(author: &mut Author<'_>, wanted: &Type, height: usize) -> Option<Code> {
    let (open, close) = if matches!(wanted, Type::List(_)) {
        ('[', ']')
    } else {
        ('{', '}')
    };
    let inner = height - 1;
    let text = match wanted {
        Type::List(item) | Type::Set(item) => clause(author, inner, |author| {
            term(author, item, inner).at(Rank::Conditional)
        })?,
        Type::Dict(key, value) => clause(author, inner, |author| {
            let key = term(author, key, inner.min(2)).at(Rank::Conditional);
            let value = term(author, value, inner).at(Rank::Conditional);
            format!("{key}: {value}")
        })?,
        _ => return None,
    };
    let mut code = Code::atom(format!("{open}{text}{close}"));
    code.size = 2;
    Some(code)
}

/// The generator expression of `item`s, without parentheses: an only argument needs none.
pub(super) fn generator(author: &mut Author<'_>, item: &Type, height: usize) -> Option<Code> {
    let inner = height.saturating_sub(1).max(1);
    let text = clause(author, inner, |author| {
        term(author, item, inner).at(Rank::Conditional)
    })?;
    let mut code = Code::atom(text);
    code.size = 2;
    Some(code)
}

/// `sum`, `any`, `all`, `max` or `min` over a generator expression.
pub(super) fn reduction(author: &mut Author<'_>, wanted: &Type, height: usize) -> Option<Code> {
    let inner = height - 1;
    let (function, text) = match wanted {
        Type::Bool => {
            let function = author.random.word(&["any", "all"]);
            (
                function,
                clause(author, inner, |author| condition(author, inner).text)?,
            )
        }
        Type::Int if author.random.chance(0.4) => {
            ("sum", clause(author, inner.min(2), |_| "1".to_owned())?)
        }
        _ => (
            "sum",
            clause(author, inner, |author| {
                term(author, wanted, inner).at(Rank::Conditional)
            })?,
        ),
    };
    let mut code = Code::atom(format!("{function}({text})"));
    code.size = 4;
    Some(code)
}

/// `… for x in xs if …`
fn clause(
    author: &mut Author<'_>,
    height: usize,
    element: impl FnOnce(&mut Author<'_>) -> String,
) -> Option<String> {
    let before = author.variables.clone();
    let was_pure = std::mem::replace(&mut author.pure, true);
    let clause = walk(author, height.min(2), true).map(
        |Walk {
             target,
             iterable,
             bound,
             ..
         }| {
            // The element should speak about the item: what is bound last is read first.
            author.variables.extend(bound);
            let element = element(author);
            let filter = if author.random.chance(0.35) {
                format!(" if {}", condition(author, height.min(3)).at(Rank::Or))
            } else {
                String::new()
            };
            format!("{element} for {target} in {iterable}{filter}")
        },
    );
    author.pure = was_pure;
    let reads: Vec<u32> = author.variables.iter().map(|one| one.reads).collect();
    author.variables = before;
    for (variable, reads) in author.variables.iter_mut().zip(reads) {
        variable.reads = reads;
    }
    clause
}
