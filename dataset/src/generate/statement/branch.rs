//! `if` statements.

use super::super::Author;
use super::super::code::{Code, Rank};
use super::super::expression::{condition, contradiction, expression, height};
use super::super::scope::Role;
use super::super::types::Type;
use super::super::vocabulary;
use super::{Flow, block, leave, raise_text};
use crate::profile::Metric;

/// An `if` statement.
pub(super) fn branch(author: &mut Author<'_>, last: bool) -> Option<Flow> {
    match author.random.below(20) {
        0 if missing(author).is_some() => return Some(Flow::Next),
        1 if either(author).is_some() => return Some(Flow::Next),
        2 if guard(author).is_some() => return Some(Flow::Next),
        _ => {}
    }
    let shape = author.choose(
        Metric::Branches,
        &["if", "if-else", "if-elif", "if-elif-else"],
    );
    let test = test(author);
    if shape == "if"
        && author.random.chance(author.style.one_line)
        && let Some(line) = one_line(author, &test)
    {
        author.line(&line);
        return Some(Flow::Next);
    }
    let spelling = spelled(author, &test);
    author.line(&format!("if {spelling}:"));
    let mut ends = branch_block(author, &test) == Flow::Ends;
    if shape.contains("elif") {
        for _ in 0..=author.random.below(2) {
            let test = self::test(author);
            let spelling = spelled(author, &test);
            author.line(&format!("elif {spelling}:"));
            ends &= branch_block(author, &test) == Flow::Ends;
        }
    }
    if shape.ends_with("else") {
        author.line("else:");
        ends &= conditional(author, block) == Flow::Ends;
    } else {
        ends = false;
    }
    // What follows in the block would never run.
    Some(if ends && last { Flow::Ends } else { Flow::Next }).filter(|_| last || !ends)
}

fn test(author: &mut Author<'_>) -> Code {
    let height = height(author).max(1);
    condition(author, height)
}

fn spelled(author: &mut Author<'_>, test: &Code) -> String {
    if author.random.chance(author.style.parentheses) {
        format!("({})", test.text)
    } else {
        test.text.clone()
    }
}

/// Writes a block that may or may not run.
pub(super) fn conditional(
    author: &mut Author<'_>,
    write: impl FnOnce(&mut Author<'_>) -> Flow,
) -> Flow {
    let before = std::mem::replace(&mut author.conditional, true);
    let flow = author.scoped(write);
    author.conditional = before;
    flow
}

/// Writes the block under a test, believing the test.
fn branch_block(author: &mut Author<'_>, test: &Code) -> Flow {
    conditional(author, |author| {
        let known = test.text.clone();
        if let Some(variable) = author.variables.iter_mut().find(|one| one.name == known)
            && (!variable.iterated || variable.locked)
        {
            variable.least = variable.least.max(1);
            variable.nonzero = variable.ty == Type::Int;
        }
        if let Some((key, owner)) = known.split_once(" in ") {
            let dict = author
                .variables
                .iter()
                .any(|one| one.name == owner && matches!(one.ty, Type::Dict(..)));
            if let Some(variable) = author
                .variables
                .iter_mut()
                .find(|one| dict && one.name == key)
            {
                variable.role = Role::KeyOf(owner.to_owned());
            }
        }
        if let Some((name, "isdigit()" | "isdecimal()")) = known.rsplit_once('.')
            && let Some(variable) = author
                .variables
                .iter_mut()
                .find(|one| one.name == name && one.ty == Type::Str)
        {
            variable.role = Role::Digits;
        }
        block(author)
    })
}

fn one_line(author: &mut Author<'_>, test: &Code) -> Option<String> {
    let action = match author.random.below(4) {
        0 if author.loops > 0 && author.can_continue => "continue".to_owned(),
        1 if author.loops > 0 => "break".to_owned(),
        _ if author.depth > 0 && author.returns != Type::Nothing => {
            let returns = author.returns.clone();
            format!("return {}", expression(author, &returns, 1).text)
        }
        _ => return None,
    };
    Some(format!("if {}: {action}", test.text))
}

/// A test of arguments that leaves early: `if not items: return 0`.
pub(in crate::generate) fn guard(author: &mut Author<'_>) -> Option<()> {
    let raises = author.random.chance(0.35);
    let (test, known) = if let Some((test, _)) = contradiction(author) {
        (test, None)
    } else {
        let at = author.find(|one| one.ty.is_sized() && !one.own && !one.locked)?;
        let name = author.read(at).text;
        (Code::new(format!("not {name}"), Rank::Not), Some(at))
    };
    author.line(&format!("if {}:", test.text));
    author.indented(|author| {
        if raises && known.is_none() {
            let line = raise_text(author, "ValueError");
            author.line(&line);
        } else {
            leave(author, "return");
        }
    });
    if let Some(at) = known {
        author.variables[at].least = 1;
    }
    Some(())
}

/// `value = table.get(key)` and what to do without it.
fn missing(author: &mut Author<'_>) -> Option<()> {
    let at = author.find(|one| matches!(&one.ty, Type::Dict(_, value) if value.depth() == 0))?;
    let Type::Dict(key, value) = author.variables[at].ty.clone() else {
        return None;
    };
    let dict = author.read(at).text;
    let key = expression(author, &key, 1).text;
    let name = vocabulary::name(author, &value);
    author.line(&format!("{name} = {dict}.get({key})"));
    author.line(&format!("if {name} is None:"));
    author.indented(|author| {
        if author.loops > 0 && author.can_continue && author.random.chance(0.5) {
            author.line("continue");
        } else {
            let code = super::super::literal::literal(author, &value);
            author.line(&format!("{name} = {}", code.text));
        }
    });
    author.bind(name, *value, &Code::atom("…"));
    Some(())
}

/// A variable that each branch gives its value.
fn either(author: &mut Author<'_>) -> Option<()> {
    let test = test(author);
    let ty = super::assign::likely_type(author);
    let name = vocabulary::name(author, &ty);
    let height = height(author);
    let yes = expression(author, &ty, height);
    let no = expression(author, &ty, height);
    if yes.text == no.text {
        return None;
    }
    let spelling = spelled(author, &test);
    author.line(&format!("if {spelling}:"));
    author.indented(|author| author.line(&format!("{name} = {}", yes.text)));
    author.line("else:");
    author.indented(|author| author.line(&format!("{name} = {}", no.text)));
    let mut code = Code::atom(format!("({}, {})", yes.text, no.text));
    code.size = yes.size.max(no.size);
    code.least = yes.least.min(no.least);
    code.nonnegative = yes.nonnegative && no.nonnegative;
    author.bind(name, ty, &code);
    Some(())
}
