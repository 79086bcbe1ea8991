//! How far generated code is from real code.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Metric, Profile, Table};

/// Distance of two tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// The table.
    pub metric: Metric,
    /// Total variation, half the sum of the absolute differences: 0 for equal, 1 for disjoint.
    pub total_variation: f64,
    /// The same over the values that both have, renormalised: what is left when the values that are
    /// out of reach are set aside.
    pub shared: f64,
    /// Share of the real code whose value never occurs in the generated code.
    pub missing: f64,
}

/// Distances of every table that both profiles have.
pub fn distances(real: &Profile, generated: &Profile) -> Vec<Distance> {
    let distance = |metric: &Metric| {
        let (left, right) = (real.tables.get(metric)?, generated.tables.get(metric)?);
        let shared = |table: &Table, other: &Table| -> Table {
            let kept = table.iter().filter(|(value, _)| other.contains_key(*value));
            let total: f64 = kept.clone().map(|(_, share)| share).sum();
            kept.map(|(value, share)| (value.clone(), share / total))
                .collect()
        };
        let missing = left.iter().filter(|(value, _)| !right.contains_key(*value));
        Some(Distance {
            metric: *metric,
            total_variation: total_variation(left, right),
            shared: total_variation(&shared(left, right), &shared(right, left)),
            missing: missing.map(|(_, share)| share).sum(),
        })
    };
    Metric::ALL.iter().filter_map(distance).collect()
}

fn total_variation(left: &Table, right: &Table) -> f64 {
    let values: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let share = |table: &Table, value: &String| table.get(value).copied().unwrap_or(0.0);
    values
        .into_iter()
        .map(|value| (share(left, value) - share(right, value)).abs())
        .sum::<f64>()
        / 2.0
}

/// Rows of a table that are printed: the rest is long and thin.
const ROWS: usize = 14;

/// A report: each table with its distance, real shares beside generated ones in percent.
pub fn compare(real: &Profile, generated: &Profile) -> String {
    let mut text = format!(
        "real: {} ({} functions)\ngenerated: {} ({} functions)\n",
        real.about, real.functions, generated.about, generated.functions
    );
    for distance in distances(real, generated) {
        let metric = distance.metric;
        let _ = writeln!(
            text,
            "\n{}: total variation {:.3}; {:.3} over shared values; {:.1} % of real never generated",
            metric.name(),
            distance.total_variation,
            distance.shared,
            100.0 * distance.missing
        );
        let tables = [real.tables.get(&metric), generated.tables.get(&metric)];
        let values: BTreeSet<&String> = tables
            .iter()
            .flatten()
            .flat_map(|table| table.keys())
            .collect();
        let share = |profile: &Profile, value: &String| profile.share(metric, value).unwrap_or(0.0);
        let mut rows: Vec<_> = values
            .into_iter()
            .map(|value| (value, share(real, value), share(generated, value)))
            .collect();
        rows.sort_by(|a, b| b.1.max(b.2).total_cmp(&a.1.max(a.2)).then(a.0.cmp(b.0)));
        for (value, left, right) in rows.iter().take(ROWS) {
            let _ = writeln!(
                text,
                "  {value:<22} {:>6.1} {:>6.1}",
                100.0 * left,
                100.0 * right
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{compare, distances};
    use crate::profile::{Metric, Profile};

    fn profile(shares: &[(&str, f64)]) -> Profile {
        let table = shares
            .iter()
            .map(|(value, share)| ((*value).to_owned(), *share))
            .collect();
        Profile {
            tables: [(Metric::Statement, table)].into(),
            ..Profile::default()
        }
    }

    #[test]
    fn distance_counts_what_is_out_of_reach_apart() {
        let real = profile(&[("if", 0.4), ("for", 0.4), ("with", 0.2)]);
        let generated = profile(&[("if", 0.5), ("for", 0.5)]);
        let found = distances(&real, &generated)[0];
        assert!((found.total_variation - 0.2).abs() < 1e-9);
        assert!(found.shared < 1e-9);
        assert!((found.missing - 0.2).abs() < 1e-9);
        assert!(compare(&real, &generated).contains("with                     20.0    0.0"));
    }
}
