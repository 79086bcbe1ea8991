"""Executing a user's function with many inputs."""

import json
import os
import subprocess
import sys
import time

import pytest
from conftest import TOOLS

MODULE = '''
import dataclasses
import enum
import os
import socket
import sys
import time

LIMIT = 17
calls = []


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Empty(KeyError):
    pass


class Stack:
    """Items."""

    def __init__(self, items=()):
        self.__items = list(items)

    def pop(self):
        if not self.__items:
            raise Empty("nothing")
        return self.__items.pop()

    @classmethod
    def of(cls, *items):
        return len(cls(items).__items)

    @staticmethod
    def twice(x):
        return x + x


def plain(a, b=3, *rest, k=None, **more):
    """The word 'secret' is no literal of the code."""
    if a > 10 and b == 7:
        if k is not None:
            return "deep"
    elif rest:
        for item in rest:
            if item.startswith("ab"):
                return "rest"
    try:
        return more["key"]
    except KeyError:
        return a


def area(color: Color, point: Point):
    return point.x * point.y if color is Color.RED else None


def forever(x):
    while x:
        pass


def stubborn(x):
    while x:
        try:
            while True:
                pass
        except BaseException:
            pass


def leave(x):
    os._exit(x)


def stop(x):
    sys.exit(x)


def hungry(x):
    return len("a" * x)


def deep(x):
    return deep(x + 1)


def loud(x):
    print("x" * x)
    sys.stderr.write("y" * x)
    return x


def write(path):
    with open(path, "w") as file:
        file.write("x")
    return os.listdir(".")


def hidden(path):
    try:
        os.remove(path)
    except OSError:
        return "nothing happened"


def call_out(port):
    socket.create_connection(("127.0.0.1", port))


def numbers(n):
    for number in range(n):
        yield number * 2


async def later(x):
    return x + 1


def remember(x):
    calls.append(x)
    return len(calls)


def ask():
    return input()
'''


class Executor:
    def __init__(self, folder, function, goal, path="m.py", each=0.05, text=MODULE, settings=()):
        self.file = folder / path
        self.file.write_text(text)
        environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-s", os.path.join(TOOLS, "ndbg_execute.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=str(folder),
            env=environment,
        )
        settings = {
            "subject": {"file": str(self.file), "function": function, "root": str(folder)},
            "goal": goal,
            "each": each,
            "memory": 1 << 29,
            "folder": str(folder / "calls"),
            **dict(settings),
        }
        self.first = self.say(settings)

    def say(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline().decode())

    def __call__(self, *arguments, receiver=None):
        return self.say([[receiver, text] for text in arguments])

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(10)


@pytest.fixture
def execute(tmp_path):
    started = []

    def start(function, goal=None, **options):
        started.append(Executor(tmp_path, function, goal or {"kind": "Any"}, **options))
        return started[-1]

    yield start
    for executor in started:
        executor.end()


def line_of(text):
    return 1 + next(n for n, line in enumerate(MODULE.splitlines()) if text in line)


def outcomes(results):
    return [result[0] for result in results]


def test_calls_return_raise_or_cannot_be_built(execute):
    run = execute("plain")
    results = run("1", "b=2", "1, **{'key': [1]}", "1 +", "unknown")
    assert outcomes(results)[0] == ["returned", "1", False]
    assert outcomes(results)[1][0] == "unbuildable"
    assert outcomes(results)[2] == ["returned", "[1]", False]
    assert outcomes(results)[3][0] == outcomes(results)[4][0] == "unbuildable"


def test_the_function_is_described(execute):
    described = execute("plain").first["ready"]
    kinds = [(one["name"], one["kind"], one["required"]) for one in described["parameters"]]
    assert kinds == [
        ("a", "Positional", True),
        ("b", "Positional", False),
        ("rest", "Star", True),
        ("k", "Keyword", False),
        ("more", "StarStar", True),
    ]
    assert {"'ab'", "7", "'deep'", "17"} <= set(described["literals"])
    assert not any("secret" in text for text in described["literals"])
    classes = {one["name"]: one for one in described["classes"]}
    assert classes["Color"]["members"] == ["Color.RED", "Color.BLUE"]
    assert [one["annotation"] for one in classes["Point"]["parameters"]] == ["int", "int"]
    assert "Empty" not in classes and "Stack" in classes


def test_methods_of_each_kind(execute):
    pop = execute("Stack.pop", {"kind": "Raises", "class": "KeyError"})
    assert pop.first["ready"]["receiver"] == "Stack"
    assert [r[1] for r in pop("", receiver="Stack([1])")] == [False]
    raised = pop("", receiver="Stack()")[0]
    assert raised[1] and raised[0][:2] == ["raised", "Empty"]
    of = execute("Stack.of")
    assert of.first["ready"]["receiver"] is None
    assert outcomes(of("1, 2")) == [["returned", "2", False]]
    assert outcomes(execute("Stack.twice")("'a'")) == [["returned", "'aa'", False]]


