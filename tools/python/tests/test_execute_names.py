"""What a user can name: functions of all kinds, lines, conditions; and what is told of them."""

import pytest
from test_execute import execute, outcomes  # noqa: F401

KINDS = """
import enum
import functools


class Base:
    def double(self):
        return self.x * 2

    def __secret(self):
        return 9


class Sq(Base):
    def __init__(self, x):
        self.x = x

    @property
    def area(self):
        if self.x > 100:
            return None
        return self.x**2

    @area.setter
    def area(self, value):
        if value < 0:
            raise ValueError(value)
        self.x = value

    @functools.cached_property
    def root(self):
        return self.x + 0.5

    @functools.singledispatchmethod
    def show(self, v):
        return "any"

    @show.register
    def _(self, v: int):
        return "int"

    def scale(self, k, n=1):
        return self.x * k + n

    triple = functools.partialmethod(scale, 3)
    most = functools.partial(max, 5)
    loose = lambda self, y: self.x + y

    class Error(Exception):
        def __init__(self, code):
            self.code = code

        def text(self):
            return str(self.code)


class Broken(Exception):
    def __init__(self, a):
        self.a = a

    def twice(self):
        return self.a * 2


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*a, **k):
        return function(*a, **k)

    return wrapper


@wrapped
def named(a, b=2, *, c=3):
    return a, b, c


@functools.lru_cache()
def cached(a):
    return a + 1


@wrapped
async def later(a):
    return a


@wrapped
def items(a):
    yield a


async def ticks(n):
    for i in range(n):
        yield i


partial = functools.partial(named, 3)
short = lambda q: q + 1
number = 3
"""


@pytest.mark.parametrize(
    "name, receiver, arguments, text, parameters",
    [
        ("Sq.double", "Sq(4)", "", "8", ""),
        ("Sq.area", "Sq(4)", "", "16", ""),
        ("Sq.area.getter", "Sq(4)", "", "16", ""),
        ("Sq.area.setter", "Sq(4)", "3", "None", "value"),
        ("Sq.root", "Sq(4)", "", "4.5", ""),
        ("Sq.show", "Sq(4)", "1", "'int'", "v"),
        ("Sq.show", "Sq(4)", "'a'", "'any'", "v"),
        ("Sq.triple", "Sq(4)", "5", "17", "n"),
        ("Sq.most", "Sq(4)", "7", "7", None),
        ("Sq.loose", "Sq(4)", "1", "5", "y"),
        ("Base.__secret", "Base()", "", "9", ""),
        ("Sq.Error.text", "Sq.Error(4)", "", "'4'", ""),
        ("Broken.twice", "Broken(4)", "", "8", ""),
        ("named", None, "1, c=4", "(1, 2, 4)", "a b c"),
        ("cached", None, "1", "2", "a"),
        ("later", None, "1", "1", "a"),
        ("items", None, "1", "[1]", "a"),
        ("ticks", None, "3", "[0, 1, 2]", "n"),
        ("partial", None, "4", "(3, 4, 3)", "b c"),
        ("short", None, "3", "4", "q"),
    ],
)
def test_functions_of_each_kind(
    execute,  # noqa: F811
    name,
    receiver,
    arguments,
    text,
    parameters,
):
    run = execute(name, {"kind": "Returns", "value": text}, text=KINDS)
    described = run.first["ready"]
    result = run(arguments, receiver=receiver)[0]
    assert result[0] == ["returned", text, False] and result[1]
    if parameters is not None:
        assert [one["name"] for one in described["parameters"]] == parameters.split()
    if receiver is not None:
        assert described["receiver"] == receiver.partition("(")[0]
        assert described["receiver"] in [one["name"] for one in described["classes"]]


def test_kinds_are_told(execute):  # noqa: F811
    told = {
        "Sq.area": "is_property",
        "Sq.root": "is_property",
        "Sq.area.setter": "is_setter",
        "later": "is_async",
        "items": "is_generator",
        "ticks": "is_async_generator",
        "named": None,
    }
    kinds = [kind for kind in told.values() if kind]
    for name, kind in told.items():
        described = execute(name, text=KINDS).first["ready"]
        assert {one for one in kinds if described[one]} == ({kind} if kind else set())


def test_the_lines_of_a_property_are_those_of_its_getter(execute):  # noqa: F811
    getter = execute("Sq.area", text=KINDS).first["ready"]["lines"]
    setter = execute("Sq.area.setter", text=KINDS).first["ready"]["lines"]
    assert getter[1] < setter[0]
    line = 1 + KINDS.splitlines().index("            return None")
    run = execute("Sq.area", {"kind": "Reaches", "line": line}, text=KINDS)
    assert [run("", receiver=f"Sq({x})")[0][1] for x in (4, 101)] == [False, True]


