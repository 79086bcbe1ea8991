//! Projects whose own pytest options get in the way of running single tests.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::{BUGGY, Repo, TEST, Venv};

/// Fixes the usual bug in a project with `addopts`.
fn check(addopts: &str) {
    let ini = format!("[pytest]\naddopts = {addopts}\n");
    // A passing test comes first: with some options it runs once only.
    let test = TEST.replace(
        "def test_total",
        "def test_first():\n    pass\n\n\ndef test_total",
    );
    let repo = Repo::new(&[
        ("calc.py", BUGGY),
        ("test_calc.py", test.as_str()),
        ("pytest.ini", ini.as_str()),
    ]);
    let run = repo
        .fix()
        .python(Venv::Plugins.python())
        .args(["--baseline-runs", "2"])
        .test("test_calc.py")
        .run();
    run.is_fixed();
    assert!(
        run.diff().contains("+        result += price"),
        "{}",
        run.diff()
    );
    let flaky = &run.event("baseline")["flaky"];
    assert_eq!(flaky, &serde_json::json!([]), "{}", run.told());
}

#[test]
fn distributed_runs_are_fixed() {
    check("-n 2");
}

#[test]
fn a_coverage_threshold_is_no_failure() {
    check("--cov=calc --cov-report=term --cov-fail-under=100");
}

#[test]
fn random_order_and_time_limits_are_fixed() {
    check("-p randomly --timeout=20");
}

#[test]
fn stopping_at_the_first_failure_and_starting_with_it_is_no_flakiness() {
    check("-x --lf");
}
