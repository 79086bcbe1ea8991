//! `infer`: inputs with which a function does what it is asked to do. What is found is run again here.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::process::Output;

use ndbg_tests::{Repo, Venv, binary};
use serde_json::Value as Json;

const SHOP: &str = "\
import dataclasses
import enum
import socket


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


@dataclasses.dataclass
class Parcel:
    weight: int
    size: Size
    tags: list


class Full(ValueError):
    pass


class Shelf:
    def __init__(self, room):
        self.room = room
        self.parcels = []

    def put(self, parcel: Parcel):
        needed = 2 if parcel.size is Size.LARGE else 1
        if needed > self.room:
            raise Full(f'{parcel.weight} kg do not fit')
        self.room -= needed
        self.parcels.append(parcel)
        return self.room


def initials(name):
    return '.'.join(word[0].upper() for word in name.split()) + '.'


def postage(weight, *, express=False, country='de'):
    cents = 300
    if weight > 1234:
        cents += 500
        if country == 'nz' and express:
            return cents * 3
    return cents


def tokens(text):
    stack = []
    for letter in text:
        if letter in '([':
            stack.append(letter)
        elif letter == ')' and stack and stack[-1] == '(':
            stack.pop()
        elif letter == ']':
            stack.pop()
    return len(stack)


def fetch(host):
    socket.create_connection((host, 80))
    return 1


def spin(n):
    while n != 7:
        pass
    return 'lucky'
";

fn repo() -> Repo {
    Repo::without_git(&[("shop/__init__.py", ""), ("shop/post.py", SHOP)])
}

fn line_of(text: &str) -> String {
    let at = SHOP.lines().position(|line| line.contains(text)).unwrap();
    (at + 1).to_string()
}