@pytest.mark.parametrize(
    "name, said",
    [
        ("Sq.nothing", "no function `Sq.nothing`"),
        ("number", "no function `number`"),
        ("Sq.root.setter", "no function"),
        ("Sq.area.deleter", "no function"),
        ("Sq", "is a class"),
        ("Wide.pop", "inherited from `collections.OrderedDict`"),
        ("Alias", "is a class"),
    ],
)
def test_what_is_no_function_is_told(execute, name, said):  # noqa: F811
    source = KINDS + "\n\nAlias = Sq\nimport collections\n"
    source += "\n\nclass Wide(collections.OrderedDict):\n    pass\n"
    first = execute(name, text=source).first
    assert first["problem"] == "function" and said in first["text"]


LINES = """\
import os
from os import path as place

G = 1


class K:
    attribute = 1

    def m(self, a, *rest, **named):
        try:
            with open(a) as opened:
                pass
        except OSError as error:
            b = 1
        def inner(z):
            return z
        if a == 5: c = 1; d = 2; return c
        return [
            q
            for q in a
        ], (lambda:
            a)


def outer(y):
    def middle(w):
        e = y + w
        return e
    return middle(y)


def g(x):
    global G
    n: int
    n = x
    t = pair(
        x,
        1,
    )
    return 10 / x


def pair(a, b):
    return a
"""


def at(text):
    return 1 + next(n for n, line in enumerate(LINES.splitlines()) if text in line)


def where(execute, function, text, condition):  # noqa: F811
    goal = {"kind": "Where", "line": at(text), "predicate": condition}
    return execute(function, goal, text=LINES)


@pytest.mark.parametrize(
    "condition",
    [
        "a",
        "rest and named",
        "opened",
        "error",
        "b",
        "inner",
        "G",
        "place",
        "K",
        "len",
        "self",
        "__file__",
        "c or d",
        "[v for v in a if v]",
        "(lambda u: u + a)(1)",
        "any(a == w for w in [1])",
    ],
)
def test_conditions_may_use_what_is_bound_somewhere(execute, condition):  # noqa: F811
    assert "ready" in where(execute, "K.m", "if a == 5", condition).first


@pytest.mark.parametrize(
    "condition, text, near",
    [
        ("nosuch", "`nosuch` is no name at line", None),
        ("G + nosuch", "`nosuch` is no name at line", None),
        ("nam", "`nam` is no name", "named"),
        ("z", "`z` is no name", None),
        ("e", "`e` is no name", None),
        ("[v for v in a] and v", "`v` is no name", None),
        ("(yield)", "suspend", None),
        ("a = 1", "no expression", None),
    ],
)
def test_conditions_with_names_that_nothing_binds_are_told(
    execute,  # noqa: F811
    condition,
    text,
    near,
):
    first = where(execute, "K.m", "if a == 5", condition).first
    assert first["problem"] == "goal" and text in first["text"], first
    assert near is None or near in first["near"]


def test_conditions_may_use_names_of_functions_around(execute):  # noqa: F811
    run = where(execute, "outer", "e = y + w", "y == 2 and w == 2")
    assert [result[1] for result in run("1", "2")] == [False, True]


def test_what_a_condition_raises_at_each_visit_is_told(execute):  # noqa: F811
    run = where(execute, "g", "return 10 / x", "1 / x > 0 and 1 / (x - 1) > 0")
    results = run("0", "2", "1", "-1")
    assert [result[1] for result in results] == [False, True, False, False]
    told = "ZeroDivisionError: division by zero"
    assert [result[6] for result in results] == [told, None, told, None]


@pytest.mark.parametrize("kind", ["Where", "Reaches"])
@pytest.mark.parametrize("text", ["            q", "            for q", "            a)"])
def test_lines_within_expressions_have_no_moment_of_their_own(execute, kind, text):  # noqa: F811
    goal = {"kind": kind, "line": at(text), "predicate": "a"}
    first = execute("K.m", goal, text=LINES).first
    assert first["problem"] == "line" and "before statements begin" in first["text"]
    assert first["near"] == [f"line {at('return [')}"]


def test_other_lines_of_a_statement_are_its_first(execute):  # noqa: F811
    for text in ("        1,", "    )"):
        run = execute("g", {"kind": "Reaches", "line": at(text)}, text=LINES)
        assert run("1")[0][1]


@pytest.mark.parametrize("text", ["    global G", "    n: int"])
def test_declarations_are_no_code(execute, text):  # noqa: F811
    first = execute("g", {"kind": "Reaches", "line": at(text)}, text=LINES).first
    assert first["problem"] == "line" and "no code" in first["text"]


