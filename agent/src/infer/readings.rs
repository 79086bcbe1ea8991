//! Texts that a function may read the wanted value from: JSON, dates, numbers, what a pattern matches.

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::Literal;

use super::genes::is_name;
use super::kin::as_text;
use super::patterns::{Pattern, fillings};
use super::pool::Pool;
use super::value::{Row, Value};

/// Texts made of each pattern without parts of the goal.
const DRAWN: usize = 4;
/// Patterns that are looked at, and wanted texts.
const PATTERNS: usize = 20;
const TEXTS: usize = 12;
/// Items and letters of a value that is written as JSON.
const LARGEST: usize = 2_000;

/// Adds what functions read that a source has: `source` is what it reads with, `literals` are its own.
pub fn add(pool: &mut Pool, source: &str, literals: &[Value], random: &mut Random) {
    let wanted: Vec<Value> = pool
        .wanted()
        .iter()
        .filter(|part| part.bulk(LARGEST) <= LARGEST)
        .cloned()
        .collect();
    let mut made: Vec<Value> = Vec::new();
    if source.contains("json") {
        for part in &wanted {
            made.extend(json(part).map(Value::text));
        }
        made.extend(keyed(literals, &wanted).map(Value::text));
        for text in ["{}", "[]", "null", "{\"a\": 1}", "[1, \"a\"]"] {
            made.push(Value::text(text));
        }
    }
    let texts: Vec<&str> = literals.iter().filter_map(as_text).collect();
    if source.contains("fromisoformat") {
        let formats = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"];
        made.extend(dates(&formats, &wanted));
    }
    let formats: Vec<&str> = texts
        .iter()
        .copied()
        .filter(|text| text.contains("%Y") || text.contains("%m") || text.contains("%H"))
        .collect();
    made.extend(dates(&formats, &wanted));
    let parts: Vec<String> = wanted
        .iter()
        .filter_map(plain)
        .filter(|text| !text.is_empty() && text.len() < 60)
        .take(TEXTS)
        .collect();
    let patterns = texts.iter().filter_map(|text| Pattern::of(text));
    for pattern in patterns.take(PATTERNS) {
        for groups in fillings(pattern.groups(), &parts) {
            made.push(Value::text(pattern.text(&groups, random)));
        }
        for _ in 0..DRAWN {
            made.push(Value::text(pattern.text(&[], random)));
        }
    }
    for value in made {
        pool.add(value);
    }
}

/// A text or a number as it stands in a text.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Atom(Literal::Str(text)) => Some(text.clone()),
        Value::Atom(number @ (Literal::Int(_) | Literal::Float(_))) => Some(number.to_string()),
        _ => None,
    }
}

/// A value as JSON has it.
fn json(value: &Value) -> Option<String> {
    let all = |items: &[Value]| -> Option<Vec<String>> { items.iter().map(json).collect() };
    Some(match value {
        Value::Atom(Literal::None) => "null".into(),
        Value::Atom(Literal::Bool(yes)) => yes.to_string(),
        Value::Atom(number @ (Literal::Int(_) | Literal::Float(_))) => number.to_string(),
        Value::Atom(Literal::Str(text)) => serde_json::to_string(text).ok()?,
        Value::Many(Row::List | Row::Tuple, items) => format!("[{}]", all(items)?.join(", ")),
        Value::Dict(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| {
                let key = serde_json::to_string(as_text(key)?).ok()?;
                Some(format!("{key}: {}", json(value)?))
            });
            format!("{{{}}}", pairs.collect::<Option<Vec<_>>>()?.join(", "))
        }
        _ => return None,
    })
}

