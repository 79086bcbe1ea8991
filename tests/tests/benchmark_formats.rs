//! Other benchmarks' folders, in miniature: written for these tests, in the layout of the originals.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::fs;
use std::process::Output;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tests::{BUGGY, FIXED, Repo, TEST, Venv, binary};
use serde_json::Value as Json;

fn write(root: &Utf8Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn bench(repo: &Repo, args: &[&str]) -> (Output, Utf8PathBuf) {
    let out = repo.outside("results");
    let done = repo
        .isolated(binary::path())
        .args(["bench", "run", "--out", out.as_str(), "--max-time", "60"])
        .args(args)
        .current_dir(repo.outside(""))
        .output()
        .unwrap();
    (done, out)
}

fn record(done: &Output, out: &Utf8Path, id: &str) -> Json {
    let path = out.join("tasks").join(id).join("record.json");
    let bytes =
        fs::read(path).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&done.stderr)));
    serde_json::from_slice(&bytes).unwrap()
}

/// Loads cases as lists of arguments and results, the way that checkout does.
const CASES: &str = "\
import json
import pathlib


def cases(name):
    text = (pathlib.Path(__file__).parent / 'json_testcases' / f'{name}.json').read_text()
    return [json.loads(line) for line in text.splitlines() if line]
";

const PROGRAM_TEST: &str = "\
import pytest
from cases import cases
from python_programs.largest_gap import largest_gap


@pytest.mark.parametrize('arguments, expected', cases('largest_gap'))
def test_largest_gap(arguments, expected):
    assert largest_gap(*arguments) == expected
";

const LARGEST_GAP: &str = "\
def largest_gap(numbers):
    numbers = sorted(numbers)
    best = 0
    for left, right in zip(numbers, numbers[1:]):
        best = max(best, right - left)
    return best
";

#[test]
fn programs_of_quixbugs_must_pass_what_the_correct_ones_pass() {
    let repo = Repo::without_git(&[("readme", "")]);
    let root = repo.outside("quixbugs");
    let buggy = LARGEST_GAP.replace("max(best, ", "min(best, ");
    write(&root, "python_programs/largest_gap.py", &buggy);
    write(&root, "python_programs/node.py", "class Node:\n    pass\n");
    write(&root, "python_programs/__init__.py", "");
    write(&root, "correct_python_programs/largest_gap.py", LARGEST_GAP);
    write(
        &root,
        "java_programs/LARGEST_GAP.java",
        "class LARGEST_GAP {}\n",
    );
    write(&root, "python_testcases/test_largest_gap.py", PROGRAM_TEST);
    write(&root, "cases.py", CASES);
    write(&root, "conftest.py", "");
    let cases = "[[[1, 4, 6]], 3]\n[[[]], 0]\n[[[9, 2]], 7]\n[[[5]], 0]\n";
    write(&root, "json_testcases/largest_gap.json", cases);
    let python = Venv::Plain.python().as_str();
    let (done, out) = bench(&repo, &["--quixbugs", root.as_str(), "--python", python]);
    let record = record(&done, &out, "largest_gap");
    assert_eq!(record["plausible"], true, "{record}");
    assert_eq!(record["original"], true, "{record}");
    assert_eq!(record["repository"], "QuixBugs");
    let events = fs::read_to_string(out.join("tasks/largest_gap/events.jsonl")).unwrap();
    assert!(
        !events.contains("correct_python_programs"),
        "the answer was left out"
    );
    assert!(
        root.join("correct_python_programs").is_dir(),
        "the checkout is left as it is"
    );
}

