"""How calls end, and what is said of it: time, memory, depth, descriptors, chance, values."""

import subprocess
import sys
import time

import pytest
from test_execute import Executor, execute, outcomes  # noqa: F401

RETURNS = {"kind": "Returns", "value": "1"}


def compared(folder, one, other, **options):
    (folder / "other.py").write_text(other)
    subject = {"file": str(folder / "other.py"), "function": "f", "root": str(folder)}
    return Executor(folder, "f", {"kind": "Differs", "subject": subject}, text=one, **options)


# Depth

DEEP = "def d(n):\n    return 0 if n == 0 else d(n - 1)\n"


def deepest():
    """The first call that is too deep for a script."""
    script = DEEP + (
        "for n in range(900, 1100):\n    try:\n        d(n)\n"
        "    except RecursionError:\n        print(n)\n        break\n"
    )
    # At the first line, as calls are.
    said = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True)
    return int(said.stdout)


def test_calls_are_as_deep_as_in_a_script(execute):  # noqa: F811
    edge = deepest()
    found = outcomes(execute("d", RETURNS, text=DEEP)(str(edge - 1), str(edge)))
    assert found[0] == ["returned", "0", False]
    assert found[1][:2] == ["raised", "RecursionError"]


def test_no_call_is_said_to_be_too_deep_that_is_not(execute):  # noqa: F811
    edge = deepest()
    run = execute("d", {"kind": "Raises", "class": "RecursionError"}, text=DEEP)
    results = run("390", str(edge - 1), str(edge + 6))
    assert [result[1] for result in results] == [False, False, True]


def test_a_limit_that_the_module_sets_holds_and_one_that_a_call_sets_goes(execute):  # noqa: F811
    source = "import sys\n\nsys.setrecursionlimit(3000)\n" + DEEP
    source += "\n\ndef deeper(n):\n    sys.setrecursionlimit(9000)\n    return d(n)\n"
    assert outcomes(execute("d", text=source)("2900"))[0][0] == "returned"
    found = outcomes(execute("deeper", text=source)("5000", "5000"))
    assert [one[0] for one in found] == ["returned", "returned"]


def test_measuring_one_version_does_not_make_it_differ(tmp_path):
    source = DEEP.replace("d(", "f(")
    run = compared(tmp_path, source, source)
    edge = deepest()
    results = run(*[str(n) for n in range(edge - 8, edge + 8)])
    run.end()
    assert not any(result[1] for result in results)


# Time and memory

LATE = """
import itertools
import sys


class Silent(Exception):
    def __str__(self):
        while True:
            pass


class Slow:
    def __repr__(self):
        while True:
            pass

    __str__ = __repr__

    def __eq__(self, other):
        while True:
            pass


def silent(x):
    raise Silent


def slow(x):
    return Slow()


def busy(x):
    return sum(range(10**12)) if x else 0


def late(x):
    sum(range(20_000_000 if x else 1))
    return x


def hoard(x):
    return len(list(itertools.count())) if x else 0
"""


@pytest.mark.parametrize(
    "function, ends",
    [
        ("silent", [["raised", "Silent"]]),
        ("slow", [["returned"], ["long"]]),
        ("busy", [["long"]]),
        ("late", [["long"]]),
        ("hoard", [["raised", "MemoryError"], ["killed"]]),
    ],
)
def test_what_does_not_end_is_the_fault_of_its_call_and_of_its_kind(
    execute,  # noqa: F811
    function,
    ends,
):
    begin = time.monotonic()
    found = outcomes(execute(function, text=LATE)("1", "0", "1"))
    assert any(found[0][: len(end)] == end for end in ends), found[0]
    assert any(found[2][: len(end)] == end for end in ends), found[2]
    if function not in ("silent", "slow"):
        assert found[1] == ["returned", "0", False]
    assert time.monotonic() - begin < 30


