"""Operations on literals, performed for data sets and for the oracle."""

import json
import os
import signal
import subprocess
import sys

import pytest
from conftest import TOOLS

import ndbg_operations

NAMES = ndbg_operations._namespace()


@pytest.fixture(autouse=True)
def deadline():
    before = signal.signal(signal.SIGALRM, ndbg_operations._ring)
    yield
    signal.signal(signal.SIGALRM, before)


def effect(expression, *operands):
    return ndbg_operations.perform(expression, operands, NAMES)


@pytest.mark.parametrize(
    "expression, operands, expected",
    [
        ("v0 + v1", ["1", "2"], {"result": "3"}),
        ("v0 <= v1", ["1", "2"], {"result": "True"}),
        ("v0 == v1", ["[1]", "[1]"], {"result": "True"}),
        ("v0 != v1", ["1", "1"], {"result": "False"}),
        ("v0.append(v1)", ["[1]", "{3, 1}"], {"result": "None", "after": "[1, {1, 3}]"}),
        ("v0.index(v1)", ["[1, 2]", "2"], {"result": "1"}),
        ("v0 += v1", ["[1]", "[2]"], {"result": "None", "after": "[1, 2]"}),
        ("v0 |= v1", ["{1}", "{2}"], {"result": "None", "after": "{1, 2}"}),
        (
            "v0[v1:v2] = v3",
            ["[1, 2, 3]", "0", "1", "[9]"],
            {"result": "None", "after": "[9, 2, 3]"},
        ),
        ("del v0[v1:]", ["[1, 2]", "1"], {"result": "None", "after": "[1]"}),
        (
            "v0[v1] = v2",
            ["bytearray(b'ab')", "0", "65"],
            {"result": "None", "after": "bytearray(b'Ab')"},
        ),
        ("sorted(v0, key=v1)", ["['a', 'b']", "[2, 1]"], {"result": "['b', 'a']"}),
        ("v0.sort(key=v1, reverse=v2)", ["[1, 2]", "[2, 1]", "True"], {"result": "None"}),
        ("max(v0, key=v1)", ["['a', 'b', 'c']", "[1, 3, 3]"], {"result": "'b'"}),
        ("enumerate(v0)", ["['a']"], {"result": "iter([(0, 'a')])"}),
        ("v0.items()", ["{'a': 1}"], {"result": "dict_items([('a', 1)])"}),
        ("v1 in v0", ["dict_keys(['a'])", "'a'"], {"result": "True"}),
        ("next(v0)", ["iter([3, 4])"], {"result": "3"}),
        ("set(v0)", ["'cab'"], {"result": "{'a', 'b', 'c'}"}),
        ("type(v0)", ["1"], {"result": "int"}),
        ("isinstance(v0, v1)", ["1", "(str, int)"], {"result": "True"}),
    ],
)
def test_effects_are_those_of_python(expression, operands, expected):
    assert effect(expression, *operands) == expected


def test_what_raises_tells_its_class_and_text():
    assert ndbg_operations.answer("int(v0)", ["'x'"], NAMES) == {
        "raises": ["ValueError", "invalid literal for int() with base 10: 'x'"]
    }
    assert ndbg_operations.answer("v0.remove(v1)", ["[1]", "2"], NAMES)["raises"][0] == "ValueError"


@pytest.mark.parametrize(
    "expression, operands",
    [
        ("open(v0)", ["'/etc/passwd'"]),
        ("v0.__class__", ["1"]),
        ("eval(v0)", ["'1'"]),
        ("getattr(v0, v1)", ["1", "'real'"]),
        ("os.getcwd()", []),
        ("random.randint(v0, v1)", ["1", "6"]),
        ("v0; import os", ["1"]),
        ("v0 * v1", ["'a'", "10 ** 15"]),
        ("itertools.count()", []),
        ("object()", []),
    ],
)
def test_what_reaches_out_or_does_not_end_has_no_effect(expression, operands):
    done = ndbg_operations.answer(expression, operands, NAMES)
    assert list(done) == ["opaque"] or done["raises"][0] == "AttributeError"


def test_a_process_answers_line_by_line():
    lines = b'[["v0 + v1", ["1", "2"]], ["v0 % v1", ["1", "0"]]]\n[]\n'
    done = subprocess.run(
        [sys.executable, os.path.join(TOOLS, "ndbg_operations.py")],
        input=lines,
        capture_output=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert json.loads(first) == [
        {"result": "3"},
        {"raises": ["ZeroDivisionError", json.loads(first)[1]["raises"][1]]},
    ]
    assert json.loads(second) == []
