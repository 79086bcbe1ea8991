//! The report for browsers: one file, without scripts, readable without a network.
//!
//! The view holds text and plots that this program drew; the template escapes all text.

use askama::Template;

use super::figures::{Figures, Share};
use super::plots;
use super::summary::{Group, Run, Summary};
use super::wording::{broken, dollars, fit, missing, number, quantities, top};
use crate::plot::{Plot, SERIES};
use crate::report::visible::one_line;
use crate::report::wording::{plural, thousands};

/// Letters of why a patch is not plausible or not correct.
const REASON: usize = 120;

#[derive(Template)]
#[template(path = "benchmark.html")]
struct Page {
    version: &'static str,
    headline: String,
    several: bool,
    settings: Vec<Card>,
    quantities: Vec<Quantity>,
    plots: Vec<Plot>,
    /// Which settings have curves, where not all have.
    drawn: Option<String>,
    groups: Vec<Grouped>,
    failures: Vec<Class>,
    failed: usize,
    runs: Vec<Row>,
}

/// What one setting reached.
struct Card {
    number: usize,
    name: String,
    facts: Vec<(String, String)>,
    tiles: Vec<Tile>,
    notes: Vec<String>,
    ranks: Option<String>,
}

struct Tile {
    class: &'static str,
    name: &'static str,
    value: String,
    of: String,
    interval: String,
    /// What it counts.
    meaning: &'static str,
}

/// A row of medians and totals, a pair for each setting.
struct Quantity {
    name: String,
    cells: Vec<(String, String, usize)>,
}

struct Grouped {
    title: &'static str,
    /// Whether the rows are of one setting each.
    apart: bool,
    rows: Vec<GroupRow>,
}

struct GroupRow {
    name: String,
    setting: String,
    runs: usize,
    shares: [String; 3],
    first: String,
    seconds: String,
}

struct Class {
    name: String,
    runs: Vec<Failed>,
}

struct Failed {
    task: String,
    setting: usize,
    message: String,
}

struct Row {
    task: String,
    setting: usize,
    /// Kind of bug and repository.
    about: String,
    ended: String,
    judged: bool,
    verdicts: [Verdict; 3],
    cells: [String; 6],
    reason: String,
}

struct Verdict {
    class: &'static str,
    text: &'static str,
}

/// The page.
///
/// # Errors
/// Only if memory runs out.
pub fn render(summary: &Summary) -> Result<String, askama::Error> {
    let several = summary.settings.len() > 1;
    Page {
        version: summary.version,
        headline: headline(summary),
        several,
        settings: cards(summary),
        quantities: table(summary),
        plots: plots::draw(summary),
        drawn: (summary.settings.len() > SERIES)
            .then(|| format!("Curves are drawn for the first {SERIES} settings.")),
        groups: grouped(summary, several),
        failures: summary
            .infrastructure
            .iter()
            .map(|class| Class {
                name: one_line(&class.class),
                runs: class
                    .runs
                    .iter()
                    .map(|run| Failed {
                        task: one_line(&run.task),
                        setting: run.setting,
                        message: one_line(&run.message),
                    })
                    .collect(),
            })
            .collect(),
        failed: summary.infrastructure.iter().map(|f| f.runs.len()).sum(),
        runs: summary.runs.iter().map(row).collect(),
    }
    .render()
}

fn headline(summary: &Summary) -> String {
    format!(
        "{}, {}, {}",
        plural(summary.tasks, "task"),
        plural(summary.settings.len(), "setting"),
        plural(summary.total(), "run")
    )
}

fn cards(summary: &Summary) -> Vec<Card> {
    summary
        .settings
        .iter()
        .map(|setting| Card {
            number: setting.number,
            name: one_line(&setting.name),
            facts: setting
                .settings
                .parts()
                .into_iter()
                .map(|(name, value)| (one_line(&name), one_line(&value)))
                .collect(),
            tiles: tiles(&setting.figures),
            notes: [missing(setting), broken(&setting.figures)]
                .iter()
                .flatten()
                .map(|text| one_line(text))
                .collect(),
            ranks: ranks(&setting.figures),
        })
        .collect()
}

fn ranks(figures: &Figures) -> Option<String> {
    let (statement, function) = (figures.statement_rank, figures.function_rank);
    (statement.ranked + function.ranked > 0).then(|| {
        format!(
            "The bug's line stands in the top 1/3/5 of the suspicious statements in {} runs, its \
                 function in the top 1/3/5 of the suspicious functions in {}.",
            top(statement),
            top(function)
        )
    })
}

