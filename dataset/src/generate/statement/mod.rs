//! Statements.

mod assign;
mod branch;
mod exceptions;
mod leave;
mod repeat;
mod unpack;
mod walk;

use super::Author;
use super::expression::{call_helper, height, mutation};
use super::types::Type;
use crate::profile::{Metric, length_bucket};

pub(super) use assign::{accumulator, assign_new, instance};
pub(super) use branch::guard;
pub(super) use leave::{leave, raise_text};
pub(super) use walk::{Walk, walk};

/// What a block ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// The next statement follows.
    Next,
    /// Nothing after it would run.
    Ends,
}

/// Deepest nesting of blocks.
const DEEPEST: usize = 6;

/// Statements that can stand in any block, with the names of the profile.
const KINDS: &[&str] = &[
    "assign",
    "augmented",
    "call",
    "if",
    "for",
    "while",
    "try",
    "return",
    "raise",
    "break",
    "continue",
    "pass",
    "assert",
    "del",
    "with",
    "annotation",
    "def",
];

/// Writes a nested block of a drawn length.
pub(super) fn block(author: &mut Author<'_>) -> Flow {
    let length = author.count(Metric::BlockLength, 1, 8);
    statements(author, length)
}

/// Writes up to `length` statements and at least one.
pub(super) fn statements(author: &mut Author<'_>, length: usize) -> Flow {
    author.indented(|author| {
        let start = author.lines.len();
        for at in 0..length {
            if author.left == 0 && at > 0 {
                break;
            }
            if statement(author, at, at + 1 == length) == Flow::Ends {
                return Flow::Ends;
            }
        }
        if author.lines.len() == start {
            author.line("pass");
        }
        Flow::Next
    })
}

/// Writes one statement at place `at` of its block.
pub(super) fn statement(author: &mut Author<'_>, at: usize, last: bool) -> Flow {
    author.left = author.left.saturating_sub(1);
    if author.random.chance(author.style.comments) {
        comment(author);
    }
    let mut kinds: Vec<&str> = KINDS
        .iter()
        .copied()
        .filter(|kind| fits(author, kind, at, last))
        .collect();
    while !kinds.is_empty() {
        let weights: Vec<f64> = kinds.iter().map(|kind| weight(author, kind)).collect();
        let Some(chosen) = author.random.weighted(&weights) else {
            break;
        };
        let kind = kinds.swap_remove(chosen);
        let (lines, variables) = (author.lines.len(), author.variables.clone());
        if let Some(flow) = attempt(author, kind, last) {
            return flow;
        }
        // What the attempt bound went with its lines.
        author.lines.truncate(lines);
        author.variables = variables;
    }
    assign_new(author);
    Flow::Next
}

/// Whether a kind of statement makes sense at this place.
fn fits(author: &Author<'_>, kind: &str, at: usize, last: bool) -> bool {
    let nested = author.depth > 1;
    match kind {
        "if" | "for" | "while" | "try" | "with" => author.depth < DEEPEST && author.loops < 3,
        "return" | "raise" => nested && last && author.conditional,
        "break" => author.loops > 0 && last && author.conditional,
        "continue" => author.loops > 0 && last && author.conditional && author.can_continue,
        "pass" => nested && last && at == 0,
        "def" => author.depth == 1 && author.callables.len() < 4,
        _ => true,
    }
}

fn weight(author: &Author<'_>, kind: &str) -> f64 {
    let own = author.weight(Metric::Statement, kind);
    let compound = matches!(kind, "if" | "for" | "while" | "try" | "with");
    if !compound {
        return own;
    }
    // A block of its own moves statements to the next depth: as many as the profile has there.
    let deeper = author
        .profile
        .weight(Metric::Depth, length_bucket(author.depth + 1));
    let room = if author.left < 2 { 0.3 } else { 1.0 };
    let loops = if matches!(kind, "for" | "while") && author.loops > 1 {
        0.3
    } else {
        1.0
    };
    own * deeper * room * loops
}

fn attempt(author: &mut Author<'_>, kind: &str, last: bool) -> Option<Flow> {
    let next = |written: Option<()>| written.map(|()| Flow::Next);
    match kind {
        "assign" => next(assign::assign(author)),
        "annotation" | "augmented" => next(assign::augment(author)),
        "call" => next(call(author)),
        "if" => branch::branch(author, last),
        "for" => next(repeat::for_loop(author)),
        "while" => next(repeat::while_loop(author)),
        "try" => exceptions::attempt(author),
        "with" => {
            exceptions::suppressed(author);
            Some(Flow::Next)
        }
        "raise" => next(exceptions::raise(author)).map(|_| Flow::Ends),
        "assert" => next(exceptions::assertion(author)),
        "del" => next(assign::delete(author)),
        "def" => {
            closure(author);
            Some(Flow::Next)
        }
        "return" | "break" | "continue" => {
            leave(author, kind);
            Some(Flow::Ends)
        }
        _ => {
            author.line("pass");
            Some(Flow::Next)
        }
    }
}

/// A call for its effect.
fn call(author: &mut Author<'_>) -> Option<()> {
    let height = height(author).max(2);
    if author.random.chance(0.2) {
        let code = call_helper(author, height, |one| one.result == Type::Nothing);
        if let Some(code) = code {
            author.line(&code.text);
            return Some(());
        }
    }
    if author
        .random
        .chance(author.weight(Metric::Builtin, "print").min(0.3))
    {
        let at = author.find(|one| !matches!(one.ty, Type::Object(_)))?;
        let text = format!("print({})", author.read(at).text);
        author.line(&text);
        return Some(());
    }
    let text = mutation(author, height)?;
    author.line(&text);
    Some(())
}

/// A small function inside the function.
fn closure(author: &mut Author<'_>) {
    use super::author::{Callable, Parameter};
    use super::expression::term;
    use super::vocabulary;

    let result = author
        .random
        .pick(&[Type::Int, Type::Str, Type::Bool])
        .clone();
    let ty = author
        .random
        .pick(&[Type::Int, Type::Str, Type::list(Type::Int)])
        .clone();
    let name = vocabulary::function(author, &result);
    let parameter = vocabulary::name(author, &ty);
    let body = author.scoped(|author| {
        let variable = author.variable(parameter.clone(), ty.clone());
        author.variables.push(variable);
        let before = std::mem::replace(&mut author.pure, true);
        let height = height(author).max(2);
        let code = term(author, &result, height);
        author.pure = before;
        code.text
    });
    author.line(&format!("def {name}({parameter}):"));
    author.indented(|author| author.line(&format!("return {body}")));
    author.taken.push(name.clone());
    let parameter = Parameter {
        name: parameter,
        ty,
        small: false,
        nonempty: false,
        default: None,
    };
    author.callables.push(Callable {
        name,
        class: None,
        parameters: vec![parameter],
        result,
        raises: None,
    });
}

fn comment(author: &mut Author<'_>) {
    use super::vocabulary::words;
    let noun = author.random.word(words("noun"));
    let text = author.random.word(&[
        "handle the",
        "skip",
        "check the",
        "collect",
        "update the",
        "keep only",
        "TODO: check",
    ]);
    author.line(&format!("# {text} {noun}"));
}
