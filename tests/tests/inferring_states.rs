//! `infer --state`: from a recorded state back to the arguments, and recorded calls as a source of inputs.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::{Repo, Venv, binary};
use serde_json::Value as Json;

const BANK: &str = "\
import hashlib


class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.log = []

    def withdraw(self, amount, fee=1):
        amount = amount + fee
        if amount > self.balance:
            raise ValueError('too little')
        self.balance -= amount
        self.log.append(amount)
        return self.balance


def score(words, bonus):
    words = [word.upper() for word in words]
    points = sum(len(word) for word in words) + bonus
    return points


def unlock(word):
    if hashlib.sha256(word.encode()).hexdigest().startswith('9f86d081'):
        return 'open'
    return 'shut'
";

const TESTS: &str = "\
from bank import Account, score, unlock


def test_withdraw():
    account = Account('Ann', 100)
    assert account.withdraw(30) == 69
    assert account.withdraw(10, fee=2) == 57


def test_score():
    assert score(['ab', 'c'], 4) == 7


def test_unlock():
    assert unlock('test') == 'open'
";

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn run(repo: &Repo, args: &[&str]) -> Said {
    let done = repo
        .isolated(binary::path())
        .args(args)
        .args(["--python", Venv::Plain.python().as_str()])
        .current_dir(repo.root())
        .output()
        .unwrap();
    Said {
        code: done.status.code(),
        out: String::from_utf8_lossy(&done.stdout).into_owned(),
        err: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}

/// A repository, a recording of its tests, and the number of the event before a line ran for the `visit`th time.
fn recorded() -> (Repo, String, impl Fn(&str, usize) -> u64) {
    let repo = Repo::new(&[
        ("bank.py", BANK),
        ("conftest.py", ""),
        ("test_bank.py", TESTS),
    ]);
    let out = repo.outside("run.ndbg").into_string();
    let done = run(&repo, &["trace", "--test", "test_bank.py", "--out", &out]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let shown = |args: &[&str]| -> Vec<Json> {
        let done = repo
            .isolated(binary::path())
            .args(["trace", "show", &out, "--json", "-n", "1000"])
            .args(args)
            .output()
            .unwrap();
        String::from_utf8_lossy(&done.stdout)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let mut events: Vec<(u64, u64)> = Vec::new();
    for call in shown(&[]) {
        if call["file"] != "bank.py" {
            continue;
        }
        let first = call["first_event"].to_string();
        for event in shown(&["--event", &first]) {
            if event["kind"] == "line" {
                let number = |key: &str| event[key].as_u64().unwrap();
                events.push((number("event"), number("line")));
            }
        }
    }
    events.sort_unstable();
    events.dedup();
    let at = move |text: &str, visit: usize| {
        let line = BANK.lines().position(|line| line.contains(text)).unwrap() as u64 + 1;
        let mut found = events.iter().filter(|(_, at)| *at == line);
        found
            .nth(visit)
            .unwrap_or_else(|| panic!("{text}: {events:?}"))
            .0
    };
    (repo, out, at)
}

#[test]
fn a_state_leads_back_to_several_calls_with_probabilities() {
    let (repo, run_folder, at) = recorded();
    // Words in upper case: any case may have been given.
    let state = format!("{run_folder}@{}", at("points = sum", 0));
    let args = [
        "infer", "--state", &state, "--json", "--count", "4", "--from", "search",
    ];
    let done = run(&repo, &args);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let answer: Json = serde_json::from_str(&done.out).unwrap();
    let found = answer["found"].as_array().unwrap();
    assert_eq!(found.len(), 4, "{answer:#}");
    let mut sum = 0.0;
    let mut last = 1.0;
    for one in found {
        let call = one["call"].as_str().unwrap();
        // Each of them comes to the state.
        assert!(call.ends_with(", 4)"), "{call}");
        assert!(call.to_uppercase().contains("'AB', 'C'"), "{call}");
        let probability = one["probability"].as_f64().unwrap();
        assert!(probability <= last, "{answer:#}");
        last = probability;
        sum += probability;
    }
    assert!(sum > 0.0 && sum <= 1.0 + 1e-9, "{answer:#}");
    assert_eq!(
        answer["explained"]["recorded_call"],
        "score(['ab', 'c'], 4)"
    );
    let again = run(&repo, &args);
    let again: Json = serde_json::from_str(&again.out).unwrap();
    assert_eq!(answer["found"], again["found"]);
}

#[test]
fn the_object_of_a_method_is_rebuilt_from_a_state() {
    let (repo, run_folder, at) = recorded();
    // After the second withdrawal: the object holds what the first one left, less what this one took.
    let state = format!("{run_folder}@{}", at("return self.balance", 1));
    let args = [
        "infer",
        "--state",
        &state,
        "--from",
        "search",
        "--seconds",
        "40",
        "--pytest",
    ];
    let done = run(&repo, &args);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(
        done.out
            .contains("rebuilt(Account, owner='Ann', balance=69, log=[31])"),
        "{}{}",
        done.out,
        done.err
    );
    assert!(
        done.err.contains("recorded: rebuilt(Account"),
        "{}",
        done.err
    );
    repo.write("test_found.py", &done.out);
    let passed = repo
        .isolated(Venv::Plain.python())
        .args([
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "test_found.py",
        ])
        .current_dir(repo.root())
        .output()
        .unwrap();
    assert!(passed.status.success(), "{}", done.out);
}

#[test]
fn what_a_test_gave_the_function_is_tried_first() {
    let (repo, run_folder, _) = recorded();
    // Nobody guesses a word by its digest.
    let goal = [
        "infer",
        "bank.py::unlock",
        "--returns",
        "'open'",
        "--from",
        "search",
    ];
    let done = run(&repo, &[&goal[..], &["--executions", "2000"]].concat());
    assert_eq!(done.code, Some(1), "{}", done.out);
    let done = run(&repo, &[&goal[..], &["--recording", &run_folder]].concat());
    assert_eq!(done.out, "unlock('test')\n", "{}", done.err);
    assert!(done.err.contains("by recorded calls"), "{}", done.err);
    let done = run(
        &repo,
        &[&goal[..], &["--test", "test_bank.py::test_unlock"]].concat(),
    );
    assert_eq!(done.out, "unlock('test')\n", "{}", done.err);
}

#[test]
fn states_that_lead_nowhere_are_explained() {
    let (repo, run_folder, at) = recorded();
    let event = at("points = sum", 0);
    let call = format!("{run_folder}@{}", event - 2);
    let line = format!("{run_folder}@{event}");
    let said = |args: &[&str]| {
        let done = run(&repo, &[&["infer"], args].concat());
        assert_eq!(done.code, Some(2), "{}{}", done.out, done.err);
        assert_eq!(done.out, "");
        done.err
    };
    for (state, words) in [
        (call.as_str(), "is the call of `score` itself"),
        (&format!("{run_folder}@99999"), "there is no event 99999"),
        (&format!("{run_folder}@x"), "is no event of a recording"),
        ("nothing.ndbg@3", "nothing.ndbg: No such file"),
    ] {
        let text = said(&["--state", state]);
        assert!(text.contains(words), "{text}");
    }
    let text = said(&["--state", &line, "--test", "test_bank.py::test_withdraw"]);
    assert!(
        text.contains("belongs to the test `test_bank.py::test_score`"),
        "{text}"
    );
    let text = said(&["bank.py::unlock", "--state", &line]);
    assert!(text.contains("the event is in `score`"), "{text}");
    let text = said(&[
        "--state",
        &line,
        "--repo",
        repo.outside("elsewhere").as_str(),
    ]);
    assert!(text.contains("is not there"), "{text}");
    repo.write("bank.py", format!("# new\n{BANK}"));
    let text = said(&["--state", &line]);
    assert!(text.contains("has changed since it was recorded"), "{text}");
}
