//! Values as programs hold them: short ones often, long ones seldom.

use ndbg_simulator::literal::Literal;
use num_bigint::BigInt;

use super::table::Kind;
use crate::random::Random;

const WORDS: &[&str] = &[
    "apple", "banana", "berry", "cat", "dog", "hello", "world", "python", "test", "data", "name",
    "value", "key", "item", "list", "red", "green", "blue", "one", "two", "three", "alpha", "beta",
    "gamma", "foo", "bar", "baz", "x", "y", "z", "a", "b", "c", "user", "admin", "error", "ok",
    "yes", "no", "the", "quick", "brown", "fox", "john", "mary", "paris", "london", "abc", "xyz",
    "code", "file", "path", "left", "right", "north", "day", "night", "sun", "moon", "tree",
    "level", "madam", "noon", "total", "count", "price", "status", "open", "close", "start", "end",
    "size",
];

/// Whether a value may stand where a kind is asked for.
fn suits(kind: Kind, value: &Literal) -> bool {
    match kind {
        Kind::Int | Kind::Number => matches!(value, Literal::Int(_)),
        Kind::Positive => matches!(value, Literal::Int(number) if *number > BigInt::ZERO),
        Kind::Str | Kind::Word | Kind::Part(_) | Kind::Start(_) | Kind::End(_) => {
            matches!(value, Literal::Str(_))
        }
        Kind::Char => matches!(value, Literal::Str(text) if text.chars().count() == 1),
        Kind::Scalar => matches!(value, Literal::Str(_) | Literal::Int(_) | Literal::Float(_)),
        Kind::List | Kind::Like(_) => matches!(value, Literal::List(_)),
        Kind::Dict => matches!(value, Literal::Dict(_)),
        Kind::Set => matches!(value, Literal::Set(_)),
        _ => false,
    }
}

