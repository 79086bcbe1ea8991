//! What loops and comprehensions run over.

use super::super::Author;
use super::super::code::Code;
use super::super::expression::{small, term};
use super::super::literal::literal;
use super::super::scope::{Role, Variable};
use super::super::types::Type;
use super::super::vocabulary;
use crate::profile::Metric;

/// The header of a loop.
#[derive(Debug)]
pub(in crate::generate) struct Walk {
    pub(in crate::generate) target: String,
    pub(in crate::generate) iterable: String,
    /// Variables that the header binds.
    pub(in crate::generate) bound: Vec<Variable>,
    /// The container whose size has to stay.
    pub(in crate::generate) over: Option<String>,
}

/// The header of a `for` loop, or of a comprehension when `clause` holds; none when there is nothing
/// to run over.
pub(in crate::generate) fn walk(
    author: &mut Author<'_>,
    height: usize,
    clause: bool,
) -> Option<Walk> {
    let mut kinds = vec![
        "range",
        "name",
        "attribute",
        "enumerate",
        "zip",
        "items",
        "keys",
        "values",
        "sorted",
        "reversed",
        "split",
        "method",
        "list",
        "tuple",
        "subscript",
        "string",
    ];
    while !kinds.is_empty() {
        let kind = author.choose(Metric::Iterable, &kinds);
        kinds.retain(|other| *other != kind);
        if let Some(walk) = attempt(author, kind, height, clause) {
            return Some(walk);
        }
    }
    None
}

fn attempt(author: &mut Author<'_>, kind: &str, height: usize, clause: bool) -> Option<Walk> {
    match kind {
        "range" => Some(range(author)),
        "name" | "attribute" => {
            let attribute = kind == "attribute";
            let at = author.find(|one| one.is_attribute() == attribute && walkable(&one.ty))?;
            let container = author.read(at);
            Some(over_items(author, at, &container.text, &container.text))
        }
        "enumerate" => {
            let at = author.find(|one| matches!(one.ty, Type::Str | Type::List(_)))?;
            let name = author.read(at).text;
            let mut walk = over_items(author, at, &name, &name);
            let mut index = number_variable(author, &walk.bound);
            index.role = Role::IndexOf(name.clone());
            let from = if author.random.chance(0.12) {
                ", 1"
            } else {
                ""
            };
            if !from.is_empty() {
                index.role = Role::Plain;
            }
            walk.target = format!("{}, {}", index.name, parenthesized(&walk.target));
            walk.iterable = format!("enumerate({name}{from})");
            walk.bound.insert(0, index);
            Some(walk)
        }
        "zip" => {
            let first = author.find(|one| matches!(one.ty, Type::Str | Type::List(_)))?;
            let left = author.variables[first].name.clone();
            let second =
                author.find(|one| matches!(one.ty, Type::Str | Type::List(_)) && one.name != left);
            let (a, b) = match second {
                Some(second) => (author.read(first).text, author.read(second).text),
                None => (author.read(first).text, format!("{left}[1:]")),
            };
            let one = over_items(author, first, &left, &a);
            let mut walk = over_items(author, second.unwrap_or(first), &b, &b);
            if walk.target == one.target || one.target.contains(',') || walk.target.contains(',') {
                let names = if one
                    .bound
                    .iter()
                    .chain(&walk.bound)
                    .any(|one| one.name == "a")
                {
                    ("left", "right")
                } else {
                    ("a", "b")
                };
                let mut bound = vec![one.bound.first()?.clone(), walk.bound.first()?.clone()];
                if one.bound.len() > 1
                    || walk.bound.len() > 1
                    || author.is_taken(names.0)
                    || author.is_taken(names.1)
                {
                    return None;
                }
                names.0.clone_into(&mut bound[0].name);
                names.1.clone_into(&mut bound[1].name);
                walk.target = format!("{}, {}", names.0, names.1);
                walk.bound = bound;
            } else {
                walk.target = format!("{}, {}", one.target, walk.target);
                walk.bound.splice(0..0, one.bound);
            }
            walk.iterable = format!("zip({a}, {b})");
            Some(walk)
        }
        "items" | "keys" | "values" => dict(author, kind),
        "sorted" | "reversed" => {
            let at = author.find(|one| match &one.ty {
                Type::List(item) => kind == "reversed" || item.is_ordered(),
                Type::Set(item) => kind == "sorted" && item.is_ordered(),
                Type::Dict(key, _) => kind == "sorted" && key.is_ordered(),
                Type::Str => kind == "reversed",
                _ => false,
            })?;
            let name = author.read(at).text;
            let mut walk = over_items(author, at, &name, &name);
            walk.iterable = format!("{kind}({name})");
            if kind == "sorted" {
                // A copy: the container may change.
                walk.over = None;
                if matches!(author.variables[at].ty, Type::Dict(..)) {
                    walk.iterable = format!("sorted({name})");
                }
            }
            Some(walk)
        }
        "split" => {
            let at = author.find(|one| one.ty == Type::Str && one.role != Role::Letter)?;
            let name = author.read(at).text;
            let separator = author.random.word(&["", "", "','", "' '", "'-'"]);
            let mut variable = item_variable(author, "words", &Type::Str);
            variable.least = usize::from(separator.is_empty());
            Some(Walk {
                target: variable.name.clone(),
                iterable: format!("{name}.split({separator})"),
                bound: vec![variable],
                over: None,
            })
        }
        "method" => {
            let wanted = if author.random.chance(0.6) {
                Type::Str
            } else {
                Type::list(Type::Int)
            };
            if height < 2 {
                return None;
            }
            let code = term(author, &wanted, 2);
            loose(author, &code, &wanted)
        }
        "list" | "tuple" => {
            let item = if author.random.chance(0.6) {
                Type::Int
            } else {
                Type::Str
            };
            let wanted = if kind == "list" {
                Type::list(item.clone())
            } else {
                Type::Tuple(vec![item.clone(); 2 + author.random.below(2)])
            };
            let code = literal(author, &wanted);
            if clause || code.text.len() > 50 || code.text == "[]" {
                return None;
            }
            loose(author, &code, &Type::list(item))
        }
        "subscript" => {
            let at = author.find(|one| matches!(one.ty, Type::Str | Type::List(_)))?;
            let ty = author.variables[at].ty.clone();
            let name = author.read(at).text;
            let part = author
                .random
                .word(&["[1:]", "[:-1]", "[::-1]", "[:3]", "[::2]", "[:]"]);
            loose(author, &Code::atom(format!("{name}{part}")), &ty)
        }
        _ => {
            let text = author.random.word(&["'abc'", "'aeiou'", "'xyz'", "'01'"]);
            loose(author, &Code::atom(text), &Type::Str)
        }
    }
}

