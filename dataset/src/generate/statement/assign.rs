//! Assignments of every kind, and `del`.

use super::super::Author;
use super::super::code::Code;
use super::super::expression::{divisor, expression, height, operand, term};
use super::super::literal::{literal, number};
use super::super::scope::{Role, Variable};
use super::super::types::Type;
use super::super::vocabulary;
use super::unpack::unpack;
use crate::profile::Metric;

/// A type that a new variable may have: mostly one that is at hand.
pub(in crate::generate) fn likely_type(author: &mut Author<'_>) -> Type {
    if author.random.chance(0.5)
        && let Some(at) = author.find(|one| !matches!(one.ty, Type::Object(_) | Type::Optional(_)))
    {
        let ty = author.variables[at].ty.clone();
        let item = ty.item().filter(|_| author.random.chance(0.4));
        return item.unwrap_or(ty);
    }
    match author.random.below(20) {
        0..=6 => Type::Int,
        7..=11 => Type::Str,
        12 => Type::Bool,
        13 => Type::Float,
        14 => Type::list(Type::Int),
        15..=16 => Type::list(Type::Str),
        17 => Type::dict(Type::Str, Type::Int),
        18 => Type::set(Type::Int),
        _ => Type::Tuple(vec![Type::Int, Type::Str]),
    }
}

/// An assignment.
pub(super) fn assign(author: &mut Author<'_>) -> Option<()> {
    let mut targets = vec!["name", "tuple", "subscript", "attribute"];
    while !targets.is_empty() {
        let target = author.choose(Metric::Target, &targets);
        targets.retain(|other| *other != target);
        let written = match target {
            "name" => {
                if author.random.chance(0.6) {
                    assign_new(author);
                    Some(())
                } else {
                    reassign(author, false)
                }
            }
            "attribute" => reassign(author, true),
            "tuple" => unpack(author),
            _ => store(author),
        };
        if written.is_some() {
            return written;
        }
    }
    None
}

/// Assigns to a name that is new.
pub(in crate::generate) fn assign_new(author: &mut Author<'_>) {
    if author.random.chance(0.05) && instance(author).is_some() {
        return;
    }
    let ty = likely_type(author);
    let height = height(author);
    let code = if author.random.chance(0.2) {
        expression(author, &ty, height)
    } else {
        term(author, &ty, height)
    };
    let name = vocabulary::name(author, &ty);
    let annotation = annotation(author, &ty);
    author.line(&format!("{name}{annotation} = {}", code.text));
    author.bind(name, ty, &code);
}

/// The annotation of a new variable, or nothing.
fn annotation(author: &mut Author<'_>, ty: &Type) -> String {
    if author.style.annotated && author.random.chance(0.2) && ty.depth() == 0 {
        format!(": {ty}")
    } else {
        String::new()
    }
}

/// Makes an instance of one of the program's classes.
pub(in crate::generate) fn instance(author: &mut Author<'_>) -> Option<()> {
    let classes = author.classes.len();
    if classes == 0
        || author
            .variables
            .iter()
            .any(|one| one.name.starts_with("self."))
    {
        return None;
    }
    let at = author.random.below(classes);
    let class = author.classes[at].clone();
    let arguments: Vec<String> = class
        .constructor
        .iter()
        .filter(|one| one.default.is_none())
        .map(|one| expression(author, &one.ty, 2).text)
        .collect();
    let name = class.name.to_lowercase();
    if author.is_taken(&name) {
        return None;
    }
    let commas = author.style.commas(author.random, &arguments);
    author.line(&format!("{name} = {}({commas})", class.name));
    let object = author.variable(name.clone(), Type::Object(at));
    author.variables.push(object);
    for (field, ty) in class.fields {
        let mut variable = author.variable(format!("{name}.{field}"), ty);
        variable.weaken();
        // Its methods change it behind the author's back; the author only reads it.
        variable.locked = true;
        variable.iterated = true;
        author.variables.push(variable);
    }
    Some(())
}

/// Whether a variable may be assigned here.
pub(super) fn assignable(one: &Variable) -> bool {
    !one.locked && !one.iterated && !matches!(one.ty, Type::Object(_) | Type::Optional(_))
}

/// Assigns to a variable that exists.
fn reassign(author: &mut Author<'_>, attribute: bool) -> Option<()> {
    let at = author.find(|one| assignable(one) && one.is_attribute() == attribute)?;
    let (name, ty, size) = {
        let one = &author.variables[at];
        (one.name.clone(), one.ty.clone(), one.size)
    };
    let height = height(author);
    let mut code = term(author, &ty, height.max(2));
    // In a loop a value must not grow out of bounds.
    let bound = if ty == Type::Int { size + 1 } else { size };
    if author.loops > 0 && code.size > bound {
        code = literal(author, &ty);
    }
    if code.text == name {
        code = literal(author, &ty);
    }
    author.line(&format!("{name} = {}", code.text));
    settle(author, &name, &code);
    Some(())
}

