//! Evaluations, with a real interpreter in the place of a model: it has to be right.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::process::Output;

use ndbg_tests::{Repo, Venv, binary};
use serde_json::Value as Json;

fn eval(repo: &Repo, args: &[&str]) -> Output {
    let python = Venv::Plain.python();
    repo.isolated(binary::path())
        .arg("eval")
        .args(args)
        .args(["--python", python.as_str()])
        .current_dir(repo.root())
        .output()
        .unwrap()
}

fn said(done: &Output) -> String {
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout.clone()).unwrap()
}

fn refused(done: &Output) -> String {
    assert_eq!(
        done.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&done.stdout)
    );
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn share(tally: &Json) -> (u64, u64) {
    (
        tally["right"].as_u64().unwrap(),
        tally["of"].as_u64().unwrap(),
    )
}

/// Functions of our own in the form of a benchmark.
const ITEMS: &[(&str, &str, &str)] = &[
    ("def f(x):\n    y = x + 1\n    return y * 2\n", "20", "42"),
    (
        "def f(words, n):\n    kept = []\n    for word in words:\n        if len(word) > n:\n            \
         kept.append(word.upper())\n    return ' '.join(kept)\n",
        "['a', 'bee', 'ceded'], 1",
        "'BEE CEDED'",
    ),
    (
        "def f(table):\n    table['z'] = table.get('a', 0) - 1\n    return sorted(table.items())\n",
        "{'a': 3, 'b': 1}",
        "[('a', 3), ('b', 1), ('z', 2)]",
    ),
];

fn items() -> String {
    let lines = ITEMS.iter().enumerate().map(|(at, (code, input, output))| {
        serde_json::json!({ "id": format!("own-{at}"), "code": code, "input": input, "output": output })
            .to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_oracle_is_right_about_every_statement_and_agrees_with_recordings() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = [
        "steps",
        "--model",
        "oracle",
        "--count",
        "8",
        "--data",
        "generated",
        "--data",
        "items.jsonl",
        "--json",
        "steps.json",
        "--html",
        "steps.html",
        "--svg",
        "plots",
        "--answers",
        "answers.jsonl",
    ];
    let text = said(&eval(&repo, &args));
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.contains("that need the model"), "{text}");
    let read = |name: &str| std::fs::read_to_string(repo.path(name)).unwrap();
    let json: Json = serde_json::from_str(&read("steps.json")).unwrap();
    for data in json["data"].as_array().unwrap() {
        for counted in ["statements", "needing_the_model", "operations"] {
            for who in ["model", "oracle"] {
                let (right, of) = share(&data[counted][who]);
                assert!(of > 0 && right == of, "{counted} by {who}: {data:#}");
            }
        }
        let (copied, of) = share(&data["needing_the_model"]["copy"]);
        assert!(copied < of, "{data:#}");
        assert_eq!(data["calibration"]["error"].as_f64(), Some(0.0));
    }
    // One line for each different operation, in the order in which they were asked.
    let text = read("answers.jsonl");
    let answers: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let distinct = |at: usize| share(&json["data"][at]["distinct_operations"]["model"]).1;
    assert_eq!(answers.len() as u64, distinct(0) + distinct(1));
    assert!(
        answers
            .iter()
            .all(|it| it["right"] == true && it["answer"] == it["effect"])
    );
    let own = answers
        .iter()
        .find(|it| it["data"] == json["data"][1]["data"]);
    assert_eq!(own.unwrap()["expression"], "v0 + v1");
    assert_eq!(own.unwrap()["operands"], serde_json::json!(["20", "1"]));
    let (same, of) = share(&json["data"][1]["oracle"]);
    assert_eq!(
        (same, of),
        (ITEMS.len() as u64, ITEMS.len() as u64),
        "{json:#}"
    );
    let page = read("steps.html");
    assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("<link"));
    assert!(read("plots/by-statement.svg").starts_with("<svg xmlns"));
    assert!(repo.path("plots/reliability-2.svg").exists());
}

#[test]
fn the_oracle_predicts_every_output_of_a_benchmark() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = [
        "cruxeval",
        "--model",
        "oracle",
        "--data",
        "items.jsonl",
        "--json",
        "found.json",
    ];
    let text = said(&eval(&repo, &args));
    assert!(
        text.contains("step_return, pass@1") && text.contains("57.7"),
        "{text}"
    );
    assert!(text.contains("does not run backwards"), "{text}");
    let json: Json =
        serde_json::from_str(&std::fs::read_to_string(repo.path("found.json")).unwrap()).unwrap();
    let first = &json["output"]["believed"][0];
    assert_eq!(
        (&first["right"], &first["items"]),
        (&Json::from(3), &Json::from(3)),
        "{json:#}"
    );
    assert_eq!(share(&json["output"]["oracle"]), (3, 3));
    assert!(json["input"].is_null());
}

