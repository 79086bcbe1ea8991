//! Functions: a header, a body that works towards a result, a `return`.

use super::Author;
use super::author::{Callable, Parameter};
use super::expression::call_helper;
use super::literal::literal;
use super::scope::Variable;
use super::statement::{Flow, accumulator, guard, instance, leave, statement};
use super::types::Type;
use super::vocabulary::{self, words};
use crate::profile::Metric;

/// What a function is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// What `main` calls.
    Entry,
    /// What the entry calls.
    Helper,
    /// A method of the class with this index.
    Method(usize),
}

/// A type for a parameter, as often as code has them.
pub(super) fn parameter_type(author: &mut Author<'_>) -> Type {
    const TYPES: &[(&str, f64)] = &[
        ("int", 20.0),
        ("str", 22.0),
        ("list[int]", 15.0),
        ("list[str]", 12.0),
        ("dict[str, int]", 9.0),
        ("bool", 3.0),
        ("float", 3.0),
        ("tuple[int, int]", 2.0),
        ("set[int]", 1.5),
        ("set[str]", 1.0),
        ("list[list[int]]", 4.0),
        ("dict[str, str]", 4.0),
        ("dict[str, list[int]]", 3.0),
        ("list[tuple[str, int]]", 4.0),
        ("dict[int, str]", 1.5),
        ("dict[int, int]", 1.5),
        ("list[list[str]]", 1.5),
        ("list[float]", 2.0),
        ("list[bool]", 0.5),
        ("list[dict[str, int]]", 1.0),
        ("dict[str, list[str]]", 1.0),
    ];
    let weights: Vec<f64> = TYPES.iter().map(|(_, weight)| *weight).collect();
    let at = author.random.weighted(&weights).unwrap_or(0);
    Type::parse(TYPES[at].0).unwrap_or(Type::Int)
}

/// A result type.
pub(super) fn result_type(author: &mut Author<'_>, purpose: Purpose) -> Type {
    let procedure = match purpose {
        Purpose::Entry => 0.02,
        Purpose::Helper => 0.08,
        Purpose::Method(_) => 0.4,
    };
    if author.random.chance(procedure) {
        return Type::Nothing;
    }
    match author.random.below(20) {
        0..=4 => Type::Int,
        5..=8 => Type::Str,
        9..=11 => Type::Bool,
        12 => Type::Float,
        13 => Type::Tuple(vec![Type::Int, Type::Int]),
        14 => Type::Tuple(vec![Type::Str, Type::Int]),
        _ => parameter_type(author),
    }
}

/// Draws parameters with names.
fn parameters(author: &mut Author<'_>, purpose: Purpose) -> Vec<Parameter> {
    let (least, most) = match purpose {
        Purpose::Entry => (1, 4),
        Purpose::Helper => (1, 3),
        Purpose::Method(_) => (0, 2),
    };
    let number = author.count(Metric::Parameters, least, most);
    let mut parameters: Vec<Parameter> = Vec::new();
    for place in 0..number {
        let ty = parameter_type(author);
        let mut name = vocabulary::name(author, &ty);
        while parameters.iter().any(|one| one.name == name) {
            name.push('2');
        }
        let scalar = matches!(ty, Type::Int | Type::Str | Type::Bool | Type::Float);
        let ends = place > 0 && place + 1 == number;
        let default = ends && scalar && author.random.chance(0.3);
        let small = ty == Type::Int && author.random.chance(0.4);
        let default = default.then(|| {
            if small {
                author.random.between(1, 4).to_string()
            } else {
                literal(author, &ty).text
            }
        });
        let nonempty = ty.is_sized()
            && default.is_none()
            && purpose == Purpose::Entry
            && author.random.chance(0.5);
        parameters.push(Parameter {
            name,
            ty,
            small,
            nonempty,
            default,
        });
    }
    parameters
}

/// The variables that parameters are inside.
pub(super) fn arguments(author: &mut Author<'_>, parameters: &[Parameter]) -> Vec<Variable> {
    parameters
        .iter()
        .map(|parameter| {
            let mut variable = author.variable(parameter.name.clone(), parameter.ty.clone());
            variable.own = false;
            variable.least = usize::from(parameter.nonempty);
            if parameter.small {
                variable.size = 1;
                variable.nonnegative = true;
            }
            if parameter.ty != Type::Int && parameter.ty != Type::Float {
                variable.size = 2;
            }
            variable
        })
        .collect()
}

/// `(a, b=1)` with the annotations that the author writes.
pub(super) fn header(
    author: &mut Author<'_>,
    first: Option<&str>,
    parameters: &[Parameter],
) -> String {
    let mut texts: Vec<String> = first.map(str::to_owned).into_iter().collect();
    for parameter in parameters {
        let annotation = if author.style.annotated {
            format!(": {}", plain(&parameter.ty))
        } else {
            String::new()
        };
        texts.push(match &parameter.default {
            Some(default) if annotation.is_empty() => format!("{}={default}", parameter.name),
            Some(default) => format!("{}{annotation} = {default}", parameter.name),
            None => format!("{}{annotation}", parameter.name),
        });
    }
    author.style.commas(author.random, &texts)
}

