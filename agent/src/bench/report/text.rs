//! The report for a terminal: 80 columns, readable without colour.

use std::fmt::Write as _;

use super::figures::{Figures, Share};
use super::summary::{Group, Run, Setting, Summary};
use super::wording::{
    broken, dollars, fit, missing, number, quantities, rate, top, wrapped, yes_no,
};
use crate::report::wording::plural;

const LEGEND: &str = "\
plaus: passes the tests that `fix` saw; corr: passes tests it has never seen;
resol: resolved by the rule of SWE-bench; -: the task has no such tests or rule
first: candidates executed until the first plausible patch; execs: in all
secs: seconds that `fix` took; cost: US dollars; in brackets: 95 % intervals
";

/// The whole report.
pub fn render(summary: &Summary) -> String {
    let mut out = head(summary);
    for setting in &summary.settings {
        out += &one_setting(setting, summary.settings.len() > 1);
    }
    for (name, groups) in [
        ("planner", &summary.by_planner),
        ("simulator", &summary.by_simulator),
    ] {
        // What every run has is said above.
        if groups.len() > 1 {
            out += &group_table(name, groups, false);
        }
    }
    let several = summary.settings.len() > 1;
    out += &group_table("kind of bug", &summary.by_kind, several);
    out += &group_table("repository", &summary.by_repository, several);
    out += &failures(summary, several);
    out += &tasks(&summary.runs, several);
    out
}

fn head(summary: &Summary) -> String {
    let settings = match summary.settings.len() {
        1 => "one setting".to_owned(),
        many => format!("{many} settings"),
    };
    let mut out = format!(
        "Benchmark: {}, {settings}, {} (a run is a task under a setting)\n",
        plural(summary.tasks, "task"),
        plural(summary.total(), "run")
    );
    let failed: usize = summary.infrastructure.iter().map(|f| f.runs.len()).sum();
    if failed > 0 {
        let _ = writeln!(
            out,
            "infrastructure failed in {}, which {} counted nowhere else",
            plural(failed, "run"),
            if failed == 1 { "is" } else { "are" }
        );
    }
    out
}

fn one_setting(setting: &Setting, several: bool) -> String {
    let figures = &setting.figures;
    let number = if several {
        format!("{}  ", setting.number)
    } else {
        String::new()
    };
    let mut out = String::from("\n") + &wrapped(&number, &setting.settings.line(), 80);
    let mut line = |name: &str, share: &Share, meaning: &str, none: &str| {
        let meaning = if share.of == 0 { none } else { meaning };
        let _ = writeln!(out, "   {name:<11} {:<30} {meaning}", rate(share));
    };
    let (plausible, correct) = (&figures.plausible, &figures.correct);
    let resolved = &figures.resolved;
    line(
        "plausible",
        plausible,
        "passes the tests `fix` saw",
        "nothing was judged",
    );
    line(
        "correct",
        correct,
        "passes tests it never saw",
        if figures.judged == 0 {
            "nothing was judged"
        } else {
            "no task has hidden tests"
        },
    );
    line(
        "resolved",
        resolved,
        "by SWE-bench's own rule",
        if figures.judged == 0 {
            "nothing was judged"
        } else {
            "no task has SWE-bench's rule"
        },
    );
    if figures.infrastructure > 0 {
        let _ = writeln!(
            out,
            "   {:<11} {:<30} infrastructure failed",
            "not judged", figures.infrastructure
        );
    }
    for note in [missing(setting), broken(figures)].into_iter().flatten() {
        out += &wrapped("   ", &note, 80);
    }
    out.push('\n');
    out += &spreads(figures);
    for (what, ranks) in [
        ("line", figures.statement_rank),
        ("function", figures.function_rank),
    ] {
        if ranks.ranked > 0 {
            let _ = writeln!(out, "   bug's {what} in the top 1/3/5: {}", top(ranks));
        }
    }
    out
}

