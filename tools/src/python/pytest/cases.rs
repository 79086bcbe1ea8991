//! Node ids that are not the same in every process.
//!
//! The parameters of a test may come from a set, or hold values whose text or order changes from run to
//! run: the same tests then have other ids. Such a test function is judged by how many of its cases
//! pass, not by which.

use std::collections::{BTreeMap, BTreeSet};

use super::{RunResults, TestOutcome};

/// A node id without its parameters.
pub fn function_of(id: &str) -> &str {
    let inside = id.find("::").map_or(0, |at| at + 2);
    id[inside..].find('[').map_or(id, |at| &id[..inside + at])
}

/// What a run says of expected ids when some of them have other names now.
#[derive(Debug)]
pub struct Cases<'r> {
    results: &'r RunResults,
    collected: BTreeSet<&'r str>,
    /// Cases by function: collected in this run, and passed in it. Only functions with unknown ids.
    unstable: BTreeMap<&'r str, (usize, usize)>,
}

impl<'r> Cases<'r> {
    /// `known` says whether an id was collected before the patch.
    pub fn of(results: &'r RunResults, known: impl Fn(&str) -> bool) -> Self {
        let collected: BTreeSet<&str> = results.collected.iter().map(String::as_str).collect();
        let mut unstable: BTreeMap<&str, (usize, usize)> = collected
            .iter()
            .filter(|id| !known(id))
            .map(|id| (function_of(id), (0, 0)))
            .collect();
        for id in &collected {
            if let Some((cases, passed)) = unstable.get_mut(function_of(id)) {
                *cases += 1;
                *passed += usize::from(has_passed(results, id));
            }
        }
        Self {
            results,
            collected,
            unstable,
        }
    }

    /// Those of `expected` that did not pass: by themselves, or too many of their function.
    pub fn not_passed<'e>(&self, expected: impl Iterator<Item = &'e String>) -> Vec<&'e String> {
        self.missing(
            expected,
            |id| has_passed(self.results, id),
            |(_, passed)| passed,
        )
    }

    /// Those of `expected` that were not collected, in the same sense.
    pub fn not_collected<'e>(&self, expected: impl Iterator<Item = &'e String>) -> Vec<&'e String> {
        self.missing(
            expected,
            |id| self.collected.contains(id),
            |(cases, _)| cases,
        )
    }

    fn missing<'e>(
        &self,
        expected: impl Iterator<Item = &'e String>,
        is_there: impl Fn(&str) -> bool,
        count: impl Fn((usize, usize)) -> usize,
    ) -> Vec<&'e String> {
        let mut wanted: BTreeMap<&str, usize> = BTreeMap::new();
        let mut missing = Vec::new();
        for id in expected {
            if self.unstable.contains_key(function_of(id)) {
                *wanted.entry(function_of(id)).or_default() += 1;
            }
            if !is_there(id) {
                missing.push(id);
            }
        }
        missing.retain(|id| {
            let function = function_of(id);
            // A case that is there under its name and did not pass is no renamed one.
            let renamed = !self.collected.contains(id.as_str());
            match (self.unstable.get(function), wanted.get(function)) {
                (Some(&counts), Some(&wanted)) if renamed => count(counts) < wanted,
                _ => true,
            }
        });
        missing
    }
}

fn has_passed(results: &RunResults, id: &str) -> bool {
    let test = results.tests.get(id);
    test.is_some_and(|test| test.outcome == TestOutcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::function_of;

    #[test]
    fn parameters_are_left_out_and_brackets_in_paths_are_not() {
        assert_eq!(function_of("t.py::test_a[x::y[0]]"), "t.py::test_a");
        assert_eq!(function_of("t[1].py::T::test_a[1]"), "t[1].py::T::test_a");
        assert_eq!(function_of("t.py::test_a"), "t.py::test_a");
        assert_eq!(function_of("t.py"), "t.py");
    }
}