/// The class of a type: subscripted builtins are newer than what some people still run.
fn plain(ty: &Type) -> String {
    ty.to_string()
        .split('[')
        .next()
        .unwrap_or("object")
        .to_owned()
}

/// Writes a function and makes it known; returns it.
pub(super) fn function(author: &mut Author<'_>, purpose: Purpose, name: Option<&str>) -> Callable {
    let result = result_type(author, purpose);
    let name = name.map_or_else(|| vocabulary::function(author, &result), str::to_owned);
    let globals = author.variables.clone();
    let parameters = parameters(author, purpose);
    let first = matches!(purpose, Purpose::Method(_)).then_some("self");
    let header = header(author, first, &parameters);
    let arrow = if author.style.annotated {
        format!(" -> {}", plain(&result))
    } else {
        String::new()
    };
    author.line(&format!("def {name}({header}){arrow}:"));
    if let Purpose::Method(class) = purpose {
        fields(author, class);
    }
    let arguments = arguments(author, &parameters);
    author.variables.extend(arguments);
    author.returns = result.clone();
    author.raises = None;
    author.helper = purpose != Purpose::Entry;
    let callables = author.callables.len();
    body(author, purpose);
    author.callables.truncate(callables);
    author.variables = globals;
    author.taken.push(name.clone());
    let class = match purpose {
        Purpose::Method(class) => Some(class),
        _ => None,
    };
    Callable {
        name,
        class,
        parameters,
        result,
        raises: author.raises,
    }
}

fn fields(author: &mut Author<'_>, class: usize) {
    for (field, ty) in author.classes[class].fields.clone() {
        let mut variable = author.variable(format!("self.{field}"), ty);
        variable.weaken();
        author.variables.push(variable);
    }
}

fn body(author: &mut Author<'_>, purpose: Purpose) {
    let (most_direct, most) = match purpose {
        Purpose::Entry => (14, 30),
        Purpose::Helper => (5, 10),
        Purpose::Method(_) => (4, 8),
    };
    author.left = author.count(Metric::FunctionLength, 1, most);
    let length = author.count(Metric::BodyLength, 1, most_direct);
    author.indented(|author| {
        if author.style.documented && author.random.chance(0.7) {
            docstring(author);
        }
        if purpose == Purpose::Entry && !author.classes.is_empty() && author.random.chance(0.9) {
            instance(author);
        }
        if length > 2 && author.random.chance(0.12) {
            guard(author);
        }
        if purpose == Purpose::Entry {
            use_helpers(author);
        }
        let start = author.lines.len();
        for at in 0..length.saturating_sub(1) {
            if author.left <= 1 && at > 0 {
                break;
            }
            let flow = statement(author, at, false);
            debug_assert_eq!(flow, Flow::Next);
        }
        if author.returns != Type::Nothing {
            leave(author, "return");
        } else if author.lines.len() == start {
            accumulator(author);
        }
    });
    // Loops and handlers are left with the function.
    author.loops = 0;
    author.caught.clear();
}

/// Calls what was written for this function, or much of it: nobody writes helpers for nothing.
fn use_helpers(author: &mut Author<'_>) {
    for callable in author.callables.clone() {
        let wanted = if callable.class.is_some() { 0.7 } else { 0.85 };
        if !author.random.chance(wanted) {
            continue;
        }
        let careful = author.caught.len();
        author.caught.extend(callable.raises);
        let code = call_helper(author, 2, |one| {
            one.name == callable.name && one.class == callable.class
        });
        author.caught.truncate(careful);
        let Some(code) = code else { continue };
        let (handled, error) = match callable.raises {
            Some(error) if author.random.chance(0.8) => (true, error),
            _ => (false, ""),
        };
        let name = vocabulary::name(author, &callable.result);
        let line = match callable.result {
            Type::Nothing => code.text.clone(),
            _ => format!("{name} = {}", code.text),
        };
        if handled {
            let fallback = literal(author, &callable.result).text;
            author.line("try:");
            author.indented(|author| author.line(&line));
            author.line(&format!("except {error}:"));
            author.indented(|author| {
                let line = match callable.result {
                    Type::Nothing => "pass".to_owned(),
                    _ => format!("{name} = {fallback}"),
                };
                author.line(&line);
            });
        } else {
            author.line(&line);
        }
        if callable.result != Type::Nothing {
            author.bind(name, callable.result.clone(), &code);
        }
    }
}

fn docstring(author: &mut Author<'_>) {
    let verb = author.random.word(&[
        "Return the",
        "Compute the",
        "Collect the",
        "Update the",
        "Build the",
        "Find the",
    ]);
    let noun = author.random.word(words("noun"));
    author.line(&format!("\"\"\"{verb} {noun}.\"\"\""));
}
