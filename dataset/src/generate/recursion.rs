//! Recursive functions: a case that ends, and a step towards it.

use super::Author;
use super::author::{Callable, Parameter};
use super::code::Rank;
use super::expression::{expression, term};
use super::types::Type;
use super::vocabulary;

/// Writes a recursive function and returns it.
pub(super) fn recursive(author: &mut Author<'_>, name: Option<&str>) -> Callable {
    let globals = author.variables.clone();
    let callables = std::mem::take(&mut author.callables);
    let callable = match author.random.below(7) {
        0..=1 => countdown(author, name),
        2 => digits(author, name),
        3 => remainder(author, name),
        4 => halves(author, name),
        _ => front(author, name),
    };
    author.variables = globals;
    author.callables = callables;
    author.taken.push(callable.name.clone());
    callable
}

fn open(
    author: &mut Author<'_>,
    name: Option<&str>,
    result: &Type,
    types: &[Type],
    small: bool,
) -> Callable {
    let name = name.map_or_else(|| vocabulary::function(author, result), str::to_owned);
    let mut parameters: Vec<Parameter> = Vec::new();
    for ty in types {
        let mut parameter = vocabulary::name(author, ty);
        while parameters.iter().any(|one| one.name == parameter) {
            parameter.push('2');
        }
        parameters.push(Parameter {
            name: parameter,
            ty: ty.clone(),
            small: small && *ty == Type::Int,
            nonempty: false,
            default: None,
        });
    }
    let names: Vec<String> = parameters.iter().map(|one| one.name.clone()).collect();
    let header = author.style.commas(author.random, &names);
    author.line(&format!("def {name}({header}):"));
    for parameter in &parameters {
        let mut variable = author.variable(parameter.name.clone(), parameter.ty.clone());
        variable.locked = true;
        variable.nonnegative = small;
        variable.size = 1;
        author.variables.push(variable);
    }
    Callable {
        name,
        class: None,
        parameters,
        result: result.clone(),
        raises: None,
    }
}

fn when(author: &mut Author<'_>, test: &str, result: &str) {
    author.line(&format!("if {test}:"));
    author.indented(|author| author.line(&format!("return {result}")));
}

/// Combines a value with what the recursion returned.
fn combine(author: &mut Author<'_>, result: &Type, step: &str, rest: &str) -> String {
    match result {
        Type::Int => {
            let operator = author.random.word(&["+", "+", "+", "*", "-"]);
            if author.random.chance(0.2) {
                return format!("max({step}, {rest})");
            }
            author.style.operator(author.random, step, operator, rest)
        }
        _ if author.random.chance(0.3) => author.style.operator(author.random, rest, "+", step),
        _ => author.style.operator(author.random, step, "+", rest),
    }
}

/// `f(n)` by `f(n - 1)`, perhaps with `f(n - 2)` as well.
fn countdown(author: &mut Author<'_>, name: Option<&str>) -> Callable {
    let result = author
        .random
        .pick(&[Type::Int, Type::Int, Type::list(Type::Int), Type::Str])
        .clone();
    let callable = open(author, name, &result, &[Type::Int], true);
    let n = callable.parameters[0].name.clone();
    author.indented(|author| {
        let two = author.random.chance(0.3) && result == Type::Int;
        let limit = if two {
            "1"
        } else {
            author.random.word(&["0", "1"])
        };
        let base = match &result {
            Type::Int => {
                if two {
                    n.clone()
                } else {
                    author.random.between(0, 2).to_string()
                }
            }
            Type::Str => "''".to_owned(),
            _ => "[]".to_owned(),
        };
        let test = author.style.operator(author.random, &n, "<=", limit);
        when(author, &test, &base);
        let less = author.style.operator(author.random, &n, "-", "1");
        let rest = format!("{}({less})", callable.name);
        let step = match &result {
            Type::Int if two => {
                let less = author.style.operator(author.random, &n, "-", "2");
                format!("{}({less})", callable.name)
            }
            Type::Int => {
                if author.random.chance(0.6) {
                    n.clone()
                } else {
                    term(author, &Type::Int, 2).at(Rank::Unary)
                }
            }
            Type::Str => format!("str({n})"),
            _ => format!("[{}]", term(author, &Type::Int, 2).text),
        };
        let line = combine(author, &result, &step, &rest);
        author.line(&format!("return {line}"));
    });
    callable
}