def test_an_import_has_as_much_time_as_it_is_given(execute):  # noqa: F811
    begin = time.monotonic()
    source = "import time\ntime.sleep(30)\n\n\ndef f(): pass\n"
    first = execute("f", text=source, settings={"patience": 0.5}).first
    assert first["problem"] == "import" and "longer than 0.5 s" in first["text"]
    assert time.monotonic() - begin < 15
    source = source.replace("30", "0.6")
    assert "ready" in execute("f", text=source, settings={"patience": 20}).first


# Descriptors

LEAKS = """
import os

kept = []


def leak(count):
    kept.extend(open(__file__) for _ in range(count))
    return count


def look(number):
    with open(number) as file:
        return 1
"""


def test_descriptors_that_calls_leave_open_do_not_fail_later_ones(execute):  # noqa: F811
    calls = ["3"] * 900 + ["90"] * 40
    found = outcomes(execute("leak", text=LEAKS)(*calls))
    assert [one[1] for one in found] == calls


def test_small_numbers_do_not_close_what_answers(execute):  # noqa: F811
    found = outcomes(execute("look", text=LEAKS)(*[str(n) for n in range(60)]))
    assert not [one for one in found if one[0] == "killed"]
    # The second one finds it closed; then it is opened again.
    assert outcomes(execute("look", text=LEAKS)("0", "0", "0"))[2] == ["returned", "1", False]


# Chance

CHANCE = "import random\n\n\ndef f(x):\n    return random.random()\n"


def test_chance_differs_from_one_number_to_another_and_not_within(execute):  # noqa: F811
    found = []
    for number in (0, 0, 1, 2):
        run = execute("f", text=CHANCE, settings={"chance": number})
        one, other = outcomes(run("1", "1"))
        assert one == other
        found.append(one[1])
    assert found[0] == found[1] and len(set(found)) == 3


def test_a_file_named_random_is_not_seeded(execute):  # noqa: F811
    source = "def seed(x):\n    raise ValueError(x)\n\n\ndef f(x):\n    return x\n"
    assert outcomes(execute("f", text=source, path="random.py")("1"))[0][0] == "returned"


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_numbers_of_processes_have_no_pattern_by_themselves(execute, number):  # noqa: F811
    source = "import os\n\n\ndef f():\n    return os.getpid()\n"
    run = execute("f", text=source, settings={"chance": number})
    far = int(outcomes(run(""))[0][1]) - run.process.pid
    assert far > number % 3


# Values


@pytest.mark.parametrize(
    "value, text",
    [
        ("{[1]: 2}", "unhashable"),
        ("1" * 5000, None),
        ("[" * 50 + "]" * 50, "nested too deeply"),
        ("[" * 900 + "]" * 900, "is no value"),
        ("nowhere", "nowhere"),
        ("object()", "no literal"),
        ("1 +", "is no value"),
        ("'a' * 10**13", "MemoryError"),
        ("[*iter(int, 1)]", "is no value"),
    ],
)
def test_a_value_that_cannot_be_wanted_is_the_goals_fault(execute, value, text):  # noqa: F811
    first = execute(
        "plain", {"kind": "Returns", "value": value}, settings={"patience": 2, "memory": 1 << 28}
    ).first
    if value.isdigit() and "ready" in first:
        pytest.skip("this interpreter reads so many digits")
    assert first["problem"] == "goal", first
    assert len(first["text"]) < 400 and (text is None or text in first["text"])


def test_lone_halves_of_pairs_are_letters(execute):  # noqa: F811
    source = "def f(x):\n    if x == 1:\n        raise ValueError(chr(0xD800))\n    return [x]\n"
    run = execute("f", {"kind": "Returns", "value": "['\\ud800']"}, text=source)
    results = run("'\\ud800'", "'\\ud801'", "1")
    assert [result[1] for result in results] == [True, False, False]
    assert results[0][0] == ["returned", "['\\ud800']", False]
    assert results[2][0][2] == "?"


