//! Seeding and grading with a real pytest, on a repository made here.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod interpreter;

use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tasks::seed::{SeedSettings, seed};
use ndbg_tasks::tree::Tree;
use ndbg_tasks::{Grader, Task};
use ndbg_tools::Cancel;
use ndbg_tools::python::environment::Interpreter;

const PROGRAM: &str = "\
def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


def average(numbers):
    total = 0
    for number in numbers:
        total += number
    return total / len(numbers)
";

const TESTS: &str = "\
import pytest

from pkg.sums import average, clamp


@pytest.mark.parametrize('value, expected', [(1, 2), (3, 3), (9, 5), (2, 2), (5, 5)])
def test_clamp(value, expected):
    assert clamp(value, 2, 5) == expected


def test_clamp_keeps_type():
    assert clamp(9.5, 2.0, 5.0) == 5.0


def test_clamp_low():
    assert clamp(-1, 0, 10) == 0


def test_average():
    assert average([1, 2, 6]) == 3


def test_average_of_one():
    assert average([4]) == 4


def test_average_of_floats():
    assert average([0.5, 1.5]) == 1.0


def test_fails_without_any_bug():
    assert average([1]) == 2


@pytest.mark.skip
def test_skipped():
    assert False
";

fn repository(root: &Utf8Path) -> Utf8PathBuf {
    let repo = root.join("demo");
    for (path, text) in [
        ("pkg/__init__.py", ""),
        ("pkg/sums.py", PROGRAM),
        ("tests/test_sums.py", TESTS),
        ("tests/test_gone.py", "import no_such_module\n"),
    ] {
        let path = repo.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    repo
}

fn settings(root: &Utf8Path, out: &str, interpreter: Interpreter) -> SeedSettings {
    SeedSettings {
        repo: root.join("demo"),
        name: "demo".into(),
        count: 3,
        out: root.join(out),
        seed: 7,
        paths: Vec::new(),
        interpreter,
        memory_limit: Some(1 << 30),
    }
}

#[test]
fn seeded_bugs_are_caught_hidden_and_graded() {
    let Some(interpreter) = interpreter::with_pytest() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let repo = repository(root);
    let cancel = Cancel::default();
    let first = settings(root, "first", interpreter.clone());
    let report = seed(&first, &cancel, &mut |line| eprintln!("{line}")).unwrap();
    assert_eq!(report.kept, 3);
    assert_eq!(
        report.put_aside,
        ["tests/test_sums.py::test_fails_without_any_bug"]
    );
    assert_eq!(report.uncollectable, ["tests/test_gone.py"]);
    assert_eq!(report.passing, 10);
    assert!(
        repo.join("tests/test_gone.py").exists(),
        "nothing is written to it"
    );
    assert!(!repo.join("pytest.ini").exists());

    let tasks = Task::list(&first.out, None).unwrap();
    assert_eq!(tasks.len(), 3);
    let grader = Grader {
        interpreter,
        deadline: Duration::from_secs(30),
        memory_limit: Some(1 << 30),
    };
    let mut with_hidden = 0;
    for task in &tasks {
        let hidden = task.hidden_tests().unwrap();
        with_hidden += usize::from(!hidden.tests.is_empty());
        let tree = Tree::visible(task, &cancel).unwrap();
        let text = fs::read_to_string(tree.top().join("tests/test_sums.py")).unwrap();
        for test in hidden.tests.iter().filter(|id| !id.contains('[')) {
            let name = test.rsplit("::").next().unwrap();
            assert!(
                !text.contains(&format!("def {name}(")),
                "{test} can be seen"
            );
        }
        let reference = fs::read(task.hidden.join("reference.patch")).unwrap();
        let grade = grader.grade(task, &reference, &cancel).unwrap();
        assert!(grade.plausible, "{}: {grade:?}", task.name);
        assert_eq!(grade.original, Some(true));
        assert_eq!(grade.correct, (!hidden.tests.is_empty()).then_some(true));
    }
    assert!(with_hidden > 0);

    // The same seed gives the same bugs.
    let mut again = first.clone();
    again.out = root.join("again");
    again.count = 2;
    seed(&again, &cancel, &mut |_| {}).unwrap();
    for task in tasks.iter().take(2) {
        let read = |out: &Utf8Path| {
            fs::read_to_string(out.join("tasks").join(&task.name).join("bug.patch")).unwrap()
        };
        assert_eq!(read(&first.out), read(&again.out));
    }
    assert!(
        seed(&again, &cancel, &mut |_| {}).is_err(),
        "a folder in use is refused"
    );
}