/// A value of a kind; some kinds depend on the operands before.
pub(super) fn value(random: &mut Random, kind: Kind, before: &[Literal]) -> Literal {
    // Programs give an operation the same value twice far more often than chance does.
    if random.chance(0.06)
        && let Some(last) = before.last()
        && suits(kind, last)
    {
        return last.clone();
    }
    match kind {
        Kind::Int => Literal::Int(integer(random).into()),
        Kind::Small => Literal::Int(random.between(0, 6).into()),
        Kind::Positive => Literal::Int((integer(random).abs() + 1).into()),
        Kind::Float => Literal::Float(float(random)),
        Kind::Number => match random.below(8) {
            0 => Literal::Float(float(random)),
            1 => Literal::Bool(random.chance(0.5)),
            _ => Literal::Int(integer(random).into()),
        },
        Kind::Bool => Literal::Bool(random.chance(0.5)),
        Kind::None => Literal::None,
        Kind::Str => Literal::Str(text(random)),
        Kind::Word => Literal::Str(word(random)),
        Kind::Char => Literal::Str(character(random).into()),
        Kind::Scalar => scalar(random),
        Kind::List => list(random),
        Kind::Ints => Literal::List(integers(random, 9)),
        Kind::Strs => Literal::List(strings(random, 7)),
        Kind::Tuple => tuple(random),
        Kind::Pairs => Literal::List(
            (0..length(random, 5))
                .map(|_| Literal::Tuple(vec![scalar(random), scalar(random)]))
                .collect(),
        ),
        Kind::Lists => Literal::List(
            (0..length(random, 4))
                .map(|_| Literal::List(integers(random, 4)))
                .collect(),
        ),
        Kind::Dict => dict(random),
        Kind::Set => set(random),
        Kind::Range => {
            let start = random.between(0, 4);
            let end = start + random.between(0, 9);
            Literal::Range(start.into(), end.into(), random.between(1, 2).into())
        }
        Kind::Sequence => match random.below(6) {
            0 | 1 => Literal::Str(text(random)),
            2 => tuple(random),
            _ => list(random),
        },
        Kind::Container | Kind::Iterator => match random.below(8) {
            0 => Literal::Str(text(random)),
            1 => tuple(random),
            2 => dict(random),
            3 => set(random),
            _ => list(random),
        },
        Kind::Any => match random.below(7) {
            0 => list(random),
            1 => dict(random),
            2 => tuple(random),
            _ => scalar(random),
        },
        Kind::Like(of) => like(random, &before[of]),
        Kind::Near(of) => {
            if random.chance(0.45) {
                return before[of].clone();
            }
            match &before[of] {
                Literal::Str(text) if text.chars().count() == 1 && random.chance(0.7) => {
                    Literal::Str(character(random).into())
                }
                // Near in value: one more, one less, as at the end of a loop.
                Literal::Int(number) if random.chance(0.3) => {
                    Literal::Int(number + random.between(-1, 1))
                }
                other => like(random, other),
            }
        }
        Kind::Index(of) => {
            let length = before[of].len().unwrap_or(0) as i64;
            let past = i64::from(random.chance(0.08));
            let low = if random.chance(0.25) {
                -length - past
            } else {
                0
            };
            let high = if low < 0 { -1 } else { length - 1 + past };
            Literal::Int(random.between(low, high.max(low)).into())
        }
        Kind::Bound(of) => {
            let length = before[of].len().unwrap_or(0) as i64;
            match random.below(10) {
                0 => Literal::None,
                1 | 2 => Literal::Int(random.between(-length - 1, -1).into()),
                _ => Literal::Int(random.between(0, length + 1).into()),
            }
        }
        Kind::Step => Literal::Int([-1, -1, -1, 2, 2, 3, -2][random.below(7)].into()),
        Kind::Item(of) => item(random, &before[of]),
        Kind::Part(of) => part(random, &before[of]),
        Kind::Start(of) => edge(random, &before[of], true),
        Kind::End(of) => edge(random, &before[of], false),
        Kind::Width(of) => {
            let length = before[of].len().unwrap_or(0) as i64;
            Literal::Int((length + random.between(-2, 8)).into())
        }
        Kind::Digits => {
            let mut digits = integer(random).to_string();
            match random.below(12) {
                0 => digits = word(random),
                1 => digits = format!(" {digits} "),
                2 => digits.push_str(".5"),
                3 => digits.insert_str(0, "00"),
                _ => {}
            }
            Literal::Str(digits)
        }
        Kind::Keys(of) => {
            let items = match &before[of] {
                Literal::List(items) => items.len(),
                _ => 0,
            };
            let texts = random.chance(0.25);
            Literal::List(
                (0..items)
                    .map(|_| {
                        if texts {
                            Literal::Str(word(random))
                        } else {
                            Literal::Int(random.between(0, 9).into())
                        }
                    })
                    .collect(),
            )
        }
        Kind::Joint => Literal::Str(
            random
                .word(&[
                    "", "", "", "", "", "", " ", " ", ", ", ",", "-", "_", "\n", "/",
                ])
                .to_owned(),
        ),
        Kind::Empty => Literal::Str(String::new()),
        // Types are no literals: `type_names` has their text.
        Kind::Type => Literal::None,
        Kind::Filling(of) => {
            let places = match &before[of] {
                Literal::Str(text) => text.matches('%').count(),
                _ => 1,
            };
            Literal::Tuple((0..places).map(|_| scalar(random)).collect())
        }
        Kind::Template(style) => template(random, style),
        Kind::Spec => Literal::Str(
            random
                .word(&[
                    ".2f", ".1f", "d", "5d", ">8", "<8", "^9", "05d", ",", ".0%", "x", "b", "02d",
                    ">3", ".3f", "s", "+d",
                ])
                .to_owned(),
        ),
    }
}

/// Text of a builtin type, or of a tuple of some, as `isinstance` takes it.
pub(super) fn type_names(random: &mut Random) -> String {
    const NAMES: &[&str] = &[
        "str", "str", "str", "int", "int", "int", "list", "list", "dict", "float", "tuple", "bool",
        "set", "bytes",
    ];
    match random.below(6) {
        0 => random
            .word(&[
                "(int, float)",
                "(int, float)",
                "(list, tuple)",
                "(str, bytes)",
                "(int, str)",
            ])
            .to_owned(),
        _ => random.word(NAMES).to_owned(),
    }
}

