//! Which runs belong together: by their settings, each task once.

use std::cmp::Ordering;

use crate::fix::stop::Stop;
use crate::outcome::Outcome;

use super::entry::Entry;

/// Runs in the order of their settings and tasks, which does not depend on the order of the folders,
/// each once. A task that was judged counts, whatever else failed; two verdicts on one task under the
/// same settings are no results of one benchmark.
pub fn together(mut entries: Vec<Entry>) -> Result<Vec<Entry>, Stop> {
    entries.sort_by(order);
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries {
        let Some(last) = kept
            .last()
            .filter(|last| last.task == entry.task && last.settings == entry.settings)
        else {
            kept.push(entry);
            continue;
        };
        // What was judged stands first.
        if last.is_judged() && entry.is_judged() && *last != entry {
            return Err(Stop::new(
                Outcome::Usage,
                format!(
                    "there are two results of `{}` under the same settings",
                    entry.task
                ),
            )
            .hint("`ndbg-agent bench compare A B` compares two runs of the same settings"));
        }
    }
    Ok(kept)
}

/// By settings, then by task; of one task what was judged first.
fn order(one: &Entry, other: &Entry) -> Ordering {
    let key = |entry: &Entry| (!entry.is_judged(), entry.end.clone());
    one.settings
        .cmp(&other.settings)
        .then_with(|| one.task.cmp(&other.task))
        .then_with(|| key(one).cmp(&key(other)))
}

#[cfg(test)]
mod tests {
    use super::super::entry::tests::{entry, failed};
    use super::*;

    #[test]
    fn a_task_that_was_tried_again_counts_once() {
        let one = entry("search", "a", Some(3), Some(true));
        let all = vec![failed("search", "a", "network"), one.clone(), one.clone()];
        assert_eq!(together(all).unwrap(), [one]);
        let two = vec![
            failed("search", "a", "network"),
            failed("search", "a", "disk"),
        ];
        let [kept] = together(two).unwrap().try_into().unwrap();
        assert_eq!(kept.word(), "disk");
    }

    #[test]
    fn two_verdicts_under_the_same_settings_are_refused() {
        let one = entry("search", "a", Some(3), Some(true));
        let other = entry("search", "a", None, Some(false));
        let stop = together(vec![one.clone(), other]).unwrap_err();
        assert!(stop.message.contains("two results of `a`"), "{stop:?}");
        let other = entry("llm", "a", None, Some(false));
        assert_eq!(together(vec![one, other]).unwrap().len(), 2);
    }
}