fn infer(repo: &Repo, args: &[&str]) -> Output {
    let python = Venv::Plain.python();
    repo.isolated(binary::path())
        .arg("infer")
        .args(args)
        .args(["--python", python.as_str(), "--from", "search"])
        .current_dir(repo.root())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn found(repo: &Repo, args: &[&str]) -> String {
    let done = infer(repo, args);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(
        text(&done.stderr).contains("verified: "),
        "{}",
        text(&done.stderr)
    );
    text(&done.stdout)
}

/// What Python says of an expression, with everything of the module at hand.
fn python(repo: &Repo, expression: &str) -> String {
    let code = format!("from shop.post import *\nprint(repr({expression}))");
    let done = repo
        .isolated(Venv::Plain.python())
        .args(["-c", &code])
        .current_dir(repo.root())
        .output()
        .unwrap();
    text(&done.stdout) + text(&done.stderr).lines().last().unwrap_or_default()
}

#[test]
fn a_result_is_inverted_and_python_agrees() {
    let repo = repo();
    let calls = found(&repo, &["shop/post.py::initials", "--returns", "'A.B.C.'"]);
    let first = calls.lines().next().unwrap();
    assert_eq!(python(&repo, first).trim(), "'A.B.C.'", "{first}");
    // It was made as small as it can be: nothing but the letters and what separates them.
    assert!(first.len() <= "initials('a b c')".len(), "{first}");
    // Nothing is left behind.
    let mut names: Vec<String> = std::fs::read_dir(repo.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    assert_eq!(names, ["shop"]);
}

#[test]
fn a_line_behind_several_conditions_is_reached_by_keyword_arguments() {
    let repo = repo();
    let line = line_of("return cents * 3");
    let calls = found(&repo, &["shop/post.py::postage", "--reaches", &line]);
    let first = calls.split("  #").next().unwrap();
    assert_eq!(python(&repo, first).trim(), "2400", "{calls}");
}

#[test]
fn objects_of_dataclasses_and_enumerations_are_built() {
    let repo = repo();
    let calls = found(
        &repo,
        &[
            "shop/post.py::Shelf.put",
            "--raises",
            "Full",
            "--count",
            "1",
        ],
    );
    let first = calls.split("  #").next().unwrap();
    assert!(python(&repo, first).contains("Full: "), "{calls}");
    assert!(
        first.starts_with("Shelf(") && first.contains("Parcel("),
        "{calls}"
    );
    let line = line_of("self.room -= needed");
    let place = format!("line {line}: needed == 2 and self.room == 5");
    let calls = found(
        &repo,
        &["shop/post.py::Shelf.put", "--where", &place, "--count", "1"],
    );
    let first = calls.split("  #").next().unwrap();
    assert_eq!(python(&repo, first).trim(), "3", "{calls}");
}

#[test]
fn an_exception_that_no_statement_raises_is_found() {
    let repo = repo();
    let calls = found(&repo, &["shop/post.py::tokens", "--raises", "IndexError"]);
    let first = calls.split("  #").next().unwrap();
    assert!(python(&repo, first).contains("IndexError"), "{calls}");
}

#[test]
fn versions_that_differ_are_told_apart_and_equal_ones_are_not() {
    let repo = repo();
    repo.write(
        "shop/old.py",
        SHOP.replace("weight > 1234", "weight >= 1234"),
    );
    repo.write("shop/same.py", SHOP);
    let args = |other: &str| {
        [
            "shop/post.py::postage".to_owned(),
            format!("shop/{other}.py::postage"),
        ]
    };
    let [target, other] = args("old");
    let calls = found(&repo, &[&target, "--differs", &other]);
    assert!(
        calls.contains("postage(1234") && calls.contains("the other returns 800"),
        "{calls}"
    );
    let [target, other] = args("same");
    let done = infer(&repo, &[&target, "--differs", &other, "--seconds", "2"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        text(&done.stderr).contains("not found within the budget"),
        "{}",
        text(&done.stderr)
    );
}

#[test]
fn found_inputs_become_tests_that_pass() {
    let repo = repo();
    let file = found(
        &repo,
        &["shop/post.py::Shelf.put", "--raises", "Full", "--pytest"],
    );
    repo.write("test_found.py", &file);
    let file = found(
        &repo,
        &["shop/post.py::initials", "--returns", "'X.'", "--pytest"],
    );
    repo.write("test_found_too.py", &file);
    let done = repo
        .isolated(Venv::Plain.python())
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .current_dir(repo.root())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}{file}", text(&done.stdout));
}

#[test]
fn the_same_seed_finds_the_same() {
    let repo = repo();
    let args = [
        "shop/post.py::initials",
        "--returns",
        "'Q.R.'",
        "--seed",
        "5",
        "--json",
    ];
    let read = || -> Json { serde_json::from_str(&found(&repo, &args)).unwrap() };
    let (one, other) = (read(), read());
    assert_eq!(one["found"], other["found"]);
    assert_eq!(one["executions"], other["executions"]);
    assert_eq!(one["verified"], true);
}

#[test]
fn what_is_not_found_is_said_with_what_came_nearest_and_why() {
    let repo = repo();
    let said = |args: &[&str]| {
        let done = infer(&repo, args);
        assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
        assert_eq!(text(&done.stdout), "");
        text(&done.stderr)
    };
    let few = ["--executions", "300", "--seconds", "3"];
    let with = |args: &[&'static str]| [args, &few].concat();
    let text = said(&with(&["shop/post.py::initials", "--returns", "5"]));
    assert!(text.contains("nearest: initials("), "{text}");
    let text = said(&with(&["shop/post.py::fetch", "--returns", "1"]));
    assert!(text.contains("refused to calls: the network"), "{text}");
    let text = said(&with(&["shop/post.py::spin", "--returns", "'unlucky'"]));
    assert!(text.contains("not found within the budget"), "{text}");
}

#[test]
fn a_function_that_does_not_repeat_itself_is_not_believed() {
    let repo = repo();
    repo.write(
        "shop/chance.py",
        "import os\n\n\ndef coin(x):\n    return os.urandom(1)[0] % 2\n\n\ndef order(items):\n    \
         return ''.join(set('abcdef'))\n",
    );
    // Each new process has another order of sets.
    let args = ["shop/chance.py::order", "--returns"];
    let here = repo
        .isolated(Venv::Plain.python())
        .args(["-c", "print(repr(''.join(set('abcdef'))))"])
        .env("PYTHONHASHSEED", "0")
        .output()
        .unwrap();
    let order = text(&here.stdout);
    let done = infer(
        &repo,
        &[&args[..], &[order.trim(), "--seconds", "3"]].concat(),
    );
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
    assert!(
        text(&done.stderr).contains("not deterministic"),
        "{}",
        text(&done.stderr)
    );
}

#[test]
fn what_depends_on_earlier_calls_is_told_from_chance_and_searched_on() {
    let repo = repo();
    repo.write(
        "shop/state.py",
        "calls = 0\n\n\ndef counted(x):\n    global calls\n    calls += 1\n    \
         return 'many' if calls > 60 else 'few'\n\n\ndef either(x):\n    global calls\n    \
         calls += 1\n    return 'many' if calls > 60 or x == 'secret word' else 'few'\n",
    );
    let goal = ["--returns", "'many'", "--seconds", "8"];
    let done = infer(&repo, &[&["shop/state.py::counted"], &goal[..]].concat());
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("did it only after other calls"), "{said}");
    assert!(said.contains("in a new process it returns 'few'"), "{said}");
    assert!(!said.contains("not deterministic"), "{said}");
    let args = [&["shop/state.py::either", "--count", "1"], &goal[..]].concat();
    assert_eq!(found(&repo, &args), "either('secret word')\n");
}

#[test]
fn goals_are_spelled_as_in_source() {
    let repo = repo();
    repo.write("shop/same.py", "def same(x):\n    return x\n");
    for (goal, call) in [
        ("0x10", "same(16)\n"),
        ("1_000", "same(1000)\n"),
        ("'a' 'b'", "same('ab')\n"),
        (r"r'\d'", "same('\\\\d')\n"),
        ("1,2", "same((1, 2))\n"),
        ("-  5", "same(-5)\n"),
        ("float('inf')", "same(float('inf'))\n"),
        ("'a\u{202e}b'", "same('a\\u202eb')\n"),
    ] {
        let args = ["shop/same.py::same", "--returns", goal, "--count", "1"];
        assert_eq!(found(&repo, &args), call);
    }
}

#[test]
fn mistakes_of_the_command_line_are_explained() {
    let repo = repo();
    repo.write("broken.py", "def f(:\n");
    repo.write(
        "shop/short.py",
        "double = lambda x: 2 * x\n\n\ndef f(x): ...\n",
    );
    repo.write(
        "needs.py",
        "import nothing_of_the_kind\n\ndef f(x):\n    return x\n",
    );
    for (args, message, hint) in [
        (
            &["shop/post.py::initial", "--returns", "1"][..],
            "no function `initial`",
            "initials",
        ),
        (
            &["shop/post.py::Shelf", "--returns", "1"],
            "is a class",
            "Shelf.put",
        ),
        (
            &["shop/post.py::zebra", "--returns", "1"],
            "no function `zebra`",
            "functions of the file: ",
        ),
        (
            &["shop/pots.py::initials", "--returns", "1"],
            "there is no file",
            "near: shop/post.py",
        ),
        (&["shop::f", "--returns", "1"], "is a folder", ""),
        (
            &["shop/post.py::initials", "--returns", "nan"],
            "is a name",
            "float('nan')",
        ),
        (
            &["shop/post.py::initials", "--returns", "Size.LARGE"],
            "is a name",
            "--where",
        ),
        (
            &["shop/post.py::initials", "--returns", "[1, 2"],
            "not closed",
            "",
        ),
        (
            &["shop/post.py", "--returns", "1"],
            "names no function",
            "FILE.py::function",
        ),
        (
            &["shop/none.py::f", "--returns", "1"],
            "there is no file",
            "",
        ),
        (
            &["shop/post.py::initials", "--returns", "A.B."],
            "no Python literal",
            "quotes",
        ),
        (
            &["shop/post.py::initials", "--raises", "KeyEror"],
            "no exception",
            "KeyError",
        ),
        (
            &["shop/post.py::initials", "--reaches", "1"],
            "no code",
            "near: line",
        ),
        (
            &["shop/post.py::initials", "--where", "x > 3"],
            "no place",
            "line 42",
        ),
        (
            &["shop/post.py::initials", "--where", "line 37: x >"],
            "no expression",
            "",
        ),
        (
            &["broken.py::f", "--returns", "1"],
            "does not parse: line 1",
            "",
        ),
        (
            &["needs.py::f", "--returns", "1"],
            "nothing_of_the_kind",
            "--python",
        ),
        (&["shop/post.py::initials"], "required", ""),
        (
            &["shop/post.py::initials", "--returns", "1", "--seconds", "0"],
            "more than 0",
            "",
        ),
    ] {
        let done = infer(&repo, args);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.contains(message) && said.contains(hint),
            "{args:?}: {said}"
        );
        assert!(
            !said.contains("Traceback") && !said.contains("panicked"),
            "{said}"
        );
    }
}
