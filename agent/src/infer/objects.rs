//! Objects that calling a class of the module builds.

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::python::executions::{Class, ClassKind, Parameter, ParameterKind};

use super::genes::Slot;
use super::pool::Pool;
use super::types::{Known, Type, annotated};
use super::value::Value;

/// How deep objects are built of objects.
const DEPTH: usize = 3;

/// Adds members of enumerations and objects of classes to a pool.
pub fn add_objects(pool: &mut Pool, known: Known<'_>, random: &mut Random) {
    for class in known.classes {
        for member in &class.members {
            pool.add(Value::Named(member.clone()));
        }
    }
    let plain = |class: &&Class| class.kind != ClassKind::Enum;
    for class in known.classes.iter().filter(plain) {
        for _ in 0..12 {
            pool.add(built(class, known, pool, random, DEPTH));
        }
    }
}

/// An object of a class, with arguments drawn for its parameters.
pub fn built(
    class: &Class,
    known: Known<'_>,
    pool: &Pool,
    random: &mut Random,
    depth: usize,
) -> Value {
    let mut arguments = Vec::new();
    for parameter in &class.parameters {
        if matches!(
            parameter.kind,
            ParameterKind::Star | ParameterKind::StarStar
        ) || (!parameter.required && random.chance(0.6))
        {
            continue;
        }
        let name =
            (parameter.kind != ParameterKind::PositionalOnly).then(|| parameter.name.clone());
        arguments.push((name, argument(parameter, known, pool, random, depth)));
    }
    // Without names as far as none is left out: as a person would write it.
    for (argument, parameter) in arguments.iter_mut().zip(&class.parameters) {
        if argument.0.as_deref() != Some(parameter.name.as_str())
            || parameter.kind == ParameterKind::Keyword
        {
            break;
        }
        argument.0 = None;
    }
    Value::Built(class.name.clone(), arguments)
}

fn argument(
    parameter: &Parameter,
    known: Known<'_>,
    pool: &Pool,
    random: &mut Random,
    depth: usize,
) -> Value {
    let said = parameter.annotation.as_deref();
    match said.and_then(|text| annotated(text, known)) {
        Some(Type::Plain(kind)) => return pool.draw(random, kind),
        Some(read) => return read.draw(known, pool, random, depth),
        None => {}
    }
    match parameter.default.as_deref().map(literal::parse) {
        Some(Ok(default)) if default != Literal::None => {
            pool.draw(random, Value::from(default).kind())
        }
        _ => pool.item(random, 2),
    }
}

/// An object for a method.
pub fn receiver(slot: &Slot, known: Known<'_>, pool: &Pool, random: &mut Random) -> Value {
    let name = slot.annotation.as_deref().unwrap_or_default();
    match known.classes.iter().find(|class| class.name == name) {
        Some(class) if !class.members.is_empty() => {
            Value::Named(random.pick(&class.members).clone())
        }
        Some(class) => built(class, known, pool, random, DEPTH),
        None => Value::Built(name.to_owned(), Vec::new()),
    }
}
