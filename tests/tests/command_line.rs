//! Arguments, events and what people read.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::fs;
use std::process::Stdio;

use ndbg_tests::{Repo, TEST, Venv, binary};
use serde_json::Value as Json;

#[test]
fn a_target_that_does_not_exist_gets_the_nearest_names() {
    let repo = Repo::buggy();
    let run = repo.fix().test("test_clac.py").run();
    run.ends_with(2).says("no test file `test_clac.py`");
    run.says("did you mean `test_calc.py`?");
    let run = repo.fix().test("test_calc.py::test_totals").run();
    run.ends_with(2).says("no test matches");
    run.says("did you mean `test_calc.py::test_total`");
    repo.write("empty/test_empty.py", "");
    let run = repo.fix().test("empty").run();
    run.ends_with(4).says("no tests were collected");
}

#[test]
fn arguments_that_make_no_sense_are_usage_errors() {
    let repo = Repo::buggy();
    for args in [["--max-time", "0"], ["--jobs", "0"], ["--frobnicate", "1"]] {
        let run = repo.fix().args(args).run();
        assert_eq!(run.code, Some(2), "{}", run.told());
    }
    let run = repo.call("fix").args(["--help"]).run();
    assert_eq!(run.code, Some(0));
    let help = run.diff();
    for (code, word) in [("  0", "fixed"), ("  6", "budget"), ("130", "interrupted")] {
        let line = format!("{code}  {word}");
        assert!(help.contains(&line), "{help}");
    }
    let wide = help.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
}

#[test]
fn json_events_are_whole_and_are_what_is_recorded() {
    let repo = Repo::buggy();
    let run = repo.fix().args(["--json"]).run();
    run.ends_with(0);
    let lines: Vec<Json> = run
        .stdout
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(lines, run.events);
    assert_eq!(lines[0]["type"], "run_started");
    assert_eq!(lines[0]["format"], 1);
    let last = lines.last().unwrap();
    assert_eq!(last["type"], "finished");
    assert!(
        last["diff"]
            .as_str()
            .unwrap()
            .contains("+        result += price")
    );
    let at: Vec<f64> = lines.iter().map(|e| e["at"].as_f64().unwrap()).collect();
    assert!(at.is_sorted());
}

#[test]
fn quiet_says_only_the_result() {
    let repo = Repo::buggy();
    let run = repo.fix().args(["--quiet"]).run();
    run.is_fixed();
    assert!(run.stderr.lines().count() <= 4, "{}", run.stderr);
}

#[test]
fn a_budget_of_executions_is_kept() {
    let repo = Repo::new(&[
        ("calc.py", ndbg_tests::BUGGY),
        ("test_calc.py", ndbg_tests::IMPOSSIBLE),
    ]);
    let run = repo
        .fix()
        .args(["--max-executions", "5", "--jobs", "4"])
        .run();
    run.ends_with(6).says("limit of 5 executions reached");
    assert_eq!(run.event("finished")["executed"], 5);
    // Every candidate in a process of its own.
    let repo = Repo::buggy();
    let run = repo.fix().args(["--cold"]).run();
    run.is_fixed();
    assert_eq!(run.event("candidate")["how"], "cold");
}

#[test]
fn localize_ranks_the_function_with_the_bug_first() {
    let repo = Repo::new(&[("calc.py", ndbg_tests::BUGGY), ("test_calc.py", TEST)]);
    let run = repo
        .call("localize")
        .python(Venv::Plain.python())
        .args(["--json", "--baseline-runs", "1"])
        .run();
    assert_eq!(run.code, Some(0), "{}", run.told());
    let ranking: Json = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(ranking["functions"][0]["qualname"], "total");
}

/// Ways to print a result, with those that need no project first.
fn printing(run: &str) -> [Vec<&str>; 7] {
    [
        vec!["completions", "bash"],
        vec!["man"],
        vec!["--help"],
        vec!["fix", "--help"],
        vec!["--version"],
        vec!["report", run],
        vec!["doctor"],
    ]
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_a_full_disk_loses_is_an_error() {
    let repo = Repo::buggy();
    let out = repo.outside("run");
    repo.fix().run_dir(&out).run().is_fixed();
    for args in printing(out.as_str()) {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let done = repo
            .isolated(binary::path())
            .args(&args)
            .current_dir(repo.root())
            .stdout(full)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(4), "{args:?}: {told}");
        assert!(
            told.starts_with("error: cannot write to stdout: ") && told.lines().count() == 1,
            "{args:?}: {told}"
        );
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let repo = Repo::buggy();
    let out = repo.outside("run");
    repo.fix().run_dir(&out).run().is_fixed();
    for args in printing(out.as_str()) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = repo
            .isolated(binary::path())
            .args(&args)
            .current_dir(repo.root())
            .stdout(Stdio::from(writer))
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(
            (done.status.code(), told.as_str()),
            (Some(0), ""),
            "{args:?}"
        );
    }
}
