//! What `fix` does with projects it can and cannot fix.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::os::unix::fs::PermissionsExt as _;

use ndbg_tests::{BUGGY, FIXED, IMPOSSIBLE, Repo, TEST, Venv};

const PATCH: &str = "\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,7 +1,7 @@
 def total(prices):
     result = 0
     for price in prices:
-        result -= price
+        result += price
     return result
 
 
";

#[test]
fn the_patch_goes_to_stdout_and_makes_the_tests_pass() {
    let repo = Repo::buggy();
    let run = repo
        .fix()
        .args(["--baseline-runs", "2", "--alternatives", "100"])
        .test("test_calc.py")
        .run();
    run.is_fixed();
    assert_eq!(run.diff(), PATCH);
    assert!(repo.tests_pass_with(&run.stdout, Venv::Plain.python(), &[]));
    let baseline = run.event("baseline");
    assert_eq!(baseline["failing"].as_array().unwrap().len(), 2);
    assert_eq!(baseline["passing"], 1);
    let report = std::fs::read_to_string(run.run_dir.join("report.md")).unwrap();
    assert!(report.contains("result += price"), "{report}");
    let wide: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.chars().count() > 80)
        .filter(|line| line.contains(' ') && !line.contains("/run-"))
        .collect();
    assert!(wide.is_empty(), "{wide:?}");
}

#[test]
fn apply_writes_the_patched_file_and_keeps_its_mode() {
    let repo = Repo::buggy();
    let path = repo.path("calc.py");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.commit();
    let run = repo.fix().args(["--apply"]).run_changing(&["calc.py"]);
    run.is_fixed();
    assert_eq!(repo.read("calc.py"), FIXED.as_bytes());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(repo.git(&["status", "--porcelain"]), " M calc.py\n");
}

#[test]
fn apply_writes_through_a_link() {
    let repo = Repo::without_git(&[("impl/calc.py", BUGGY), ("test_calc.py", TEST)]);
    std::os::unix::fs::symlink("impl/calc.py", repo.path("calc.py")).unwrap();
    repo.git(&["init", "-q"]);
    repo.commit();
    let run = repo.fix().args(["--apply"]).run_changing(&["impl/calc.py"]);
    run.is_fixed();
    assert!(repo.path("calc.py").is_symlink());
    assert_eq!(repo.read("impl/calc.py"), FIXED.as_bytes());
    assert!(run.diff().contains("+++ b/impl/calc.py"), "{}", run.diff());
}

#[test]
fn a_failure_that_no_edit_mends_gets_a_diagnosis() {
    let test = format!("{IMPOSSIBLE}\n\ndef test_sum():\n    assert total([1, 2]) == 3\n");
    let repo = Repo::new(&[("calc.py", BUGGY), ("test_calc.py", &test)]);
    let run = repo.fix().args(["--no-pairs"]).run();
    run.ends_with(1);
    assert_eq!(run.diff(), "");
    run.says("1 of 2 failing tests pass");
    let report = std::fs::read_to_string(run.run_dir.join("report.md")).unwrap();
    assert!(report.contains("`-=` should be `+=`"), "{report}");
    assert!(run.event("finished")["executed"].as_u64().unwrap() > 0);
}

#[test]
fn a_passing_target_is_nothing_to_fix() {
    let repo = Repo::new(&[("calc.py", FIXED), ("test_calc.py", TEST)]);
    let run = repo.fix().test("test_calc.py").run();
    run.ends_with(3).says("nothing to fix");
    // The passing test of a file with failing ones.
    let repo = Repo::buggy();
    repo.fix()
        .test("test_calc.py::test_nothing")
        .run()
        .ends_with(3);
}

#[test]
fn a_test_that_flips_is_flaky() {
    let test = "\
import os


def test_flips():
    path = os.environ['FLIP']
    seen = os.path.exists(path)
    open(path, 'w').close()
    assert seen


def test_steady():
    assert True
";
    let repo = Repo::new(&[("test_flips.py", test)]);
    let flip = format!("FLIP={}", repo.outside("flip"));
    let run = repo
        .fix()
        .args(["--baseline-runs", "2", "--env", &flip])
        .run();
    run.ends_with(5).says("flaky");
    let flaky = run.event("baseline")["flaky"].clone();
    assert_eq!(flaky, serde_json::json!(["test_flips.py::test_flips"]));
}

