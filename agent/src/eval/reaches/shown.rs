//! What `eval reaches` shows.

use std::collections::BTreeMap;

use ndbg_simulator::eval::Tally;
use serde::Serialize;
use serde_json::json;

use super::searched::Why;
use super::{Entry, ReachesSettings};
use crate::eval::Evaluation;
use crate::eval::crosshair::CrossHair;
use crate::eval::page::{Page, Section};
use crate::eval::table::{Table, percent, range};

/// Lines that are named one by one on a page.
const NAMED: usize = 40;

/// What someone's calls reach of a set of functions.
#[derive(Debug, Serialize)]
struct Row {
    proposed_by: &'static str,
    functions: usize,
    lines: Tally,
    /// Of lines in functions inside of the functions.
    nested: Tally,
    /// Functions of which all lines are reached.
    whole: Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    took: Option<Took>,
}

#[derive(Debug, Serialize)]
struct Took {
    median_seconds: f64,
    p95_seconds: f64,
    median_executions: Option<usize>,
    p95_executions: Option<usize>,
}

/// The figures of all entries.
pub(super) fn evaluation(
    settings: &ReachesSettings,
    entries: &[Entry],
    of: usize,
    python: &str,
    crosshair: Option<&CrossHair>,
) -> Evaluation {
    let all: Vec<&Entry> = entries.iter().collect();
    let rows = rows(&all);
    let mut facts = vec![
        (
            "projects".into(),
            format!(
                "{}; {} of {of} functions that tests run",
                projects(entries).len(),
                entries.len()
            ),
        ),
        (
            "a line".into(),
            "counts if a statement begins at it and tests reach it; it is reached if a call passes it in \
             two new processes, by Python's own tracing"
                .into(),
        ),
        (
            "time".into(),
            format!(
                "at most {} s a function on one core, starts of Python {python} included",
                settings.seconds
            ),
        ),
    ];
    if let Some(crosshair) = crosshair {
        facts.push((
            "beside it".into(),
            format!(
                "{}, `cover`, {} s of the processor, its start not counted",
                crosshair.name(),
                settings.seconds
            ),
        ));
    }
    Evaluation {
        answers: Vec::new(),
        page: Page {
            title: "Lines that tests reach, reached without them".into(),
            facts,
            sections: vec![
                reached(&rows, &all),
                took(&rows),
                by_project(entries),
                missed(entries),
            ],
        },
        json: json!({
            "format": 1,
            "evaluation": "reaches",
            "python": python,
            "seconds": settings.seconds,
            "seed": settings.seed,
            "functions": entries.len(),
            "functions_that_tests_run": of,
            "crosshair": crosshair.map(CrossHair::name),
            "rows": rows,
            "missed": counted(entries).into_iter().map(|(why, count)| json!({
                "why": why, "lines": count.0, "of_methods": count.1, "nested": count.2,
            })).collect::<Vec<_>>(),
            "entries": entries,
        }),
    }
}

fn rows(all: &[&Entry]) -> Vec<Row> {
    let mut rows = vec![
        row("infer", all, |entry, line| {
            entry.infer.reached.contains_key(&line)
        })
        .with(all),
        row("one call that returns", all, |entry, line| {
            entry.one_call.contains(&line)
        }),
    ];
    let (methods, functions): (Vec<&Entry>, Vec<&Entry>) =
        all.iter().partition(|entry| entry.is_method());
    for (name, of) in [
        ("infer, functions", &functions),
        ("infer, methods", &methods),
    ] {
        if !of.is_empty() {
            rows.push(
                row(name, of, |entry, line| {
                    entry.infer.reached.contains_key(&line)
                })
                .with(of),
            );
        }
    }
    let solves = |entry: &Entry, line: usize| {
        let solved = entry.crosshair.as_ref();
        solved.is_some_and(|solved| solved.reached.contains(&line))
    };
    let theirs: Vec<&Entry> = all
        .iter()
        .copied()
        .filter(|e| e.crosshair.is_some())
        .collect();
    let annotated: Vec<&Entry> = theirs.iter().copied().filter(|e| e.annotated).collect();
    for (own, other, of) in [
        ("infer, same functions", "CrossHair", &theirs),
        ("infer, annotated", "CrossHair, annotated", &annotated),
    ] {
        if of.is_empty() {
            continue;
        }
        rows.push(
            row(own, of, |entry, line| {
                entry.infer.reached.contains_key(&line)
            })
            .with(of),
        );
        let mut row = row(other, of, solves);
        let seconds = of
            .iter()
            .filter_map(|e| Some(e.crosshair.as_ref()?.seconds));
        let seconds = seconds.collect();
        row.took = Some(Took::of(seconds, None));
        rows.push(row);
    }
    rows
}

fn row(
    proposed_by: &'static str,
    entries: &[&Entry],
    reaches: impl Fn(&Entry, usize) -> bool,
) -> Row {
    let mut row = Row {
        proposed_by,
        functions: entries.len(),
        lines: Tally::default(),
        nested: Tally::default(),
        whole: Tally::default(),
        took: None,
    };
    for entry in entries {
        let mut whole = true;
        for line in &entry.lines {
            let does = reaches(entry, line.line);
            whole &= does;
            row.lines.add(does);
            if line.nested {
                row.nested.add(does);
            }
        }
        row.whole.add(whole);
    }
    row
}

impl Row {
    /// With what `infer` took.
    fn with(mut self, entries: &[&Entry]) -> Self {
        self.took = Some(Took::of(
            entries.iter().map(|entry| entry.infer.seconds).collect(),
            Some(entries.iter().map(|entry| entry.infer.executions).collect()),
        ));
        self
    }
}