/// Puts down what is known about a variable after an assignment.
fn settle(author: &mut Author<'_>, name: &str, code: &Code) {
    let source = author
        .variables
        .iter()
        .find(|one| one.name == code.text)
        .map(|one| one.group);
    let group = source.unwrap_or_else(|| author.group());
    let in_loop = author.loops > 0;
    for variable in &mut author.variables {
        if matches!(&variable.role, Role::IndexOf(owner) | Role::KeyOf(owner) if *owner == name) {
            variable.role = Role::Plain;
        }
        if variable.name == name {
            variable.role = Role::Plain;
            variable.reads = 0;
            variable.group = group;
            variable.size = if in_loop {
                variable.size.max(code.size)
            } else {
                code.size
            };
            variable.nonnegative = code.nonnegative && !in_loop;
            variable.nonzero = code.nonzero && !in_loop;
            variable.least = if in_loop { 0 } else { code.least };
        }
    }
}

/// An augmented assignment.
pub(super) fn augment(author: &mut Author<'_>) -> Option<()> {
    if author.random.chance(0.2) && augment_item(author).is_some() {
        return Some(());
    }
    let at = author.find(|one| {
        assignable(one)
            && matches!(
                one.ty,
                Type::Int | Type::Float | Type::Str | Type::List(_) | Type::Set(_)
            )
    })?;
    let (name, ty, size) = {
        let one = &author.variables[at];
        (one.name.clone(), one.ty.clone(), one.size)
    };
    let height = height(author).max(2);
    let (operator, code) = match &ty {
        Type::Int | Type::Float => {
            let operators: &[&str] = if ty == Type::Int {
                &["+=", "-=", "*=", "//=", "%=", "|=", "&=", "^=", ">>="]
            } else {
                &["+=", "-=", "*=", "/="]
            };
            let operator = author.choose(Metric::Augmented, operators);
            let code = match operator {
                "*=" => number(author.random.between(2, 3)),
                "//=" | "%=" | "/=" => divisor(author),
                ">>=" => number(1),
                "|=" | "&=" | "^=" => number(author.random.between(1, 15)),
                _ => operand(author, &ty, height - 1),
            };
            // Numbers that feed each other grow without bound in a loop.
            let code = if author.loops > 0 && code.size > size.max(4) {
                number(1)
            } else {
                code
            };
            (operator, code)
        }
        Type::Str => {
            if author.choose(Metric::Augmented, &["+=", "*="]) == "*=" && author.loops == 0 {
                ("*=", number(2))
            } else {
                let code = expression(author, &Type::Str, height - 1);
                (
                    "+=",
                    if author.loops > 0 && code.size > 3 {
                        literal(author, &Type::Str)
                    } else {
                        code
                    },
                )
            }
        }
        Type::List(item) => {
            let inner = expression(author, item, height.saturating_sub(2).max(1));
            let text = format!("[{}]", inner.text);
            ("+=", Code::atom(text))
        }
        _ => {
            let operator = author.choose(Metric::Augmented, &["|=", "&=", "-=", "^="]);
            (operator, term(author, &ty, height - 1))
        }
    };
    if code.text == name {
        return None;
    }
    author.line(&format!("{name} {operator} {}", code.text));
    let variable = &mut author.variables[at];
    variable.size = variable.size.max(code.size).saturating_add(1).min(6);
    variable.nonnegative &= code.nonnegative && operator != "-=";
    variable.nonzero = false;
    variable.role = Role::Plain;
    variable.reads = 0;
    if operator != "+=" {
        variable.least = 0;
    }
    Some(())
}

/// `counts[key] += 1`
fn augment_item(author: &mut Author<'_>) -> Option<()> {
    let at = author.find(|one| matches!(one.role, Role::KeyOf(_) | Role::IndexOf(_)))?;
    let (Role::KeyOf(owner) | Role::IndexOf(owner)) = author.variables[at].role.clone() else {
        return None;
    };
    let owner = author.variables.iter().position(|one| one.name == owner)?;
    let value = match &author.variables[owner].ty {
        Type::Dict(_, value) | Type::List(value) => (**value).clone(),
        _ => return None,
    };
    if !matches!(value, Type::Int | Type::Float) {
        return None;
    }
    let (name, key) = (author.variables[owner].name.clone(), author.read(at).text);
    let operator = author.choose(Metric::Augmented, &["+=", "-=", "*="]);
    let code = if operator == "*=" {
        number(2)
    } else {
        operand(author, &value, 2)
    };
    if author.loops > 0 && code.size > 4 {
        return None;
    }
    author.line(&format!("{name}[{key}] {operator} {}", code.text));
    Some(())
}

