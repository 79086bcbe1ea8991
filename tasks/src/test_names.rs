//! Names of tests as benchmarks write them, made into pytest node ids.
//!
//! | written | of |
//! |---|---|
//! | `tests/test_a.py::C::test_b[1]` | pytest |
//! | `test_b (tests.test_a.C)`, `test_b (tests.test_a.C.test_b)` | unittest, Django |
//! | `tests.test_a.C.test_b` | `python -m unittest` |
//! | `test_b` | SymPy, where the file is the one that the test patch changes |

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

/// Finds the node id of `name` among `files`, Python files relative to the top; `changed` are those
/// that the task puts its tests into. None when there is no file for it.
pub fn node_id(
    name: &str,
    files: &BTreeSet<Utf8PathBuf>,
    changed: &[Utf8PathBuf],
) -> Option<String> {
    let name = name.trim();
    if name.contains("::") || Utf8Path::new(name).extension() == Some("py") {
        return Some(name.to_owned());
    }
    if let Some((test, place)) = name.split_once(" (")
        && let Some(place) = place.strip_suffix(')')
    {
        // Since Python 3.11 the method stands in the brackets, too.
        let place = place.strip_suffix(&format!(".{test}")).unwrap_or(place);
        return dotted(&format!("{place}.{test}"), files);
    }
    if name.contains('.') && !name.contains(['/', ' ']) {
        return dotted(name, files);
    }
    if files.iter().any(|file| file.starts_with(name)) {
        // A folder.
        return Some(name.to_owned());
    }
    let [only] = changed else {
        return None;
    };
    // Some unittest names are the first line of a docstring.
    let function = name.split('[').next().unwrap_or(name);
    if !function.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    Some(format!("{only}::{name}"))
}

/// `a.b.C.test` by the longest part that is a file; it may lie below a folder such as `tests`.
fn dotted(name: &str, files: &BTreeSet<Utf8PathBuf>) -> Option<String> {
    let parts: Vec<&str> = name.split('.').collect();
    for cut in (1..=parts.len()).rev() {
        let path = Utf8PathBuf::from(format!("{}.py", parts[..cut].join("/")));
        let file = if files.contains(&path) {
            Some(&path)
        } else {
            // One file alone may be meant: with two the name says too little.
            let mut ending = files.iter().filter(|file| file.ends_with(&path));
            match (ending.next(), ending.next()) {
                (Some(only), None) => Some(only),
                _ => None,
            }
        };
        if let Some(file) = file {
            let rest = parts[cut..].join("::");
            return Some(if rest.is_empty() {
                file.to_string()
            } else {
                format!("{file}::{rest}")
            });
        }
    }
    None
}

/// Whether `id` may be a name that was cut off in the middle of its parameters, as some ids of
/// SWE-bench are.
pub fn is_truncated(id: &str) -> bool {
    id.matches('[').count() > id.matches(']').count()
}

/// The file of a node id.
pub fn file_of(id: &str) -> &Utf8Path {
    Utf8Path::new(id.split("::").next().unwrap_or(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str) -> Option<String> {
        let files = [
            "tests/app/tests.py",
            "tests/test_a.py",
            "pkg/core/tests/test_x.py",
        ];
        let files = files.iter().map(Utf8PathBuf::from).collect();
        node_id(name, &files, &["pkg/core/tests/test_x.py".into()])
    }

    #[test]
    fn every_spelling_leads_to_the_file() {
        for (name, id) in [
            (
                "tests/test_a.py::test_b[x y]",
                "tests/test_a.py::test_b[x y]",
            ),
            ("test_b (tests.test_a.C)", "tests/test_a.py::C::test_b"),
            (
                "test_b (tests.test_a.C.test_b)",
                "tests/test_a.py::C::test_b",
            ),
            ("test_b (app.tests.C)", "tests/app/tests.py::C::test_b"),
            ("tests.test_a.C.test_b", "tests/test_a.py::C::test_b"),
            ("tests.test_a", "tests/test_a.py"),
            ("tests", "tests"),
            ("test_b", "pkg/core/tests/test_x.py::test_b"),
        ] {
            assert_eq!(find(name).as_deref(), Some(id), "{name}");
        }
        assert_eq!(find("nowhere.C.test_b"), None);
        assert_eq!(find("Some sentence. Of a docstring"), None);
    }

    #[test]
    fn a_cut_parameter_is_noticed() {
        assert!(is_truncated("t.py::test_a[log(photon"));
        assert!(!is_truncated("t.py::test_a[1]"));
    }
}