impl Took {
    fn of(mut seconds: Vec<f64>, executions: Option<Vec<usize>>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let executions = executions.map(|mut executions| {
            executions.sort_unstable();
            executions
        });
        let at = |share: f64, of: usize| ((of as f64 * share).ceil() as usize).clamp(1, of) - 1;
        let seconds_at = |share: f64| match seconds.len() {
            0 => 0.0,
            of => seconds[at(share, of)],
        };
        let executions_at = |share: f64| {
            let executions = executions.as_ref().filter(|all| !all.is_empty())?;
            Some(executions[at(share, executions.len())])
        };
        Self {
            median_seconds: seconds_at(0.5),
            p95_seconds: seconds_at(0.95),
            median_executions: executions_at(0.5),
            p95_executions: executions_at(0.95),
        }
    }
}

fn reached(rows: &[Row], all: &[&Entry]) -> Section {
    let mut table = Table::new(&[
        "proposed by",
        "functions",
        "whole",
        "lines",
        "reached",
        "95 %",
        "nested",
    ]);
    for row in rows {
        table.row([
            row.proposed_by.into(),
            row.functions.to_string(),
            percent(row.whole.share()),
            row.lines.of.to_string(),
            percent(row.lines.share()),
            range(row.lines.interval()),
            percent(row.nested.share()),
        ]);
    }
    let mut prose = vec![
        "Whole are functions of which every line is reached; nested are lines in functions inside of \
         them, which count among all. `infer` searches line by line, without the model, and a call \
         counts for each line that it passes"
            .to_owned(),
    ];
    let solved: Vec<_> = all
        .iter()
        .filter_map(|entry| entry.crosshair.as_ref())
        .collect();
    if !solved.is_empty() {
        let silent = solved.iter().filter(|one| one.calls.is_empty()).count();
        prose.push(format!(
            "CrossHair takes types of arguments from annotations that can be evaluated; without them it \
             guesses from what is done with a value. It does not take the values of a generator. For \
             {silent} of {} functions it gave no call. Its inputs are judged like ours",
            solved.len()
        ));
    }
    section("Lines", prose, Some(table))
}

fn took(rows: &[Row]) -> Section {
    let mut table = Table::new(&["a function took", "median s", "95th s", "median", "95th"]);
    for row in rows {
        let Some(took) = &row.took else { continue };
        let count = |count: Option<usize>| count.map_or("-".into(), |count| count.to_string());
        table.row([
            row.proposed_by.into(),
            format!("{:.2}", took.median_seconds),
            format!("{:.2}", took.p95_seconds),
            count(took.median_executions),
            count(took.p95_executions),
        ]);
    }
    let prose = "Seconds of all searches for a function, verification included, by the clock; the last \
                 two columns count executions";
    section("Effort", vec![prose.into()], Some(table))
}

fn by_project(entries: &[Entry]) -> Section {
    let mut table = Table::new(&["project", "functions", "whole", "lines", "reached"]);
    for (project, entries) in projects(entries) {
        let row = row("infer", &entries, |entry, line| {
            entry.infer.reached.contains_key(&line)
        });
        table.row([
            project.chars().take(32).collect(),
            row.functions.to_string(),
            percent(row.whole.share()),
            row.lines.of.to_string(),
            percent(row.lines.share()),
        ]);
    }
    section("By project", Vec::new(), Some(table))
}

fn projects(entries: &[Entry]) -> BTreeMap<&str, Vec<&Entry>> {
    let mut projects: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        projects.entry(&entry.project).or_default().push(entry);
    }
    projects
}

/// Lines that are not reached, how many of them are of methods, and how many nested, by reason.
fn counted(entries: &[Entry]) -> BTreeMap<Why, (usize, usize, usize)> {
    let mut counts: BTreeMap<Why, (usize, usize, usize)> = BTreeMap::new();
    for entry in entries {
        for (line, why) in &entry.infer.missed {
            let nested = entry
                .lines
                .iter()
                .any(|one| one.line == *line && one.nested);
            let count = counts.entry(*why).or_default();
            count.0 += 1;
            count.1 += usize::from(entry.is_method());
            count.2 += usize::from(nested);
        }
    }
    counts
}

fn missed(entries: &[Entry]) -> Section {
    let mut table = Table::new(&["why not", "lines", "methods", "nested"]);
    let counts = counted(entries);
    for (why, (lines, methods, nested)) in &counts {
        table.row([
            why.words().into(),
            lines.to_string(),
            methods.to_string(),
            nested.to_string(),
        ]);
    }
    let named: Vec<String> = entries
        .iter()
        .filter(|entry| !entry.infer.missed.is_empty())
        .map(|entry| {
            let lines: Vec<String> = entry.infer.missed.keys().map(usize::to_string).collect();
            format!(
                "· {}/{}::{}: {}",
                entry.project,
                entry.file,
                entry.function,
                lines.join(", ")
            )
        })
        .collect();
    let more = named.len().saturating_sub(NAMED);
    let mut prose: Vec<String> = named.into_iter().take(NAMED).collect();
    if more > 0 {
        prose.push(format!("· and {more} functions more, in the JSON"));
    }
    let table = (!counts.is_empty()).then_some(table);
    section("Lines that are not reached", prose, table)
}

fn section(title: &str, prose: Vec<String>, table: Option<Table>) -> Section {
    Section {
        title: title.into(),
        prose,
        table,
        plots: Vec::new(),
    }
}