def test_several_statements_of_a_line_begin_with_the_first(execute):  # noqa: F811
    source = "def f(x):\n    y = 0\n    if x == 5: y = 1; z = 2; return y\n    return 3\n"
    goal = {"kind": "Where", "line": 3, "predicate": "y == 0 and x == 4"}
    run = execute("f", goal, text=source)
    assert [result[1] for result in run("4", "5")] == [True, False]


UNSTEADY = """
import datetime
import os
import random as r
import time
import uuid
from datetime import datetime as dt
from random import choice
from time import monotonic as now

import numpy as np

SEED = r.random()


def draw():
    return choice([1, 2])


def by_hash(s): return hash(s) % 2
def by_id(s): return id(s) % 16
def by_pid(s): return os.getpid() % 2
def by_time(s): return time.time() % 2 < 1
def by_clock(s): return now()
def by_day(s): return datetime.date.today().day
def by_moment(s): return dt.now()
def by_uuid(s): return uuid.uuid4()
def by_bytes(s): return os.urandom(2)
def by_other(s): return draw()
def by_seed(s): return SEED > 0.5
def by_numpy(s): return np.random.rand()
def by_set(s):
    for item in set(s):
        return item
def by_list(s): return list({*s})[0]
def by_join(s: set): return ",".join(s)
def by_pop(s):
    t = set(s)
    return t.pop()
def by_comprehension(s): return [x for x in frozenset(s)]
def steady(s):
    t = set(s)
    found = sorted(t), len(t), "a" in t, sum(x for x in t), {x + 1 for x in t}
    return found, os.path.join("a", "b"), time.sleep(0), datetime.date(2020, 1, 1), t | {1}
def hashing(hash): return hash


class Die:
    def __init__(self):
        self.chance = r.Random()

    def roll(self): return self.chance.randint(1, 6)
"""


@pytest.mark.parametrize(
    "name, sources",
    [
        ("by_hash", ["hash"]),
        ("by_id", ["id"]),
        ("by_pid", ["os.getpid"]),
        ("by_time", ["time.time"]),
        ("by_clock", ["now"]),
        ("by_day", ["datetime.date.today"]),
        ("by_moment", ["dt.now"]),
        ("by_uuid", ["uuid.uuid4"]),
        ("by_bytes", ["os.urandom"]),
        ("by_other", ["choice"]),
        ("by_seed", ["r.random"]),
        ("by_numpy", ["np.random.rand"]),
        ("by_set", ["order of a set"]),
        ("by_list", ["order of a set"]),
        ("by_join", ["order of a set"]),
        ("by_pop", ["order of a set"]),
        ("by_comprehension", ["order of a set"]),
        ("steady", []),
        ("hashing", []),
        ("Die.roll", ["r.Random"]),
    ],
)
def test_what_differs_from_process_to_process_is_named(name, sources):
    import ast

    from ndbg_execute_bind import definition
    from ndbg_execute_unsteady import unsteady

    tree = ast.parse(UNSTEADY)
    assert unsteady(tree, definition(tree, name)) == sources


def test_objects_of_other_classes_are_no_objects_of_a_method(execute):  # noqa: F811
    text = "class A:\n    def f(self):\n        return 1\n\n"
    text += "class B(A):\n    pass\n\nclass C:\n    pass\n"
    run = execute("A.f", {"kind": "Reaches", "line": 3}, text=text)
    assert run("", receiver="B()")[0][1]
    result = run("", receiver="C()")[0]
    assert result[0] == ["unbuildable", "TypeError: an object of A is needed"]
    assert not result[1]


LOOPS = """\
def f(items):
    total = 0
    for item in items:
        if item < 0:
            continue
        total += item
    while total > 10:
        total -= 10
        if total == 15:
            continue
        for inner in [1, 2]:
            pass
    return total
"""


@pytest.mark.parametrize(
    "line, condition, arguments, reached",
    [
        # Before the first round, after each round, and after the last one.
        (3, "total == 0", "[]", True),
        (3, "total == 3", "[1, 2]", True),
        (3, "total == 1 and item == 1", "[1, 2]", True),
        (3, "total == 2", "[1, 2]", False),
        # Also where a round ends early.
        (3, "item == -1", "[-1]", True),
        (7, "total == 15", "[25]", True),
        (7, "total == 5", "[25]", True),
        (7, "total == 4", "[25]", False),
        # A `continue` of an inner loop is none of the outer one.
        (11, "inner == 2", "[12]", True),
        (6, "total == 1", "[1, 2]", True),
        (6, "item == -1", "[-1]", False),
    ],
)
def test_the_first_line_of_a_loop_runs_again_after_each_round(
    execute,  # noqa: F811
    line,
    condition,
    arguments,
    reached,
):
    run = execute("f", {"kind": "Where", "line": line, "predicate": condition}, text=LOOPS)
    assert run(arguments)[0][1] is reached
