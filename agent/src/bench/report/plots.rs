//! What a report draws.

use super::figures::{Share, first_executions, first_seconds};
use super::summary::Summary;
use crate::plot::{Bar, Bars, Climb, Plot, SERIES, Steps};
use crate::report::visible::one_line;

/// Letters of a label beside a bar.
const LABEL: usize = 26;

/// Shares with their intervals, then plausible patches over time and over executions.
pub fn draw(summary: &Summary) -> Vec<Plot> {
    let mut plots = vec![shares(summary)];
    for (name, title, axis, value) in [
        (
            "over-seconds",
            "Tasks with a plausible patch, over time",
            "seconds of fix until the first plausible patch (logarithmic)",
            first_seconds as fn(&_) -> _,
        ),
        (
            "over-executions",
            "Tasks with a plausible patch, over executions",
            "candidates executed until the first plausible patch (logarithmic)",
            first_executions,
        ),
    ] {
        let series: Vec<Climb> = summary
            .settings
            .iter()
            .take(SERIES)
            .map(|setting| Climb {
                name: label(summary, setting.number, &setting.name, 60),
                at: summary.runs_of(setting.number).filter_map(value).collect(),
                of: setting.figures.judged,
            })
            .collect();
        // Results need not say when.
        if series.iter().any(|climb| !climb.at.is_empty()) {
            let steps = Steps {
                name: name.into(),
                title: title.into(),
                axis: axis.into(),
                counted: "tasks".into(),
                series,
            };
            plots.push(steps.draw());
        }
    }
    plots
}

fn shares(summary: &Summary) -> Plot {
    let mut bars = Vec::new();
    for setting in &summary.settings {
        let figures = &setting.figures;
        for (name, share) in [
            ("plausible", figures.plausible),
            ("correct", figures.correct),
            ("resolved", figures.resolved),
        ] {
            let Share { of, interval, .. } = share;
            let Some(share) = share.share() else {
                continue;
            };
            let number = match summary.settings.len() {
                1 => String::new(),
                _ => format!("{}: ", setting.number),
            };
            bars.push(Bar {
                label: format!("{number}{name}"),
                share,
                interval: interval.map(|interval| (interval.low, interval.high)),
                count: of,
                baseline: None,
            });
        }
    }
    Bars {
        name: "shares".into(),
        title: "Shares of the tasks judged, with 95 % intervals".into(),
        baseline: None,
        bars,
    }
    .draw()
}

/// The name of a setting in at most `width` letters, its number before it if there are several.
fn label(summary: &Summary, number: usize, name: &str, width: usize) -> String {
    let name = super::wording::fit(&one_line(name), width.max(LABEL));
    match summary.settings.len() {
        1 => name,
        _ => format!("{number}  {name}"),
    }
}