/// Assigns to an item.
fn store(author: &mut Author<'_>) -> Option<()> {
    let at = author.find(|one| match &one.ty {
        Type::Dict(..) => !one.iterated,
        Type::List(_) => one.least > 0 || !one.own,
        _ => false,
    })?;
    let name = author.variables[at].name.clone();
    let height = height(author).max(2);
    match author.variables[at].ty.clone() {
        Type::Dict(key, value) => {
            let place = term(author, &key, 1).text;
            let place = if place == name {
                literal(author, &key).text
            } else {
                place
            };
            let counts = *value == Type::Int && author.random.chance(0.5);
            let groups = matches!(*value, Type::List(_)) && author.random.chance(0.6);
            if counts {
                let step = if author.random.chance(0.7) {
                    "1".to_owned()
                } else {
                    operand(author, &Type::Int, 1).text
                };
                let get = format!("{name}.get({place}, 0)");
                let sum = author.style.operator(author.random, &get, "+", &step);
                author.line(&format!("{name}[{place}] = {sum}"));
            } else if groups {
                let Type::List(item) = *value else {
                    return None;
                };
                let item = term(author, &item, height - 1).text;
                if author.random.chance(0.5) {
                    author.line(&format!("{name}.setdefault({place}, []).append({item})"));
                } else {
                    author.line(&format!("if {place} not in {name}:"));
                    author.indented(|author| author.line(&format!("{name}[{place}] = []")));
                    author.line(&format!("{name}[{place}].append({item})"));
                }
            } else {
                let code = term(author, &value, height - 1);
                if author.loops > 0 && code.size > 4 {
                    return None;
                }
                author.line(&format!("{name}[{place}] = {}", code.text));
            }
            let key = author
                .variables
                .iter()
                .position(|one| one.name == place && one.role == Role::Plain);
            if let Some(key) = key.filter(|_| !author.is_growing(&name)) {
                author.variables[key].role = Role::KeyOf(name);
            }
        }
        Type::List(item) => {
            let own =
                author.find(|one| matches!(&one.role, Role::IndexOf(owner) if *owner == name));
            let place = match own {
                Some(own) => author.read(own).text,
                None if author.variables[at].least > 0 => {
                    author.random.word(&["0", "-1", "0"]).to_owned()
                }
                None => return None,
            };
            let code = term(author, &item, height - 1);
            if author.loops > 0 && code.size > 4 {
                return None;
            }
            author.line(&format!("{name}[{place}] = {}", code.text));
        }
        _ => return None,
    }
    Some(())
}

/// `del` of an item or a slice.
pub(super) fn delete(author: &mut Author<'_>) -> Option<()> {
    let key = author.find(|one| matches!(one.role, Role::KeyOf(_)));
    if let Some(key) = key {
        let Role::KeyOf(owner) = author.variables[key].role.clone() else {
            return None;
        };
        let at = author.variables.iter().position(|one| one.name == owner)?;
        if author.can_resize(at, true) {
            let key = author.read(key).text;
            author.line(&format!("del {owner}[{key}]"));
            author.weaken(at);
            return Some(());
        }
    }
    let at = author.find(|one| matches!(one.ty, Type::List(_)))?;
    if !author.can_resize(at, true) {
        return None;
    }
    let part = if author.variables[at].least > 0 {
        author.random.word(&["0", "-1", "1:", "::2"])
    } else {
        author.random.word(&["1:", ":1", "::2", "2:"])
    };
    let name = author.variables[at].name.clone();
    author.line(&format!("del {name}[{part}]"));
    author.weaken(at);
    Some(())
}

/// Starts a value that a loop will add to.
pub(in crate::generate) fn accumulator(author: &mut Author<'_>) {
    let ty = match author.random.below(20) {
        0..=5 => Type::Int,
        6..=8 => Type::Str,
        9..=11 => Type::list(Type::Str),
        12..=14 => Type::list(Type::Int),
        15..=16 => Type::dict(Type::Str, Type::Int),
        17 => Type::dict(Type::Int, Type::list(Type::Str)),
        18 => Type::set(Type::Str),
        _ => Type::Bool,
    };
    let name = vocabulary::accumulator(author, &ty);
    let text = match &ty {
        Type::Int => author.random.word(&["0", "0", "0", "1"]).to_owned(),
        Type::Str => Code::atom(author.style.string(author.random, "")).text,
        Type::List(_) => (author.random.word(&["[]", "[]", "[]", "list()"])).to_owned(),
        Type::Dict(..) => author.random.word(&["{}", "{}", "dict()"]).to_owned(),
        Type::Set(_) => "set()".to_owned(),
        _ => "False".to_owned(),
    };
    author.line(&format!("{name} = {text}"));
    let mut code = Code::atom(text);
    code.size = 1;
    code.nonnegative = true;
    author.bind(name, ty, &code);
}

/// The variable of a type that nothing has read yet, latest first.
pub(in crate::generate) fn unread(author: &Author<'_>, ty: &Type) -> Option<usize> {
    author
        .variables
        .iter()
        .rposition(|one| one.ty == *ty && one.reads == 0 && one.own)
}
