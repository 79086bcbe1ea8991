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
    /// Cases with unknown ids, by function: how many there are, and how many passed.
    renamed: BTreeMap<&'r str, (usize, usize)>,
}

impl<'r> Cases<'r> {
    /// `known` says whether an id was collected before the patch.
    pub fn of(results: &'r RunResults, known: impl Fn(&str) -> bool) -> Self {
        let collected: BTreeSet<&str> = results.collected.iter().map(String::as_str).collect();
        let mut renamed: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for id in collected.iter().filter(|id| !known(id)) {
            let (cases, passed) = renamed.entry(function_of(id)).or_default();
            *cases += 1;
            *passed += usize::from(has_passed(results, id));
        }
        Self {
            results,
            collected,
            renamed,
        }
    }

    /// Those of `expected` that did not pass, under their names or unknown ones of their function.
    pub fn not_passed<'e>(&self, expected: impl Iterator<Item = &'e String>) -> Vec<&'e String> {
        self.missing(
            expected.filter(|id| !has_passed(self.results, id)),
            |(_, passed)| passed,
        )
    }

    /// Those of `expected` that were not collected, in the same sense.
    pub fn not_collected<'e>(&self, expected: impl Iterator<Item = &'e String>) -> Vec<&'e String> {
        let gone = expected.filter(|id| !self.collected.contains(id.as_str()));
        self.missing(gone, |(cases, _)| cases)
    }

    /// `candidates` without those that have gone and for each of which an unknown case stands in. One
    /// that is there under its name is not renamed, and a case that was known stands in for none.
    fn missing<'e>(
        &self,
        candidates: impl Iterator<Item = &'e String>,
        count: impl Fn((usize, usize)) -> usize,
    ) -> Vec<&'e String> {
        let mut missing: Vec<&String> = candidates.collect();
        let mut gone: BTreeMap<&str, usize> = BTreeMap::new();
        for id in &missing {
            *gone.entry(function_of(id)).or_default() +=
                usize::from(!self.collected.contains(id.as_str()));
        }
        missing.retain(|id| {
            let function = function_of(id);
            let there = self.collected.contains(id.as_str());
            let standing_in = self
                .renamed
                .get(function)
                .map_or(0, |&counts| count(counts));
            there || standing_in < gone[function]
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
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::{Cases, function_of};
    use crate::process::Exit;
    use crate::python::pytest::{RunResults, TestOutcome, TestResult};

    fn run(tests: &[(&str, bool)]) -> RunResults {
        let ids = || tests.iter().map(|(id, _)| (*id).to_owned());
        let outcome = |passed: bool| {
            if passed {
                TestOutcome::Passed
            } else {
                TestOutcome::Failed
            }
        };
        let results = tests
            .iter()
            .map(|&(id, passed)| (id.to_owned(), TestResult::ended(outcome(passed))));
        RunResults {
            rootdir: None,
            pytest: String::new(),
            collected: ids().collect(),
            all: ids().collect(),
            tests: results.collect::<BTreeMap<_, _>>(),
            collect_errors: Vec::new(),
            coverage: Vec::new(),
            values: Vec::new(),
            calls: Vec::new(),
            foreign: Vec::new(),
            notes: Vec::new(),
            stopped: false,
            complete: true,
            exit: Exit::Code(0),
            tail: String::new(),
            elapsed: Duration::ZERO,
        }
    }

    #[track_caller]
    fn check(before: &[&str], now: &[(&str, bool)], broken: &[&str]) {
        let expected: Vec<String> = before.iter().map(|&id| id.to_owned()).collect();
        let results = run(now);
        let cases = Cases::of(&results, |id| {
            expected.iter().any(|known| known == id) || id == "t::f[was failing]"
        });
        assert_eq!(cases.not_passed(expected.iter()), broken);
    }

    #[test]
    fn unknown_cases_stand_in_for_those_that_have_gone() {
        check(
            &["t::f[1]", "t::f[2]"],
            &[("t::f[3]", true), ("t::f[4]", true)],
            &[],
        );
        check(
            &["t::f[1]", "t::f[2]"],
            &[("t::f[2]", true), ("t::f[4]", true)],
            &[],
        );
        check(&["t::f[1]"], &[("t::g[3]", true)], &["t::f[1]"]);
        check(&["t::f"], &[], &["t::f"]);
    }

    #[test]
    fn a_regression_is_not_hidden_by_other_names() {
        check(
            &["t::f[1]", "t::f[2]"],
            &[("t::f[3]", true), ("t::f[4]", false)],
            &["t::f[1]", "t::f[2]"],
        );
        check(
            &["t::f[1]", "t::f[2]"],
            &[("t::f[1]", false), ("t::f[2]", true), ("t::f[3]", true)],
            &["t::f[1]"],
        );
        // A case that failed before and passes now was known: it is nobody's other name.
        check(
            &["t::f[1]", "t::f[2]"],
            &[("t::f[2]", true), ("t::f[was failing]", true)],
            &["t::f[1]"],
        );
    }

    #[test]
    fn parameters_are_left_out_and_brackets_in_paths_are_not() {
        assert_eq!(function_of("t.py::test_a[x::y[0]]"), "t.py::test_a");
        assert_eq!(function_of("t[1].py::T::test_a[1]"), "t[1].py::T::test_a");
        assert_eq!(function_of("t.py::test_a"), "t.py::test_a");
        assert_eq!(function_of("t.py"), "t.py");
    }
}
