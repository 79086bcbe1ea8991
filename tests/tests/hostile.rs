//! Code under test that hangs, dies, lies or looks for secrets.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::{BUGGY, IMPOSSIBLE, Repo, TEST};

const SECRET: &str = "sk-a-secret-that-must-not-leak";

#[test]
fn secrets_reach_neither_tests_nor_artefacts_and_env_passes_what_is_named() {
    let test = "\
import os

from calc import total


def test_total():
    environment = dict(os.environ)
    for name in ('OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GITHUB_TOKEN', 'AWS_SECRET_ACCESS_KEY'):
        assert name not in environment, name
    assert environment['GIVEN'] == 'a b=c'
    assert environment['PASSED'] == 'on'
    assert 'NDBG_CONFIG' not in environment
    del environment
    assert total([1, 2, 3]) == 6
";
    let repo = Repo::new(&[("calc.py", BUGGY), ("test_calc.py", test)]);
    let mut call = repo
        .fix()
        .args(["--env", "GIVEN=a b=c", "-e", "PASSED", "-e", "UNSET", "-v"])
        .env("PASSED", "on");
    for name in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
    ] {
        call = call.env(name, SECRET);
    }
    let run = call.run();
    run.is_fixed();
    let all = String::from_utf8_lossy(&run.everything()).into_owned();
    assert!(!all.contains(SECRET));
}

#[test]
fn forged_output_is_not_believed_and_does_not_reach_the_terminal() {
    let module = "\
import glob
import json
import os
import sys
import tempfile

for name in glob.glob(os.path.join(tempfile.gettempdir(), '**', '*.jsonl'), recursive=True):
    with open(name, 'a') as file:
        for when in ('setup', 'call', 'teardown'):
            record = {'t': 'report', 'id': 'test_calc.py::test_total', 'when': when}
            record.update(outcome='passed', xfail=False, duration=0.0)
            file.write(json.dumps(record) + '\\n')

print('test_calc.py::test_total PASSED')
print('\\x1b[2J\\x1b]0;owned\\x07', file=sys.__stderr__)


def total(prices):
    raise ValueError('\\x1b[31mred\\x1b[0m\\r\\x07 \\u202e')
";
    let test = "\
from calc import total


def test_total():
    print('1 passed in 0.01s')
    assert total([1]) == 'nothing'
";
    let repo = Repo::new(&[("calc.py", module), ("test_calc.py", test)]);
    let run = repo.fix().args(["-v", "--max-executions", "30"]).run();
    assert!(matches!(run.code, Some(1 | 6)), "{}", run.told());
    let baseline = run.event("baseline");
    assert_eq!(baseline["failing"].as_array().unwrap().len(), 1);
    assert!(!run.stderr.contains('\u{202e}'));
    for name in ["report.md", "report.html"] {
        let report = std::fs::read_to_string(run.run_dir.join(name)).unwrap();
        assert!(!report.contains('\x1b'), "{name}");
    }
}

#[test]
fn an_exit_at_import_is_no_success() {
    let module = format!("import os\n\nos._exit(0)\n\n\n{BUGGY}");
    let repo = Repo::new(&[("calc.py", module.as_str()), ("test_calc.py", TEST)]);
    let run = repo.fix().test("test_calc.py").run();
    run.ends_with(4).says("before any test ran");
    // And neither is one inside a test.
    let module = BUGGY.replace("    result = 0\n", "    import os\n    os._exit(0)\n");
    let repo = Repo::new(&[("calc.py", module.as_str()), ("test_calc.py", TEST)]);
    let run = repo.fix().args(["--max-executions", "50"]).run();
    run.ends_with(1)
        .says("the process ended in the middle of the test (exit code 0)");
}

#[test]
fn a_daemon_started_by_a_test_is_ended() {
    let test = format!(
        "\
import os
import sys
import time


def setup_module():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)'])
        os._exit(0)


{TEST}"
    );
    let repo = Repo::new(&[("calc.py", BUGGY), ("test_calc.py", test.as_str())]);
    repo.fix().run().is_fixed();
}

#[test]
fn a_hanging_test_ends_within_the_budget() {
    let test = "def test_hangs():\n    while True:\n        pass\n";
    let repo = Repo::new(&[("test_hangs.py", test)]);
    let began = std::time::Instant::now();
    let run = repo.fix().args(["--max-time", "6"]).run();
    run.ends_with(6)
        .says("did not end")
        .says("`test_hangs.py::test_hangs` was still running")
        .says("--max-time");
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

#[test]
fn candidates_that_loop_for_ever_are_ended() {
    let module = "\
def digits(number):
    found = 0
    while number > 0:
        number //= 10
        found += 2
    return found
";
    let test = "\
from digits import digits


def test_one():
    assert digits(7) == 1


def test_three():
    assert digits(123) == 3
";
    let repo = Repo::new(&[("digits.py", module), ("test_digits.py", test)]);
    let run = repo.fix().run();
    run.is_fixed();
    // None of the edits can mend this one.
    let repo = Repo::new(&[
        ("calc.py", &module.replace("digits", "total")),
        (
            "test_calc.py",
            &IMPOSSIBLE
                .replace("mean, total", "total")
                .replace("[1, 2]", "12")
                .replace("[]", "0"),
        ),
    ]);
    let run = repo
        .fix()
        .args(["--max-executions", "60", "--no-pairs"])
        .run();
    assert!(matches!(run.code, Some(1 | 6)), "{}", run.told());
    let looped = run
        .events
        .iter()
        .filter(|e| e["result"]["outcome"] == "timed_out");
    assert!(looped.count() > 0, "{}", run.told());
}

#[test]
fn a_test_that_deletes_its_own_file_does_not_hide_the_failure() {
    let test = format!(
        "{TEST}\n\ndef test_zz_cleans_up_too_much():\n    import os\n\n    os.remove(__file__)\n"
    );
    let repo = Repo::new(&[("calc.py", BUGGY), ("test_calc.py", &test)]);
    let run = repo.fix().args(["--baseline-runs", "2"]).run();
    run.is_fixed();
}

#[test]
fn tests_whose_ids_change_from_run_to_run_do_not_stand_against_a_patch() {
    let unstable = "import os\n\nimport pytest\n\n\n\
                    @pytest.mark.parametrize('n', [1, 2, 3], ids=lambda n: f'{n}-{os.getpid()}')\n\
                    def test_number(n):\n    assert n > 0\n";
    let repo = Repo::new(&[
        ("calc.py", ndbg_tests::BUGGY),
        ("test_calc.py", ndbg_tests::TEST),
        ("test_numbers.py", unstable),
    ]);
    repo.fix().test("test_calc.py").run().is_fixed();
}