fn tiles(figures: &Figures) -> Vec<Tile> {
    let tile = |class, name, share: &Share, meaning| Tile {
        class,
        name,
        value: share
            .share()
            .map_or_else(|| "–".into(), |share| format!("{:.1} %", share * 100.0)),
        of: format!("{} of {}", share.count, share.of),
        interval: share.interval.map_or_else(String::new, |interval| {
            format!(
                "95 % interval {:.1} to {:.1} %",
                interval.low * 100.0,
                interval.high * 100.0
            )
        }),
        meaning,
    };
    let mut tiles = vec![tile(
        "plausible",
        "plausible",
        &figures.plausible,
        "runs whose patch passes the tests that fix saw",
    )];
    if figures.correct.of > 0 {
        tiles.push(tile(
            "correct",
            "correct",
            &figures.correct,
            "runs whose patch passes tests that fix has never seen, where there are any",
        ));
    }
    if figures.resolved.of > 0 {
        tiles.push(tile(
            "resolved",
            "resolved",
            &figures.resolved,
            "runs resolved by the official rule of SWE-bench, where it applies",
        ));
    }
    if figures.infrastructure > 0 {
        tiles.push(Tile {
            class: "failed",
            name: "not judged",
            value: figures.infrastructure.to_string(),
            of: format!("of {}", plural(figures.runs, "run")),
            interval: String::new(),
            meaning: "infrastructure failed; counted nowhere else",
        });
    }
    tiles
}

fn table(summary: &Summary) -> Vec<Quantity> {
    let columns: Vec<_> = summary
        .settings
        .iter()
        .map(|setting| quantities(&setting.figures))
        .collect();
    let rows = columns.first().map_or(0, |column| column.len());
    (0..rows)
        .map(|row| Quantity {
            name: columns[0][row].0.replace('`', ""),
            cells: columns
                .iter()
                .map(|column| {
                    let (_, spread, digits) = column[row];
                    let said = |value: f64| match digits {
                        0 if value.fract() == 0.0 => thousands(value as u64),
                        _ => number(value, digits),
                    };
                    let total = (spread.known > 0).then_some(spread.total);
                    (
                        spread.median.map_or_else(|| "–".into(), said),
                        total.map_or_else(|| "–".into(), said),
                        spread.known,
                    )
                })
                .collect(),
        })
        .collect()
}

fn grouped(summary: &Summary, several: bool) -> Vec<Grouped> {
    let mut all = Vec::new();
    let mut add = |title, groups: &[Group], least: usize| {
        if groups.len() >= least {
            all.push(Grouped {
                title,
                apart: several && groups.iter().any(|group| group.setting.is_some()),
                rows: groups.iter().map(group_row).collect(),
            });
        }
    };
    // One planner is the setting itself.
    add("By planner", &summary.by_planner, 2);
    add("By simulator", &summary.by_simulator, 2);
    add("By kind of bug", &summary.by_kind, 1 + usize::from(several));
    add("By repository", &summary.by_repository, 1);
    all
}

fn group_row(group: &Group) -> GroupRow {
    let figures = &group.figures;
    let of = |share: Share| match share.of {
        0 => "–".to_owned(),
        of => format!("{} of {of}", share.count),
    };
    let median = |value: Option<f64>, digits| {
        value.map_or_else(|| "–".to_owned(), |value| number(value, digits))
    };
    GroupRow {
        name: one_line(&group.name),
        setting: group.setting.map_or_else(String::new, |n| n.to_string()),
        runs: figures.runs,
        shares: [
            of(figures.plausible),
            of(figures.correct),
            of(figures.resolved),
        ],
        first: median(figures.first_plausible_executions.median, 0),
        seconds: median(figures.seconds.median, 1),
    }
}

fn row(run: &Run) -> Row {
    let entry = &run.entry;
    let judged = entry.is_judged();
    let verdict = |value: Option<bool>| match value {
        Some(true) => Verdict {
            class: "yes",
            text: "yes",
        },
        Some(false) => Verdict {
            class: "no",
            text: "no",
        },
        None => Verdict {
            class: "none",
            text: "–",
        },
    };
    let figure = |text: Option<String>| text.filter(|_| judged).unwrap_or_else(|| "–".into());
    let about: Vec<&str> = [
        entry.kind.as_str(),
        entry.repository.as_deref().unwrap_or_default(),
    ]
    .into_iter()
    .filter(|part| !part.is_empty())
    .collect();
    Row {
        task: one_line(&entry.task),
        setting: run.setting,
        about: one_line(&about.join(" · ")),
        ended: one_line(entry.word()),
        judged,
        verdicts: [
            verdict(entry.plausible()),
            verdict(entry.correct()),
            verdict(entry.resolved()),
        ],
        cells: [
            figure(entry.first_plausible_executions.map(thousands)),
            figure(Some(thousands(entry.executions))),
            figure(Some(thousands(entry.test_runs))),
            figure(Some(format!("{:.1}", entry.seconds))),
            figure(Some(thousands(entry.tokens))),
            figure(entry.cost.map(dollars)),
        ],
        reason: fit(entry.reason.as_deref().unwrap_or_default(), REASON),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::belonging::together;
    use super::super::entry::tests::results;
    use super::*;

    #[test]
    fn the_page_escapes_text_loads_nothing_and_says_what_it_counts() {
        let page = render(&Summary::of(
            &together(results()).unwrap(),
            &BTreeMap::new(),
        ))
        .unwrap();
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&#60;script&#62;") || page.contains("&lt;script&gt;"));
        for nothing in ["src=", "url(", "@import", "<link"] {
            assert!(!page.contains(nothing), "{nothing}");
        }
        for text in [
            "passes the tests that fix saw",
            "3 of 4",
            "rate limit",
            "<svg",
        ] {
            assert!(page.contains(text), "{text}");
        }
    }
}
