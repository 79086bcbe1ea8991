"""Finding functions, guessing inputs, trying them where nothing can go wrong."""

import ast
import json
import os
import subprocess
import sys

import pytest
from conftest import TOOLS

import ndbg_fuzz
from ndbg_fuzz_guess import guess
from ndbg_fuzz_inputs import literals_in
from ndbg_fuzz_slice import Refused, functions_in, slice_of
from ndbg_fuzz_trial import Trials

MODULE = '''
import math
import os
from collections import Counter

LIMIT = 3
OTHER = LIMIT + 1


def helper(text):
    return text[:LIMIT]


def unused(x):
    return x


def shorten(text, times=2):
    """Doc with 'literals' 99."""
    if text == "magic":
        return math.floor(2.5)
    return helper(text) * times


def lists(path):
    return os.listdir(path)


class Box:
    def __init__(self, content):
        self.content = content


def boxed(n: int):
    box = Box(n)
    return box.content + OTHER


def counts(words):
    return sorted(Counter(words).items())
'''


def slice_it(source, name):
    return slice_of(source, ast.parse(source), name)


def test_a_slice_holds_what_the_function_needs_and_no_more():
    source = slice_it(MODULE, "shorten")
    assert "import math" in source and "LIMIT = 3" in source and "def helper" in source
    assert "unused" not in source and "import os" not in source and "Box" not in source
    boxed = slice_it(MODULE, "boxed")
    assert boxed.index("LIMIT = 3") < boxed.index("OTHER = LIMIT + 1") < boxed.index("class Box")


@pytest.mark.parametrize(
    "body, reason",
    [
        ("def f(p):\n    return open(p).read()\n", "uses `open`"),
        ("import os\ndef f(p):\n    return os.getcwd()\n", "harmless"),
        ("import shlex\ndef f(p):\n    return shlex.os.getcwd()\n", "reaches for `os`"),
        ("def f(p):\n    import subprocess\n    return subprocess.run(p)\n", "harmless"),
        ("def f(p):\n    return p.__class__.__subclasses__()\n", "__subclasses__"),
        ("def f(p):\n    return getattr(p, 'x')\n", "uses `getattr`"),
        ("def g():\n    return eval('1')\ndef f(p):\n    return g()\n", "uses `eval`"),
        ("import datetime\ndef f(p):\n    return datetime.datetime.now()\n", "depends on the time"),
        ("def f(p):\n    yield p\n", "generator"),
        ("async def g():\n    pass\ndef f(p):\n    return g()\n", "asynchronous"),
        ("import functools\n@functools.lru_cache\ndef f(p):\n    return p\n", "decorated"),
        ("N = 0\ndef f(p):\n    global N\n    N += p\n", "globals"),
        ("def f(p):\n    return nowhere(p)\n", "`nowhere`"),
    ],
)
def test_what_could_reach_out_is_refused(body, reason):
    with pytest.raises(Refused) as refused:
        slice_it(body, "f")
    assert reason in str(refused.value)


def test_types_are_guessed_from_annotations_uses_and_names():
    def kinds(source):
        return guess(ast.parse(source).body[0])

    assert set(kinds("def f(a: 'int'): return a")["a"]) == {"int"}
    upper = kinds("def f(q): return q.upper()")["q"]
    assert all(upper.count("str") > upper.count(other) for other in set(upper) - {"str"})
    assert "dict[str,int]" in kinds("def f(q): return q.items()")["q"]
    assert "None" in kinds("def f(a: Optional[int]): return a")["a"]
    assert kinds("def f(a: List[str]): return a")["a"] == ["list[str]"] * 3


def test_literals_of_the_body_are_found_and_the_docstring_is_not():
    function = next(
        node for node in ast.parse(MODULE).body if getattr(node, "name", "") == "shorten"
    )
    assert literals_in(function) == {"str": ["magic"], "float": [2.5]}


def test_inputs_reach_branches_that_compare_with_literals():
    calls, problem = ndbg_fuzz.fuzz_function(slice_it(MODULE, "shorten"), "shorten")
    assert problem is None
    assert "shorten('magic')" in calls or any("'magic'" in call for call in calls), calls


def test_the_same_seed_finds_the_same_calls():
    source = slice_it(MODULE, "counts")
    first = ndbg_fuzz.fuzz_function(source, "counts", seed=3)
    assert first == ndbg_fuzz.fuzz_function(source, "counts", seed=3)
    for call in first[0]:
        namespace = {}
        exec(source, namespace)
        eval(call, namespace)


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n        pass",
        "x = [0]\n    while True:\n        x += x",
        "try:\n        while True:\n            pass\n    except Exception:\n        return 1",
    ],
)
def test_endless_and_greedy_calls_end(body):
    source = f"def f(a):\n    {body}\n"
    with Trials(source, "f") as trials:
        assert trials.ready
        assert trials.run(["f(1)", "f(2)"]) == [None, None]


def test_a_trial_cannot_write_or_connect_or_print(tmp_path, capfd):
    target = tmp_path / "written"
    source = (
        f"def write(a):\n    with open({str(target)!r}, 'w') as f:\n"
        "        f.write('x')\n        f.flush()\n    return 1\n"
        "def connect(a):\n    import socket\n    socket.socket()\n    return 1\n"
        "def run(a):\n    import os\n    return os.system('true')\n"
        "def say(a):\n    print(a)\n    return os_folder()\n"
        "def os_folder():\n    import os\n    return os.listdir('.')\n"
    )
    with Trials(source, "write") as trials:
        write, connect, run, say = trials.run(["write(1)", "connect(1)", "run(1)", "say(1)"])
    assert write is None and connect is None and run is None
    assert say is not None
    assert not target.exists() or target.read_text() == ""
    assert capfd.readouterr().out == ""


def test_a_module_part_that_fails_is_said_to_fail():
    calls, problem = ndbg_fuzz.fuzz_function("X = 1 // 0\ndef f(a):\n    return a\n", "f")
    assert calls == [] and "ZeroDivisionError" in problem


def test_the_command_writes_a_line_for_every_function(tmp_path, every_python):
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    script = os.path.join(TOOLS, "ndbg_fuzz.py")
    done = subprocess.run(
        [every_python, script, "--id", "p/", str(path)], stdout=subprocess.PIPE, check=True
    )
    records = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [record["function"] for record in records] == functions_in(ast.parse(MODULE))
    by_name = {record["function"]: record for record in records}
    assert "harmless" in by_name["lists"]["skipped"]
    assert by_name["boxed"]["calls"] and by_name["boxed"]["id"] == f"p/{path}::boxed"
    for record in records:
        assert ("calls" in record) != ("skipped" in record)
        for call in record.get("calls", []):
            namespace = {}
            exec(record["source"], namespace)
            eval(call, namespace)


def test_files_that_are_no_python_are_skipped(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("def f(:\n")
    (record,) = ndbg_fuzz.records(str(path))
    assert "SyntaxError" in record["skipped"]


def test_this_process_is_not_touched():
    before = os.getcwd(), sys.getrecursionlimit()
    ndbg_fuzz.fuzz_function("def f(a):\n    return a\n", "f", rounds=2)
    assert (os.getcwd(), sys.getrecursionlimit()) == before