#[test]
fn the_oracle_sees_as_far_as_programs_go() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = [
        "horizon",
        "--model",
        "oracle",
        "--data",
        "items.jsonl",
        "--json",
        "found.json",
    ];
    let text = said(&eval(&repo, &args));
    assert!(text.contains("After a share of the run"), "{text}");
    let json: Json =
        serde_json::from_str(&std::fs::read_to_string(repo.path("found.json")).unwrap()).unwrap();
    for place in json["after_share"].as_array().unwrap() {
        assert_eq!(share(&place["right"]["greedy"]), (3, 3), "{place}");
    }
}

#[test]
fn what_is_wrong_with_data_or_a_model_is_said_with_its_place() {
    let broken = format!("{}\n{{\"code\": \"def f(x): pass\"}}\n", items());
    let repo = Repo::without_git(&[("broken.jsonl", &broken), ("empty/none.txt", "")]);
    let message = refused(&eval(
        &repo,
        &["cruxeval", "--model", "oracle", "--data", "broken.jsonl"],
    ));
    assert!(
        message.contains("line 4") && message.contains("`output`"),
        "{message}"
    );
    let message = refused(&eval(
        &repo,
        &["steps", "--model", "oracle", "--data", "empty"],
    ));
    assert!(message.contains("no programs"), "{message}");
    let message = refused(&eval(&repo, &["steps", "--model", "nowhere"]));
    assert!(
        message.contains("nowhere") && message.contains("hint"),
        "{message}"
    );
    let message = refused(&eval(&repo, &["steps", "--model", "http://localhost:1"]));
    assert!(message.contains("http://localhost:1"), "{message}");
}

#[test]
fn inputs_are_searched_for_and_counted_when_real_runs_confirm_them() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = [
        "cruxeval",
        "--model",
        "oracle",
        "--data",
        "items.jsonl",
        "--verified",
        "--seconds",
        "20",
        "--json",
        "found.json",
    ];
    let text = said(&eval(&repo, &args));
    assert!(
        text.contains("search alone") && text.contains("one guess"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let json: Json =
        serde_json::from_str(&std::fs::read_to_string(repo.path("found.json")).unwrap()).unwrap();
    // An interpreter does not run backwards: nobody but the search proposes.
    let ways = json["ways"].as_array().unwrap();
    assert_eq!(ways.len(), 1);
    assert_eq!(
        share(&ways[0]["solved"]),
        (ITEMS.len() as u64, ITEMS.len() as u64),
        "{json:#}"
    );
    for (item, (code, _, output)) in ways[0]["items"].as_array().unwrap().iter().zip(ITEMS) {
        let call = item["call"].as_str().unwrap();
        let program = format!("{code}\nassert {call} == {output}\n");
        let done = repo
            .isolated(Venv::Plain.python())
            .args(["-c", &program])
            .output()
            .unwrap();
        assert!(done.status.success(), "{call}");
    }
}

#[test]
fn seconds_belong_to_verified_inputs() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = ["cruxeval", "--data", "items.jsonl", "--seconds", "3"];
    assert!(refused(&eval(&repo, &args)).contains("--verified"));
}

const GRADES: &str = "\
import os


def grade(points, bonus=0):
    def capped(value):
        if value > 100:
            return 100
        return value

    total = capped(points + bonus)
    if total < 0:
        raise ValueError(total)
    if total >= 90:
        return 'A'
    return 'B'


class Register:
    def __init__(self, names=()):
        self.names = list(names)

    def add(self, name):
        if name in self.names:
            return False
        self.names.append(name)
        return True


def home():
    if os.environ.get('NDBG_TEST_HOME') == 'a place of tests':
        return 'there'
    return 'here'


def untested(x):
    return x
";

const GRADES_TESTS: &str = "\
import sys, types

sys.modules['vendor'] = types.ModuleType('vendor')

import grades
import vendored


def test_grades():
    assert [grades.grade(p) for p in (95, 120, 3)] == ['A', 'A', 'B']


def test_register():
    register = grades.Register(['a'])
    assert not register.add('a') and register.add('b')


def test_home(monkeypatch):
    monkeypatch.setenv('NDBG_TEST_HOME', 'a place of tests')
    assert grades.home() == 'there'


def test_vendored():
    assert vendored.same(3) == 3
";

