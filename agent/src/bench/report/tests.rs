//! Reports do not depend on the order of what they are made from.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::entry::tests::{entry, failed};
use super::*;

/// Runs of two planners, each task once for each, in any order.
fn shuffled() -> impl Strategy<Value = (Vec<Entry>, Vec<Entry>)> {
    let one = (
        any::<bool>(),
        0..20u8,
        proptest::option::of(1..5_000u64),
        0..4u8,
    );
    proptest::collection::vec(one, 1..24).prop_flat_map(|drawn| {
        let mut entries: Vec<Entry> = drawn
            .into_iter()
            .map(|(search, task, first, verdict)| {
                let planner = if search { "search" } else { "llm" };
                let task = format!("task-{task}");
                let correct = [None, Some(true), Some(false)].get(usize::from(verdict));
                match correct {
                    Some(&correct) => Entry {
                        // Sums of such seconds depend on the order in which they are added up.
                        seconds: 0.1 * f64::from(verdict + 1) + 1e-3 * first.unwrap_or(7) as f64,
                        ..entry(planner, &task, first, correct)
                    },
                    None => failed(planner, &task, "network"),
                }
            })
            .collect();
        entries.sort_by(|a, b| (&a.settings, &a.task).cmp(&(&b.settings, &b.task)));
        entries.dedup_by(|a, b| a.settings == b.settings && a.task == b.task);
        (Just(entries.clone()), Just(entries).prop_shuffle())
    })
}

fn documents(entries: Vec<Entry>) -> [String; 3] {
    let summary = Summary::of(&together(entries).unwrap(), &BTreeMap::new());
    [
        text::render(&summary),
        html::render(&summary).unwrap(),
        summary.json().unwrap(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_order_and_any_split_of_the_same_runs_gives_the_same_bytes(
        (entries, turned) in shuffled(),
        at in 0..24usize,
    ) {
        let documents = documents(entries);
        // As if they had been read from two folders, some of them from both.
        let (one, other) = turned.split_at(at.min(turned.len()));
        let folders: Vec<Entry> = other.iter().chain(one).chain(&turned[..1]).cloned().collect();
        prop_assert_eq!(&documents, &self::documents(folders));
        for line in documents[0].lines() {
            prop_assert!(line.chars().count() <= 80, "{}", line);
        }
    }
}