fn length(random: &mut Random, most: usize) -> usize {
    if random.chance(0.06) {
        return 0;
    }
    // Long ones are rare in drawn programs and common in real ones.
    if most > 2 && random.chance(0.1) {
        return most + random.below(2 * most);
    }
    1 + random.below(most).min(random.below(most + 2))
}

fn integer(random: &mut Random) -> i64 {
    let value = match random.below(20) {
        0..10 => random.between(0, 12),
        10..15 => random.between(0, 100),
        15..18 => random.between(0, 1000),
        18 => random.between(1000, 100_000),
        _ => return -random.between(1, 500),
    };
    if random.chance(0.1) { -value } else { value }
}

fn float(random: &mut Random) -> f64 {
    let whole = random.between(-20, 100) as f64;
    match random.below(4) {
        0 => whole,
        1 => whole + 0.5,
        2 => whole + random.between(0, 9) as f64 / 10.0,
        _ => (whole * 100.0 + random.between(0, 99) as f64) / 100.0,
    }
}

fn character(random: &mut Random) -> char {
    let from: &[u8] = match random.below(12) {
        0 => b"0123456789",
        1 => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        2 => b" ,.-_:;/",
        3 => b"!?#@$%&*+=()[]{}<>|\\^~'\"",
        _ => b"abcdefghijklmnopqrstuvwxyz",
    };
    char::from(*random.pick(from))
}

fn word(random: &mut Random) -> String {
    match random.below(10) {
        0..5 => random.word(WORDS).to_owned(),
        5 => {
            let word = random.word(WORDS);
            word[..1].to_uppercase() + &word[1..]
        }
        6 => random.word(WORDS).to_uppercase(),
        7 => String::new(),
        _ => (0..=random.below(6)).map(|_| character(random)).collect(),
    }
}

fn text(random: &mut Random) -> String {
    match random.below(12) {
        0 => random.word(WORDS).to_owned(),
        1 | 2 => {
            let between = random.word(&[
                " ", " ", " ", ",", ", ", "-", "_", "  ", "\n", "/", ".", ":",
            ]);
            let words: Vec<String> = (0..2 + random.below(4)).map(|_| word(random)).collect();
            words.join(between)
        }
        3 => {
            let word = random.word(WORDS);
            word.chars()
                .map(|c| {
                    if random.chance(0.5) {
                        c.to_ascii_uppercase()
                    } else {
                        c
                    }
                })
                .collect()
        }
        4 => integer(random).to_string(),
        5 => {
            let letter = character(random);
            let other = character(random);
            (0..=random.below(10))
                .map(|_| if random.chance(0.6) { letter } else { other })
                .collect()
        }
        6 => (0..=random.below(20))
            .map(|_| char::from(*random.pick(b"abcdefghijklmnopqrstuvwxyz")))
            .collect(),
        7 => (0..=random.below(14))
            .map(|_| char::from(*random.pick(b"abcABC123")))
            .collect(),
        8 => format!("  {} ", random.word(WORDS)),
        9 => {
            let text: String = (0..=random.below(24)).map(|_| character(random)).collect();
            if random.chance(0.05) {
                text + random.word(&["é", "ß", "日本", "\t", "ñ"])
            } else {
                text
            }
        }
        10 if random.chance(0.5) => String::new(),
        10 => long_text(random),
        _ => (0..=random.below(12)).map(|_| character(random)).collect(),
    }
}

/// A sentence, or up to 48 characters.
fn long_text(random: &mut Random) -> String {
    if random.chance(0.5) {
        let words: Vec<String> = (0..3 + random.below(6)).map(|_| word(random)).collect();
        let mut sentence = words.join(" ");
        if random.chance(0.3) {
            sentence.push_str(random.word(&[".", "!", "?", "..."]));
        }
        return sentence;
    }
    let alphabets: [&[u8]; 6] = [
        b"abcdefghijklmnopqrstuvwxyz",
        b"abcd",
        b"01",
        b"abcABC123 ",
        b"0123456789",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZ ",
    ];
    let from = alphabets[random.below(alphabets.len())];
    (0..12 + random.below(37))
        .map(|_| char::from(*random.pick(from)))
        .collect()
}

