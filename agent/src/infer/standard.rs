//! Objects of classes of the standard library that functions take.

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::Literal;

use super::imports::Names;
use super::kin::as_text;
use super::pool::Pool;
use super::value::{Kind, Value};

/// A class of the standard library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    Date,
    DateTime,
    Time,
    Delta,
    Decimal,
    Fraction,
    Path,
    Pattern,
}

const ALL: &[(Standard, &str)] = &[
    (Standard::Date, "datetime.date"),
    (Standard::DateTime, "datetime.datetime"),
    (Standard::Time, "datetime.time"),
    (Standard::Delta, "datetime.timedelta"),
    (Standard::Decimal, "decimal.Decimal"),
    (Standard::Fraction, "fractions.Fraction"),
    (Standard::Path, "pathlib.Path"),
    (Standard::Path, "pathlib.PurePath"),
    (Standard::Path, "pathlib.PosixPath"),
    (Standard::Path, "pathlib.PurePosixPath"),
    (Standard::Pattern, "re.compile"),
];

/// The class that the last name of an annotation stands for, and how the module writes it.
pub fn of(name: &str, names: &Names) -> Option<(Standard, String)> {
    let name = if name == "Pattern" { "compile" } else { name };
    let found = ALL.iter().find_map(|(standard, full)| {
        let is_it = full.rsplit('.').next() == Some(name);
        let written = is_it.then(|| names.standard(full)).flatten()?;
        Some((*standard, written.to_owned()))
    });
    found.or_else(|| {
        // `from datetime import date as day`.
        ALL.iter().find_map(|(standard, full)| {
            let written = names.standard(full)?;
            (written == name).then(|| (*standard, written.to_owned()))
        })
    })
}

/// Adds a few objects of each class that the module has a name for.
pub fn add_all(pool: &mut Pool, names: &Names, random: &mut Random) {
    for (standard, full) in ALL {
        if let Some(written) = names.standard(full) {
            for _ in 0..4 {
                let value = standard.draw(written, pool, random);
                pool.add(value);
            }
        }
    }
}

impl Standard {
    /// An object; `written` is the expression of its class.
    pub fn draw(self, written: &str, pool: &Pool, random: &mut Random) -> Value {
        let numbers = |numbers: &[i64]| -> Vec<(Option<String>, Value)> {
            numbers.iter().map(|&n| (None, Value::int(n))).collect()
        };
        let arguments = match self {
            Self::Date => numbers(&day(pool, random)),
            Self::DateTime => {
                let mut parts = day(pool, random).to_vec();
                parts.extend(match random.below(3) {
                    0 => [0, 0],
                    1 => [23, 59],
                    _ => [random.between(0, 23), random.between(0, 59)],
                });
                numbers(&parts)
            }
            Self::Time => numbers(&[random.between(0, 23), random.between(0, 59)]),
            Self::Delta => {
                let unit = *random.pick(&["days", "hours", "minutes", "seconds", "weeks"]);
                let amount = pool.draw(random, Kind::Int);
                vec![(Some(unit.to_owned()), small(amount, 100_000))]
            }
            Self::Decimal => {
                let text = match random.below(4) {
                    0 => "0".to_owned(),
                    1 => pool.draw(random, Kind::Int).to_string(),
                    2 => format!("{}.{:02}", random.between(-3, 200), random.between(0, 99)),
                    _ => match pool.draw(random, Kind::Float) {
                        Value::Atom(Literal::Float(number)) if number.is_finite() => {
                            Literal::Float(number).to_string()
                        }
                        _ => "0.5".to_owned(),
                    },
                };
                vec![(None, Value::text(text))]
            }
            Self::Fraction => {
                let top = small(pool.draw(random, Kind::Int), i64::MAX);
                vec![(None, top), (None, Value::int(random.between(1, 12)))]
            }
            Self::Path => {
                let text = match random.below(3) {
                    0 => (*random.pick(&["a", "a/b.txt", "/tmp/a.py", ".", "../a", ".a"])).into(),
                    _ => as_text(&pool.draw(random, Kind::Str))
                        .unwrap_or("a")
                        .replace('\0', ""),
                };
                vec![(None, Value::text(text))]
            }
            Self::Pattern => {
                let text = *random.pick(&["a", r"\d+", r"(\w+)", "[a-z]+", "", "^a", "x|y"]);
                vec![(None, Value::text(text))]
            }
        };
        Value::Built(written.to_owned(), arguments)
    }
}

/// A number that a constructor takes.
fn small(value: Value, most: i64) -> Value {
    match value {
        Value::Atom(Literal::Int(number)) => {
            let number = i64::try_from(&number).unwrap_or(most);
            Value::int(number.clamp(-most, most))
        }
        _ => Value::int(1),
    }
}

/// Year, month and day: often one at which something changes.
fn day(pool: &Pool, random: &mut Random) -> [i64; 3] {
    const TELLING: &[[i64; 3]] = &[
        [2024, 1, 1],
        [2024, 2, 29],
        [2023, 12, 31],
        [2000, 1, 1],
        [1970, 1, 1],
        [2024, 6, 15],
        [2025, 3, 1],
    ];
    if random.chance(0.5) {
        return *random.pick(TELLING);
    }
    let year = match pool.draw(random, Kind::Int) {
        Value::Atom(Literal::Int(number)) => i64::try_from(&number).unwrap_or(2024),
        _ => 2024,
    };
    let year = if (1000..=3000).contains(&year) {
        year
    } else {
        random.between(1990, 2030)
    };
    [year, random.between(1, 12), random.between(1, 28)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_written_as_the_module_names_their_classes() {
        let names = Names::of("import datetime as dt\nfrom decimal import Decimal\nimport re\n");
        let pool = Pool::new();
        let mut random = Random::of(1, 0);
        for (name, start) in [
            ("date", "dt.date(2"),
            ("timedelta", "dt.timedelta("),
            ("Decimal", "Decimal('"),
            ("Pattern", "re.compile('"),
        ] {
            let (standard, written) = of(name, &names).unwrap();
            let drawn: Vec<String> = (0..30)
                .map(|_| standard.draw(&written, &pool, &mut random).to_string())
                .collect();
            assert!(
                drawn.iter().any(|text| text.starts_with(start)),
                "{drawn:?}"
            );
        }
        assert_eq!(of("Fraction", &names), None);
        assert_eq!(of("Item", &names), None);
    }
}
