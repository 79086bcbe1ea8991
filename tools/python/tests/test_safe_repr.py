import ast
import collections
import enum
import sys

import pytest

import ndbg_safe_repr
from ndbg_safe_repr import describe, describe_state, safe_repr


class Hostile:
    """Everything that a user's class can do to someone who looks at it."""

    def __init__(self):
        object.__getattribute__(self, "__dict__")["held"] = 1

    def _refuse(self, *_):
        raise SystemExit("user code ran")

    __repr__ = __str__ = __len__ = __iter__ = __eq__ = __bool__ = __getattr__ = _refuse
    __hash__ = None

    def __getattribute__(self, name):
        raise KeyboardInterrupt("user code ran")

    @property
    def __class__(self):
        raise ValueError("user code ran")


class HostileType(type):
    def __repr__(cls):
        raise SystemExit

    @property
    def __name__(cls):
        raise SystemExit

    @property
    def __module__(cls):
        raise SystemExit


class Slotted:
    __slots__ = ("x", "unset")

    def __init__(self):
        self.x = 3


class HostileList(list):
    def __iter__(self):
        raise SystemExit

    def __len__(self):
        raise SystemExit

    __repr__ = __iter__


class HostileInt(int):
    def __repr__(self):
        raise SystemExit


class HostileDict(dict):
    def items(self):
        raise SystemExit

    __iter__ = __len__ = __repr__ = items


Color = enum.Enum("Color", "RED GREEN")
Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -7,
        1.5,
        2j,
        "it's",
        b"\x00",
        [1, [2, (3,)]],
        (),
        {},
        {"a": {1, 2}},
        {"b", "a"},
        10**30,
    ],
)
def test_builtin_values_are_literals_that_evaluate_back(value):
    text, lossy = safe_repr(value)
    assert not lossy
    assert ast.literal_eval(text) == value


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: Hostile(), "<Hostile held=1>"),
        (lambda: Slotted(), "<Slotted x=3>"),
        (lambda: HostileList([1, 2]), "<HostileList [1, 2]>"),
        (lambda: HostileInt(5), "<HostileInt 5>"),
        (lambda: HostileDict(a=1), "<HostileDict {'a': 1}>"),
        (lambda: Color.RED, "<Color.RED: 1>"),
        (lambda: Point(1, [2]), "<Point x=1, y=[2]>"),
        (lambda: KeyError("k"), "<KeyError args=('k',)>"),
        (lambda: HostileType("Odd", (), {}), "<class Odd>"),
        (lambda: HostileType("Odd", (), {})(), "<Odd>"),
        (lambda: float("nan"), "float('nan')"),
        (lambda: object(), "<object>"),
        (lambda: len, "<builtin len>"),
        (lambda: sys, "<module sys>"),
        (lambda: collections.deque([1]), "deque([1])"),
        (lambda: collections.Counter("a"), "Counter({'a': 1})"),
    ],
)
def test_other_values_are_lossy_and_run_no_user_code(make, expected):
    # Made here: pytest itself would trip over such values while it names the parameters.
    assert safe_repr(make()) == (expected, True)


def test_addresses_never_show():
    class Plain:
        pass

    for value in (Plain(), lambda: 0, Plain, Plain.__init__, iter([]), (x for x in ())):
        assert "0x" not in safe_repr(value)[0]


def test_long_things_keep_head_and_tail():
    text, lossy = safe_repr(list(range(500)))
    assert lossy
    assert text.startswith("[0, 1,")
    assert "…+480" in text
    assert text.endswith("498, 499]")
    text, lossy = safe_repr("a" * 1000 + "z")
    assert lossy
    assert len(text) < 230
    assert text.endswith("z'")
    assert safe_repr(10**5000)[0] == "<int of 16610 bits>"
    text, _ = safe_repr({n: n for n in range(100)})
    assert text.startswith("{0: 0")
    assert text.endswith("99: 99}")


def test_cycles_and_depth_end():
    loop = [1]
    loop.append(loop)
    assert safe_repr(loop) == ("[1, <list …>]", True)
    assert safe_repr([[[[[[1]]]]]]) == ("[[[[<list …>]]]]", True)


def test_sets_are_sorted():
    assert safe_repr({"b", "c", "a"})[0] == "{'a', 'b', 'c'}"
    assert safe_repr(frozenset([3, 1]))[0] == "frozenset({1, 3})"
    assert safe_repr(set())[0] == "set()"


def test_a_value_is_capped():
    text, lossy = safe_repr([["x" * 150] * 20] * 20)
    assert lossy
    assert len(text) <= ndbg_safe_repr.MAX_STATE + 1


def test_shapes_have_type_length_and_attributes():
    class Node:
        def __init__(self):
            self.value = 1
            self.next = None

    assert describe([1, 2]) == {"ty": "list", "v": "[1, 2]", "len": 2, "lossy": False}
    shape = describe(Node())
    assert shape["ty"] == "Node"
    assert shape["attrs"] == {
        "value": {"ty": "int", "v": "1"},
        "next": {"ty": "NoneType", "v": "None"},
    }
    assert "len" not in shape
    assert "attrs" not in describe(3)


def test_a_state_is_capped_as_a_whole():
    state = describe_state((f"name{n}", "x" * 199) for n in range(100))
    assert len(state) == 100
    assert sum(len(shape["v"]) for shape in state.values()) < 3000
    assert state["name99"] == {"ty": "str", "v": "…", "lossy": True}