fn scalar(random: &mut Random) -> Literal {
    match random.below(14) {
        0 => Literal::None,
        1 => Literal::Bool(random.chance(0.5)),
        2 => Literal::Float(float(random)),
        3..8 => Literal::Str(word(random)),
        _ => Literal::Int(integer(random).into()),
    }
}

fn integers(random: &mut Random, most: usize) -> Vec<Literal> {
    let narrow = random.chance(0.5);
    let mut number = |random: &mut Random| {
        let value = if narrow {
            random.between(0, 9)
        } else {
            integer(random)
        };
        Literal::Int(value.into())
    };
    let few = some_of(random, &mut number);
    (0..length(random, most))
        .map(|_| match &few {
            Some(few) => random.pick(few).clone(),
            None => number(random),
        })
        .collect()
}

/// One to three values that a container repeats, as many real ones do.
fn some_of(
    random: &mut Random,
    draw: &mut impl FnMut(&mut Random) -> Literal,
) -> Option<Vec<Literal>> {
    random
        .chance(0.15)
        .then(|| (0..=random.below(3)).map(|_| draw(random)).collect())
}

fn strings(random: &mut Random, most: usize) -> Vec<Literal> {
    let letters = random.below(10);
    let mut text = |random: &mut Random| {
        Literal::Str(match letters {
            0 | 1 => char::from(*random.pick(b"abcdefxyz")).into(),
            2 | 3 => character(random).into(),
            _ => word(random),
        })
    };
    let few = some_of(random, &mut text);
    // Lists of characters are texts taken apart: as long as texts.
    let most = if letters < 4 && most > 4 {
        2 * most
    } else {
        most
    };
    (0..length(random, most))
        .map(|_| match &few {
            Some(few) => random.pick(few).clone(),
            None => text(random),
        })
        .collect()
}

fn list(random: &mut Random) -> Literal {
    Literal::List(match random.below(10) {
        0 => Vec::new(),
        1 => (0..length(random, 5)).map(|_| scalar(random)).collect(),
        2 => (0..length(random, 3))
            .map(|_| Literal::List(integers(random, 3)))
            .collect(),
        3 => (0..length(random, 4))
            .map(|_| Literal::Tuple(vec![scalar(random), scalar(random)]))
            .collect(),
        4..7 => strings(random, 7),
        _ => integers(random, 9),
    })
}

fn tuple(random: &mut Random) -> Literal {
    Literal::Tuple(match random.below(4) {
        0 => (0..length(random, 4)).map(|_| scalar(random)).collect(),
        1 => strings(random, 4),
        _ => integers(random, 5),
    })
}

fn dict(random: &mut Random) -> Literal {
    let numbers = random.chance(0.3);
    let nested = random.chance(0.15);
    let mut pairs: Vec<(Literal, Literal)> = Vec::new();
    for _ in 0..length(random, 5) {
        let key = if numbers {
            Literal::Int(random.between(0, 12).into())
        } else {
            Literal::Str(random.word(WORDS).to_owned())
        };
        let value = if nested {
            Literal::List(integers(random, 3))
        } else {
            scalar(random)
        };
        if !pairs.iter().any(|(held, _)| *held == key) {
            pairs.push((key, value));
        }
    }
    Literal::Dict(pairs)
}

fn set(random: &mut Random) -> Literal {
    let mut items: Vec<Literal> = Vec::new();
    let drawn = if random.chance(0.6) {
        integers(random, 6)
    } else {
        strings(random, 4)
    };
    for item in drawn {
        if !items.contains(&item) {
            items.push(item);
        }
    }
    Literal::Set(ndbg_simulator::harness::in_set_order(items))
}

