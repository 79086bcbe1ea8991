//! Loops, bounded: `for` over what does not grow, `while` with progress that nothing skips.

use super::super::Author;
use super::super::code::Rank;
use super::super::expression::{condition, height};
use super::super::scope::{Role, Variable};
use super::super::types::Type;
use super::super::vocabulary;
use super::branch::conditional;
use super::{Flow, accumulator, block, statements, walk};
use crate::profile::Metric;

/// A `for` loop, mostly with something that it adds to.
pub(super) fn for_loop(author: &mut Author<'_>) -> Option<()> {
    if author.loops == 0 && author.random.chance(0.55) {
        accumulator(author);
        if author.random.chance(0.15) {
            accumulator(author);
        }
    }
    let height = height(author).min(3);
    let walk = walk(author, height, false)?;
    author.line(&format!("for {} in {}:", walk.target, walk.iterable));
    looped(author, walk.bound, walk.over.as_deref(), true, block);
    if author.random.chance(0.02) {
        author.line("else:");
        author.scoped(block);
    }
    Some(())
}

/// Writes the body of a loop: what it may change is decided first, and nothing is believed about
/// that any more; the rest is locked.
fn looped(
    author: &mut Author<'_>,
    bound: Vec<Variable>,
    over: Option<&str>,
    can_continue: bool,
    body: impl FnOnce(&mut Author<'_>) -> Flow,
) {
    let outer: Vec<(String, bool, bool)> = author
        .variables
        .iter()
        .map(|one| (one.name.clone(), one.locked, one.iterated))
        .collect();
    for at in 0..author.variables.len() {
        let variable = &author.variables[at];
        let settles = author.random.chance(if variable.own { 0.75 } else { 0.15 });
        let is_over = over == Some(variable.name.as_str());
        if settles && !variable.locked && !is_over {
            author.weaken(at);
        } else {
            author.variables[at].locked = true;
        }
    }
    if let Some(over) = over {
        let group = author
            .variables
            .iter()
            .find(|one| one.name == over)
            .map(|one| one.group);
        for variable in &mut author.variables {
            variable.iterated |= Some(variable.group) == group;
        }
    }
    let can_continue = std::mem::replace(&mut author.can_continue, can_continue);
    let branching = std::mem::replace(&mut author.conditional, false);
    author.loops += 1;
    author.scoped(|author| {
        for variable in bound {
            author.variables.retain(|one| one.name != variable.name);
            author.variables.push(variable);
        }
        body(author)
    });
    author.loops -= 1;
    author.conditional = branching;
    author.can_continue = can_continue;
    for (name, locked, iterated) in outer {
        if let Some(variable) = author.variables.iter_mut().find(|one| one.name == name) {
            variable.locked = locked;
            variable.iterated = iterated;
        }
    }
}

/// A `while` loop: a pattern of progress around a drawn body.
pub(super) fn while_loop(author: &mut Author<'_>) -> Option<()> {
    match author.random.below(6) {
        0..=1 => {
            counting(author);
            Some(())
        }
        2 => digits(author),
        3 => consuming(author),
        4 => closing_in(author),
        _ => until(author),
    }
}

fn body_length(author: &mut Author<'_>) -> usize {
    author.count(Metric::BlockLength, 1, 5)
}

/// `while i < len(xs): …; i += 1`
fn counting(author: &mut Author<'_>) {
    let sequence = author.find(|one| matches!(one.ty, Type::Str | Type::List(_)) && one.size <= 3);
    let name = vocabulary::index(author);
    author.line(&format!("{name} = 0"));
    let (test, over) = if let Some(at) = sequence.filter(|_| author.random.chance(0.7)) {
        let over = author.read(at).text;
        let length = format!("len({over})");
        (
            author.style.operator(author.random, &name, "<", &length),
            Some(over),
        )
    } else {
        let bound = author.random.between(2, 6).to_string();
        (
            author.style.operator(author.random, &name, "<", &bound),
            None,
        )
    };
    let more = if author.random.chance(0.2) {
        format!(" and {}", condition(author, 2).at(Rank::Not))
    } else {
        String::new()
    };
    author.line(&format!("while {test}{more}:"));
    let mut index = author.variable(name.clone(), Type::Int);
    index.size = 1;
    index.nonnegative = true;
    index.locked = true;
    if let Some(over) = &over {
        index.role = Role::IndexOf(over.clone());
    }
    let step = if author.random.chance(0.85) { 1 } else { 2 };
    looped(
        author,
        vec![index.clone()],
        over.as_deref(),
        false,
        |author| {
            let length = body_length(author);
            let flow = statements(author, length);
            if flow == Flow::Next {
                author.indented(|author| author.line(&format!("{name} += {step}")));
            }
            flow
        },
    );
    index.role = Role::Plain;
    index.size = 2;
    index.locked = false;
    author.variables.retain(|one| one.name != index.name);
    author.variables.push(index);
}

/// `while n > 0: digit = n % 10; n //= 10; …`
fn digits(author: &mut Author<'_>) -> Option<()> {
    let at = author.find(|one| {
        one.ty == Type::Int
            && !one.locked
            && one.nonnegative
            && matches!(one.role, Role::Plain)
            && !one.is_attribute()
    })?;
    if author.loops == 0 && author.random.chance(0.6) {
        accumulator(author);
    }
    let at = {
        let name = author.variables[at].name.clone();
        author.variables.iter().position(|one| one.name == name)?
    };
    let name = author.read(at).text;
    let base = author.random.word(&["10", "10", "10", "2", "2", "3", "16"]);
    let test = if author.random.chance(0.3) {
        name.clone()
    } else {
        author.style.operator(author.random, &name, ">", "0")
    };
    author.line(&format!("while {test}:"));
    let digit = ["digit", "d", "bit", "r", "rest"]
        .iter()
        .find(|one| !author.is_taken(one))?;
    author.variables[at].locked = true;
    let mut variable = author.variable((*digit).to_owned(), Type::Int);
    variable.size = 1;
    variable.nonnegative = true;
    looped(author, vec![variable], None, true, |author| {
        author.indented(|author| {
            if author.random.chance(0.3) {
                author.line(&format!("{name}, {digit} = divmod({name}, {base})"));
            } else {
                let value = author.style.operator(author.random, &name, "%", base);
                author.line(&format!("{digit} = {value}"));
                author.line(&format!("{name} //= {base}"));
            }
        });
        let length = body_length(author);
        statements(author, length)
    });
    if let Some(variable) = author.variables.iter_mut().find(|one| one.name == name) {
        variable.locked = false;
        variable.weaken();
        variable.nonnegative = true;
    }
    Some(())
}

/// `while stack: item = stack.pop(); …`
fn consuming(author: &mut Author<'_>) -> Option<()> {
    let at = author.find(|one| {
        matches!(one.ty, Type::List(_)) && !one.locked && !one.iterated && one.size <= 3
    })?;
    let Type::List(item) = author.variables[at].ty.clone() else {
        return None;
    };
    let source = author.read(at).text;
    // On a copy, so that the caller's list stays as it is.
    let name = ["stack", "queue", "todo", "pending", "rest", "remaining"]
        .iter()
        .find(|one| !author.is_taken(one))?;
    let copy = author
        .random
        .word(&["list({})", "{}[:]", "{}.copy()", "list({})"]);
    author.line(&format!("{name} = {}", copy.replace("{}", &source)));
    author.line(&format!("while {name}:"));
    let pop = author.random.word(&["pop()", "pop()", "pop(0)", "pop(0)"]);
    let inner = vocabulary::item(author, &source, &item);
    let mut stack = author.variable((*name).to_owned(), Type::list((*item).clone()));
    stack.locked = true;
    // Growing it would need an argument that the loop ends.
    stack.iterated = true;
    let mut bound = author.variable(inner.clone(), *item);
    bound.size = if bound.ty == Type::Int { 3 } else { 1 };
    looped(author, vec![stack, bound], None, true, |author| {
        author.indented(|author| author.line(&format!("{inner} = {name}.{pop}")));
        let length = body_length(author);
        statements(author, length)
    });
    Some(())
}

/// Two positions that move towards each other.
fn closing_in(author: &mut Author<'_>) -> Option<()> {
    let at = author.find(|one| match &one.ty {
        Type::Str => true,
        Type::List(item) => item.is_ordered(),
        _ => false,
    })?;
    let (left, right) = [
        ("left", "right"),
        ("lo", "hi"),
        ("i", "j"),
        ("start", "end"),
    ]
    .into_iter()
    .find(|(a, b)| !author.is_taken(a) && !author.is_taken(b))?;
    let name = author.read(at).text;
    if author.random.chance(0.5) {
        author.line(&format!("{left}, {right} = 0, len({name}) - 1"));
    } else {
        author.line(&format!("{left} = 0"));
        author.line(&format!("{right} = len({name}) - 1"));
    }
    let test = author.style.operator(author.random, left, "<", right);
    author.line(&format!("while {test}:"));
    let ends = [left, right].map(|end| {
        let mut variable = author.variable(end.to_owned(), Type::Int);
        variable.size = 1;
        variable.nonnegative = true;
        variable.locked = true;
        variable.role = Role::IndexOf(name.clone());
        variable
    });
    let operator = author.random.word(&["==", "!=", "<", ">"]);
    let swaps = matches!(author.variables[at].ty, Type::List(_))
        && author.can_resize(at, true)
        && author.random.chance(0.5);
    looped(author, ends.to_vec(), Some(&name), false, |author| {
        author.indented(|author| {
            let ends = (format!("{name}[{left}]"), format!("{name}[{right}]"));
            if swaps {
                author.line(&format!("{}, {} = {}, {}", ends.0, ends.1, ends.1, ends.0));
            } else {
                let test = author
                    .style
                    .operator(author.random, &ends.0, operator, &ends.1);
                author.line(&format!("if {test}:"));
                conditional(author, block);
            }
            author.line(&format!("{left} += 1"));
            author.line(&format!("{right} -= 1"));
        });
        Flow::Next
    });
    Some(())
}

/// `while True:` with a counter that leaves.
fn until(author: &mut Author<'_>) -> Option<()> {
    let name = ["tries", "steps", "rounds", "count", "attempt"]
        .iter()
        .find(|one| !author.is_taken(one))?;
    let limit = author.random.between(2, 5).to_string();
    author.line(&format!("{name} = 0"));
    author.line("while True:");
    let mut variable = author.variable((*name).to_owned(), Type::Int);
    variable.size = 1;
    variable.nonnegative = true;
    variable.locked = true;
    looped(author, vec![variable], None, true, |author| {
        author.indented(|author| {
            author.line(&format!("{name} += 1"));
            let test = author.style.operator(author.random, name, ">", &limit);
            let more = if author.random.chance(0.3) {
                format!(" or {}", condition(author, 2).at(Rank::And))
            } else {
                String::new()
            };
            author.line(&format!("if {test}{more}:"));
            author.indented(|author| author.line("break"));
        });
        let length = body_length(author);
        statements(author, length)
    });
    Some(())
}
