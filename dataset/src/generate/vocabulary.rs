//! Believable names and words.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Author;
use super::types::Type;

static VOCABULARY: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let lines = include_str!("vocabulary.txt").lines();
    let entries = lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "));
    entries
        .map(|(group, words)| {
            let words = if group == "sentence" {
                words.split('|').collect()
            } else {
                words.split_whitespace().collect()
            };
            (group, words)
        })
        .collect()
});

/// The words of a group, at least one.
pub(super) fn words(group: &str) -> &'static [&'static str] {
    VOCABULARY.get(group).map_or(&["value"], Vec::as_slice)
}

/// The group of the vocabulary for a type, in its short form.
fn short(wanted: &Type) -> &'static str {
    match wanted {
        Type::Float => "float",
        Type::Bool => "bool",
        Type::Str => "str",
        Type::List(_) => "list",
        Type::Set(_) => "set",
        Type::Dict(..) => "dict",
        Type::Tuple(_) => "tuple",
        Type::Nothing => "none",
        Type::Optional(inner) => short(inner),
        _ => "int",
    }
}

fn group(wanted: &Type) -> &'static [&'static str] {
    let exact = words(&wanted.to_string());
    if exact == ["value"] {
        words(short(wanted))
    } else {
        exact
    }
}

/// A name that is not taken, built from `words`.
fn free(author: &mut Author<'_>, words: &[&'static str]) -> String {
    for attempt in 0..12 {
        let word = author
            .random
            .word(words)
            .split(':')
            .next()
            .unwrap_or("value");
        let word = if attempt < 6 && !author.random.chance(0.08) {
            word.to_owned()
        } else {
            format!("{}_{word}", author.random.word(self::words("adjective")))
        };
        if !author.is_taken(&word) {
            return word;
        }
    }
    let word = author
        .random
        .word(words)
        .split(':')
        .next()
        .unwrap_or("value")
        .to_owned();
    let mut number = 2;
    while author.is_taken(&format!("{word}{number}")) {
        number += 1;
    }
    format!("{word}{number}")
}

/// A new name for a value of a type.
pub(super) fn name(author: &mut Author<'_>, wanted: &Type) -> String {
    let words = group(wanted);
    free(author, words)
}

/// A new name for a variable that a loop adds to.
pub(super) fn accumulator(author: &mut Author<'_>, wanted: &Type) -> String {
    let words = words(&format!("accumulator {}", short(wanted)));
    free(author, words)
}

/// A new name for a position.
pub(super) fn index(author: &mut Author<'_>) -> String {
    let words = words("index");
    // `i` first, as people do.
    words
        .iter()
        .find(|word| !author.is_taken(word))
        .filter(|_| author.random.chance(0.7))
        .map_or_else(|| free(author, words), |word| (*word).to_owned())
}

/// A new name for an item of the container called `container`.
pub(super) fn item(author: &mut Author<'_>, container: &str, wanted: &Type) -> String {
    let last = container.rsplit(['.', '_']).next().unwrap_or(container);
    let singular = [
        "list[int]",
        "list[float]",
        "list[str]",
        "list[bool]",
        "list",
        "set",
        "dict",
    ]
    .iter()
    .flat_map(|group| words(group))
    .filter_map(|entry| entry.split_once(':'))
    .find(|(plural, _)| *plural == last)
    .map(|(_, singular)| singular);
    match singular {
        Some(singular) if !author.is_taken(singular) && author.random.chance(0.7) => {
            singular.to_owned()
        }
        _ if *wanted == Type::Str && author.random.chance(0.5) => {
            free(author, &["c", "ch", "char", "letter", "word", "part"])
        }
        _ => free(author, words("element")),
    }
}

/// A new name for a value in a dict.
pub(super) fn value(author: &mut Author<'_>) -> String {
    free(author, words("value"))
}

/// A new name for a key.
pub(super) fn key(author: &mut Author<'_>) -> String {
    free(author, words("key"))
}

/// A name for a function that returns `result`.
pub(super) fn function(author: &mut Author<'_>, result: &Type) -> String {
    let verbs = words(&format!("verb {}", short(result)));
    loop {
        let verb = author.random.word(verbs);
        let noun = author.random.word(words("noun"));
        let name = match author.random.below(20) {
            0..=1 => "f".to_owned(),
            2 => format!("{verb}_{}_{noun}", author.random.word(words("adjective"))),
            3 => format!("_{verb}_{noun}"),
            _ => format!("{verb}_{noun}"),
        };
        if !author.is_taken(&name) {
            return name;
        }
    }
}

/// Words that mean something to Python.
pub(super) const RESERVED: &[&str] = &[
    "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "not", "or", "pass",
    "raise", "return", "try", "while", "with", "yield", "None", "True", "False", "sum", "min",
    "max", "len", "list", "set", "dict", "str", "int", "main", "self", "map", "filter", "range",
    "all", "any", "next", "id", "type",
];