/// Sets of text come in another order in every run; nobody relies on that.
fn walkable(ty: &Type) -> bool {
    match ty {
        Type::Str | Type::List(_) | Type::Dict(..) => true,
        Type::Set(item) => **item == Type::Int,
        _ => false,
    }
}

/// Over the items of an expression that is no variable.
fn loose(author: &mut Author<'_>, code: &Code, ty: &Type) -> Option<Walk> {
    // A literal of text has no items worth a loop of its own.
    let item = ty.item()?;
    let variable = item_variable(author, "", &item);
    let variable = letter(variable, ty);
    Some(Walk {
        target: variable.name.clone(),
        iterable: code.at(super::super::code::Rank::Or),
        bound: vec![variable],
        over: None,
    })
}

fn letter(mut variable: Variable, container: &Type) -> Variable {
    if *container == Type::Str {
        variable.role = Role::Letter;
        variable.least = 1;
    }
    variable
}

fn item_variable(author: &mut Author<'_>, container: &str, item: &Type) -> Variable {
    let name = vocabulary::item(author, container, item);
    let mut variable = author.variable(name, item.clone());
    variable.size = if *item == Type::Int { 3 } else { 1 };
    variable.locked = false;
    variable
}

/// A variable for numbers from zero up that is not among `others`.
fn number_variable(author: &mut Author<'_>, others: &[Variable]) -> Variable {
    let mut name = vocabulary::index(author);
    while others.iter().any(|one| one.name == name) {
        name.push('x');
    }
    let mut variable = author.variable(name, Type::Int);
    variable.size = 1;
    variable.nonnegative = true;
    variable
}

