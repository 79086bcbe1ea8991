//! The debugger's commands: one line of text in, one command out.

use ndbg_simulator::expression::{self, Expression};
use ndbg_simulator::literal::{self, Literal};

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// To the next event, into calls.
    Step(usize),
    /// To the next event of this call.
    Next(usize),
    /// To where this call returns.
    Return,
    /// To the next breakpoint.
    Continue,
    /// To the event before.
    ReverseStep(usize),
    /// To the event before of this call.
    ReverseNext(usize),
    /// To the breakpoint before.
    ReverseContinue,
    /// Back to the call.
    ReverseReturn,
    /// Sets a breakpoint; without a place lists them.
    Break(Option<Target>),
    /// Removes a breakpoint, or all.
    Clear(Option<usize>),
    /// Shows a value, or all locals.
    Print(Option<Expression>),
    /// Gives a variable of a predicted run a value, and goes on from there.
    Set(String, Literal),
    /// Shows the stack.
    Where,
    /// Shows source around the line.
    List,
    /// Selects the caller's frame.
    Up(usize),
    /// Selects the callee's frame.
    Down(usize),
    /// Shows the last write of a name.
    Why(String),
    /// Goes to an event by number.
    Goto(usize),
    /// Goes to where an expression becomes true, forwards or backwards.
    Find(Option<(String, Expression)>, bool),
    /// Shows the call tree around.
    Tree,
    /// Shows where the recording comes from.
    Info,
    /// Explains a command, or all.
    Help(Option<String>),
    /// Ends.
    Quit,
}

/// Where a breakpoint is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// `12`, `file.py:12`, a function, or nothing for a condition alone.
    pub place: String,
    /// What follows `if`.
    pub condition: Option<(String, Expression)>,
}

/// What is wrong with a line: a message and, where there is one, the column it points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// One line.
    pub message: String,
    /// One-based column in the line that was typed.
    pub column: Option<usize>,
}

/// Every command: names, argument, one line of help.
pub const COMMANDS: &[(&[&str], &str, &str)] = &[
    (&["s", "step"], "[N]", "to the next event, into calls"),
    (
        &["n", "next"],
        "[N]",
        "to the next event of this call, over calls",
    ),
    (&["r", "return"], "", "to where this call returns"),
    (&["c", "continue"], "", "to the next breakpoint, or the end"),
    (
        &["rs", "reverse-step"],
        "[N]",
        "to the event before, into calls",
    ),
    (
        &["rn", "reverse-next"],
        "[N]",
        "to the event before of this call",
    ),
    (
        &["rr", "reverse-return"],
        "",
        "back to the call, where the arguments are",
    ),
    (
        &["rc", "reverse-continue"],
        "",
        "to the breakpoint before, or the start",
    ),
    (&["goto", "g"], "EVENT", "to an event by its number"),
    (
        &["find", "f"],
        "[EXPR]",
        "to where EXPR becomes true; again without one",
    ),
    (&["rfind", "rf"], "[EXPR]", "the same, backwards"),
    (
        &["b", "break"],
        "[PLACE] [if EXPR]",
        "stop at a LINE, FILE:LINE or FUNCTION; list",
    ),
    (&["cl", "clear"], "[N]", "remove breakpoint N, or all"),
    (
        &["p", "print"],
        "[EXPR]",
        "show a value; without EXPR all locals",
    ),
    (
        &["set"],
        "NAME = VALUE",
        "predict on with another value (with --predict)",
    ),
    (&["why"], "NAME", "the last write of a variable's value"),
    (&["w", "where"], "", "the stack"),
    (&["u", "up"], "[N]", "look at the caller's frame"),
    (&["d", "down"], "[N]", "look at the called frame"),
    (&["l", "list"], "", "source around this line"),
    (&["t", "tree"], "", "calls made by this one"),
    (&["info", "i"], "", "what was recorded"),
    (
        &["h", "help", "?"],
        "[COMMAND]",
        "this list, or more on one command",
    ),
    (&["q", "quit", "exit"], "", "leave"),
];

