//! Literals: values written out.

use super::Author;
use super::code::{Code, Rank};
use super::types::Type;
use super::vocabulary::words;
use crate::profile::Metric;

/// A literal inside a function: sizes as in real code.
pub(super) fn literal(author: &mut Author<'_>, wanted: &Type) -> Code {
    match wanted {
        Type::Int => integer(author),
        Type::Float => {
            let text = author.random.word(&[
                "0.5", "1.0", "2.0", "0.1", "0.0", "1.5", "0.25", "10.0", "100.0",
            ]);
            let mut code = Code::atom(text);
            code.nonnegative = true;
            code.nonzero = text != "0.0";
            code
        }
        Type::Bool => Code::atom(author.random.word(&["True", "False"])),
        Type::Str => {
            let length = author.count(Metric::StringLength, 0, 40);
            string(author, length)
        }
        Type::List(item) => {
            let most = if item.depth() > 0 { 3 } else { 9 };
            let length = author.count(Metric::ListLength, 0, most);
            list(author, item, length)
        }
        Type::Set(item) => {
            let length = 1 + author.random.below(4);
            set(author, item, length)
        }
        Type::Dict(key, value) => {
            let most = if value.depth() > 0 { 3 } else { 8 };
            let length = author.count(Metric::DictLength, 0, most);
            dict(author, key, value, length)
        }
        Type::Tuple(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| literal(author, item).text)
                .collect();
            Code::atom(format!("({})", author.style.commas(author.random, &items)))
        }
        _ => Code::atom("None"),
    }
}

fn integer(author: &mut Author<'_>) -> Code {
    let value = match author.choose(
        Metric::Integer,
        &["0", "1", "2", "3-9", "10-99", "100-999", "1000+"],
    ) {
        "0" => 0,
        "1" => 1,
        "2" => 2,
        "3-9" => author.random.between(3, 9),
        "10-99" => *author
            .random
            .pick(&[10, 12, 16, 20, 24, 32, 50, 60, 64, 90, 99, 13, 27, 42]),
        "100-999" => *author
            .random
            .pick(&[100, 128, 255, 256, 360, 365, 500, 999]),
        _ => *author.random.pick(&[1000, 1024, 4096, 10000, 1_000_000]),
    };
    number(value)
}

/// An integer as code.
pub(super) fn number(value: i64) -> Code {
    let text = value.to_string();
    let mut code = Code::new(
        text.clone(),
        if value < 0 { Rank::Unary } else { Rank::Atom },
    );
    code.size = text.trim_start_matches('-').len() as u8;
    code.nonnegative = value >= 0;
    code.nonzero = value != 0;
    code
}

/// A string literal of about `length` characters.
pub(super) fn string(author: &mut Author<'_>, length: usize) -> Code {
    let value = content(author, length);
    let mut code = Code::atom(author.style.string(author.random, &value));
    code.least = value.chars().count();
    code.size = 1 + u8::from(code.least > 9);
    code
}

/// Text as people write it: words, letters, digits, marks.
pub(super) fn content(author: &mut Author<'_>, length: usize) -> String {
    const MARKS: &[char] = &[
        ' ', ',', '.', '-', '_', '/', ':', ';', '=', '+', '*', '#', '%', '(', ')', '[', ']', '\n',
        '"',
    ];
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
    let style = author.random.below(10);
    let mut text = String::new();
    if length == 1 {
        let letter = match style {
            0..=4 => *author.random.pick(MARKS),
            5..=8 => char::from(*author.random.pick(LETTERS)),
            _ => char::from(b'0' + author.random.below(10) as u8),
        };
        return letter.to_string();
    }
    while text.chars().count() < length {
        match style {
            0..=4 => {
                if !text.is_empty() {
                    text.push(*author.random.pick(&[' ', ' ', ' ', ',', '-', '_']));
                }
                text.push_str(author.random.word(words("word")));
            }
            5..=6 => text.push(char::from(*author.random.pick(LETTERS))),
            7 => text.push(char::from(b'0' + author.random.below(10) as u8)),
            8 => {
                let letter = char::from(*author.random.pick(LETTERS));
                text.push(if author.random.chance(0.4) {
                    letter.to_ascii_uppercase()
                } else {
                    letter
                });
            }
            _ if author.random.chance(0.4) => text.push(*author.random.pick(MARKS)),
            _ => text.push(char::from(*author.random.pick(LETTERS))),
        }
    }
    let mut text: String = text.chars().take(length).collect();
    if text.ends_with('\n') {
        text.pop();
        text.push('.');
    }
    if author.random.chance(0.08) {
        text = text.to_uppercase();
    }
    text
}

