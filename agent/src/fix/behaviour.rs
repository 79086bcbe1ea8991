//! How much a plausible patch changes: which functions behave differently in tests that passed before.
//!
//! A right patch changes what was wrong; a patch that merely fits the failing test often changes what
//! was right too, where no assertion looks (Xiong et al., "Identifying patch correctness in test-based
//! program repair", ICSE 2018).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use camino::Utf8PathBuf;
use ndbg_tools::python::pytest::{Mode, Request};

use super::baseline::Baseline;
use super::session::Session;
use super::stop::Stop;
use super::verify::Change;

/// What the functions of some files did, by test, file and function.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Behaviour(BTreeMap<(String, Utf8PathBuf, String), u64>);

impl Behaviour {
    /// Records arguments and results of all calls in `files` while `tests` run, with `changes` in
    /// place of the files on disk.
    pub fn record(
        session: &Session,
        baseline: &Baseline,
        tests: &[String],
        files: &[Utf8PathBuf],
        changes: &[Change],
        limit: Duration,
    ) -> Result<Self, Stop> {
        let paths: BTreeSet<String> = tests.iter().map(|id| baseline.file_of(id)).collect();
        let request = Request {
            mode: Mode::Calls(files.to_vec()),
            select: Some(tests.to_vec()),
            neutral: true,
            args: baseline.args.clone(),
            deadline: limit,
            overlay: changes
                .iter()
                .map(|change| (change.file.clone(), change.after.clone()))
                .collect(),
            ..Request::run(paths.into_iter().collect())
        };
        let results = session.harness.run(&request, &session.cancel)?;
        let mut hashers: BTreeMap<(String, Utf8PathBuf, String), DefaultHasher> = BTreeMap::new();
        for call in results.calls {
            let key = (call.test, call.file, call.function);
            shape(&call.text).hash(hashers.entry(key).or_default());
        }
        let digests = hashers.into_iter();
        Ok(Self(
            digests
                .map(|(key, hasher)| (key, hasher.finish()))
                .collect(),
        ))
    }

    /// Functions that behave differently in any test.
    pub fn changed(&self, other: &Self) -> usize {
        let keys: BTreeSet<_> = self.0.keys().chain(other.0.keys()).collect();
        let changed: BTreeSet<_> = keys
            .into_iter()
            .filter(|key| self.0.get(*key) != other.0.get(*key))
            .map(|(_, file, function)| (file, function))
            .collect();
        changed.len()
    }
}

/// A recorded text with objects reduced to their types: which attributes an object has is how it is
/// made, and may well be what a right patch changes.
fn shape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        if c != '<' || !chars.peek().is_some_and(|c| c.is_alphabetic() || *c == '_') {
            continue;
        }
        while let Some(name) = chars.next_if(|c| c.is_alphanumeric() || "_.".contains(*c)) {
            out.push(name);
        }
        let mut depth = 1;
        for c in chars.by_ref() {
            match c {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                out.push('>');
                break;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_reduced_to_their_types() {
        assert_eq!(shape("[<Bag items=<Box n=1>>, 1 < 2]"), "[<Bag>, 1 < 2]");
        // A stray bracket may cost the rest of a text, on both sides alike.
        assert_eq!(shape("1 < 2"), "1 < 2");
    }

    fn behaviour(rows: &[(&str, &str, u64)]) -> Behaviour {
        let row = |(test, function, digest): &(&str, &str, u64)| {
            (((*test).into(), "a.py".into(), (*function).into()), *digest)
        };
        Behaviour(rows.iter().map(row).collect())
    }

    #[test]
    fn functions_count_once_however_many_tests_show_the_change() {
        let base = behaviour(&[("t", "f", 1), ("u", "f", 2), ("t", "g", 3)]);
        let patched = behaviour(&[("t", "f", 9), ("u", "f", 8), ("t", "g", 3), ("t", "h", 4)]);
        assert_eq!(base.changed(&patched), 2);
        assert_eq!(base.changed(&base), 0);
    }
}
