"""Pitfalls of recording, on every interpreter: the tracer's survival, statements, filters."""

import pytest
from trace_run import TOOLS, Script


@pytest.fixture
def record(tmp_path, every_python):
    """Runs a script both ways, checks that it did the same, and returns its recording."""

    def run(source, *arguments, **config):
        script = Script(tmp_path, every_python, source)
        plain = script.plain(*arguments)
        ran, recording = script.record(*arguments, **config)
        assert ran == plain
        assert recording.end is not None
        return recording

    return run


def test_01_a_recursion_error_removes_the_tracer(record):
    recording = record(
        """
        import gc

        def deep(n):
            return deep(n + 1)

        def after(x):
            y = x + 1
            return y

        try:
            deep(0)
        except RecursionError:
            pass
        gc.collect()
        print(after(1))
        """
    )
    assert recording.end["truncated"] in ("recursion", "tracer removed")
    assert sum(recording.end["dropped"].values()) >= 1
    assert [e.value for e in recording.all("r", "after")] == ["2"]
    (call,) = recording.all("c", "after")
    assert recording.caller(call) == "<module>"
    ended = {e.act for e in recording.all("r", "deep")}
    assert ended == {e.act for e in recording.all("c", "deep")}


def test_02_exceptions_of_the_recorder_stay_in_the_recorder(record):
    recording = record(
        """
        import sys

        def work(x):
            y = x + 1
            return y

        safe = sys.modules.get("ndbg_safe_repr")
        if safe is not None:
            original, safe.fast_repr = safe.fast_repr, len
        print(work(1))
        if safe is not None:
            safe.fast_repr = original
        print(work(2))
        """
    )
    lost = recording.end["dropped"]
    assert set(lost) == {"error in the recorder: TypeError"}
    assert recording.all("r", "work")[-1].value == "3"


def test_02_an_exception_of_a_signal_handler_reaches_the_program(record):
    recording = record(
        """
        import signal

        class Alarm(Exception):
            pass

        def ring(*_):
            raise Alarm

        def wait():
            n = 0
            values = [[i, str(i)] for i in range(15)]
            while True:
                n += 1

        signal.signal(signal.SIGALRM, ring)
        caught = 0
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                wait()
            except Alarm:
                caught += 1
        print(caught)
        """,
        max_events=3_000_000,
    )
    assert not any("Alarm" in reason for reason in recording.end["dropped"])


def test_03_reading_locals_does_not_disturb_locals(record):
    recording = record(
        """
        def loops():
            first = 1
            seen = []
            for name in locals():
                inner = 2
                seen.append(name)
            return sorted(seen)

        def snapshot():
            x = 1
            before = locals()
            x = 2
            return before

        def assigned():
            x = 1
            locals()["x"] = 99
            y = 2
            return x

        def try_out(function):
            try:
                return function()
            except RuntimeError as error:
                return error

        print(try_out(loops), try_out(snapshot), try_out(assigned))
        """
    )
    assert len(recording.all("c", "snapshot")) == 1
    assert len(recording.all("r", "snapshot")) == 1
    if recording.header["python"] < "3.13" or recording.header["python"].startswith(("3.8", "3.9")):
        assert any("reads its own locals()" in note for note in recording.notes)


COMPREHENSIONS = """
    def double(x):
        return x * 2

    def work(items):
        x = 5
        doubled = [double(x) for x in items if x]
        pairs = {
            key: double(key)
            for key in items
        }
        try:
            failed = [
                1 // v
                for v in [1, 0]
            ]
        except ZeroDivisionError:
            x = 6
        return doubled, pairs, {y for y in items}

    print(work([1, 2]))
"""


def test_04_comprehensions_have_one_shape(record):
    recording = record(COMPREHENSIONS)
    assert recording.shape("work") == "c4c l5 l6 l7 l11 l12 x12 l16 l17 l18 r18r"
    assert {recording.caller(call) for call in recording.all("c", "double")} == {"work"}
    assert not [name for _, name, _, _ in recording.codes if name.endswith("comp>")]
    shown = {name for event in recording.all(func="work") for name in event.state}
    assert shown == {"items", "x", "doubled", "pairs"}
    assert {event.state.get("x") for event in recording.all(func="work")} == {None, "5", "6"}


def test_07_another_owner_of_the_hook_is_named(record):
    recording = record(
        """
        import sys

        def other(frame, event, argument):
            return None

        def work():
            return 1

        work()
        sys.settrace(other)
        work()
        """
    )
    assert recording.end["truncated"] == "tracer replaced"
    assert any("__main__.other" in note for note in recording.notes)
    assert len(recording.all("c", "work")) == 1


def test_08_each_code_object_is_decided_once(every_python, tmp_path):
    asked = tmp_path / "asked.py"
    asked.write_text(
        "import sys, json\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import ndbg_trace, ndbg_trace_stream\n"
        "asked = []\n"
        "def work(n): return n\n"
        "def other(n): return n\n"
        "def wanted(code):\n"
        "    asked.append(code.co_name)\n"
        "    return code.co_name == 'work'\n"
        "stream = ndbg_trace_stream.TraceStream(sys.argv[2], 'functions')\n"
        "tracer = ndbg_trace.Tracer(stream, wanted)\n"
        "tracer.start()\n"
        "for i in range(5): work(i); other(i)\n"
        "end = tracer.stop()\n"
        "stream.end(end)\n"
        "print(sorted(asked), end['events'])\n"
    )
    script = Script(tmp_path, every_python, asked.read_text(), "asked.py")
    ran = script._run([str(asked), TOOLS, str(tmp_path / "asked.raw")], None)
    assert ran.out == "['other', 'work'] 15\n", ran.err