def test_objects_of_the_module_are_built_in_calls(execute):
    run = execute("area", {"kind": "Returns", "value": "6"})
    results = run("Color.RED, Point(2, 3)", "Color.BLUE, Point(2, y=3)")
    assert [result[1] for result in results] == [True, False]


@pytest.mark.parametrize(
    "value, arguments, reached",
    [
        ("3", "3", True),
        ("3", "3.0", False),
        ("True", "1", False),
        ("{1, 2}", "{2, 1}", True),
        ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", True),
        ("[1, 'a']", "[1, 'a']", True),
        ("[1, 1]", "[True, 1.0]", False),
        ("{'a': 1}", "{'a': True}", False),
        ("None", "None", True),
    ],
)
def test_a_value_is_reached_by_its_equal_of_the_same_type(execute, value, arguments, reached):
    run = execute("plain", {"kind": "Returns", "value": value})
    if arguments[0] in "[{N":
        arguments = "1, **{'key': " + arguments + "}"
    assert run(arguments)[0][1] is reached


@pytest.mark.parametrize(
    "function, arguments, kind",
    [
        ("forever", "1", "long"),
        ("stubborn", "1", "long"),
        ("leave", "3", "killed"),
        ("hungry", "10 ** 10", "raised"),
        ("deep", "1", "raised"),
        ("stop", "1", "raised"),
        ("ask", "", "raised"),
    ],
)
def test_what_goes_wrong_is_the_fault_of_one_call(execute, function, arguments, kind):
    run = execute(function)
    fine = "0" if function in ("forever", "stubborn", "hungry") else arguments
    found = outcomes(run(fine, arguments, fine))
    assert found[1][0] == kind
    if fine == "0":
        assert found[0][0] == found[2][0] == "returned"


def test_a_long_instruction_is_ended_from_outside(execute):
    begin = time.monotonic()
    run = execute("hungry")
    assert outcomes(run("sum(range(10 ** 12)) or 1", "2"))[1] == ["returned", "2", False]
    assert time.monotonic() - begin < 20


def test_an_exception_before_the_function_begins_is_none_of_its_own(execute):
    run = execute("area", {"kind": "Raises", "class": "TypeError"})
    results = run("1, 2, 3", "", "Color.RED, Point('a', 'b')")
    assert [result[1] for result in results] == [False, False, True]
    assert outcomes(results)[0][0] == "unbuildable"


def test_results_that_are_no_literals_have_a_text(execute):
    source = MODULE + "\n\ndef same(x):\n    return [x]\n"
    text = outcomes(execute("same", text=source)("Point(1, 2)"))[0]
    assert text[0] == "returned" and "Point" in text[1] and "0x" not in text[1]


def test_chance_is_the_same_each_time(execute):
    source = "import random\n\n\ndef f(n):\n    return random.random()\n"
    found = outcomes(execute("f", text=source)("1", "1"))
    assert found[0] == found[1]


def test_output_does_not_disturb_the_answers(execute):
    assert outcomes(execute("loud")("3", "100000"))[1] == ["returned", "100000", False]


def test_files_are_written_in_a_folder_that_is_emptied_and_nowhere_else(execute, tmp_path):
    run = execute("write")
    inside, outside = outcomes(run("'here'", repr(str(tmp_path / "there"))))
    assert inside == ["returned", "['here']", False]
    assert outside[0] == "refused" and "outside" in outside[1]
    assert not (tmp_path / "there").exists()
    run.end()
    assert os.listdir(str(tmp_path / "calls")) == []


