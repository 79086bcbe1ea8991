//! `ndbg-agent bench compare`: who solves what the other does not, and whether that is chance.

mod pairs;
mod sign_test;
mod text;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::report::{Entry, read, together};
use super::said;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use pairs::{Comparison, compare};

/// Compare two results, task by task
///
/// Counts wins, losses and ties over the tasks that were judged in both, with the exact two-sided p
/// value of the sign test, and names the tasks that differ, what only one of the two holds, and the
/// settings that are not the same.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Folder of results, or file of `bench tasks --json`
    #[arg(value_name = "A")]
    a: Utf8PathBuf,
    /// Folder of results to compare with
    #[arg(value_name = "B")]
    b: Utf8PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(arguments: &CompareArguments) -> anyhow::Result<Outcome> {
    let comparison = match compared(&arguments.a, &arguments.b) {
        Ok(comparison) => comparison,
        Err(stop) => return Ok(said(&stop)),
    };
    let shown = if arguments.json {
        serde_json::to_string_pretty(&comparison)? + "\n"
    } else {
        text::render(&comparison)
    };
    match crate::cli::print(shown.as_bytes()) {
        Ok(()) => Ok(Outcome::Fixed),
        Err(stop) => Ok(super::said(&stop)),
    }
}

fn compared(a: &Utf8Path, b: &Utf8Path) -> Result<Comparison, Stop> {
    let (ours, theirs) = (side(a)?, side(b)?);
    compare(&ours, &theirs).ok_or_else(|| Stop::new(Outcome::Usage, "there is nothing to compare"))
}

fn side(path: &Utf8Path) -> Result<Vec<Entry>, Stop> {
    let entries = together(read(path)?.entries)?;
    if entries.is_empty() {
        return Err(
            Stop::new(Outcome::Usage, format!("`{path}` holds no result"))
                .hint("a run that goes on adds them as its tasks end"),
        );
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::super::report::sample;
    use super::*;

    fn sides() -> (Vec<Entry>, Vec<Entry>) {
        sample()
            .into_iter()
            .partition(|entry| entry.settings.planner == "search")
    }

    #[test]
    fn wins_ties_and_what_is_left_out() {
        let (a, b) = sides();
        let shown = text::render(&compare(&a, &b).unwrap());
        for line in shown.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn the_json_has_these_names() {
        let (a, b) = sides();
        let comparison = compare(&a, &b).unwrap();
        insta::assert_snapshot!(serde_json::to_string_pretty(&comparison).unwrap());
    }

    #[test]
    fn the_other_way_round_wins_are_losses() {
        let (a, b) = sides();
        let (one, other) = (compare(&a, &b).unwrap(), compare(&b, &a).unwrap());
        for (one, other) in one.measures.iter().zip(&other.measures) {
            assert_eq!(one.a_wins, other.b_wins);
            assert_eq!(one.b_wins, other.a_wins);
            assert_eq!((one.ties, one.both), (other.ties, other.both));
            assert!((one.p - other.p).abs() < 1e-15);
        }
        assert_eq!(one.only_a, other.only_b);
        let mut turned = a.clone();
        turned.reverse();
        assert_eq!(compare(&turned, &b).unwrap(), one);
    }

    #[test]
    fn a_result_beside_itself_is_all_ties() {
        let (a, _) = sides();
        let same = compare(&a, &a).unwrap();
        assert!(same.differences.is_empty());
        for measure in same.measures {
            assert!(measure.a_wins.is_empty() && measure.b_wins.is_empty());
            assert_eq!(measure.ties, measure.pairs);
        }
    }
}