/// Reads a line. None for an empty one.
pub fn parse(line: &str) -> Result<Option<Command>, Problem> {
    let trimmed = line.trim();
    if trimmed.is_empty() || trimmed.starts_with('#') {
        return Ok(None);
    }
    let start = line.len() - line.trim_start().len();
    let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
    let (word, rest) = trimmed.split_at(end);
    let argument = rest.trim();
    let offset = start + end + (rest.len() - rest.trim_start().len());
    let known = COMMANDS
        .iter()
        .find(|(names, ..)| names.contains(&word))
        .map(|(names, ..)| names[0]);
    let Some(name) = known else {
        return Err(problem(format!(
            "no command `{word}`; `h` lists them, `p EXPR` shows a value"
        )));
    };
    let count = || count(argument);
    let optional = || (!argument.is_empty()).then(|| argument.to_owned());
    let command = match name {
        "s" => Command::Step(count()?),
        "n" => Command::Next(count()?),
        "rs" => Command::ReverseStep(count()?),
        "rn" => Command::ReverseNext(count()?),
        "u" => Command::Up(count()?),
        "d" => Command::Down(count()?),
        "b" => Command::Break(target(line, argument, offset)?),
        "cl" => Command::Clear(match argument {
            "" => None,
            number => Some(whole(number)?),
        }),
        "p" => Command::Print(match argument {
            "" => None,
            text => Some(expression(line, text, offset)?),
        }),
        "find" | "rfind" => Command::Find(
            match argument {
                "" => None,
                text => Some((text.to_owned(), expression(line, text, offset)?)),
            },
            name == "rfind",
        ),
        "set" => set(line, argument, offset)?,
        "why" => match optional() {
            Some(name) => Command::Why(name),
            None => return Err(problem("`why` needs the name of a variable")),
        },
        "goto" => match argument {
            "" => return Err(problem("`goto` needs the number of an event")),
            number => Command::Goto(whole(number)?),
        },
        "h" => Command::Help(optional()),
        _ if !argument.is_empty() => {
            return Err(problem(format!("`{name}` takes no argument")));
        }
        "r" => Command::Return,
        "c" => Command::Continue,
        "rr" => Command::ReverseReturn,
        "rc" => Command::ReverseContinue,
        "w" => Command::Where,
        "l" => Command::List,
        "t" => Command::Tree,
        "info" => Command::Info,
        _ => Command::Quit,
    };
    Ok(Some(command))
}

fn problem(message: impl Into<String>) -> Problem {
    Problem {
        message: message.into(),
        column: None,
    }
}

fn count(argument: &str) -> Result<usize, Problem> {
    if argument.is_empty() {
        return Ok(1);
    }
    whole(argument).map(|number| number.max(1))
}

fn whole(argument: &str) -> Result<usize, Problem> {
    argument
        .parse()
        .map_err(|_| problem(format!("`{argument}` is no number")))
}

fn set(line: &str, argument: &str, offset: usize) -> Result<Command, Problem> {
    let Some((name, value)) = argument.split_once('=') else {
        return Err(problem("`set` needs a name and a value: `set x = 3`"));
    };
    let name = name.trim();
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty();
    if !plain {
        return Err(problem(format!("`{name}` is no name of a variable")));
    }
    let text = value.trim();
    let at = offset + argument.len() - value.trim_start().len();
    match literal::parse(text) {
        Ok(value) => Ok(Command::Set(name.to_owned(), value)),
        Err(_) => Err(Problem {
            message: "a value is a literal: `3`, `'abc'`, `[1, 2]`".into(),
            column: Some(line[..at].chars().count() + 1),
        }),
    }
}

fn expression(line: &str, text: &str, offset: usize) -> Result<Expression, Problem> {
    expression::parse(text).map_err(|error| Problem {
        message: error.reason,
        column: Some(line[..offset].chars().count() + error.column),
    })
}

fn target(line: &str, argument: &str, offset: usize) -> Result<Option<Target>, Problem> {
    if argument.is_empty() {
        return Ok(None);
    }
    let (place, condition) = match argument.strip_prefix("if ") {
        Some(condition) => ("", Some(condition)),
        None => match argument.split_once(" if ") {
            Some((place, condition)) => (place.trim(), Some(condition)),
            None => (argument, None),
        },
    };
    let condition = condition
        .map(|text| {
            let at = offset + argument.len() - text.len();
            let parsed = expression(line, text, at)?;
            Ok((text.trim().to_owned(), parsed))
        })
        .transpose()?;
    Ok(Some(Target {
        place: place.to_owned(),
        condition,
    }))
}
