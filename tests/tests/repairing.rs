//! `fix`: repairs that are synthesised from values put in while the failing tests run.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::{Repo, Run};
use serde_json::Value as Json;

const UNITS: &str = "\
def convert(amount, old, new):
    base = (amount + old['offset']) * old['factor']
    return (base - new['offset']) / new['factor']
";

const UNITS_TEST: &str = "\
import pytest

from units import convert

K = {'factor': 1.0, 'offset': 0.0}
C = {'factor': 1.0, 'offset': 273.0}
F = {'factor': 0.5, 'offset': 460.0}
R = {'factor': 0.5, 'offset': 0.0}


@pytest.mark.parametrize('amount, old, new, expected', [
    (0, C, K, 273.0),
    (300, K, C, 27.0),
    (100, C, F, 286.0),
    (90, R, K, 45.0),
    (40, K, R, 80.0),
    (40, F, K, 250.0),
])
def test_convert(amount, old, new, expected):
    assert convert(amount, old, new) == expected
";

fn events(run: &Run<'_>) -> Vec<Json> {
    std::fs::read_to_string(run.run_dir.join("events.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn of_type<'e>(events: &'e [Json], name: &str) -> Vec<&'e Json> {
    events.iter().filter(|e| e["type"] == name).collect()
}

#[test]
fn a_value_is_synthesised_from_what_the_failing_test_needs_and_the_others_compute() {
    let repo = Repo::new(&[("units.py", UNITS), ("test_units.py", UNITS_TEST)]);
    let run = repo.fix().test("test_units.py").run();
    run.is_fixed();
    let diff = run.diff();
    assert!(
        diff.contains("base / new['factor'] - new['offset']"),
        "{diff}"
    );
    // What the test expects is tried, and never written.
    assert!(!diff.contains("286"), "{diff}");
    let events = events(&run);
    let angelic = of_type(&events, "angelic");
    assert!(!angelic.is_empty());
    assert_eq!(angelic[0]["provenance"], "verified");
    assert_eq!(angelic[0]["line"], 3);
    assert_eq!(angelic[0]["visit"]["recorded"], "-174.0");
    let end = of_type(&events, "finished")[0];
    let screened = of_type(&events, "candidate").len() as u64;
    // Runs with values put in count like candidates.
    assert!(end["executed"].as_u64().unwrap() > screened, "{end}");
    assert!(run.stderr.contains("repairable"), "{}", run.stderr);
    let report = std::fs::read_to_string(run.run_dir.join("report.md")).unwrap();
    assert!(report.contains("Where another value would do"), "{report}");
    // What the walk says was needed is put in, and is no hypothesis any more.
    let json = std::fs::read(run.run_dir.join("report.json")).unwrap();
    let json: Json = serde_json::from_slice(&json).unwrap();
    let partings = json["divergence"].as_array().unwrap();
    assert!(
        partings.iter().any(|one| one["provenance"] == "verified"),
        "{partings:#?}"
    );
}

const LETTERS: &str = "\
NOWHERE = 'limbo'
KINDS = {'sent': 'S', 'kept': 'K', 'lost': 'L'}


class Letter:
    def __init__(self, place, kind):
        self.place = place
        self.kind = kind


def posted(origin, target):
    if origin == target:
        return Letter(target, 'kept')
    return Letter(target, 'sent')


def summary(pairs):
    letters = [posted(origin, target) for origin, target in pairs]
    return [KINDS[letter.kind] + ' ' + letter.place for letter in letters]
";

#[test]
fn a_missing_branch_is_a_value_at_one_visit_and_a_condition_for_it() {
    let repo = Repo::new(&[
        ("letters.py", LETTERS),
        (
            "test_letters.py",
            "from letters import summary\n\n\n\
             def test_sent():\n    assert summary([('a', 'b')]) == ['S b']\n\n\n\
             def test_kept():\n    assert summary([('a', 'a'), ('b', 'c')]) == ['K a', 'S c']\n\n\n\
             def test_lost():\n    pairs = [('x', 'y'), ('here', 'limbo'), ('z', 'z')]\n    \
             assert summary(pairs) == ['S y', 'L here', 'K z']\n",
        ),
    ]);
    let run = repo.fix().test("test_letters.py").run();
    run.is_fixed();
    let diff = run.diff();
    // What was said on the way tells why another condition was preferred.
    let said = &run.stderr;
    assert!(
        diff.contains("return Letter(origin, 'lost')"),
        "{diff}{said}"
    );
    assert!(diff.contains("if target == NOWHERE"), "{diff}{said}");
}

#[test]
fn objects_that_must_not_be_asked_are_not_asked() {
    let repo = Repo::new(&[
        (
            "units.py",
            &format!(
                "import pathlib\n\n\n\
                 class Trap:\n    \
                 huge = 10 ** 100000\n\n    \
                 @property\n    def offset(self):\n        \
                 pathlib.Path('touched').write_text('x')\n        raise SystemExit\n\n    \
                 def __eq__(self, other):\n        \
                 while True:\n            pass\n\n    \
                 def __hash__(self):\n        \
                 while True:\n            pass\n\n    \
                 def __getattr__(self, name):\n        \
                 pathlib.Path('touched').write_text('x')\n        \
                 raise AttributeError(name)\n\n    \
                 def __bool__(self):\n        \
                 while True:\n            pass\n\n\n\
                 TRAP = Trap()\nMANY = {{'trap': TRAP, 'big': 9 ** 99999}}\n\n\n\
                 {}",
                UNITS.replace(
                    "    base =",
                    "    trap, power, size = TRAP, 10 ** 20000, 10 ** 9\n    base ="
                )
            ),
        ),
        ("test_units.py", UNITS_TEST),
    ]);
    let run = repo.fix().test("test_units.py").run();
    run.is_fixed();
    assert!(
        run.diff().contains("base / new['factor'] - new['offset']"),
        "{}",
        run.diff()
    );
}
