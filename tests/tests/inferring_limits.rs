//! `infer` keeps its limits, whatever is asked of it and however slow calls are.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use ndbg_tests::{Repo, Venv, binary};

const SLOW: &str = "\
import time


def same(x):
    return x


def size(x):
    return 'big' if x > 500 else 'small'


def triple(x):
    time.sleep(0.1)
    return x * 3


def asleep(x):
    time.sleep(30)
    return x


def busy(x):
    for _ in range(20_000):
        pass
    return x == 'never'
";

/// A second for what a call may take beyond the budget, and one for a machine that is busy with other tests.
const SPARE: Duration = Duration::from_secs(2);

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
    took: Duration,
}

fn repo() -> Repo {
    Repo::without_git(&[
        ("slow.py", SLOW),
        (
            "late.py",
            "import time\n\ntime.sleep(20)\n\n\ndef f(x):\n    return x\n",
        ),
    ])
}

fn start(repo: &Repo, args: &[&str]) -> Child {
    let python = Venv::Plain.python();
    repo.isolated(binary::path())
        .arg("infer")
        .args(args)
        .args(["--python", python.as_str(), "--from", "search"])
        .current_dir(repo.root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn infer(repo: &Repo, args: &[&str]) -> Said {
    let begun = Instant::now();
    let done = start(repo, args).wait_with_output().unwrap();
    Said {
        code: done.status.code(),
        out: String::from_utf8_lossy(&done.stdout).into_owned(),
        err: String::from_utf8_lossy(&done.stderr).into_owned(),
        took: begun.elapsed(),
    }
}

/// Values that are large or deep, in source.
fn large() -> [String; 4] {
    let numbers: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
    [
        format!("{}1{}", "[".repeat(30), "]".repeat(30)),
        format!("{}1{}", "[1, ".repeat(25), ", 2]".repeat(25)),
        format!("'{}'", "ab".repeat(50_000)),
        format!("[{}]", numbers.join(", ")),
    ]
}

#[test]
fn goals_of_any_size_and_depth_end_with_the_budget() {
    let repo = repo();
    for wanted in large() {
        let said = infer(
            &repo,
            &["slow.py::size", "--returns", &wanted, "--seconds", "2"],
        );
        assert_eq!(said.code, Some(1), "{}", said.err);
        assert!(
            said.took < Duration::from_secs(2) + SPARE,
            "{:?}",
            said.took
        );
        assert!(
            said.err.lines().all(|line| line.chars().count() < 170),
            "{}",
            said.err
        );
    }
    for wanted in &large()[1..] {
        let said = infer(
            &repo,
            &["slow.py::same", "--returns", wanted, "--seconds", "3"],
        );
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert_eq!(said.out.lines().next().unwrap(), format!("same({wanted})"));
    }
}

#[test]
fn an_interruption_ends_it_at_once() {
    let repo = repo();
    for wanted in large() {
        let args = ["slow.py::size", "--returns", &wanted, "--seconds", "60"];
        let child = start(&repo, &args);
        std::thread::sleep(Duration::from_millis(1_200));
        let begun = Instant::now();
        let pid = child.id().to_string();
        let killed = repo
            .isolated("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap();
        assert!(killed.success());
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(130));
        assert!(
            // Of the sixty that it was given; the machine may be busy with other tests.
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn slow_calls_and_imports_end_with_the_budget() {
    let repo = repo();
    for (target, goal) in [
        ("slow.py::triple", "'x'"),
        ("slow.py::asleep", "1"),
        ("slow.py::busy", "3"),
    ] {
        for options in [
            &["--seconds", "2"][..],
            &["--seconds", "2", "--call-seconds", "60"],
        ] {
            let args = [&[target, "--returns", goal], options].concat();
            let said = infer(&repo, &args);
            assert_eq!(said.code, Some(1), "{}", said.err);
            assert!(
                said.took < Duration::from_secs(2) + SPARE,
                "{target}: {:?}",
                said.took
            );
            assert!(said.err.contains("--seconds 2 reached"), "{}", said.err);
        }
    }
    let said = infer(&repo, &["late.py::f", "--returns", "1", "--seconds", "1"]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("takes longer"), "{}", said.err);
    assert!(
        said.took < Duration::from_secs(2) + SPARE,
        "{:?}",
        said.took
    );
}

#[test]
fn slow_calls_find_what_they_can_within_their_own_limit() {
    let repo = repo();
    let said = infer(
        &repo,
        &["slow.py::triple", "--returns", "12", "--seconds", "20"],
    );
    assert_eq!(said.out, "triple(4)\n", "{}", said.err);
    let quick = ["--seconds", "3", "--call-seconds", "0.01"];
    let args = [&["slow.py::triple", "--returns", "12"], &quick[..]].concat();
    let said = infer(&repo, &args);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(
        said.err.contains("does not end within 0.01 s"),
        "{}",
        said.err
    );
    let said = infer(
        &repo,
        &["slow.py::size", "--returns", "3", "--executions", "200"],
    );
    assert!(
        said.err.contains("--executions 200 reached"),
        "{}",
        said.err
    );
    for wrong in ["0", "61", "x"] {
        let args = ["slow.py::size", "--returns", "3", "--call-seconds", wrong];
        assert_eq!(infer(&repo, &args).code, Some(2));
    }
}
