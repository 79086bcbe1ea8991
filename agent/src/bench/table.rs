//! The table of a benchmark: 80 columns, aligned, readable without colour.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::record::Record;

/// Heading, width and whether it holds text (left-aligned) or a figure.
const COLUMNS: [(&str, usize, bool); 9] = [
    ("task", 17, true),
    ("kind", 14, true),
    ("level", 8, true),
    ("outcome", 9, true),
    ("plaus", 5, true),
    ("corr", 4, true),
    ("first", 5, false),
    ("runs", 5, false),
    ("secs", 5, false),
];

const LEGEND: &str = "\
plaus: passes the tests that `fix` saw; corr: passes tests it has never seen
(- = the task has none); first, runs: candidates run until the first plausible
one, and in all; level: difficulty, or the repository of a seeded bug
";

/// The whole report.
pub fn render(records: &[Record]) -> String {
    let mut out = row(&COLUMNS.map(|(name, _, _)| name.to_owned()));
    for record in records {
        out += &row(&[
            record.task.clone(),
            record.kind.clone(),
            record
                .difficulty
                .clone()
                .or_else(|| record.repository.clone())
                .unwrap_or_default(),
            record.ending.word().to_owned(),
            yes_no(Some(record.plausible)),
            yes_no(record.correct),
            record
                .first_plausible
                .map_or_else(|| "-".into(), |n| n.to_string()),
            record.executions.to_string(),
            format!("{:.1}", record.seconds),
        ]);
    }
    out += &total(records);
    out.push('\n');
    out += &localisation(records);
    if records.iter().any(|record| record.repository.is_some()) {
        out += &groups("repository", records, |record| record.repository.clone());
        out += &groups("mutation", records, |record| Some(record.kind.clone()));
    }
    out.push('\n');
    out += LEGEND;
    out
}

fn total(records: &[Record]) -> String {
    let count = |test: fn(&Record) -> bool| records.iter().filter(|r| test(r)).count();
    let fixed = count(|r| r.ending.word() == "fixed");
    row(&[
        format!("total {}", records.len()),
        "plaus. median".into(),
        String::new(),
        format!("{fixed} fixed"),
        count(|r| r.plausible).to_string(),
        count(|r| r.correct == Some(true)).to_string(),
        firsts(records),
        median(records.iter().map(|r| r.executions as f64))
            .map_or_else(|| "-".into(), |n| format!("{n:.0}")),
        seconds(records),
    ])
}

/// Median of the candidates until the first plausible one, over plausible patches.
fn firsts(records: &[Record]) -> String {
    let values = records.iter().filter(|r| r.plausible);
    median(values.filter_map(|r| r.first_plausible).map(|n| n as f64))
        .map_or_else(|| "-".into(), |n| format!("{n:.0}"))
}

/// Median of the seconds, over plausible patches.
fn seconds(records: &[Record]) -> String {
    median(records.iter().filter(|r| r.plausible).map(|r| r.seconds))
        .map_or_else(|| "-".into(), |n| format!("{n:.1}"))
}

fn localisation(records: &[Record]) -> String {
    let within = |rank: fn(&Record) -> Option<usize>, limit: usize| {
        records
            .iter()
            .filter(|record| rank(record).is_some_and(|rank| rank <= limit))
            .count()
    };
    let line = |what: &str, rank: fn(&Record) -> Option<usize>| {
        format!(
            "{what} in the top 1/3/5: {}/{}/{} of {}\n",
            within(rank, 1),
            within(rank, 3),
            within(rank, 5),
            records.len()
        )
    };
    line("buggy line", |r| r.statement_rank) + &line("buggy function", |r| r.function_rank)
}

fn groups(name: &str, records: &[Record], key: impl Fn(&Record) -> Option<String>) -> String {
    let mut groups: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for record in records {
        if let Some(key) = key(record) {
            groups.entry(key).or_default().push(record.clone());
        }
    }
    let mut out = format!(
        "\n{name:<24} {:>5} {:>10} {:>14} {:>6} {:>6}\n",
        "bugs", "plausible", "correct", "first", "secs"
    );
    for (key, records) in groups {
        let plausible = records.iter().filter(|r| r.plausible).count();
        let judged = records.iter().filter(|r| r.correct.is_some()).count();
        let correct = records.iter().filter(|r| r.correct == Some(true)).count();
        let _ = writeln!(
            out,
            "{:<24} {:>5} {plausible:>10} {:>14} {:>6} {:>6}",
            fit(&key, 24),
            records.len(),
            format!("{correct} of {judged}"),
            firsts(&records),
            seconds(&records)
        );
    }
    out
}

fn yes_no(value: Option<bool>) -> String {
    match value {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    }
    .into()
}

fn row(cells: &[String; 9]) -> String {
    let mut out = String::new();
    for (cell, (_, width, text)) in cells.iter().zip(COLUMNS) {
        let cell = fit(cell, width);
        let _ = if text {
            write!(out, "{cell:<width$} ")
        } else {
            write!(out, "{cell:>width$} ")
        };
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// `text` in at most `width` letters.
fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(width - 1).collect();
    out.push('…');
    out
}

/// The median; of an even number of values the mean of the middle two.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values.get(middle).copied()
    } else {
        Some(f64::midpoint(
            *values.get(middle.checked_sub(1)?)?,
            *values.get(middle)?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    #[test]
    fn the_table_fits_in_80_columns() {
        let mut records = vec![record("a-task-with-a-very-long-name"), record("b")];
        records[0].plausible = true;
        records[0].correct = Some(true);
        records[0].executions = 50_000;
        records[1].repository = Some("more-itertools".into());
        let text = render(&records);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(text.contains("a-task-with-a-ve… boundary"), "{text}");
        assert!(
            text.contains("buggy line in the top 1/3/5: 0/2/2 of 2"),
            "{text}"
        );
        assert!(text.contains("total 2"), "{text}");
    }

    #[test]
    fn a_median_needs_values() {
        assert_eq!(median([].into_iter()), None);
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0].into_iter()), Some(2.5));
    }
}
