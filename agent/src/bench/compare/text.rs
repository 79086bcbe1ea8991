//! A comparison for a terminal: 80 columns, readable without colour.

use std::fmt::Write as _;

use super::super::report::wrapped;
use super::pairs::{Comparison, Measure};
use super::sign_test::shown;

const LEGEND: &str = "\
plausible: passes the tests that `fix` saw; correct: passes tests it has never
seen; resolved: by the rule of SWE-bench; quantities: over tasks in which both
are plausible, less wins; p: exact two-sided sign test, ties left out
";

/// The whole comparison.
pub fn render(comparison: &Comparison) -> String {
    let mut out = wrapped("A  ", &comparison.a.line(), 80);
    out += &wrapped("B  ", &comparison.b.line(), 80);
    out += &differences(comparison);
    let _ = writeln!(out, "\n{} tasks are judged in both", comparison.pairs);
    for (what, names) in [
        ("only in A, left out", &comparison.only_a),
        ("only in B, left out", &comparison.only_b),
        ("infrastructure failed, left out", &failed(comparison)),
    ] {
        out += &list(what, names);
    }
    let _ = writeln!(
        out,
        "\n{:<34} {:>6} {:>7} {:>7} {:>6} {:>10}",
        "over the tasks judged in both", "tasks", "A wins", "B wins", "ties", "p"
    );
    for measure in &comparison.measures {
        let p = if measure.pairs == 0 {
            "-".into()
        } else {
            shown(measure.p)
        };
        let _ = writeln!(
            out,
            "{:<34} {:>6} {:>7} {:>7} {:>6} {p:>10}",
            measure.name,
            measure.pairs,
            measure.a_wins.len(),
            measure.b_wins.len(),
            measure.ties,
        );
    }
    for measure in comparison
        .measures
        .iter()
        .filter(|m| m.is_verdict && m.pairs > 0)
    {
        out += &verdict(measure);
    }
    out.push('\n');
    out + LEGEND
}

fn differences(comparison: &Comparison) -> String {
    if comparison.differences.is_empty() {
        return "\nthe settings are the same\n".into();
    }
    let mut out = String::from("\nsettings that differ\n");
    for difference in &comparison.differences {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".into());
        let (a, b) = (value(&difference.a), value(&difference.b));
        let lead = format!("  {}: ", difference.setting);
        out += &wrapped(&lead, &format!("A {a}, B {b}"), 80);
    }
    out
}

fn verdict(measure: &Measure) -> String {
    let both = measure.both.unwrap_or(0);
    let mut out = format!(
        "\n{}: {both} in both, {} in neither\n",
        measure.name,
        measure.ties - both
    );
    out += &list("in A only", &measure.a_wins);
    out += &list("in B only", &measure.b_wins);
    out
}

fn failed(comparison: &Comparison) -> Vec<String> {
    let side =
        |name: &str, class: &Option<String>| class.as_ref().map(|class| format!("{name}: {class}"));
    comparison
        .infrastructure
        .iter()
        .map(|failed| {
            let sides = [side("A", &failed.a), side("B", &failed.b)];
            let sides: Vec<String> = sides.into_iter().flatten().collect();
            format!("{} ({})", failed.task, sides.join("; "))
        })
        .collect()
}

fn list(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let lead = format!("  {what} ({}): ", names.len());
    wrapped(&lead, &names.join(", "), 80)
}