/// The usual bug in a repository whose next commit mends it and brings the tests, as unittest.
fn history() -> (Repo, String, String, String) {
    let repo = Repo::new(&[("calc.py", BUGGY), ("test/__init__.py", "")]);
    let buggy = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let tests = "\
import unittest

from calc import mean, total


class Calc(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_mean(self):
        self.assertEqual(mean([2, 4]), 3)
";
    repo.write("calc.py", FIXED);
    let diff = repo.git(&["diff"]);
    repo.write("test/test_calc.py", tests);
    repo.commit();
    let fixed = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    (repo, buggy, fixed, diff)
}

#[test]
fn bugs_of_bugsinpy_take_their_tests_from_the_fixed_commit() {
    let (repo, buggy, fixed, diff) = history();
    let root = repo.outside("bugsinpy");
    let bug = |name: &str| format!("projects/shop/bugs/1/{name}");
    write(
        &root,
        "projects/shop/project.info",
        "github_url=\"https://example.org/ada/shop\"\nstatus=\"OK\"\n",
    );
    let info = format!(
        "python_version=\"3.8.3\"\nbuggy_commit_id=\"{buggy}\"\nfixed_commit_id =\"{fixed}\"\n\
         test_file=\"test/test_calc.py\"\n"
    );
    write(&root, &bug("bug.info"), info);
    let run = "python -m unittest -q test.test_calc.Calc.test_total\n\
               python test/test_calc.py Calc.test_mean\n";
    write(&root, &bug("run_test.sh"), run);
    write(&root, &bug("bug_patch.txt"), diff);
    write(
        &root,
        "projects/shop/bugs/2/bug.info",
        "buggy_commit_id=\"x\"\nfixed_commit_id=\"y\"\n",
    );
    write(&root, "projects/shop/bugs/2/run_test.sh", "tox\n");
    let python = Venv::Plain.python().as_str();
    let (done, out) = bench(
        &repo,
        &[
            "--bugsinpy",
            root.as_str(),
            "--repos",
            repo.outside("").as_str(),
            "--python",
            python,
        ],
    );
    let record = record(&done, &out, "shop-1");
    assert_eq!(record["infrastructure"], Json::Null, "{record}");
    assert_eq!(record["resolved"], true, "{record}");
    assert_eq!(record["original"], true, "{record}");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("1 cannot be run here"), "{said}");
}

#[test]
fn task_folders_of_swe_bench_5_are_run_without_their_containers() {
    let repo = Repo::new(&[("calc.py", BUGGY), ("data/limits.txt", "9\n")]);
    let base = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.write("test_calc.py", TEST);
    repo.git(&["add", "-N", "test_calc.py"]);
    let test_patch = repo.git(&["diff"]);
    let root = repo.outside("task-repo");
    let task = |name: &str| format!("tasks/ada__shop-1/{name}");
    write(&root, "sweb.yaml", "datasets:\n- Shop\n");
    let description = format!(
        "base_commit: {base}\ndatasets:\n- Shop\nimage: x\ninstance_id: ada__shop-1\nlog_parser: x\n\
         repo: ada/shop\nsplit: test\nversion: '1.0'\n"
    );
    write(&root, &task("task.yaml"), description);
    let tests = "{\"FAIL_TO_PASS\": [\"test_calc.py::test_total\", \"test_calc.py::test_mean\"],\n\
                 \"PASS_TO_PASS\": [\"test_calc.py::test_noth\"]}";
    write(&root, &task("tests.json"), tests);
    for (name, text) in [
        ("problem_statement.md", "It subtracts.\n"),
        ("test.patch", test_patch.as_str()),
        ("gold.patch", ""),
        ("eval.sh", "exit 1\n"),
        ("Dockerfile", "FROM scratch\n"),
        ("test_assets/data/picture.bin", "\u{1}"),
    ] {
        write(&root, &task(name), text);
    }
    let python = Venv::Plain.python().as_str();
    let (done, out) = bench(
        &repo,
        &[
            "--tasks",
            root.as_str(),
            "--repos",
            repo.outside("").as_str(),
            "--python",
            python,
        ],
    );
    let record = record(&done, &out, "ada__shop-1");
    assert_eq!(record["plausible"], true, "{record}");
    // A test that is not there cannot be maintained: by the official rule the task stays unresolved.
    assert_eq!(record["resolved"], false, "{record}");
    assert_eq!(record["broken_here"], 1, "{record}");
}

#[test]
fn bundled_tasks_are_judged_by_their_hidden_tests() {
    let repo = Repo::without_git(&[("readme", "")]);
    let tasks = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("tasks/examples");
    let python = Venv::Plain.python().as_str();
    let (done, out) = bench(
        &repo,
        &[
            "--tasks",
            tasks.as_str(),
            "--only",
            "shipping-quote",
            "--python",
            python,
            "--",
            "--alternatives",
            "5",
        ],
    );
    let record = record(&done, &out, "shipping-quote");
    assert_eq!(record["plausible"], true, "{record}");
    assert_eq!(record["correct"], true, "{record}");
    assert_eq!(record["kind"], "dictionary-default");
    assert!(record["function_rank"].is_u64(), "{record}");
}
