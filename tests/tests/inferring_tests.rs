//! `infer --pytest`: what is written is run by pytest, as it is.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::{Repo, Venv, binary};

const FORMS: &str = "\
import asyncio
import dataclasses
import datetime as dt
import enum
import json
from decimal import Decimal


class _Kind(enum.Enum):
    A = 1
    B = 2


@dataclasses.dataclass
class _Pt:
    x: int
    kind: _Kind


class Cart:
    def __init__(self, owner, count):
        self.owner = owner
        self.count = count

    @property
    def size(self):
        return self.count * 2

    def grown(self, by: int):
        return Cart(self.owner, self.count + by)


async def later(n):
    await asyncio.sleep(0)
    return n + 1


def steps(n):
    for number in range(n):
        yield number


def endless(n):
    while True:
        yield n


def chosen(point: _Pt):
    return 'yes' if point.kind is _Kind.B and point.x > 3 else 'no'


def moved(point: _Pt):
    return _Pt(point.x + 1, point.kind)


def options(**named):
    if named.get('depth', 0) > 17:
        raise KeyError('depth')
    return len(named)


def read(text):
    return json.loads(text)['rate'] + 1


def heavy(points: list[_Pt]):
    return 'heavy' if len(points) > 2 and sum(p.x for p in points) > 100 else 'light'


def due(day: dt.date):
    return 'leap' if (day.month, day.day) == (2, 29) else 'plain'


def rich(amount: Decimal):
    return amount > Decimal('99.5')


def encoded(text):
    return text.encode()


def limit(x):
    return 'over' if x > 500.5 else 'under'
";

const NEW: &str = "\
def number(x):
    return 1


def nothing(x):
    return x if x != 7 else float('nan')


def cleared(items):
    items.clear()
    return None


def failing(x):
    if x > 10:
        raise KeyError(x)
    return x


def picky(name: str, count: int):
    if count > 40:
        return name + '!'
    return name[count]
";

const OLD: &str = "\
def number(x):
    return 1.0


def nothing(x):
    return x


def cleared(items):
    del items[1:]
    return None


def failing(x):
    if x > 10:
        raise LookupError(x)
    return x


def picky(name: str, count: int):
    if not isinstance(name, str):
        raise ValueError(name)
    if count > 41:
        return name + '!'
    return name[count]
";

fn repo() -> Repo {
    Repo::without_git(&[
        ("forms.py", FORMS),
        ("my-mod.py", FORMS),
        ("class.py", FORMS),
        ("new.py", NEW),
        ("old.py", OLD),
    ])
}