#[test]
fn several_failures_with_different_causes_are_fixed_together() {
    let shop = "\
def clamp(value, low, high):
    if value < low:
        return low
    if value > low:
        return high
    return value


def label(count):
    return 'item' if count != 1 else 'items'
";
    let test_clamp = "\
from shop import clamp


def test_inside():
    assert clamp(5, 0, 10) == 5


def test_below():
    assert clamp(-5, 0, 10) == 0


def test_above():
    assert clamp(15, 0, 10) == 10
";
    let test_label = "\
from shop import label


def test_one():
    assert label(1) == 'item'


def test_many():
    assert label(3) == 'items'
";
    let files = [
        ("shop.py", shop),
        ("test_clamp.py", test_clamp),
        ("test_label.py", test_label),
    ];
    let repo = Repo::new(&files);
    let all = repo.fix().run();
    all.is_fixed();
    assert!(repo.tests_pass_with(&all.stdout, Venv::Plain.python(), &[]));
    // Named targets: what else fails is left alone.
    let one = repo.fix().test("test_label.py").run();
    one.is_fixed();
    assert!(!one.diff().contains("value > high"), "{}", one.diff());
    let two = repo
        .fix()
        .test("test_label.py::test_one")
        .test("test_clamp.py::test_inside")
        .run();
    two.is_fixed();
    assert!(repo.tests_pass_with(&two.stdout, Venv::Plain.python(), &["-k", "one or inside"]));
}

#[test]
fn unittest_classes_and_odd_parameter_ids_are_targets() {
    let test = "\
import unittest

import pytest

from calc import total


class Totals(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([1, 2]), 3)

    def test_empty(self):
        self.assertEqual(total([]), 0)


class TestTotals:
    def test_sum(self):
        assert total([5]) == 5


@pytest.mark.parametrize(
    'prices, wanted',
    [([1], 1), ([], 0)],
    ids=['a [b] c::d - /e', 'nothing'],
)
def test_total(prices, wanted):
    assert total(prices) == wanted
";
    let repo = Repo::new(&[("calc.py", BUGGY), ("tests/test_calc.py", test)]);
    repo.write("conftest.py", "");
    repo.commit();
    for target in [
        "tests/test_calc.py::Totals::test_sum",
        "tests/test_calc.py::TestTotals",
        "tests/test_calc.py::test_total[a [b] c::d - /e]",
    ] {
        let run = repo.fix().test(target).run();
        run.is_fixed();
        assert_eq!(run.diff(), PATCH, "{target}");
        let failing = run.event("baseline")["failing"].as_array().unwrap().len();
        assert_eq!(failing, 1, "{target}");
    }
}

#[test]
fn a_module_is_a_target_for_its_doctests() {
    let module = "\
def double(number):
    \"\"\"Twice the number.

    >>> double(3)
    6
    >>> double(5)
    10
    \"\"\"
    return number + 2
";
    let repo = Repo::new(&[("numbers_.py", module)]);
    let run = repo.fix().test("numbers_.py").run();
    run.is_fixed();
    let args = ["--doctest-modules", "numbers_.py"];
    assert!(repo.tests_pass_with(&run.stdout, Venv::Plain.python(), &args));
}

#[test]
fn a_module_that_fails_at_import_is_fixed() {
    let module = "\
LIMIT = 10
LIMITS = [LIMT, LIMIT * 2]


def limited(value):
    return min(value, LIMITS[0])
";
    let test = "\
from limits import limited


def test_limited():
    assert limited(20) == 10
";
    let repo = Repo::new(&[("limits.py", module), ("test_limits.py", test)]);
    let run = repo.fix().test("test_limits.py").run();
    run.is_fixed();
    assert!(run.diff().contains("+LIMITS = [LIMIT, "), "{}", run.diff());
    let run = repo.fix().test("test_limits.py::test_limited").run();
    run.is_fixed();
}

#[test]
fn a_missing_import_is_diagnosed_or_fixed_but_never_a_crash() {
    let module = "\
from helpers import dubble


def four():
    return dubble(2)
";
    let files = [
        ("four.py", module),
        ("helpers.py", "def double(n):\n    return 2 * n\n"),
        (
            "test_four.py",
            "import four\n\n\ndef test_four():\n    assert four.four() == 4\n",
        ),
    ];
    let repo = Repo::new(&files);
    let run = repo.fix().args(["--max-executions", "200"]).run();
    assert!(matches!(run.code, Some(0 | 1 | 6)), "{}", run.told());
    run.says("dubble");
    // A syntax error has no tree to edit.
    let broken = "def total(prices):\n    return sum(prices\n";
    let repo = Repo::new(&[("calc.py", broken), ("test_calc.py", TEST)]);
    let run = repo.fix().test("test_calc.py").run();
    run.ends_with(1).says("SyntaxError");
}