fn graded() -> Repo {
    Repo::without_git(&[
        ("grades.py", GRADES),
        (
            "vendored.py",
            "import vendor\n\n\ndef same(x):\n    return x\n",
        ),
        ("test_grades.py", GRADES_TESTS),
    ])
}

#[test]
fn lines_that_tests_reach_are_reached_again_and_the_others_are_named_with_their_reason() {
    let repo = graded();
    let args = [
        "reaches",
        "--repo",
        ".",
        "--seconds",
        "6",
        "--json",
        "found.json",
        "--html",
        "found.html",
    ];
    let text = said(&eval(&repo, &args));
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(
        text.contains("only tests that replace parts reach it")
            && text.contains("cannot be imported by itself"),
        "{text}"
    );
    assert!(repo.path("found.html").exists());
    let json: Json = serde_json::from_slice(&repo.read("found.json")).unwrap();
    let entry = |name: &str| {
        let entries = json["entries"].as_array().unwrap();
        let entry = entries.iter().find(|it| it["function"] == name);
        entry.unwrap_or_else(|| panic!("{name}: {json:#}"))
    };
    assert_eq!(json["entries"].as_array().unwrap().len(), 5, "{json:#}");
    let missed = |name: &str| entry(name)["infer"]["missed"].clone();
    for name in ["grade", "Register.__init__", "Register.add"] {
        assert_eq!(missed(name), serde_json::json!({}), "{json:#}");
    }
    let lines: Vec<(u64, bool)> = entry("grade")["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["line"].as_u64().unwrap(), it["nested"] == true))
        .collect();
    let expected = [
        (5, false),
        (6, true),
        (7, true),
        (8, true),
        (10, false),
        (11, false),
        (13, false),
        (14, false),
        (15, false),
    ];
    assert_eq!(lines, expected, "line 12 is reached by no test");
    assert_eq!(missed("home"), serde_json::json!({ "31": "replaced" }));
    assert_eq!(missed("same"), serde_json::json!({ "5": "import" }));
}

#[test]
fn a_solver_beside_the_search_is_judged_by_real_runs() {
    use std::os::unix::fs::PermissionsExt as _;

    let repo = graded();
    repo.write("items.jsonl", items());
    // Says what CrossHair says; the first of its two calls is right, and one of its arguments.
    repo.write(
        "crosshair",
        "#!/bin/sh\ncase \"$1 $2\" in\n*--help*) echo '{check,search,diffbehavior,cover}';;\n\
         'cover grades.grade') echo 'grade(95)'; echo 'grade(';;\n\
         'cover grades.Register.add') echo \"add(Register(['a']), 'a')\";;\n\
         check*) echo 'item.py:9: error: false when calling ndbg_contract(20) (which returns 42)';;\n\
         esac\n",
    );
    let program = repo.path("crosshair");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let args = [
        "reaches",
        "--repo",
        ".",
        "--seconds",
        "1",
        "--crosshair",
        "./crosshair",
        "--json",
        "found.json",
    ];
    let text = said(&eval(&repo, &args));
    assert!(text.contains("CrossHair"), "{text}");
    let json: Json = serde_json::from_slice(&repo.read("found.json")).unwrap();
    let reached = |name: &str| {
        let entries = json["entries"].as_array().unwrap();
        let entry = entries.iter().find(|it| it["function"] == name).unwrap();
        entry["crosshair"]["reached"].clone()
    };
    assert_eq!(
        reached("grade"),
        serde_json::json!([5, 6, 8, 10, 11, 13, 14])
    );
    assert_eq!(reached("Register.add"), serde_json::json!([23, 24]));
    assert_eq!(reached("home"), serde_json::json!([]));

    let args = [
        "cruxeval",
        "--model",
        "oracle",
        "--data",
        "items.jsonl",
        "--verified",
        "--crosshair",
        "./crosshair",
        "--crosshair-count",
        "2",
        "--json",
        "found.json",
    ];
    let text = said(&eval(&repo, &args));
    assert!(text.contains("Beside CrossHair"), "{text}");
    let json: Json = serde_json::from_slice(&repo.read("found.json")).unwrap();
    assert_eq!(share(&json["crosshair"]["way"]["solved"]), (1, 2));
    assert!(json["executions_per_second"]["reaches"].as_f64().unwrap() > 100.0);
}

#[test]
fn a_solver_that_is_not_there_is_said_before_anything_runs() {
    let repo = graded();
    let python = Venv::Plain.python();
    for path in ["nowhere/crosshair", python.as_str()] {
        let args = ["reaches", "--repo", ".", "--crosshair", path];
        let done = eval(&repo, &args);
        let message = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(4), "{message}");
        assert!(
            message.contains(path) && message.contains("hint"),
            "{message}"
        );
    }
}
