//! Random programs that look like people's.
//!
//! A program is written from the top down, by type: each expression is asked for by the type that it
//! must have, each variable carries a type and what is known about its value (a lower bound of its
//! length, a bound of its digits, whether it is an index or a key of something), and an operation that
//! could fail is written where it cannot, where a handler stands around it, or seldom. Loops run over
//! what does not grow or make progress that nothing skips. Which kind of statement, expression, method
//! or operator comes next is drawn with the shares of a [`Profile`].

mod author;
mod class;
mod code;
mod expression;
mod function;
mod literal;
mod recursion;
mod scope;
mod signature;
mod statement;
mod style;
mod types;
mod vocabulary;

use serde::{Deserialize, Serialize};

use crate::profile::Profile;
use crate::random::Random;

use author::{Author, Callable};
use function::Purpose;
pub use types::Type;

/// A program: functions, perhaps a class, and `def main()` that calls one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The whole text; its last function is `main`, without parameters.
    pub source: String,
    /// The function that `main` calls.
    pub entry: String,
    /// The call in `main`, literals included.
    pub call: String,
}

/// Program `index` of `seed`. It depends on nothing but the two and the profile.
pub fn program_at(seed: u64, index: u64, profile: &Profile) -> Program {
    program(&mut Random::of(seed, index), profile)
}

/// Writes a program.
pub fn program(random: &mut Random, profile: &Profile) -> Program {
    let mut author = Author::new(random, profile);
    constants(&mut author);
    if author.random.chance(0.14) {
        class::class(&mut author);
        gap(&mut author);
    }
    let helpers = [0, 0, 0, 0, 0, 1, 1, 1, 2][author.random.below(9)];
    for _ in 0..helpers {
        let helper = if author.random.chance(0.2) {
            recursion::recursive(&mut author, None)
        } else {
            function::function(&mut author, Purpose::Helper, None)
        };
        author.callables.push(helper);
        gap(&mut author);
    }
    let entry = if author.random.chance(0.06) {
        recursion::recursive(&mut author, None)
    } else {
        function::function(&mut author, Purpose::Entry, None)
    };
    let call = call(&mut author, &entry);
    gap(&mut author);
    author.line("def main():");
    author.indent = 1;
    author.line(&format!("return {call}"));
    let mut source = String::new();
    for import in &author.imports {
        source.push_str(import);
        source.push('\n');
    }
    if !author.imports.is_empty() {
        source.push_str("\n\n");
    }
    source.push_str(&author.lines.join("\n"));
    source.push('\n');
    Program {
        source,
        entry: entry.name,
        call,
    }
}

/// Blank lines between definitions.
fn gap(author: &mut Author<'_>) {
    author.lines.extend([String::new(), String::new()]);
}

/// Constants of the module.
fn constants(author: &mut Author<'_>) {
    const CONSTANTS: &[(&str, &str, &str)] = &[
        ("VOWELS", "str", "'aeiou'"),
        ("LIMIT", "int", "10"),
        ("DIGITS", "str", "'0123456789'"),
        ("PRIMES", "list[int]", "[2, 3, 5, 7, 11]"),
        ("STOP_WORDS", "set[str]", "{'the', 'a', 'an'}"),
        (
            "PRICES",
            "dict[str, int]",
            "{'apple': 3, 'berry': 5, 'cat': 10}",
        ),
        ("SEPARATOR", "str", "', '"),
        ("WEIGHTS", "list[int]", "[1, 3, 1, 3]"),
        ("DEFAULT", "str", "'none'"),
        ("FACTOR", "int", "3"),
    ];
    if !author.random.chance(0.1) {
        return;
    }
    let (name, ty, text) = *author.random.pick(CONSTANTS);
    author.line(&format!("{name} = {text}"));
    gap(author);
    if let Some(ty) = Type::parse(ty) {
        let mut constant = author.variable(name.to_owned(), ty);
        constant.locked = true;
        constant.iterated = true;
        constant.own = false;
        constant.least = 1;
        constant.size = 2;
        constant.nonnegative = true;
        constant.nonzero = true;
        author.variables.push(constant);
    }
}

/// The call of the entry, with arguments of its parameters' types.
fn call(author: &mut Author<'_>, entry: &Callable) -> String {
    let mut texts = Vec::new();
    for parameter in &entry.parameters {
        if parameter.default.is_some() && author.random.chance(0.5) {
            break;
        }
        // What the body relies on holds, but for the few calls that show what happens otherwise.
        let least = usize::from(parameter.nonempty && !author.random.chance(0.03));
        texts.push(literal::argument(
            author,
            &parameter.ty,
            least,
            parameter.small,
        ));
    }
    format!(
        "{}({})",
        entry.name,
        author.style.commas(author.random, &texts)
    )
}