@pytest.mark.parametrize(
    "wanted, given, reached",
    [
        ("-0.0", "-0.0", True),
        ("-0.0", "0.0", False),
        ("[{'a': (0.0,)}]", "[{'a': (-0.0,)}]", False),
        ("complex(0.0, -0.0)", "complex(0.0, 0.0)", False),
        ("{1: 2}", "{True: 2}", False),
        ("{1, 2}", "{True, 2}", False),
        ("float('nan')", "float('nan')", True),
        ("[float('nan')]", "[float('nan')]", True),
    ],
)
def test_values_are_told_apart_as_python_writes_them(
    execute,  # noqa: F811
    wanted,
    given,
    reached,
):
    source = "def f(x):\n    return x\n"
    run = execute("f", {"kind": "Returns", "value": wanted}, text=source)
    assert run(given)[0][1] is reached


@pytest.mark.parametrize(
    "one, other, argument, differs",
    [
        ("def f(x): return [x]", "def f(x): yield x", "1", True),
        ("def f(x): return x", "async def f(x): return x", "1", True),
        ("def f(x): yield x", "async def f(x): yield x", "1", True),
        ("def f(x): yield x", "def f(x): return iter((x, 2))", "1", True),
        ("def f(x): yield x", "def f(x): return (y for y in [x])", "1", False),
        ("def f(x): return x", "def f(x): return x or 0.0", "-0.0", True),
        ("def f(x): return [{1: x}]", "def f(x): return [{1: abs(x)}]", "-0.0", True),
        ("def f(x): return {1: x, 2: 3}", "def f(x): return {2: 3, 1: x}", "1", False),
        ("def f(x): return {1: x}", "def f(x): return {True: x}", "1", True),
    ],
)
def test_versions_differ_in_kinds_and_signs(tmp_path, one, other, argument, differs):
    run = compared(tmp_path, one + "\n", other + "\n")
    result = run(argument)[0]
    run.end()
    assert result[1] is differs, result
    if differs:
        assert result[0][1] != result[5][1]


def test_texts_of_objects_that_do_not_end_are_no_difference(tmp_path):
    source = LATE + "\n\ndef f(x):\n    return Slow()\n"
    run = compared(tmp_path, source, source)
    result = run("1")[0]
    run.end()
    assert result[1] is False


def test_a_file_whose_lines_have_no_numbers_says_what_is_wrong(tmp_path):
    for text, said in (("def f(): pass\0\n", "null"), ("x = " + "(" * 5000, "nested")):
        run = Executor(tmp_path, "f", {"kind": "Any"}, text=text)
        run.end()
        assert run.first["problem"] == "syntax" and said in run.first["text"]
        assert "None" not in run.first["text"]


@pytest.mark.parametrize("name", ["random", "collections", "json", "types", "queue", "asyncio"])
def test_files_named_like_the_standard_library(execute, name):  # noqa: F811
    source = "import functools\n\n\ndef f(x):\n    return [x]\n\n\nasync def g(): pass\n"
    run = execute("f", {"kind": "Raises", "class": "KeyEror"}, path=name + ".py", text=source)
    assert run.first["near"][0] == "KeyError"
    run = execute("f", path=name + ".py", text=source)
    assert outcomes(run("1"))[0] == ["returned", "[1]", False]
    beside = f"from {name} import f as other\n\n\ndef h(x):\n    return other(x)\n"
    run = execute("h", path="beside.py", text=beside)
    assert outcomes(run("1"))[0] == ["returned", "[1]", False]


def test_exceptions_may_be_qualified_by_their_module(execute):  # noqa: F811
    source = "import json\n\n\nclass AppErr(Exception):\n    pass\n\n\ndef f(x):\n"
    source += "    if x:\n        raise AppErr\n    return json.loads('')\n"
    run = execute("f", {"kind": "Raises", "class": "wh.AppErr"}, path="wh.py", text=source)
    assert [result[1] for result in run("1", "0")] == [True, False]
    for name in ("json.JSONDecodeError", "json.decoder.JSONDecodeError"):
        run = execute("f", {"kind": "Raises", "class": name}, path="wh.py", text=source)
        assert [result[1] for result in run("1", "0")] == [False, True]