/// Over the items of the variable at `at`; pairs are unpacked.
fn over_items(author: &mut Author<'_>, at: usize, name: &str, iterable: &str) -> Walk {
    let ty = author.variables[at].ty.clone();
    let item = ty.item().unwrap_or(Type::Int);
    let over = Some(author.variables[at].name.clone());
    if let Type::Tuple(parts) = &item
        && author.random.chance(0.75)
    {
        let mut bound: Vec<Variable> = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let mut name = if place == 0 {
                vocabulary::name(author, part)
            } else {
                vocabulary::value(author)
            };
            while bound.iter().any(|one| one.name == name) {
                name.push('2');
            }
            let mut variable = author.variable(name, part.clone());
            variable.size = if *part == Type::Int { 3 } else { 1 };
            bound.push(variable);
        }
        let names: Vec<String> = bound.iter().map(|one| one.name.clone()).collect();
        let target = author.style.commas(author.random, &names);
        return Walk {
            target,
            iterable: iterable.to_owned(),
            bound,
            over,
        };
    }
    let mut variable = letter(item_variable(author, name, &item), &ty);
    if matches!(ty, Type::Dict(..)) {
        variable.role = Role::KeyOf(name.to_owned());
    }
    Walk {
        target: variable.name.clone(),
        iterable: iterable.to_owned(),
        bound: vec![variable],
        over,
    }
}

fn parenthesized(target: &str) -> String {
    if target.contains(',') {
        format!("({target})")
    } else {
        target.to_owned()
    }
}

fn dict(author: &mut Author<'_>, kind: &str) -> Option<Walk> {
    let at = author.find(|one| matches!(one.ty, Type::Dict(..)))?;
    let Type::Dict(key_type, value_type) = author.variables[at].ty.clone() else {
        return None;
    };
    let name = author.read(at).text;
    let key_name = vocabulary::key(author);
    let mut key = author.variable(key_name, *key_type);
    key.role = Role::KeyOf(name.clone());
    key.size = if key.ty == Type::Int { 3 } else { 1 };
    let value_name = vocabulary::value(author);
    let mut value = author.variable(value_name, *value_type);
    value.size = if value.ty == Type::Int { 3 } else { 1 };
    if key.name == value.name {
        return None;
    }
    let (target, bound) = match kind {
        "items" => (format!("{}, {}", key.name, value.name), vec![key, value]),
        "keys" => (key.name.clone(), vec![key]),
        _ => (value.name.clone(), vec![value]),
    };
    let iterable = match author.random.below(8) {
        0 if kind == "items" => format!("sorted({name}.items())"),
        1 => format!("list({name}.{kind}())"),
        _ => format!("{name}.{kind}()"),
    };
    // Sorting pairs compares values when keys are equal, which they are not.
    Some(Walk {
        target,
        iterable,
        bound,
        over: Some(name),
    })
}

fn range(author: &mut Author<'_>) -> Walk {
    let mut variable = number_variable(author, &[]);
    let sequence = author.find(|one| matches!(one.ty, Type::Str | Type::List(_)) && one.size <= 3);
    let mut over = None;
    let iterable = if let Some(at) = sequence.filter(|_| author.random.chance(0.55)) {
        let name = author.read(at).text;
        over = Some(name.clone());
        variable.role = Role::IndexOf(name.clone());
        match author.random.below(10) {
            0..=5 => format!("range(len({name}))"),
            6..=7 => format!("range(1, len({name}))"),
            8 => format!("range(len({name}) - 1, -1, -1)"),
            _ => format!("range(0, len({name}), 2)"),
        }
    } else {
        let short = if author.loops > 0 { 4 } else { 8 };
        let bound = small(author);
        if bound.text.parse::<i64>().is_err() && author.random.chance(0.7) {
            if author.random.chance(0.3) {
                format!("range(1, {} + 1)", bound.text)
            } else {
                format!("range({})", bound.text)
            }
        } else {
            let stop = author.random.between(2, short);
            match author.random.below(4) {
                0 => {
                    variable.nonzero = true;
                    format!("range(1, {})", stop + 1)
                }
                1 => format!("range(0, {}, {})", stop * 2, author.random.between(2, 3)),
                _ => format!("range({stop})"),
            }
        }
    };
    Walk {
        target: variable.name.clone(),
        iterable,
        bound: vec![variable],
        over,
    }
}