fn spreads(figures: &Figures) -> String {
    let mut out = format!(
        "   {:<34} {:>10} {:>12} {:>9}\n",
        "over the runs judged", "median", "total", "of runs"
    );
    for (name, spread, digits) in quantities(figures) {
        let median = spread
            .median
            .map_or_else(|| "-".into(), |value| number(value, digits));
        let total = if spread.known == 0 {
            "-".into()
        } else {
            number(spread.total, digits)
        };
        let _ = writeln!(
            out,
            "   {name:<34} {median:>10} {total:>12} {:>9}",
            spread.known
        );
    }
    out
}

fn group_table(name: &str, groups: &[Group], several: bool) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let set = |text: &str| {
        if several {
            format!("{text:>4}")
        } else {
            String::new()
        }
    };
    let mut out = format!(
        "\n{name:<26}{} {:>5} {:>10} {:>10} {:>10} {:>7}\n",
        set("set"),
        "runs",
        "plausible",
        "correct",
        "resolved",
        "first"
    );
    for group in groups {
        let figures = &group.figures;
        let of = |share: Share| match share.of {
            0 => "-".to_owned(),
            of => format!("{} of {of}", share.count),
        };
        let first = figures.first_plausible_executions.median;
        let _ = writeln!(
            out,
            "{:<26}{} {:>5} {:>10} {:>10} {:>10} {:>7}",
            fit(&group.name, 26),
            set(&group.setting.map_or_else(String::new, |n| n.to_string())),
            figures.runs,
            of(figures.plausible),
            of(figures.correct),
            of(figures.resolved),
            first.map_or_else(|| "-".into(), |value| number(value, 0)),
        );
    }
    out
}

fn failures(summary: &Summary, several: bool) -> String {
    let mut out = String::new();
    if !summary.infrastructure.is_empty() {
        out += "\ninfrastructure failed\n";
    }
    for class in &summary.infrastructure {
        let runs: Vec<String> = class
            .runs
            .iter()
            .map(|run| {
                if several {
                    format!("{} ({})", run.task, run.setting)
                } else {
                    run.task.clone()
                }
            })
            .collect();
        let head = format!("  {} {}: ", class.class, class.runs.len());
        out += &wrapped(&head, &runs.join(", "), 80);
    }
    out
}

fn tasks(runs: &[Run], several: bool) -> String {
    let (width, set) = if several { (21, "set ") } else { (25, "") };
    let mut out = format!(
        "\n{:<width$} {set}{:<11} {:<5} {:<4} {:<5} {:>5} {:>5} {:>6} {:>6}\n",
        "task", "ended", "plaus", "corr", "resol", "first", "execs", "secs", "cost"
    );
    for run in runs {
        let entry = &run.entry;
        let judged = entry.is_judged();
        let figure = |text: String| if judged { text } else { "-".into() };
        let set = if several {
            format!("{:>3} ", run.setting)
        } else {
            String::new()
        };
        let line = format!(
            "{:<width$} {set}{:<11} {:<5} {:<4} {:<5} {:>5} {:>5} {:>6} {:>6}",
            fit(&entry.task, width),
            fit(entry.word(), 11),
            yes_no(entry.plausible()),
            yes_no(entry.correct()),
            yes_no(entry.resolved()),
            entry
                .first_plausible_executions
                .filter(|_| judged)
                .map_or_else(|| "-".into(), |n| n.to_string()),
            figure(entry.executions.to_string()),
            figure(format!("{:.1}", entry.seconds)),
            figure(entry.cost.map_or_else(|| "-".into(), dollars)),
        );
        out += line.trim_end();
        out.push('\n');
    }
    out.push('\n');
    out + LEGEND
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::belonging::together;
    use super::super::entry::tests::results;
    use super::*;

    #[test]
    fn two_settings_side_by_side() {
        let summary = Summary::of(&together(results()).unwrap(), &BTreeMap::new());
        let text = render(&summary);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn one_setting_needs_no_number() {
        let mut search = results();
        search.truncate(5);
        let text = render(&Summary::of(&together(search).unwrap(), &BTreeMap::new()));
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        insta::assert_snapshot!(text);
    }
}
