//! Figures in words, for the terminal and for the page.

use std::fmt::Write as _;

use super::figures::{Figures, Ranks, Share, Spread};
use super::summary::Setting;
use crate::report::visible::one_line;
use crate::report::wording::plural;

/// What a benchmark holds beyond the runs.
pub fn missing(setting: &Setting) -> Option<String> {
    let mut parts = Vec::new();
    if !setting.without_result.is_empty() {
        parts.push(format!(
            "{} of {} have no result yet",
            setting.without_result.len(),
            plural(setting.tasks, "task")
        ));
    }
    if !setting.unsupported.is_empty() {
        let named: Vec<String> = setting
            .unsupported
            .iter()
            .map(|(task, reason)| format!("{task} ({reason})"))
            .collect();
        parts.push(format!(
            "{} cannot be run here: {}",
            plural(named.len(), "task"),
            named.join(", ")
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Why *resolved* may be lower than it would be elsewhere.
pub fn broken(figures: &Figures) -> Option<String> {
    (figures.broken_here > 0).then(|| {
        format!(
            "{}: a test of PASS_TO_PASS fails here without any patch, and leaves the task unresolved unless the patch mends it",
            plural(figures.broken_here, "run")
        )
    })
}

/// `27 of 38   71.1 % (55.2-83.0)`.
pub fn rate(share: &Share) -> String {
    let Some(percent) = share.share().map(|share| share * 100.0) else {
        return "-".into();
    };
    let counts = format!("{} of {}", share.count, share.of);
    let interval = share.interval.map_or_else(String::new, |interval| {
        format!(
            " ({:.1}-{:.1})",
            interval.low * 100.0,
            interval.high * 100.0
        )
    });
    format!("{counts:<11}{percent:>5.1} %{interval}")
}

/// `1/2/3 of 4`.
pub fn top(ranks: Ranks) -> String {
    let Ranks {
        top_1,
        top_3,
        top_5,
        of,
        ..
    } = ranks;
    format!("{top_1}/{top_3}/{top_5} of {of}")
}

/// What is measured: name with its unit, values, digits after the point.
pub fn quantities(figures: &Figures) -> [(&'static str, Spread, usize); 8] {
    [
        (
            "executions to the first plausible",
            figures.first_plausible_executions,
            0,
        ),
        (
            "seconds to the first plausible",
            figures.first_plausible_seconds,
            1,
        ),
        ("executions (candidates run)", figures.executions, 0),
        ("test runs (processes and forks)", figures.test_runs, 0),
        ("seconds of `fix`", figures.seconds, 1),
        (
            "seconds of surroundings, grading",
            figures.harness_seconds,
            1,
        ),
        ("tokens, prompts and replies", figures.tokens, 0),
        ("cost in US dollars", figures.cost, 4),
    ]
}

/// A number with `digits` after its point; a half more where a median lies between two.
pub fn number(value: f64, digits: usize) -> String {
    match digits {
        0 if value.fract() != 0.0 => format!("{value:.1}"),
        4 => dollars(value),
        _ => format!("{value:.digits$}"),
    }
}

/// An amount in at most six letters.
pub fn dollars(cost: f64) -> String {
    if cost == 0.0 {
        "0".into()
    } else if cost < 0.0001 {
        "<.0001".into()
    } else if cost < 10.0 {
        format!("{cost:.4}")
    } else {
        format!("{cost:.2}")
    }
}

/// `yes`, `no`, or a dash where it is not known.
pub const fn yes_no(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    }
}

/// `text` in at most `width` letters, without what moves a cursor.
pub fn fit(text: &str, width: usize) -> String {
    let text = one_line(text);
    if text.chars().count() <= width {
        return text;
    }
    let mut out: String = text.chars().take(width - 1).collect();
    out.push('…');
    out
}

/// `text` after `lead` in lines of at most `width` letters, broken at spaces; those after the first
/// are indented.
pub fn wrapped(lead: &str, text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut line = lead.to_owned();
    let mut bare = true;
    for word in one_line(text).split(' ') {
        if !bare && line.chars().count() + 1 + word.chars().count() > width {
            let _ = writeln!(out, "{line}");
            line = "    ".into();
            bare = true;
        }
        if !bare {
            line.push(' ');
        }
        line += word;
        bare = false;
    }
    out + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_are_indented() {
        assert_eq!(wrapped("  n: ", "a bb ccc", 9), "  n: a bb\n    ccc\n");
        assert_eq!(wrapped("", "abcdefgh", 3), "abcdefgh\n");
    }
}
