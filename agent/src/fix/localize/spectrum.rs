//! Program spectra: which tests ran which lines, and Ochiai suspiciousness over them.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

/// A set of tests, by index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestSet(Vec<u64>);

impl TestSet {
    /// Adds a test.
    pub fn insert(&mut self, index: usize) {
        let word = index / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    /// Adds all tests of another set.
    pub fn union(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// Size of the intersection.
    pub fn common(&self, other: &Self) -> usize {
        let both = self.0.iter().zip(&other.0);
        both.map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Indices in the set.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| word * 64 + bit)
        })
    }
}

/// Lines by test, with the tests' outcomes.
#[derive(Debug, Default)]
pub struct Spectra {
    tests: Vec<String>,
    failing: TestSet,
    passing: TestSet,
    failing_count: usize,
    lines: BTreeMap<Utf8PathBuf, BTreeMap<usize, TestSet>>,
}

impl Spectra {
    /// Builds spectra from coverage by test. Tests that neither always failed nor always passed are
    /// left out. The empty test is collection; it counts as failing when collection fails.
    pub fn build(
        coverage: &BTreeMap<String, BTreeMap<Utf8PathBuf, Vec<usize>>>,
        failing: &BTreeSet<String>,
        passing: &BTreeSet<String>,
        collection_fails: bool,
    ) -> Self {
        let mut spectra = Self::default();
        for (test, files) in coverage {
            let fails = failing.contains(test) || (test.is_empty() && collection_fails);
            if !fails && !passing.contains(test) {
                continue;
            }
            let index = spectra.tests.len();
            spectra.tests.push(test.clone());
            if fails {
                spectra.failing.insert(index);
                spectra.failing_count += 1;
            } else {
                spectra.passing.insert(index);
            }
            for (file, lines) in files {
                let known = spectra.lines.entry(file.clone()).or_default();
                for line in lines {
                    known.entry(*line).or_default().insert(index);
                }
            }
        }
        spectra
    }

    /// Files that any test ran.
    pub fn files(&self) -> impl Iterator<Item = &Utf8PathBuf> {
        self.lines.keys()
    }

    /// Tests that ran any of the lines `first..=last`.
    pub fn of_lines(&self, file: &Utf8Path, first: usize, last: usize) -> TestSet {
        let mut tests = TestSet::default();
        for (_, more) in self
            .lines
            .get(file)
            .into_iter()
            .flat_map(|l| l.range(first..=last))
        {
            tests.union(more);
        }
        tests
    }

    /// Numbers of failing and of passing tests in `tests`.
    pub fn counts(&self, tests: &TestSet) -> (usize, usize) {
        (tests.common(&self.failing), tests.common(&self.passing))
    }

    /// Ochiai suspiciousness of something that `tests` ran: `ef / sqrt((ef + nf) * (ef + ep))`
    /// (Abreu et al. 2007), 0 to 1.
    pub fn ochiai(&self, tests: &TestSet) -> f64 {
        let (failed, passed) = self.counts(tests);
        if failed == 0 {
            return 0.0;
        }
        let all = self.failing_count * (failed + passed);
        failed as f64 / (all as f64).sqrt()
    }

    /// Names of tests in a set.
    pub fn names<'a>(&'a self, tests: &'a TestSet) -> impl Iterator<Item = &'a str> + 'a {
        tests
            .iter()
            .filter_map(|index| self.tests.get(index))
            .map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spectra(rows: &[(&str, bool, &[usize])]) -> Spectra {
        let mut coverage = BTreeMap::new();
        let (mut failing, mut passing) = (BTreeSet::new(), BTreeSet::new());
        for (test, passes, lines) in rows {
            let files = BTreeMap::from([("a.py".into(), lines.to_vec())]);
            coverage.insert((*test).to_owned(), files);
            if *passes { &mut passing } else { &mut failing }.insert((*test).to_owned());
        }
        Spectra::build(&coverage, &failing, &passing, false)
    }

    #[test]
    fn lines_that_only_failing_tests_run_are_the_most_suspicious() {
        let s = spectra(&[("f", false, &[1, 2]), ("p", true, &[1]), ("q", true, &[1])]);
        let score = |line| s.ochiai(&s.of_lines("a.py".into(), line, line));
        assert!((score(2) - 1.0).abs() < 1e-9);
        assert!((score(1) - (1.0 / 3.0_f64).sqrt()).abs() < 1e-9);
        assert!(score(3).abs() < 1e-9);
    }

    #[test]
    fn many_tests_fit_into_a_set() {
        let mut set = TestSet::default();
        set.insert(3);
        set.insert(700);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 700]);
    }
}