fn list(author: &mut Author<'_>, item: &Type, length: usize) -> Code {
    let items: Vec<String> = (0..length).map(|_| literal(author, item).text).collect();
    let mut code = Code::atom(format!("[{}]", author.style.commas(author.random, &items)));
    code.least = length;
    code.size = 1;
    code
}

fn set(author: &mut Author<'_>, item: &Type, length: usize) -> Code {
    let items: Vec<String> = (0..length).map(|_| literal(author, item).text).collect();
    let mut code = Code::atom(format!(
        "{{{}}}",
        author.style.commas(author.random, &items)
    ));
    code.least = 1;
    code.size = 1;
    code
}

fn dict(author: &mut Author<'_>, key: &Type, value: &Type, length: usize) -> Code {
    let mut keys: Vec<String> = Vec::new();
    let mut pairs = Vec::new();
    for _ in 0..length {
        let key = if *key == Type::Str {
            let word = author.random.word(words("word"));
            author.style.string(author.random, word)
        } else {
            literal(author, key).text
        };
        if !keys.contains(&key) {
            let colon = if author.random.chance(author.style.tight_commas) {
                ":"
            } else {
                ": "
            };
            pairs.push(format!("{key}{colon}{}", literal(author, value).text));
            keys.push(key);
        }
    }
    let mut code = Code::atom(format!(
        "{{{}}}",
        author.style.commas(author.random, &pairs)
    ));
    code.least = pairs.len();
    code.size = 1;
    code
}

/// An argument of the entry function: a small value of the type, with at least `least` items.
pub(super) fn argument(
    author: &mut Author<'_>,
    wanted: &Type,
    least: usize,
    small: bool,
) -> String {
    // Edge cases are part of life.
    let edge = author.random.chance(0.06);
    let items = |author: &mut Author<'_>, most: i64| {
        if edge && least == 0 {
            0
        } else {
            author.random.between(least.max(1) as i64, most) as usize
        }
    };
    match wanted {
        Type::Int if small => author.random.between(1, 8).to_string(),
        Type::Int => match author.random.below(10) {
            0..=5 => author.random.between(0, 20).to_string(),
            6..=8 => author.random.between(0, 200).to_string(),
            _ => author.random.between(-50, 2_000).to_string(),
        },
        Type::Float => format!(
            "{:.*}",
            1 + author.random.below(2),
            author.random.between(-20, 400) as f64 / 4.0
        ),
        Type::Str => {
            let length = items(author, 14);
            let value = content(author, length);
            author.style.string(author.random, &value)
        }
        Type::List(item) => {
            let most = if item.depth() > 0 { 3 } else { 7 };
            let length = items(author, most);
            // A small alphabet makes repetitions, which is where counting and lookups get interesting.
            let pool: Vec<String> = (0..=author.random.below(6))
                .map(|_| argument(author, item, 1, false))
                .collect();
            let items: Vec<String> = (0..length)
                .map(|_| {
                    if author.random.chance(0.3) {
                        author.random.pick(&pool).clone()
                    } else {
                        argument(author, item, 1, false)
                    }
                })
                .collect();
            format!("[{}]", author.style.commas(author.random, &items))
        }
        Type::Set(item) => {
            let length = items(author, 5);
            if length == 0 {
                return "set()".to_owned();
            }
            let items: Vec<String> = (0..length)
                .map(|_| argument(author, item, 1, false))
                .collect();
            format!("{{{}}}", author.style.commas(author.random, &items))
        }
        Type::Dict(key, value) => {
            let length = items(author, if value.depth() > 0 { 3 } else { 5 });
            let mut keys: Vec<String> = Vec::new();
            let mut pairs = Vec::new();
            for _ in 0..length {
                let key = match **key {
                    Type::Str if author.random.chance(0.7) => {
                        let word = author.random.word(words("word"));
                        author.style.string(author.random, word)
                    }
                    _ => argument(author, key, 1, false),
                };
                if !keys.contains(&key) {
                    pairs.push(format!("{key}: {}", argument(author, value, 0, false)));
                    keys.push(key);
                }
            }
            format!("{{{}}}", author.style.commas(author.random, &pairs))
        }
        Type::Tuple(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| argument(author, item, 0, false))
                .collect();
            format!("({})", author.style.commas(author.random, &items))
        }
        Type::Optional(inner) => {
            if author.random.chance(0.5) {
                "None".to_owned()
            } else {
                argument(author, inner, least, small)
            }
        }
        Type::Bool => author.random.word(&["True", "False"]).to_owned(),
        _ => "None".to_owned(),
    }
}
