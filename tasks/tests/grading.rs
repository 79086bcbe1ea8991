//! Grading with a real pytest.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod interpreter;

use std::time::Duration;

use camino::Utf8Path;
use ndbg_tasks::{Grade, Grader, Task};
use ndbg_tools::Cancel;

fn task(name: &str) -> Task {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let tasks = Task::list(&root.join("examples"), None).unwrap();
    tasks.into_iter().find(|task| task.name == name).unwrap()
}

fn grader() -> Option<Grader> {
    Some(Grader {
        interpreter: interpreter::with_pytest()?,
        deadline: Duration::from_secs(30),
        memory_limit: Some(1 << 30),
    })
}

/// A patch that replaces the first `from` in the file with the bug.
fn replace(task: &Task, from: &str, to: &str) -> Vec<u8> {
    let file = &task.bug.file;
    let before = std::fs::read_to_string(task.folder.join(file)).unwrap();
    assert!(before.contains(from), "{before}");
    let after = before.replacen(from, to, 1);
    ndbg_tools::source::unified_diff(file, before.as_bytes(), after.as_bytes())
}

#[test]
fn a_reference_patch_is_correct() {
    let Some(grader) = grader() else { return };
    let task = task("text-wrap");
    let patch = std::fs::read(task.hidden.join("reference.patch")).unwrap();
    let grade = grader.grade(&task, &patch, &Cancel::default()).unwrap();
    let expected = Grade {
        plausible: true,
        resolved: None,
        correct: Some(true),
        original: None,
        reason: None,
    };
    assert_eq!(grade, expected);
}

#[test]
fn bad_patches_are_told_apart() {
    let Some(mut grader) = grader() else { return };
    grader.deadline = Duration::from_secs(10);
    let task = task("text-wrap");
    let condition = ">= width:";
    for (patch, plausible, reason) in [
        (Vec::new(), false, "no patch"),
        (b"no diff at all".to_vec(), false, "no unified diff"),
        (
            b"--- a/reflow.py\n+++ b/reflow.py\n@@ -1 +1 @@\n-other\n+text\n".to_vec(),
            false,
            "does not apply",
        ),
        (
            b"--- a/tests/test_reflow.py\n+++ b/tests/test_reflow.py\n@@ -1 +1 @@\n-import pytest\n+pass\n"
                .to_vec(),
            false,
            "changes the tests",
        ),
        (
            replace(&task, condition, ">= width + 2:"),
            false,
            "fails",
        ),
        (
            replace(&task, "for word in words[1:]:", "while True:\n        word = ''"),
            false,
            // The time limit or the memory limit, whichever is quicker.
            "did not run (",
        ),
        (
            replace(&task, condition, ">= width + (width < 9):"),
            true,
            "hidden: ",
        ),
    ] {
        let grade = grader.grade(&task, &patch, &Cancel::default()).unwrap();
        assert_eq!(grade.plausible, plausible, "{reason}: {grade:?}");
        assert_eq!(grade.correct, Some(false), "{reason}: {grade:?}");
        assert!(grade.reason.as_ref().unwrap().contains(reason), "{grade:?}");
    }
}
