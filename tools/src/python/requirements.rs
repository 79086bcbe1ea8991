//! The test requirements that a project declares.

use super::managed::Requirements;
use camino::Utf8Path;
use toml::{Table, Value};

/// Names under which projects declare what their tests need.
const GROUPS: &[&str] = &["test", "tests", "testing", "dev"];

/// Files that list test requirements.
const FILES: &[&str] = &[
    "requirements-test.txt",
    "requirements-tests.txt",
    "requirements_test.txt",
    "test-requirements.txt",
    "test_requirements.txt",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
    "requirements/dev.txt",
    "tests/requirements.txt",
];

/// What the project at `folder` declares: optional dependencies and dependency groups named like
/// tests, requirement files named like tests, and the project itself where it can be built.
pub fn test_requirements(folder: &Utf8Path) -> Requirements {
    let pyproject = std::fs::read_to_string(folder.join("pyproject.toml")).unwrap_or_default();
    let table: Table = pyproject.parse().unwrap_or_default();
    let mut requirements = Vec::new();
    let at = |path: &[&str]| -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(table.get(*first)?, |value, key| value.get(key))
    };
    for group in GROUPS {
        for path in [
            ["project", "optional-dependencies"].as_slice(),
            &["dependency-groups"],
        ] {
            if let Some(groups) = at(path) {
                collect_group(groups, group, &mut requirements, 0);
            }
        }
    }
    let buildable = table.contains_key("project")
        || table.contains_key("build-system")
        || folder.join("setup.py").exists()
        || at(&["tool", "poetry", "name"]).is_some();
    let mut files: Vec<_> = FILES
        .iter()
        .map(|name| folder.join(name))
        .filter(|path| path.is_file())
        .collect();
    if !buildable {
        let plain = folder.join("requirements.txt");
        if plain.is_file() {
            files.insert(0, plain);
        }
    }
    let mut fingerprint = pyproject;
    for name in ["setup.py", "setup.cfg"] {
        fingerprint.push_str(&std::fs::read_to_string(folder.join(name)).unwrap_or_default());
    }
    for file in &files {
        fingerprint.push_str(&std::fs::read_to_string(file).unwrap_or_default());
    }
    fingerprint.push_str(if buildable { "project" } else { "files" });
    Requirements {
        project: buildable.then(|| folder.to_owned()),
        requirements,
        files,
        fingerprint,
    }
}

/// Requirement strings of a group; `include-group` tables are followed.
fn collect_group(groups: &Value, name: &str, out: &mut Vec<String>, depth: usize) {
    // Groups may include each other in a circle.
    if depth > 8 {
        return;
    }
    for item in groups
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(text) = item.as_str() {
            if !out.iter().any(|seen| seen == text) {
                out.push(text.to_owned());
            }
        } else if let Some(included) = item.get("include-group").and_then(Value::as_str) {
            collect_group(groups, included, out, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_extras_and_files_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let text = "[project]\nname = \"x\"\n[project.optional-dependencies]\ntest = [\"a>1\"]\n\
                    [dependency-groups]\nbase = [\"b\"]\ndev = [{include-group = \"base\"}, \"a>1\"]\n";
        std::fs::write(root.join("pyproject.toml"), text).unwrap();
        std::fs::write(root.join("requirements-test.txt"), "c\n").unwrap();
        let found = test_requirements(root);
        assert_eq!(found.requirements, ["a>1", "b"]);
        assert_eq!(found.files, [root.join("requirements-test.txt")]);
        assert!(found.project.is_some());
    }
}
