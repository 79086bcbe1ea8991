//! The tests that the user names, and the node ids that they mean.

use camino::{Utf8Path, Utf8PathBuf};

use super::stop::Stop;
use crate::outcome::Outcome;
use ndbg_tools::protected::is_test_name;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// File or folder relative to the project's folder.
    pub path: Utf8PathBuf,
    /// What follows the first `::`, if anything: it may hold brackets, spaces and `::`.
    pub inside: Option<String>,
}

impl Target {
    /// Reads a target. `folder` is the project's folder in the user's tree; a relative path is looked
    /// up there, then in the working directory.
    pub fn parse(text: &str, folder: &Utf8Path) -> Result<Self, Stop> {
        let (path, inside) = match text.split_once("::") {
            Some((path, inside)) => (path, Some(inside.to_owned())),
            None => (text, None),
        };
        let candidates = [Some(folder.join(path)), camino::absolute_utf8(path).ok()];
        let found = candidates
            .into_iter()
            .flatten()
            .filter(|candidate| candidate.exists() && !path.is_empty())
            .find_map(|candidate| {
                let real = candidate.canonicalize_utf8().ok()?;
                real.strip_prefix(folder).ok().map(Utf8Path::to_owned)
            });
        if let Some(path) = found {
            return Ok(Self { path, inside });
        }
        let near = nearest(path, &test_files(folder));
        let stop = Stop::new(
            Outcome::Usage,
            format!("no test file `{path}` in `{folder}`"),
        );
        Err(if near.is_empty() {
            stop.hint("give a path relative to `--repo`, or leave `--test` out to find what fails")
        } else {
            stop.hint(format!("did you mean {}?", list(&near)))
        })
    }

    /// Whether a node id lies in this target. `prefix` is the project's folder relative to pytest's
    /// root folder, from where node ids start.
    pub fn holds(&self, id: &str, prefix: &Utf8Path) -> bool {
        let path = prefix.join(&self.path);
        let path = path.as_str().trim_end_matches('/');
        if path.is_empty() || path == "." {
            return true;
        }
        let Some(rest) = id.strip_prefix(path) else {
            return false;
        };
        match &self.inside {
            None => rest.is_empty() || rest.starts_with("::") || rest.starts_with('/'),
            Some(inside) => {
                // A file that cannot be collected holds every test in it.
                rest.is_empty()
                    || rest
                        .strip_prefix("::")
                        .and_then(|rest| rest.strip_prefix(inside.as_str()))
                        .is_some_and(|rest| {
                            rest.is_empty() || rest.starts_with("::") || rest.starts_with('[')
                        })
            }
        }
    }

    /// The target as a user would type it.
    pub fn text(&self) -> String {
        match &self.inside {
            Some(inside) => format!("{}::{inside}", self.path),
            None => self.path.to_string(),
        }
    }
}

/// The stop for a target that holds no test, with the nearest ids.
pub fn matches_nothing(target: &Target, ids: &[String]) -> Stop {
    let near = nearest(&target.text(), ids);
    let stop = Stop::new(
        Outcome::Usage,
        format!("no test matches `{}`", target.text()),
    );
    if near.is_empty() {
        stop.hint(format!("`{}` holds no test", target.path))
    } else {
        stop.hint(format!("did you mean {}?", list(&near)))
    }
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    quoted.join(", ")
}

/// Up to three of `names` that look most like `wanted`.
fn nearest(wanted: &str, names: &[String]) -> Vec<String> {
    let mut scored: Vec<(f32, &String)> = names
        .iter()
        .take(20_000)
        .map(|name| {
            let ratio = similar::TextDiff::from_chars(wanted, name.as_str()).ratio();
            (ratio, name)
        })
        .filter(|(ratio, _)| *ratio > 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored
        .into_iter()
        .take(3)
        .map(|(_, name)| name.clone())
        .collect()
}

/// Files of a project that look like tests, relative to it; at most a few thousand.
fn test_files(folder: &Utf8Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut queue = vec![folder.to_owned()];
    let mut visited = 0;
    while let Some(next) = queue.pop() {
        for entry in next.read_dir_utf8().into_iter().flatten().flatten() {
            visited += 1;
            if visited > 50_000 {
                return found;
            }
            let name = entry.file_name();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if !name.starts_with('.')
                    && !matches!(name, "node_modules" | "venv" | "__pycache__")
                {
                    queue.push(entry.path().to_owned());
                }
            } else if is_test_name(name)
                && let Ok(relative) = entry.path().strip_prefix(folder)
            {
                found.push(relative.to_string());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str, inside: Option<&str>) -> Target {
        Target {
            path: path.into(),
            inside: inside.map(str::to_owned),
        }
    }

    fn holds(path: &str, inside: Option<&str>, id: &str) -> bool {
        target(path, inside).holds(id, Utf8Path::new(""))
    }

    #[test]
    fn a_file_holds_its_tests_and_no_others() {
        assert!(holds("tests/test_a.py", None, "tests/test_a.py::test_x"));
        assert!(holds("tests", None, "tests/test_a.py::test_x"));
        assert!(!holds("tests/test_a.py", None, "tests/test_a.pyx::test_x"));
        assert!(!holds("tests/test_a.py", None, "tests/test_ab.py::test_x"));
    }

    #[test]
    fn a_function_holds_its_parameters_and_a_class_its_methods() {
        assert!(holds("t.py", Some("test_x"), "t.py::test_x[a b::c]"));
        assert!(holds(
            "t.py",
            Some("test_x[a b::c]"),
            "t.py::test_x[a b::c]"
        ));
        assert!(holds("t.py", Some("TestX"), "t.py::TestX::test_y"));
        assert!(!holds("t.py", Some("test_x"), "t.py::test_xy"));
    }

    #[test]
    fn node_ids_may_start_above_the_project() {
        assert!(target("tests/t.py", None).holds("sub/tests/t.py::test_x", Utf8Path::new("sub")));
    }

    #[test]
    fn an_unknown_path_names_the_nearest_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        std::fs::create_dir(root.join("tests")).unwrap();
        std::fs::write(root.join("tests/test_parser.py"), "").unwrap();
        let stop = Target::parse("tests/test_praser.py", &root).unwrap_err();
        assert!(stop.hint.unwrap().contains("tests/test_parser.py"));
        let good = Target::parse("tests/test_parser.py::test_a[x::y]", &root).unwrap();
        assert_eq!(good.inside.as_deref(), Some("test_a[x::y]"));
    }
}
