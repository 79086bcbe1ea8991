"""Many small programs in one process, each on its own."""

import json
import os
import subprocess

from trace_run import TOOLS, Recording

DOUBLE = "def f(x):\n    y = x * 2\n    return y\n"


class Jobs:
    def __init__(self, folder, python):
        self._folder = folder
        self._python = python
        self._jobs = []

    def add(self, source, entry="f", **fields):
        name = fields.pop("id", f"p{len(self._jobs)}")
        self._jobs.append(dict(fields, id=name, source=source, entry=entry))
        return name

    def run(self, code=0, **config):
        jobs, out = self._folder / "jobs.jsonl", self._folder / "out.raw"
        jobs.write_text("".join(json.dumps(job) + "\n" for job in self._jobs))
        path = self._folder / "config.json"
        path.write_text(json.dumps(dict({"jobs": str(jobs), "out": str(out)}, **config)))
        done = subprocess.run(
            [self._python, os.path.join(TOOLS, "ndbg_sample.py"), str(path)],
            capture_output=True,
            timeout=120,
        )
        assert (done.returncode, done.stdout) == (code, b""), done.stderr
        return Recording(out)


def test_each_program_has_its_boundary_states_and_end(tmp_path, every_python):
    jobs = Jobs(tmp_path, every_python)
    jobs.add(DOUBLE, args=[[1, 2]])
    jobs.add(DOUBLE + "def main(): return f('a')\n", "main()")
    jobs.add("def f(x): return 1 // x\n", args=[0])
    jobs.add("def f(:\n")
    jobs.add("def f():\n    raise SystemExit(2)\n")
    jobs.add("import sys\ndef f():\n    sys.stdout.close()\n    sys.exit()\n")
    jobs.add("def f(x): return f(x + 1)\n", args=[0])
    jobs.add("def f(): return input()\n")
    jobs.add(DOUBLE, args=["last"])
    recording = jobs.run()
    words = ["normal", "normal", "error", "error", "error", "normal", "error", "error", "normal"]
    assert [(test, word) for test, word, _ in recording.outcomes] == [
        (f"p{i}", word) for i, word in enumerate(words)
    ]
    assert [kind for kind, _ in recording.boundaries] == ["function"] * 9
    first = [e for e in recording.events if e.test == "p0"]
    assert [(e.kind, e.line, e.state) for e in first] == [
        ("c", 1, {"x": "[1, 2]"}),
        ("l", 2, {"x": "[1, 2]"}),
        ("l", 3, {"x": "[1, 2]", "y": "[1, 2, 1, 2]"}),
        ("r", 3, {"x": "[1, 2]", "y": "[1, 2, 1, 2]"}),
    ]
    second = [e for e in recording.events if e.test == "p1"]
    assert [e.func for e in second if e.kind == "c"] == ["main", "f"]
    assert recording.caller(second[2]) == "main"
    assert [e.how for e in recording.events if e.test == "p2"][-2:] == ["ZeroDivisionError", "u"]
    assert recording.files[0] == {"name": "<p0>", "text": DOUBLE}
    last = [e for e in recording.events if e.test == "p8"]
    assert last[-1].value == "'lastlast'"
    assert recording.end["events"] == len(recording.events)
    why = {test: reason for test, _, reason in recording.outcomes}
    assert why["p0"] is None
    assert why["p6"] is None or why["p6"] in ("recursion", "tracer removed", "max_events")


def test_what_never_ends_is_ended(tmp_path, every_python):
    jobs = Jobs(tmp_path, every_python)
    jobs.add("def f():\n    while True:\n        x = 1\n", max_events=40)
    jobs.add("import time\ndef f():\n    time.sleep(60)\n")
    jobs.add("def f():\n    n = sum(i for i in iter(int, 1))\n", max_events=10**9)
    jobs.add(
        "def f():\n    for _ in range(3):\n        try:\n            while True: pass\n"
        "        except BaseException: pass\n",
        max_events=10**9,
    )
    jobs.add("while True: pass\n")
    jobs.add(DOUBLE, args=[1])
    recording = jobs.run(deadline=0.3)
    assert [word for _, word, _ in recording.outcomes] == ["never"] * 5 + ["normal"]
    assert len([e for e in recording.events if e.test == "p0"]) == 40
    assert recording.outcomes[0][2] == "max_events"


def test_memory_that_runs_out_costs_the_program(tmp_path, every_python):
    jobs = Jobs(tmp_path, every_python)
    jobs.add("def f():\n    held = [1]\n    held.append(bytearray(1 << 29))\n    return held\n")
    jobs.add(DOUBLE, args=[1])
    recording = jobs.run(memory_limit=1 << 28, deadline=20)
    assert [word for _, word, _ in recording.outcomes] == ["error", "normal"]
    assert "MemoryError" in [e.how for e in recording.events if e.kind == "x"]


def test_programs_leave_nothing_behind(tmp_path, every_python):
    jobs = Jobs(tmp_path, every_python)
    jobs.add("import builtins, os, sys, random\nbuiltins.len = None\nos.environ['X'] = '1'\n"
             "sys.setrecursionlimit(5000)\nrandom.seed(5)\ndef f(): return 1\n")  # fmt: skip
    jobs.add(
        "import os, sys, random\n"
        "def f(): return len([1]), os.environ.get('X'), random.random() < 2\n"
    )
    source = "class C:\n    pass\ndef f():\n    a = C()\n    a.me = [a] * 1000\n    return 1\n"
    for _ in range(300):
        jobs.add(source)
    jobs.add(
        "import gc\ndef f():\n    return sum(type(o).__name__ == 'C' for o in gc.get_objects())\n"
    )
    recording = jobs.run()
    assert {word for _, word, _ in recording.outcomes} == {"normal"}
    # Without `len` there is no recording either, and it says so.
    assert recording.outcomes[0][2] == "error in the recorder: TypeError"
    returned = {e.test: e.value for e in recording.all("r", "f")}
    assert returned["p1"] == "(1, None, True)"
    assert returned["p302"] == "0"
    serials = [e.serials["a"] for e in recording.all("r", "f") if "a" in e.serials]
    assert len(set(serials)) == 300


def test_a_crash_costs_one_program(tmp_path, every_python):
    jobs = Jobs(tmp_path, every_python)
    jobs.add(DOUBLE, args=[1])
    jobs.add("import os\ndef f(): os._exit(9)\n")
    jobs.add(DOUBLE, args=[2])
    recording = jobs.run(code=9)
    assert recording.outcomes == [("p0", "normal", None)]
    assert recording.end is None
    recording = jobs.run(skip=2)
    assert recording.outcomes == [("p2", "normal", None)]
