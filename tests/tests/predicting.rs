//! Predicting calls: `simulate` and `debug --predict`.
//!
//! The oracle stands in for a model where a test is about the way and not about how good a model is:
//! every answer is then right, and so must every state be.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::io::Write as _;
use std::process::{Command, Stdio};

use ndbg_tests::{Repo, Venv, binary};
use serde_json::Value as Json;

const SHOP: &str = "\
class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def pay(self, amount):
        if amount > self.balance:
            raise ValueError(f'{self.owner} has only {self.balance}')
        self.balance -= amount
        return self.balance


def shop(prices):
    a = Account('Ann', 10)
    paid = []
    for p in prices:
        try:
            a.pay(p)
        except ValueError as error:
            paid.append(str(error))
            break
        else:
            paid.append(p)
    return a.balance, paid


def words(text):
    out = {}
    for w in text.split():
        if w in out:
            out[w] += 1
        else:
            out[w] = 1
    return sorted(out.items(),
                  key=lambda p: (-p[1], p[0]))


def roll(n):
    import random
    return random.randint(1, n)
";

/// What a call of the program gave.
struct Done {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn call(repo: &Repo, args: &[&str], input: &str) -> Done {
    let mut command: Command = repo.isolated(binary::path());
    let mut child = command
        .args(args)
        .current_dir(repo.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends without reading closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let done = child.wait_with_output().unwrap();
    Done {
        code: done.status.code(),
        stdout: String::from_utf8(done.stdout).unwrap(),
        stderr: String::from_utf8(done.stderr).unwrap(),
    }
}

fn simulated(repo: &Repo, expression: &str, more: &[&str]) -> Done {
    let python = Venv::Plain.python();
    let mut args = vec![
        "simulate",
        "shop.py",
        "--call",
        expression,
        "--python",
        python.as_str(),
    ];
    args.extend(more);
    call(repo, &args, "")
}

fn shop() -> Repo {
    Repo::without_git(&[("shop.py", SHOP)])
}

#[test]
fn what_the_oracle_says_is_what_happens() {
    let repo = shop();
    for expression in [
        "shop([3, 4, 9])",
        "shop([])",
        "words('b a b')",
        "words(3)",
        "shop(prices=[10, 1])",
    ] {
        let done = simulated(&repo, expression, &["--model", "oracle", "--check"]);
        assert_eq!(
            done.code,
            Some(0),
            "{expression}\n{}\n{}",
            done.stdout,
            done.stderr
        );
        assert!(
            done.stdout.contains("the prediction is what happened"),
            "{}",
            done.stdout
        );
        let widest = done.stdout.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{}", done.stdout);
    }
}

#[test]
fn actions_lead_to_single_states() {
    let repo = shop();
    let states = |action: &[&str]| -> Vec<Json> {
        let mut more = vec!["--model", "oracle", "--json"];
        more.extend(action);
        let done = simulated(&repo, "shop([3, 4, 9])", &more);
        let lines = done.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let at = states(&["--break", "20"]);
    assert_eq!(at.len(), 2);
    assert_eq!(at[0]["locals"]["p"], "9");
    assert_eq!(at[0]["locals"]["paid"], "[3, 4]");
    assert_eq!(at[1]["ended"], "returned");
    assert_eq!(at[1]["value"], "(3, [3, 4, 'Ann has only 3'])");
    let into = states(&["--step-into", "2"]);
    assert_eq!(
        (&into[0]["function"], &into[0]["event"]),
        (&"Account.__init__".into(), &"call".into())
    );
    let over = states(&["--step-over", "2"]);
    assert_eq!(over[0]["line"], 15);
    let returned = states(&["--step-return"]);
    assert_eq!(returned[0]["value"], "(3, [3, 4, 'Ann has only 3'])");
    assert_eq!(states(&["--continue"]).len(), 1);
    let missed = simulated(&repo, "shop([])", &["--model", "oracle", "--break", "20"]);
    assert_eq!(missed.code, Some(1));
    assert!(
        missed.stdout.contains("does not get there"),
        "{}",
        missed.stdout
    );
}

#[test]
fn what_cannot_be_known_is_said_and_not_invented() {
    let repo = shop();
    let done = simulated(&repo, "roll(6)", &["--model", "oracle"]);
    assert!(
        done.stdout.contains("unknown"),
        "{}\n{}",
        done.stdout,
        done.stderr
    );
    assert!(!done.stdout.contains("returns"), "{}", done.stdout);
}

#[test]
fn wrong_questions_get_hints() {
    let repo = shop();
    std::fs::write(repo.root().join("broken.py"), "def f(:\n").unwrap();
    let cases: [(&[&str], &str); 7] = [
        (
            &["simulate", "broken.py", "--call", "f()"],
            "does not parse: line 1",
        ),
        (&["simulate", "nowhere.py", "--call", "f()"], "nowhere.py"),
        (
            &["simulate", "shop.py", "--call", "shop("],
            "the call does not parse",
        ),
        (
            &[
                "simulate",
                "shop.py",
                "--call",
                "shop(1, 2)",
                "--model",
                "oracle",
            ],
            "takes 1 positional",
        ),
        (
            &[
                "simulate", "shop.py", "--call", "shopp(1)", "--model", "oracle",
            ],
            "is not defined",
        ),
        (
            &[
                "simulate",
                "shop.py",
                "--call",
                "shop([])",
                "--threshold",
                "2",
            ],
            "between 0 and 1",
        ),
        (
            &[
                "simulate",
                "shop.py",
                "--call",
                "shop([])",
                "--model",
                "no/such/folder",
            ],
            "no/such/folder",
        ),
    ];
    for (args, text) in cases {
        let done = call(&repo, args, "");
        assert_eq!(
            done.code,
            Some(2),
            "{args:?}\n{}\n{}",
            done.stdout,
            done.stderr
        );
        assert!(done.stderr.contains(text), "{args:?}\n{}", done.stderr);
        assert_eq!(done.stdout, "", "{args:?}");
    }
}

#[test]
fn a_predicted_run_is_stepped_through_and_changed() {
    let repo = shop();
    let python = Venv::Plain.python();
    let args = [
        "debug",
        "--predict",
        "shop.py",
        "--call",
        "shop([3, 4, 9])",
        "--model",
        "oracle",
        "--python",
        python.as_str(),
    ];
    let commands =
        "b 20\nc\np p\nrn\nset p = 1\nb 25\nc\np paid\nset nope = 3\nset p 3\nset p = x\nq\n";
    let done = call(&repo, &args, commands);
    assert_eq!(done.code, Some(0), "{}\n{}", done.stdout, done.stderr);
    for text in [
        "predicted by oracle",
        "predicted 1.00",
        "(ndbg) p p\n9\n",
        "`nope` is not bound here",
        "`set` needs a name and a value",
        "a value is a literal",
    ] {
        assert!(
            done.stdout.contains(text),
            "no `{text}` in\n{}",
            done.stdout
        );
    }
    assert!(
        done.stdout.contains("(ndbg) p paid\n[3, 4, 1]\n") || done.stdout.contains("[3, 4, 9]"),
        "{}",
        done.stdout
    );
}

#[test]
fn a_recording_cannot_be_changed() {
    let repo = shop();
    let python = Venv::Plain.python();
    std::fs::write(
        repo.root().join("run.py"),
        "from shop import words\n\nwords('a b')\n",
    )
    .unwrap();
    let done = call(
        &repo,
        &["debug", "--python", python.as_str(), "run.py"],
        "s\nset text = 'x'\nq\n",
    );
    assert!(
        done.stdout.contains("only a prediction can be changed"),
        "{}\n{}",
        done.stdout,
        done.stderr
    );
}

#[test]
fn the_embedded_model_predicts_out_of_the_box_and_says_how_sure_it_is() {
    let repo = shop();
    let keep = "\
def keep(xs):
    ys = []
    for x in xs:
        if x > 1:
            ys.append(x)
    return len(ys)
";
    repo.write("keep.py", keep);
    let args = [
        "simulate",
        "keep.py",
        "--call",
        "keep([1, 2, 3])",
        "--threshold",
        "0.1",
        "--json",
    ];
    let done = call(&repo, &args, "");
    assert_eq!(done.code, Some(0), "{}\n{}", done.stdout, done.stderr);
    let last: Json = serde_json::from_str(done.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["ended"], &last["value"]),
        (&"returned".into(), &"2".into()),
        "{}",
        done.stdout
    );
    let confidence = last["confidence"].as_f64().unwrap();
    assert!(confidence > 0.1 && confidence < 1.0, "{confidence}");
}
