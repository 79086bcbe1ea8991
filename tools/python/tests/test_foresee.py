"""What edits are foreseen to do, against what they do."""

import textwrap

import pytest

import ndbg_effects as effects
import ndbg_foresee


def foresee(source, edits, call, needed=()):
    """Rows of the answer for edits (old, new) of texts that occur once, when `call` runs."""
    source = textwrap.dedent(source).lstrip()
    changes = []
    for number, (old, new) in enumerate(edits):
        assert source.count(old) == 1, old
        start = source.index(old)
        changes.append([number, [[start, start + len(old), new]]])
    path = __file__ + ".source"
    probe = ndbg_foresee.Foresight(
        {
            "mode": "foresee",
            "functions": [{"file": path, "line": 1, "text": source, "edits": changes}],
            "needed": [dict(one, file=path, test="t") for one in needed],
        }
    )
    space = {}
    exec(compile(source, path, "exec"), space)
    probe.install()
    try:
        probe.begin("t")
        eval(call, space)
    finally:
        answer = probe.conclude()
    return answer["edits"]


def verdicts(*arguments):
    return [verdict for _, verdict, _, _ in foresee(*arguments)]


TOTAL = """
    def total(items, free):
        found = 0
        for item in items:
            if item > free:
                found += item
        return found
"""


def test_an_edit_that_gives_the_same_everywhere_does_nothing():
    edits = [("item > free", "item >= free"), ("item > free", "item > free + 1")]
    assert verdicts(TOTAL, edits, "total([1, 5], 2)") == ["none", "none"]
    assert verdicts(TOTAL, edits, "total([2, 3], 2)") == ["differs", "differs"]


def test_what_no_test_visits_does_nothing():
    edits = [("found += item", "found -= item"), ("found += item", "found += item * 2")]
    assert verdicts(TOTAL, edits, "total([1], 2)") == ["none", "none"]
    assert verdicts(TOTAL, edits, "total([3], 2)") == ["differs", "differs"]


def test_edits_that_give_the_same_values_are_one_group():
    edits = [
        ("found += item", "found += item * 2"),
        ("found += item", "found += item + item"),
        ("found += item", "found += item ** 2"),
    ]
    groups = [group for _, _, group, _ in foresee(TOTAL, edits, "total([1, 5], 2)")]
    assert groups[0] == groups[1] != groups[2]


def test_statements_that_come_and_go():
    edits = [
        ("        if item", "        if item < 0:\n            continue\n        if item"),
        ("        if item", "        if item == 5:\n            continue\n        if item"),
        ("        if item", "        item = item\n        if item"),
        ("        if item", "        item = free\n        if item"),
        ("    found = 0\n", ""),
    ]
    source = TOTAL
    found = verdicts(source, edits, "total([1, 5], 2)")
    assert found == ["none", "differs", "none", "differs", "differs"]


def test_what_would_run_code_is_unclear():
    source = """
        def f(thing):
            if thing.size() > 1:
                return thing
            return None
    """
    edits = [("thing.size() > 1", "thing.size() > 2"), ("return thing", "return [thing]")]
    call = "f(type('T', (), {'size': lambda self: 5})())"
    # The constant differs, which is no effect where the whole cannot be told: it may be one.
    assert verdicts(source, edits, call) == ["differs", "differs"]
    edits = [("thing.size() > 1", "thing.length() > 1")]
    assert verdicts(source, edits, call) == ["unclear"]


@pytest.mark.parametrize("new", ["def total(items, free=1):", "@cache\ndef total(items, free):"])
def test_other_signatures_are_unclear(new):
    assert verdicts(TOTAL, [("def total(items, free):", new)], "total([1], 0)") == ["unclear"]


def test_edits_that_give_what_is_needed_are_told():
    edits = [
        ("found += item", "found += 1"),
        ("return found", "return found + 1"),
        ("return found", "return found * 2"),
    ]
    needed = [
        {"line": 6, "value": "10", "visit": 0},
        {"line": 5, "value": "1", "name": "found", "visit": 0},
    ]
    found = foresee(TOTAL, edits, "total([1, 5], 2)", needed)
    assert [meets for _, _, _, meets in found] == [[1], [], [0]]


def test_a_run_of_several_lines_is_one_visit_of_its_statement():
    source = """
        def f(a, b):
            c = max(
                a,
                b,
            )
            return (
                c
                + 1
            )
    """
    edits = [("+ 1", "+ 2"), ("+ 1", "- -1")]
    assert verdicts(source, edits, "f(1, 2)") == ["differs", "none"]


def test_the_smallest_difference_is_found():
    def pair(old, new):
        found = effects.difference(
            effects.parse(f"def f():\n    {old}\n", 1), effects.parse(f"def f():\n    {new}\n", 1)
        )
        lines = [f"def f():\n    {text}\n" for text in (old, new)]
        return [
            tuple(
                text.splitlines()[1].encode()[node.col_offset : node.end_col_offset].decode()
                for text, node in zip(lines, both)
            )
            for both in found.pairs
        ]

    assert pair("x = g(a, b)", "x = g(b, a)") == [("a", "b"), ("b", "a")]
    assert pair("x = g(a) + a[i]", "x = g(a) + a[i + 1]") == [("i", "i + 1")]
    assert pair("return a.m(x)", "return b.m(x)") == [("a", "b")]
    assert pair("return a.m(x)", "return a.n(x)") == [("a.m(x)", "a.n(x)")]
    assert pair("return [a for a in b]", "return [b for a in b]") == [
        ("[a for a in b]", "[b for a in b]")
    ]


def test_comprehensions_are_looked_into():
    source = """
        def f(rows, least):
            kept = [row for row in rows if row > least]
            return sum(row * 2 for row in kept)
    """
    edits = [
        ("row > least", "row >= least"),
        ("row * 2", "row + row"),
        ("row * 2", "row * 3"),
    ]
    assert verdicts(source, edits, "f([1, 4], 2)") == ["none", "none", "differs"]
