//! Assignments to several names at once.

use super::super::Author;
use super::super::code::{Code, Rank};
use super::super::expression::{divisor, expression, height, term};
use super::super::types::Type;
use super::super::vocabulary;
use super::assign::{assignable, likely_type};

/// Assigns to several names at once.
pub(super) fn unpack(author: &mut Author<'_>) -> Option<()> {
    match author.random.below(5) {
        0 => swap(author),
        1 => {
            let at = author.find(|one| matches!(&one.ty, Type::Tuple(items) if items.len() < 4))?;
            let Type::Tuple(items) = author.variables[at].ty.clone() else {
                return None;
            };
            let source = author.read(at).text;
            several(author, &items, &source)
        }
        2 => {
            let code = term(author, &Type::Int, 2).text;
            let by = divisor(author).text;
            several(
                author,
                &[Type::Int, Type::Int],
                &format!("divmod({code}, {by})"),
            )
        }
        3 => {
            let at = author.find(|one| matches!(one.ty, Type::List(_)) && one.least > 0)?;
            let Type::List(item) = author.variables[at].ty.clone() else {
                return None;
            };
            let source = author.read(at).text;
            let (first, rest) = if author.random.chance(0.5) {
                ("first", "rest")
            } else {
                ("head", "tail")
            };
            if author.is_taken(first) || author.is_taken(rest) {
                return None;
            }
            author.line(&format!("{first}, *{rest} = {source}"));
            author.bind(first.to_owned(), (*item).clone(), &Code::atom("…"));
            author.bind(rest.to_owned(), Type::list(*item), &Code::atom("…"));
            Some(())
        }
        _ => {
            let types = [likely_type(author), likely_type(author)];
            let height = height(author);
            let values = [
                expression(author, &types[0], height),
                expression(author, &types[1], height.min(2)),
            ]
            .map(|code| code.at(Rank::Conditional));
            let source = author.style.commas(author.random, &values);
            several(author, &types, &source)
        }
    }
}

fn several(author: &mut Author<'_>, types: &[Type], source: &str) -> Option<()> {
    let mut names: Vec<String> = Vec::new();
    for ty in types {
        let name = vocabulary::name(author, ty);
        if names.contains(&name) {
            return None;
        }
        names.push(name);
    }
    let target = author.style.commas(author.random, &names);
    author.line(&format!("{target} = {source}"));
    // The source as a whole is no name, but what it mentions may be what is bound.
    let mut code = Code::atom(format!("({source})"));
    code.size = 4;
    for (name, ty) in names.into_iter().zip(types) {
        author.bind(name, ty.clone(), &code);
    }
    Some(())
}

fn swap(author: &mut Author<'_>) -> Option<()> {
    let first = author.find(assignable)?;
    let (left, ty) = (
        author.variables[first].name.clone(),
        author.variables[first].ty.clone(),
    );
    let second = author.find(|one| assignable(one) && one.ty == ty && one.name != left)?;
    let right = author.variables[second].name.clone();
    author.line(&format!("{left}, {right} = {right}, {left}"));
    author.weaken(first);
    author.weaken(second);
    Some(())
}
