//! Two results side by side, task by task.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::report::{End, Entry, Settings, first_executions, first_seconds};
use super::sign_test::two_sided;

/// Version of the JSON; raised when a field changes its meaning or goes away.
const FORMAT: u32 = 1;

/// A comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// [`FORMAT`].
    pub format: u32,
    /// Settings of the first results.
    pub a: Settings,
    /// Settings of the second results.
    pub b: Settings,
    /// Settings in which they differ.
    pub differences: Vec<Difference>,
    /// Tasks that were judged in both.
    pub pairs: usize,
    /// Who is better at what, over the pairs.
    pub measures: Vec<Measure>,
    /// Tasks that only the first results hold.
    pub only_a: Vec<String>,
    /// Tasks that only the second results hold.
    pub only_b: Vec<String>,
    /// Tasks in both that infrastructure kept from being judged in one of them; no pairs.
    pub infrastructure: Vec<Failed>,
}

/// A setting with its two values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its name.
    pub setting: String,
    /// Its value in the first results.
    pub a: Option<String>,
    /// Its value in the second results.
    pub b: Option<String>,
}

/// Who is better at one thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measure {
    /// What is measured.
    pub name: &'static str,
    /// Whether the tasks that differ are worth naming: verdicts, not quantities.
    #[serde(skip)]
    pub is_verdict: bool,
    /// Tasks in which it is known of both.
    pub pairs: usize,
    /// Tasks in which the first is better.
    pub a_wins: Vec<String>,
    /// Tasks in which the second is better.
    pub b_wins: Vec<String>,
    /// Tasks in which both are the same.
    pub ties: usize,
    /// Of these, tasks in which the verdict is yes; none for quantities.
    pub both: Option<usize>,
    /// Exact two-sided p value of the sign test over wins.
    pub p: f64,
}

/// A task that was judged in one of two results at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// Its name.
    pub task: String,
    /// Class of the failure in the first results.
    pub a: Option<String>,
    /// Class of the failure in the second results.
    pub b: Option<String>,
}

/// Pairs the runs of two settings.
pub fn compare(a: &[Entry], b: &[Entry]) -> Option<Comparison> {
    let (first, second) = (a.first()?, b.first()?);
    let by_task = |entries: &'_ [Entry]| -> BTreeMap<String, Entry> {
        let named = entries.iter().cloned();
        named.map(|entry| (entry.task.clone(), entry)).collect()
    };
    let (ours, theirs) = (by_task(a), by_task(b));
    let only = |these: &BTreeMap<String, Entry>, those: &BTreeMap<String, Entry>| {
        let names = these.keys().filter(|task| !those.contains_key(*task));
        names.cloned().collect()
    };
    let mut pairs: Vec<(&Entry, &Entry)> = Vec::new();
    let mut infrastructure = Vec::new();
    for (task, one) in &ours {
        let Some(other) = theirs.get(task) else {
            continue;
        };
        if one.is_judged() && other.is_judged() {
            pairs.push((one, other));
        } else {
            infrastructure.push(Failed {
                task: task.clone(),
                a: class(one),
                b: class(other),
            });
        }
    }
    let verdict = |name, value: fn(&Entry) -> Option<bool>| {
        let known = pairs
            .iter()
            .filter_map(|(a, b)| Some((*a, value(a)?, value(b)?)));
        let known: Vec<_> = known.collect();
        let both = known.iter().filter(|(_, a, b)| *a && *b).count();
        let ranked = known.iter().map(|(entry, a, b)| (*entry, a.cmp(b)));
        Measure {
            is_verdict: true,
            both: Some(both),
            ..measure(name, ranked)
        }
    };
    let quantity = |name, value: fn(&Entry) -> Option<f64>| {
        let solved = pairs
            .iter()
            .filter(|(a, b)| a.plausible() == Some(true) && b.plausible() == Some(true));
        let known = solved.filter_map(|(a, b)| Some((*a, value(a)?, value(b)?)));
        // Less is better.
        measure(name, known.map(|(entry, a, b)| (entry, b.total_cmp(&a))))
    };
    let measures = vec![
        verdict("plausible", Entry::plausible),
        verdict("correct", Entry::correct),
        verdict("resolved", Entry::resolved),
        quantity("executions to the first plausible", first_executions),
        quantity("seconds to the first plausible", first_seconds),
        quantity("executions in all", |e| Some(e.executions as f64)),
        quantity("seconds in all", |e| Some(e.seconds)),
    ];
    Some(Comparison {
        format: FORMAT,
        differences: differences(&first.settings, &second.settings),
        a: first.settings.clone(),
        b: second.settings.clone(),
        pairs: pairs.len(),
        measures,
        only_a: only(&ours, &theirs),
        only_b: only(&theirs, &ours),
        infrastructure,
    })
}

fn measure<'e>(
    name: &'static str,
    ranked: impl Iterator<Item = (&'e Entry, std::cmp::Ordering)>,
) -> Measure {
    let mut measure = Measure {
        name,
        is_verdict: false,
        pairs: 0,
        a_wins: Vec::new(),
        b_wins: Vec::new(),
        ties: 0,
        both: None,
        p: 1.0,
    };
    for (entry, order) in ranked {
        measure.pairs += 1;
        match order {
            std::cmp::Ordering::Greater => measure.a_wins.push(entry.task.clone()),
            std::cmp::Ordering::Less => measure.b_wins.push(entry.task.clone()),
            std::cmp::Ordering::Equal => measure.ties += 1,
        }
    }
    measure.p = two_sided(measure.a_wins.len(), measure.b_wins.len());
    measure
}

fn class(entry: &Entry) -> Option<String> {
    match &entry.end {
        End::Infrastructure { class, .. } => Some(class.clone()),
        End::Judged { .. } => None,
    }
}

fn differences(a: &Settings, b: &Settings) -> Vec<Difference> {
    let mut names: Vec<String> = Vec::new();
    let (ours, theirs) = (a.parts(), b.parts());
    for (name, _) in ours.iter().chain(&theirs) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let value = |parts: &[(String, String)], name: &str| {
        let found = parts.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    names
        .into_iter()
        .map(|setting| Difference {
            a: value(&ours, &setting),
            b: value(&theirs, &setting),
            setting,
        })
        .filter(|difference| difference.a != difference.b)
        .collect()
}