/// Over the digits of a number.
fn digits(author: &mut Author<'_>, name: Option<&str>) -> Callable {
    let callable = open(author, name, &Type::Int, &[Type::Int], true);
    let n = callable.parameters[0].name.clone();
    author.indented(|author| {
        let base = author.random.word(&["10", "10", "2", "3"]);
        let test = author.style.operator(author.random, &n, "<", base);
        when(author, &test, &n);
        let digit = author.style.operator(author.random, &n, "%", base);
        let rest = author.style.operator(author.random, &n, "//", base);
        let rest = format!("{}({rest})", callable.name);
        let line = combine(author, &Type::Int, &digit, &rest);
        author.line(&format!("return {line}"));
    });
    callable
}

/// Two numbers, as Euclid has them.
fn remainder(author: &mut Author<'_>, name: Option<&str>) -> Callable {
    let callable = open(author, name, &Type::Int, &[Type::Int, Type::Int], true);
    let (a, b) = (
        callable.parameters[0].name.clone(),
        callable.parameters[1].name.clone(),
    );
    author.indented(|author| {
        let test = if author.random.chance(0.5) {
            format!("not {b}")
        } else {
            author.style.operator(author.random, &b, "==", "0")
        };
        when(author, &test, &a);
        let rest = author.style.operator(author.random, &a, "%", &b);
        author.line(&format!("return {}({b}, {rest})", callable.name));
    });
    callable
}

/// Over a sequence: its first item and the rest.
fn front(author: &mut Author<'_>, name: Option<&str>) -> Callable {
    let source = author
        .random
        .pick(&[Type::list(Type::Int), Type::list(Type::Str), Type::Str])
        .clone();
    let item = source.item().unwrap_or(Type::Int);
    let result = author
        .random
        .pick(&[Type::Int, Type::Str, source.clone(), source.clone()])
        .clone();
    let callable = open(author, name, &result, std::slice::from_ref(&source), false);
    let items = callable.parameters[0].name.clone();
    author.indented(|author| {
        let base = match &result {
            Type::Int => "0".to_owned(),
            Type::Str => "''".to_owned(),
            _ => "[]".to_owned(),
        };
        let empty = if author.random.chance(0.6) {
            format!("not {items}")
        } else {
            author
                .style
                .operator(author.random, &format!("len({items})"), "==", "0")
        };
        when(author, &empty, &base);
        let mut head = format!("{items}[0]");
        if author.random.chance(0.6) {
            let name = vocabulary::item(author, &items, &item);
            author.line(&format!("{name} = {head}"));
            let mut variable = author.variable(name.clone(), item.clone());
            variable.size = 2;
            author.variables.push(variable);
            head = name;
        }
        let rest = format!("{}({items}[1:])", callable.name);
        let wrap = |text: String| {
            if matches!(result, Type::List(_)) {
                format!("[{text}]")
            } else {
                text
            }
        };
        if author.random.chance(0.35) {
            // Some items do not count.
            let test = super::expression::condition(author, 2).text;
            when(author, &test, &rest);
        }
        let step = match &result {
            Type::Int if author.random.chance(0.5) => "1".to_owned(),
            Type::Int | Type::Str => {
                let same = item == result && author.random.chance(0.6);
                if same {
                    head.clone()
                } else {
                    term(author, &result, 2).at(Rank::Product)
                }
            }
            _ => wrap(if author.random.chance(0.6) {
                head.clone()
            } else {
                term(author, &item, 2).text
            }),
        };
        let line = combine(author, &result, &step, &rest);
        author.line(&format!("return {line}"));
    });
    callable
}

/// Over the halves of a list.
fn halves(author: &mut Author<'_>, name: Option<&str>) -> Callable {
    let source = author
        .random
        .pick(&[Type::list(Type::Int), Type::Str])
        .clone();
    let callable = open(author, name, &source, std::slice::from_ref(&source), false);
    let items = callable.parameters[0].name.clone();
    author.indented(|author| {
        let test = author
            .style
            .operator(author.random, &format!("len({items})"), "<=", "1");
        when(author, &test, &items);
        let half = author
            .style
            .operator(author.random, &format!("len({items})"), "//", "2");
        author.line(&format!("mid = {half}"));
        author.line(&format!("left = {}({items}[:mid])", callable.name));
        author.line(&format!("right = {}({items}[mid:])", callable.name));
        for side in ["left", "right"] {
            let mut variable = author.variable(side.to_owned(), source.clone());
            variable.least = 1;
            author.variables.push(variable);
        }
        if author.random.chance(0.5) {
            let operator = author.random.word(&["<", ">", "<="]);
            let test = author
                .style
                .operator(author.random, "left[0]", operator, "right[0]");
            when(author, &test, "left + right");
        }
        let line = if author.random.chance(0.7) {
            "right + left".to_owned()
        } else {
            expression(author, &source, 2).text
        };
        author.line(&format!("return {line}"));
    });
    callable
}