fn like(random: &mut Random, of: &Literal) -> Literal {
    match of {
        Literal::Str(_) => Literal::Str(if random.chance(0.5) {
            text(random)
        } else {
            word(random)
        }),
        Literal::Int(_) => Literal::Int(integer(random).into()),
        Literal::Float(_) => Literal::Float(float(random)),
        Literal::Bool(_) => Literal::Bool(random.chance(0.5)),
        Literal::List(items) => match items.first() {
            Some(Literal::Str(_)) => Literal::List(strings(random, 5)),
            Some(Literal::Int(_)) => Literal::List(integers(random, 5)),
            _ => list(random),
        },
        Literal::Tuple(_) => tuple(random),
        Literal::Dict(_) => dict(random),
        Literal::Set(_) => set(random),
        _ => scalar(random),
    }
}

/// Something that a container holds, most of the time.
fn item(random: &mut Random, of: &Literal) -> Literal {
    let held: Vec<Literal> = match of {
        Literal::Str(text) => text.chars().map(|c| Literal::Str(c.into())).collect(),
        Literal::List(items)
        | Literal::Tuple(items)
        | Literal::Set(items)
        | Literal::FrozenSet(items) => items.clone(),
        Literal::Dict(pairs) => pairs.iter().map(|(key, _)| key.clone()).collect(),
        Literal::Range(start, end, _) => vec![
            Literal::Int(start.clone()),
            Literal::Int(end - BigInt::from(1)),
        ],
        _ => Vec::new(),
    };
    if held.is_empty() || random.chance(0.3) {
        return match held.first() {
            Some(Literal::Int(_)) => Literal::Int(random.between(0, 12).into()),
            Some(Literal::Str(text)) if text.chars().count() == 1 => {
                Literal::Str(character(random).into())
            }
            Some(Literal::Tuple(_) | Literal::List(_)) => like(random, &held[0]),
            Some(_) => Literal::Str(random.word(WORDS).to_owned()),
            None => scalar(random),
        };
    }
    random.pick(&held).clone()
}

/// A piece of a text, most of the time.
fn part(random: &mut Random, of: &Literal) -> Literal {
    let Literal::Str(text) = of else {
        return item(random, of);
    };
    let letters: Vec<char> = text.chars().collect();
    if letters.is_empty() || random.chance(0.25) {
        return Literal::Str(if random.chance(0.5) {
            character(random).into()
        } else {
            word(random)
        });
    }
    let from = random.below(letters.len());
    let most = (letters.len() - from).min(4);
    let count = if random.chance(0.6) {
        1
    } else {
        1 + random.below(most)
    };
    Literal::Str(letters[from..from + count].iter().collect())
}

/// How a text begins or ends, most of the time.
fn edge(random: &mut Random, of: &Literal, start: bool) -> Literal {
    let Literal::Str(text) = of else {
        return item(random, of);
    };
    let letters: Vec<char> = text.chars().collect();
    if letters.is_empty() || random.chance(0.4) {
        return part(random, of);
    }
    let count = 1 + random.below(letters.len().min(4));
    Literal::Str(if start {
        letters[..count].iter().collect()
    } else {
        letters[letters.len() - count..].iter().collect()
    })
}

fn template(random: &mut Random, style: char) -> Literal {
    let before = random.word(&["", "", "x=", "value: ", "(", "total ", "Hello ", "id-", "<"]);
    let after = random.word(&["", "", "", "!", ")", ".", " items", ">"]);
    Literal::Str(match style {
        '2' => {
            let between = random.word(&[", ", " ", "-", "=", ": ", "/", " and "]);
            format!("{before}{{}}{between}{{}}{after}")
        }
        's' => {
            let mut places = || random.word(&["%s", "%s", "%s", "%d", "%r", "%5s", "%02d"]);
            let (one, other) = (places(), places());
            let between = random.word(&[", ", " ", "-", "=", ": ", "/", " and ", ""]);
            format!("{before}{one}{between}{other}{after}")
        }
        '%' => format!(
            "{before}{}{after}",
            random.word(&["%s", "%s", "%d", "%r", "%5s", "%.2f"])
        ),
        _ => format!("{before}{{}}{after}"),
    })
}