/// JSON with keys that the source names, and what is wanted or next to it.
fn keyed(literals: &[Value], wanted: &[Value]) -> impl Iterator<Item = String> {
    let keys = literals.iter().filter_map(as_text);
    let keys: Vec<&str> = keys.filter(|key| is_name(key)).take(12).collect();
    let mut values: Vec<String> = Vec::new();
    for part in wanted.iter().take(6) {
        values.extend(json(part));
        if let Value::Atom(Literal::Int(number)) = part {
            values.push((number - 1i32).to_string());
            values.push((number + 1i32).to_string());
        }
    }
    values.extend(["1", "\"a\"", "[]"].map(str::to_owned));
    let made: Vec<String> = keys
        .iter()
        .flat_map(|key| {
            values
                .iter()
                .map(move |value| format!("{{\"{key}\": {value}}}"))
        })
        .collect();
    made.into_iter()
}

/// Dates in these formats: a few telling ones, and those whose numbers are wanted.
fn dates(formats: &[&str], wanted: &[Value]) -> Vec<Value> {
    let mut days: Vec<[i64; 3]> = vec![[2024, 1, 1], [2024, 2, 29], [1999, 12, 31]];
    let number = |value: &Value| match value {
        Value::Atom(Literal::Int(number)) => i64::try_from(number).ok(),
        _ => None,
    };
    for value in wanted {
        match value {
            Value::Many(_, items) if items.len() >= 3 => {
                if let (Some(year), Some(month), Some(day)) =
                    (number(&items[0]), number(&items[1]), number(&items[2]))
                {
                    days.push([year, month, day]);
                }
            }
            _ => {
                if let Some(number) = number(value) {
                    days.push([number, 1, 1]);
                    days.push([2024, number, 1]);
                    days.push([2024, 1, number]);
                }
            }
        }
    }
    days.retain(|[year, month, day]| {
        (1..=9999).contains(year) && (1..=12).contains(month) && (1..=31).contains(day)
    });
    days.truncate(24);
    let mut made = Vec::new();
    for format in formats.iter().take(8) {
        for [year, month, day] in &days {
            let text = format
                .replace("%Y", &format!("{year:04}"))
                .replace("%y", &format!("{:02}", year % 100))
                .replace("%m", &format!("{month:02}"))
                .replace("%d", &format!("{day:02}"))
                .replace("%H", "12")
                .replace("%I", "11")
                .replace("%p", "AM")
                .replace("%M", "30")
                .replace("%S", "00")
                .replace("%f", "000000")
                .replace("%z", "+0000")
                .replace("%b", "Jan")
                .replace("%B", "January")
                .replace("%a", "Mon")
                .replace("%A", "Monday")
                .replace("%j", "001");
            made.push(Value::text(text));
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use ndbg_simulator::literal::parse;

    use super::super::value::Kind;
    use super::*;

    fn made(source: &str, literals: &[&str], wanted: &str) -> Vec<String> {
        let mut pool = Pool::default();
        pool.add_wanted(&parse(wanted).unwrap().into());
        let literals: Vec<Value> = literals.iter().map(|text| Value::text(*text)).collect();
        add(&mut pool, source, &literals, &mut Random::of(1, 0));
        pool.of(Kind::Str)
            .iter()
            .filter_map(|value| as_text(value).map(str::to_owned))
            .collect()
    }

    #[test]
    fn texts_that_hold_the_goal_are_written_as_they_are_read() {
        for (source, literals, wanted, text) in [
            (
                "json.loads(x)",
                &[][..],
                "{'a': [1, None, True]}",
                "{\"a\": [1, null, true]}",
            ),
            ("date.fromisoformat(x)", &[], "(2023, 5, 17)", "2023-05-17"),
            ("strptime", &["%d/%m/%Y"], "[2023, 5, 17]", "17/05/2023"),
            ("re.match", &[r"(\w+)=(\d+)"], "('a', 7)", "a=7"),
            ("re.match", &[r"\$(\d+)\.(\d\d)"], "1234", "$12.34"),
        ] {
            let made = made(source, literals, wanted);
            assert!(made.iter().any(|one| one == text), "{text}: {made:?}");
        }
    }
}
