//! Ends that nobody planned: signals, and a warm runner that dies.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::processes::{children_of, kill};
use ndbg_tests::{BUGGY, IMPOSSIBLE, Repo, Venv, wait_until};
use rustix::process::Signal;

/// A project that keeps the search busy for long: each test takes its time and nothing mends it.
fn endless() -> Repo {
    let test = format!("import time\n{IMPOSSIBLE}\n\ndef setup_function():\n    time.sleep(0.2)\n");
    Repo::new(&[("calc.py", BUGGY), ("test_calc.py", &test)])
}

/// A project whose test says that it runs and then hangs.
fn hanging() -> Repo {
    let test = "\
import os
import subprocess
import sys
import time


def test_hangs():
    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
    open(os.environ['RUNS'], 'w').close()
    while True:
        time.sleep(0.05)
";
    Repo::new(&[("test_hangs.py", test)])
}

#[test]
fn a_signal_during_screening_ends_the_run_cleanly() {
    for signal in [Signal::INT, Signal::TERM] {
        let repo = endless();
        let running = repo.fix().start();
        running.wait_for_event("candidate");
        running.signal(signal);
        let run = running.wait();
        run.ends_with(130).says("interrupted");
        run.check_that_nothing_changed(&[]);
    }
}

#[test]
fn a_signal_during_the_baseline_ends_the_run_cleanly() {
    for signal in [Signal::INT, Signal::TERM] {
        let repo = hanging();
        let runs = repo.outside("runs");
        let running = repo.fix().args(["--env", &format!("RUNS={runs}")]).start();
        wait_until("the test to run", || runs.exists());
        assert!(!children_of(running.pid()).is_empty());
        running.signal(signal);
        let run = running.wait();
        run.ends_with(130);
        run.check_that_nothing_changed(&[]);
    }
}

#[test]
fn what_a_killed_run_left_is_swept_by_the_next() {
    let repo = endless();
    let running = repo.fix().start();
    running.wait_for_event("candidate");
    let killed = running.pid();
    running.signal(Signal::KILL);
    let run = running.wait();
    assert_eq!(run.signal, Some(9));
    assert_eq!(run.events[0]["type"], "run_started");
    wait_until("the warm runner to leave", || {
        children_of(killed).is_empty()
    });
    assert_eq!(left_in(&repo), 1);
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 2);
    // Even a run that has nothing to do sweeps.
    let test = "def test_nothing():\n    pass\n";
    repo.write("test_calc.py", test);
    repo.fix().start().wait().ends_with(3);
    assert_eq!(left_in(&repo), 0);
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn tests_of_a_killed_run_are_ended_by_the_next() {
    let repo = hanging();
    let runs = repo.outside("runs");
    let running = repo.fix().args(["--env", &format!("RUNS={runs}")]).start();
    wait_until("the test to run", || runs.exists());
    let killed = running.pid();
    running.signal(Signal::KILL);
    running.wait();
    repo.write("test_hangs.py", "def test_nothing():\n    pass\n");
    repo.fix().start().wait().ends_with(3);
    let left = children_of(killed);
    for (pid, _) in &left {
        kill(*pid);
    }
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(left_in(&repo), 0);
}

/// Scratch folders in the temporary folder.
fn left_in(repo: &Repo) -> usize {
    let entries = repo.tmp().read_dir_utf8().unwrap().flatten();
    entries
        .filter(|entry| entry.file_name().starts_with("ndbg-agent-"))
        .count()
}

#[test]
fn a_killed_warm_runner_does_not_end_the_search() {
    let repo = endless();
    let running = repo.fix().args(["--max-executions", "12"]).start();
    running.wait_for_event("candidate");
    for (pid, line) in children_of(running.pid()) {
        if line.contains("pytest") {
            kill(pid);
        }
    }
    let run = running.wait();
    run.says("lost");
    assert!(matches!(run.code, Some(1 | 6)), "{}", run.told());
    run.check_that_nothing_changed(&[]);
    let cold = run.events.iter().any(|e| e["how"] == "cold");
    assert!(cold, "{}", run.told());
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    use std::process::Stdio;
    let repo = Repo::buggy();
    for args in [vec![], vec!["--json"]] {
        let mut command = repo.fix().python(Venv::Plain.python()).args(args).command();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn();
        let done = child.unwrap().wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert_eq!(done.status.code(), Some(0), "{stderr}");
    }
}