fn run(repo: &Repo, program: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let done = repo
        .isolated(program)
        .args(args)
        .current_dir(repo.root())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

fn infer(repo: &Repo, args: &[&str]) -> String {
    let python = Venv::Plain.python();
    let common = ["--python", python.as_str(), "--from", "search"];
    let args = [&["infer"], args, &common].concat();
    let (code, out, err) = run(repo, binary::path().as_ref(), &args);
    assert_eq!(code, Some(0), "{args:?}: {err}");
    assert!(!err.contains("depends on earlier calls"), "{args:?}: {err}");
    out
}

fn pytest(repo: &Repo, file: &str) -> (bool, String) {
    let python = Venv::Plain.python();
    let args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", file];
    let (code, out, _) = run(repo, python.as_str(), &args);
    (code == Some(0), out)
}

#[test]
fn what_is_written_passes_and_no_call_goes_without_an_assertion() {
    let repo = repo();
    for (number, (target, goal, value, part)) in [
        (
            "forms.py::later",
            "--returns",
            "4",
            "asyncio.run(later(3)) == 4",
        ),
        (
            "forms.py::steps",
            "--returns",
            "[0, 1]",
            "list(steps(2)) == [0, 1]",
        ),
        (
            "forms.py::endless",
            "--reaches",
            "45",
            "itertools.islice(endless(",
        ),
        ("forms.py::Cart.size", "--returns", "154", ".size == 154"),
        (
            "forms.py::Cart.grown",
            "--reaches",
            "30",
            "assert result.count == ",
        ),
        (
            "forms.py::chosen",
            "--returns",
            "'yes'",
            "chosen(_Pt(4, _Kind.B)) == 'yes'",
        ),
        ("forms.py::moved", "--reaches", "53", "== _Pt(x=1, "),
        (
            "my-mod.py::chosen",
            "--returns",
            "'yes'",
            "import_module(\"my-mod\")",
        ),
        (
            "class.py::chosen",
            "--returns",
            "'yes'",
            "import_module(\"class\")",
        ),
        (
            "forms.py::options",
            "--raises",
            "KeyError",
            "options(depth=18)",
        ),
        ("forms.py::read", "--returns", "8", "\"rate\""),
        (
            "forms.py::read",
            "--raises",
            "ValueError",
            "__qualname__ == 'JSONDecodeError'",
        ),
        ("forms.py::heavy", "--returns", "'heavy'", "[_Pt("),
        ("forms.py::due", "--returns", "'leap'", "dt.date("),
        ("forms.py::rich", "--returns", "True", "rich(Decimal('"),
        (
            "forms.py::encoded",
            "--raises",
            "UnicodeEncodeError",
            "\\ud",
        ),
        ("forms.py::limit", "--returns", "'over'", "limit(501)"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = infer(&repo, &[target, goal, value, "--pytest"]);
        assert!(file.contains(part), "{part}: {file}");
        let calls = file.matches("\ndef test_").count();
        let checks = file.matches("assert ").count() + file.matches("raises(").count();
        assert!(calls >= 1 && checks >= calls, "{file}");
        let name = format!("test_{number}.py");
        repo.write(&name, &file);
        let (passed, said) = pytest(&repo, &name);
        assert!(passed, "{file}\n{said}");
    }
}

#[test]
fn printed_calls_do_what_is_claimed_when_they_are_pasted() {
    let repo = repo();
    for (target, value) in [
        ("forms.py::later", "4"),
        ("forms.py::steps", "[0, 1]"),
        ("forms.py::Cart.size", "154"),
        ("forms.py::due", "'leap'"),
    ] {
        let calls = infer(&repo, &[target, "--returns", value]);
        for call in calls.lines() {
            let code = format!("from forms import *\nassert ({call}) == {value}");
            let python = Venv::Plain.python();
            let (code, _, err) = run(&repo, python.as_str(), &["-c", &code]);
            assert_eq!(code, Some(0), "{call}: {err}");
        }
    }
}

#[test]
fn tests_of_a_difference_expect_the_other_version_and_fail_on_this_one() {
    let repo = repo();
    for (function, part) in [
        ("number", "repr(1.0)"),
        ("nothing", "nothing(7) == 7"),
        ("cleared", "repr((places, named)) == repr(([1], {}))"),
        ("failing", "__qualname__ == 'LookupError'"),
        // Not that texts are no numbers: that only says that nobody would call it so.
        ("picky", "picky("),
    ] {
        let (target, other) = (format!("new.py::{function}"), format!("old.py::{function}"));
        let args = [&target, "--differs", &other, "--pytest", "--count", "1"];
        let file = infer(&repo, &args);
        assert!(
            file.contains(&format!("Expected values are those of old.py::{function}")),
            "{file}"
        );
        if function != "cleared" {
            assert!(file.contains(part), "{part}: {file}");
        }
        repo.write("test_new.py", &file);
        repo.write(
            "test_old.py",
            file.replace("from new import", "from old import"),
        );
        let (passed, said) = pytest(&repo, "test_new.py");
        assert!(!passed && said.contains("1 failed"), "{file}\n{said}");
        let (passed, said) = pytest(&repo, "test_old.py");
        assert!(passed, "{file}\n{said}");
    }
}

#[test]
fn both_versions_returning_comes_before_exceptions() {
    let repo = repo();
    let call = infer(
        &repo,
        &[
            "new.py::picky",
            "--differs",
            "old.py::picky",
            "--count",
            "1",
        ],
    );
    assert!(
        call.starts_with("picky('") && call.contains(", 41)"),
        "{call}"
    );
}