def test_12_decorated_functions_report_the_def_line(record):
    recording = record(
        """
        import functools

        def plain(function):
            return function

        @plain
        @functools.lru_cache(
            maxsize=None,
        )
        def decorated(x):
            return x

        @plain
        class Thing:
            @property
            def size(self):
                return 1

        print(decorated(1), Thing().size)
        """
    )
    first = {name: line for _, name, line, _ in recording.codes}
    assert first["decorated"] == 10
    assert first["Thing.size"] == 16
    assert [e.line for e in recording.all("c", "decorated")] == [10]
    assert recording.lines("<module>") == [1, 3, 10, 14, 19]


def test_12_a_statement_of_many_lines_is_one_event(record):
    recording = record(
        """
        def add(
            a,
            b,
        ):
            return (
                a
                + b
            )

        def work():
            total = add(
                1,
                add(
                    2,
                    3,
                ),
            )
            for i in (
                1,
                2,
            ):
                total += add(
                    i,
                    i,
                )
            if (
                total
                and i
            ):
                total += 1
            for _ in range(2): total += 1
            while True:
                total = add(
                    total,
                    1,
                )
                if total > 17: break
            return total

        print(work())
        """
    )
    # `while True` itself has events from 3.10 on, and at every round from 3.12 on.
    lines = [line for line in recording.lines("work") if line not in (31, 32)]
    assert lines == [11, 18, 22, 18, 22, 18, 26, 30, 33, 37, 33, 37, 33, 37, 38]
    assert recording.lines("work").count(31) >= 2
    assert set(recording.lines("add")) == {5}
    assert len(recording.lines("add")) == len(recording.all("c", "add"))


def test_16_two_passes_can_be_compared(tmp_path, every_python):
    source = """
        import os

        def work(n):
            total = 0
            for i in range(n):
                total += i
            return total

        def choose():
            return 1 if os.environ["WAY"] == "a" else work(2)

        for i in range(3):
            work(i)
        choose()
    """
    script = Script(tmp_path, every_python, source)
    ways = [("a", True), ("a", False), ("b", True)]
    found = [
        script.record(env={"WAY": way}, states=states)[1].end["structure"] for way, states in ways
    ]
    assert found[0] == found[1]
    assert found[0]["calls"] != found[2]["calls"]
    assert found[0]["lines"] != found[2]["lines"]
    calls = script.record(env={"WAY": "a"}, states=False, lines=False)[1]
    assert calls.end["structure"]["calls"] == found[0]["calls"]
    assert not calls.all("l")


def test_17_code_without_source_is_opaque(record):
    recording = record(
        """
        import collections
        import dataclasses

        @dataclasses.dataclass
        class Point:
            x: int
            y: int = 0

        exec("def made(a):\\n    b = a + 1\\n    return b\\n")

        def work():
            point = Point(1)
            return made(point.x)

        print(work())
        """
    )
    assert recording.shape("made").split()[0][0] == "c"
    assert [e.kind for e in recording.all(func="made")] == ["c", "r"]
    (call,) = recording.all("c", "made")
    assert call.state == {"a": "1"}
    assert recording.all("r", "made")[0].value == "2"
    (call,) = recording.all("c", "__init__")
    assert recording.caller(call) == "work"
    assert call.state["x"] == "1"
    assert {flags for file, _, _, flags in recording.codes if file == "<string>"} == {"o", "mo"}


def test_18_module_bodies_are_recorded_in_scripts(record):
    recording = record("x = 1\ny = x + 1\nprint(y)\n")
    assert recording.lines("<module>") == [1, 2, 3]
    assert recording.states("<module>", 3)[0] == {"x": "1", "y": "2"}
    assert [flags for _, name, _, flags in recording.codes if name == "<module>"] == ["m"]


def test_a_limit_on_events_ends_recording_and_not_the_program(record):
    recording = record(
        "total = 0\nfor i in range(100):\n    total += i\nprint(total)\n", max_events=50
    )
    assert recording.end["truncated"] == "max_events"
    assert len(recording.events) == recording.end["events"] == 50
    assert recording.end["exit"] == "normal"


def test_filters_by_file_and_function(record, tmp_path):
    (tmp_path / "one.py").write_text("def a(): return 1\ndef b(): return a()\n")
    (tmp_path / "two.py").write_text("from one import b\ndef c(): return b()\n")
    source = "from two import c\nprint(c())\n"
    recording = record(source, files=["two.py"])
    assert {name for _, name, _, _ in recording.codes} == {"<module>", "c"}
    recording = record(source, functions=["a", "c"])
    assert [(e.func, recording.caller(e)) for e in recording.all("c")] == [("c", None), ("a", "c")]
    recording = record(source, files=["*one.py"], functions=["b"], states=False)
    assert recording.shape("b") == "c2c l2 r2r"
