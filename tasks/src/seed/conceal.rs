//! Taking tests away from a tool.
//!
//! A test function all of whose tests are hidden is cut out of its file, so that neither its result
//! nor its text can be seen. Parameters of a function that stays, and tests that a class inherits, can
//! only be deselected: they are not run, but their text is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::source::syntax::Syntax;
use ndbg_tools::source::{Edit, SourceFile, apply_edits};

use super::split::function_of;

/// How tests are hidden.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Concealment {
    /// New contents of test files.
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// pytest arguments.
    pub args: Vec<String>,
    /// Tests that go away beside those asked for: `--deselect` takes everything that starts alike.
    pub also: Vec<String>,
}

/// Hides `tests` of the repository at `top`; `all` are all its tests. Without `cut`, tests are only
/// deselected.
pub fn conceal(
    top: &Utf8Path,
    tests: &BTreeSet<String>,
    all: &BTreeSet<String>,
    cut: bool,
) -> Concealment {
    let mut out = Concealment::default();
    let mut cuts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut functions: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for test in tests {
        functions.entry(function_of(test)).or_default().push(test);
    }
    for (function, ids) in functions {
        let whole = all
            .iter()
            .filter(|id| function_of(id) == function)
            .all(|id| tests.contains(id));
        if cut
            && whole
            && let Some((file, inside)) = function.split_once("::")
        {
            cuts.entry(file).or_default().insert(inside);
        } else {
            out.args.extend(ids.iter().map(|id| deselect(id)));
        }
    }
    for (file, functions) in cuts {
        let left = cut_out(top, Utf8Path::new(file), &functions, all, &mut out.files);
        for function in left {
            let prefix = format!("{file}::{function}");
            let ids = tests.iter().filter(|id| function_of(id) == prefix);
            out.args.extend(ids.map(|id| deselect(id)));
        }
    }
    let prefixes: Vec<&str> = out
        .args
        .iter()
        .filter_map(|argument| argument.strip_prefix("--deselect="))
        .collect();
    out.also = all
        .iter()
        .filter(|id| !tests.contains(*id) && prefixes.iter().any(|prefix| id.starts_with(prefix)))
        .cloned()
        .collect();
    out
}

fn deselect(id: &str) -> String {
    format!("--deselect={id}")
}

/// Puts `pass` in the place of functions, named as in node ids. Returns those that are not defined
/// exactly once in the file, or that other classes of the file inherit.
fn cut_out<'a>(
    top: &Utf8Path,
    file: &Utf8Path,
    functions: &BTreeSet<&'a str>,
    all: &BTreeSet<String>,
    out: &mut BTreeMap<Utf8PathBuf, Vec<u8>>,
) -> Vec<&'a str> {
    let syntax = fs::read(top.join(file))
        .ok()
        .and_then(|bytes| SourceFile::decode(file, bytes).ok())
        .and_then(|source| Syntax::parse(source).ok())
        .filter(|syntax| !syntax.has_errors());
    let Some(syntax) = syntax else {
        return functions.iter().copied().collect();
    };
    let (mut edits, mut left) = (Vec::new(), Vec::new());
    for function in functions {
        let qualname = function.replace("::", ".");
        let found: Vec<_> = syntax
            .functions()
            .iter()
            .filter(|known| known.qualname == qualname)
            .collect();
        let inherited = || {
            let name = function.rsplit("::").next().unwrap_or(function);
            all.iter().map(|id| function_of(id)).any(|other| {
                other.split_once("::").is_some_and(|(at, inside)| {
                    at == file.as_str()
                        && !functions.contains(inside)
                        && inside.rsplit("::").next() == Some(name)
                        && !defines(&syntax, inside)
                })
            })
        };
        let [only] = found.as_slice() else {
            left.push(*function);
            continue;
        };
        if inherited() {
            left.push(*function);
            continue;
        }
        // Decorators belong to the function.
        let node = syntax
            .root()
            .descendant_for_byte_range(only.span.start, only.span.end);
        let span = node
            .and_then(|node| node.parent())
            .filter(|parent| parent.kind() == "decorated_definition")
            .map_or(only.span.clone(), |parent| parent.byte_range());
        edits.push(Edit::replace(file, span, "pass"));
    }
    match apply_edits(syntax.file(), &edits) {
        Ok(bytes) if !edits.is_empty() => {
            out.insert(file.to_owned(), bytes);
            left
        }
        _ => functions.iter().copied().collect(),
    }
}

/// Whether a test function, named as in node ids, is written in the file.
fn defines(syntax: &Syntax, function: &str) -> bool {
    let qualname = function.replace("::", ".");
    syntax
        .functions()
        .iter()
        .any(|known| known.qualname == qualname)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::write_file;

    const TESTS: &str = "\
import pytest

class TestA:
    @pytest.mark.slow
    def test_one(self):
        assert 1

class TestB(TestA):
    pass

@pytest.mark.parametrize('n', [1, 2])
def test_two(n):
    assert n

def test_three():
    assert 3

def test_three_more():
    assert 3
";

    fn hide(tests: &[&str], cut: bool) -> Concealment {
        let folder = tempfile::tempdir().unwrap();
        let top = Utf8Path::from_path(folder.path()).unwrap();
        write_file(&top.join("t.py"), TESTS.as_bytes()).unwrap();
        let set = |ids: &[&str]| ids.iter().map(|id| format!("t.py::{id}")).collect();
        let all = [
            "TestA::test_one",
            "TestB::test_one",
            "test_two[1]",
            "test_two[2]",
            "test_three",
            "test_three_more",
        ];
        conceal(top, &set(tests), &set(&all), cut)
    }

    fn text(hidden: &Concealment) -> String {
        String::from_utf8(hidden.files[Utf8Path::new("t.py")].clone()).unwrap()
    }

    #[test]
    fn whole_functions_are_cut_out_with_their_decorators() {
        let both = ["TestA::test_one", "TestB::test_one"];
        let hidden = hide(&[&both[..], &["test_two[1]", "test_two[2]"]].concat(), true);
        assert_eq!(hidden.args, ["--deselect=t.py::TestB::test_one"]);
        assert!(text(&hidden).contains("class TestA:\n    pass\n\nclass TestB"));
        assert!(!text(&hidden).contains("parametrize") && text(&hidden).contains("test_three"));
    }

    #[test]
    fn parameters_and_inherited_tests_are_deselected() {
        // `TestB` would lose its test, too.
        let base = hide(&["TestA::test_one"], true);
        assert_eq!(base.args, ["--deselect=t.py::TestA::test_one"]);
        assert!(base.files.is_empty() && base.also.is_empty());
        let hidden = hide(&["TestB::test_one", "test_two[1]"], true);
        assert!(hidden.files.is_empty());
        assert_eq!(
            hidden.args,
            [
                "--deselect=t.py::test_two[1]",
                "--deselect=t.py::TestB::test_one"
            ]
        );
    }

    #[test]
    fn tests_that_start_alike_are_named() {
        assert_eq!(hide(&["test_three"], false).also, ["t.py::test_three_more"]);
        assert!(hide(&["test_three"], true).also.is_empty());
    }
}
