//! Small classes with state.

use super::Author;
use super::author::{Class, Parameter};
use super::function::{self, Purpose};
use super::types::Type;
use super::vocabulary::{self, words};

/// Writes a class with a constructor and one to three methods.
pub(super) fn class(author: &mut Author<'_>) {
    let names = words("class");
    let name = author.random.word(names);
    if author.is_taken(name) {
        return;
    }
    author.taken.push(name.to_owned());
    author.line(&format!("class {name}:"));
    author.indent += 1;
    let (constructor, fields) = constructor(author);
    author.classes.push(Class {
        name: name.to_owned(),
        constructor,
        fields,
    });
    let index = author.classes.len() - 1;
    let mut methods = Vec::new();
    // Their names are attributes, free for other things outside.
    let taken = author.taken.clone();
    for _ in 0..=author.random.below(3) {
        author.lines.push(String::new());
        methods.push(function::function(author, Purpose::Method(index), None));
    }
    author.taken = taken;
    author.indent -= 1;
    author.callables.extend(methods);
}

fn constructor(author: &mut Author<'_>) -> (Vec<Parameter>, Vec<(String, Type)>) {
    let globals = author.variables.clone();
    let mut parameters: Vec<Parameter> = Vec::new();
    let mut fields: Vec<(String, Type, String)> = Vec::new();
    for _ in 0..author.random.below(3) {
        let ty = author
            .random
            .pick(&[
                Type::Int,
                Type::Str,
                Type::list(Type::Int),
                Type::list(Type::Str),
            ])
            .clone();
        let name = vocabulary::name(author, &ty);
        let text = match &ty {
            Type::List(_) if author.random.chance(0.5) => format!("list({name})"),
            _ => name.clone(),
        };
        let variable = author.variable(name.clone(), ty.clone());
        author.variables.push(variable);
        parameters.push(Parameter {
            name: name.clone(),
            ty: ty.clone(),
            small: false,
            nonempty: false,
            default: None,
        });
        fields.push((name, ty, text));
    }
    for _ in 0..=author.random.below(2) {
        let (ty, text) = match author.random.below(6) {
            0..=1 => (Type::Int, "0"),
            2 => (Type::list(Type::Int), "[]"),
            3 => (Type::list(Type::Str), "[]"),
            4 => (Type::dict(Type::Str, Type::Int), "{}"),
            _ => (Type::Bool, "False"),
        };
        let name = vocabulary::name(author, &ty);
        let variable = author.variable(name.clone(), ty.clone());
        author.variables.push(variable);
        fields.push((name, ty, text.to_owned()));
    }
    let header = function::header(author, Some("self"), &parameters);
    author.line(&format!("def __init__({header}):"));
    author.indent += 1;
    for (name, _, text) in &fields {
        author.line(&format!("self.{name} = {text}"));
    }
    author.indent -= 1;
    author.variables = globals;
    (
        parameters,
        fields.into_iter().map(|(name, ty, _)| (name, ty)).collect(),
    )
}