def test_what_is_refused_is_said_even_where_the_code_hides_it(execute, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("x")
    assert outcomes(execute("hidden")(repr(str(victim))))[0][0] == "refused"
    assert victim.exists()
    assert outcomes(execute("call_out")("9"))[0] == ["refused", "the network"]


def test_generators_and_coroutines_are_run_to_their_end(execute):
    assert outcomes(execute("numbers")("3"))[0] == ["returned", "[0, 2, 4]", False]
    assert outcomes(execute("later")("3"))[0] == ["returned", "4", False]


def test_distances_fall_on_the_way_to_a_line(execute):
    run = execute("plain", {"kind": "Reaches", "line": line_of('return "deep"')})
    far = [r[2] for r in run("1", "9", "11", "11, 6", "11, 7", "11, 7, k=1")]
    assert far == sorted(far, reverse=True) and len(set(far)) == len(far)
    assert far[-1] == 0.0
    run = execute("plain", {"kind": "Reaches", "line": line_of('return "rest"')})
    far = [r[2] for r in run("1", "1, 2, ''", "1, 2, 'x'", "1, 2, 'ax'", "1, 2, 'abx'")]
    assert far == sorted(far, reverse=True)
    assert far[-1] == 0.0 < far[-2] < far[0]


def test_a_condition_at_a_line_is_measured_there(execute):
    goal = {"kind": "Where", "line": line_of("return a"), "predicate": "a == 5 and len(rest) == 2"}
    run = execute("plain", goal)
    results = run("1", "5", "5, 2, 'x', 'y'", "3, 2, 'x', 'y'")
    assert [r[1] for r in results] == [False, False, True, False]


def test_two_versions_are_compared(execute, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("def plain(a, b=3, *rest, k=None, **more):\n    return 5 if a == 4 else a\n")
    subject = {"file": str(other), "function": "plain", "root": str(tmp_path)}
    run = execute("plain", {"kind": "Differs", "subject": subject})
    same, differs = run("1", "4")
    assert not same[1] and differs[1]
    assert differs[5] == ["returned", "5", False]


@pytest.mark.parametrize(
    "function, goal, kind, text, near",
    [
        ("plane", {"kind": "Any"}, "function", "no function `plane`", "plain"),
        ("Stack", {"kind": "Any"}, "function", "is a class", "Stack.pop"),
        ("plain", {"kind": "Reaches", "line": 1}, "line", "no code", "line"),
        ("plain", {"kind": "Reaches", "line": 9999}, "line", "no code", "line"),
        ("plain", {"kind": "Raises", "class": "KeyEror"}, "goal", "no exception", "KeyError"),
        (
            "plain",
            {"kind": "Where", "line": 53, "predicate": "a >"},
            "goal",
            "is no expression",
            None,
        ),
    ],
)
def test_what_cannot_be_done_is_said_with_what_may_be_meant(
    execute, function, goal, kind, text, near
):
    first = execute(function, goal).first
    assert first["problem"] == kind and text in first["text"]
    assert near is None or any(near in name for name in first["near"])


@pytest.mark.parametrize(
    "source, kind, text",
    [
        ("def f(:\n", "syntax", "line 1"),
        ("import nothing_like_it\n\ndef f(): pass\n", "import", "nothing_like_it"),
        ("def f(): pass\nraise ValueError('no')\n", "import", "ValueError: no"),
        ("import os\ndef f(): pass\nos._exit(1)\n", "import", "ends its process"),
    ],
)
def test_a_file_that_cannot_be_imported_says_why(execute, source, kind, text):
    first = execute("f", text=source).first
    assert first["problem"] == kind and text in first["text"]


SAMPLES = """
def chained(a, b):
    if 0 < a < b <= 10:
        return "in"
    return "out"


def short(a, b):
    if a and b[a] or not b:
        return 1
    return [x for x in b if x is not None and x > a]


def bound(a):
    if (n := len(str(a))) > 2 and n % 2 == 0:
        return n
    while a and (a := a - 3) > 0:
        pass
    return a


class Odd:
    def __init__(self, log):
        self.log = log

    def __bool__(self):
        self.log.append("bool")
        return False

    def __eq__(self, other):
        self.log.append("eq")
        return self

    def startswith(self, text):
        self.log.append(text)
        return True


def odd(a):
    log = []
    thing = Odd(log)
    if thing == a:
        log.append("equal")
    if not thing and a:
        log.append("false")
    if thing.startswith("x"):
        log.append("starts")
    assert a != 99, "assertion"
    return log, (1 if thing else 2), [c for c in str(a) if c in "12"]


class Base:
    LIMIT = 3
    if LIMIT > 2 and LIMIT < 5 or LIMIT == 9:
        WORD = "class"

    def ok(self):
        return True


class Derived(Base):
    def look(self, a):
        if a and super().ok() and "a" in locals():
            return self.WORD
        return "no"


def inherited(a):
    return Derived().look(a)


def tried(a):
    for item in a:
        try:
            if item / 2 == 1:
                continue
            elif isinstance(item, bool):
                raise ValueError(item)
        except TypeError:
            break
        except ValueError as error:
            return str(error)
        else:
            a = a[1:]
        finally:
            item = None
    else:
        return a
    return "broken"
"""


@pytest.mark.parametrize("function", ["chained", "short", "bound", "odd", "inherited", "tried"])
def test_measuring_conditions_does_not_change_what_a_function_does(execute, function):
    values = ["0", "1", "5", "12345", "-4", "99", "None", "''", "'12'", "[]", "[1, 2]", "[2, True]"]
    values += ["(1, None, 3)", "{'a': 1}", "[3, 'x']", "2.5", "[True]"]
    one = execute(function, {"kind": "Returns", "value": "'never'"}, text=SAMPLES)
    other = execute(function, {"kind": "Any"}, text=SAMPLES)
    count = 2 if function in ("chained", "short") else 1
    calls = values if count == 1 else [f"{a}, {b}" for a in values for b in values]
    assert outcomes(one(*calls)) == outcomes(other(*calls))
