"""Pitfalls of recording: test runs of pytest."""

import json

from trace_run import Recording


def trace(project, *arguments, **config):
    out = project.root.parent / "out.raw"
    run = project.run(*arguments, mode="trace", trace_out=str(out), **config)
    return run, Recording(out)


TESTS = """
    import pytest
    import mod

    @pytest.fixture
    def three():
        yield 3
        mod.last(0)

    @pytest.mark.parametrize("n", [1, "a::b[c] é"])
    def test_it(n, three):
        assert mod.first(n) == n

    def test_fails():
        values = [1]
        assert mod.first(values) == [2], "not two"

    class TestMore:
        def test_it(self):
            assert 1
"""
MOD = """
    LOADED = [i for i in range(3)]

    def first(x):
        return last(x)

    def last(x):
        return x
"""


def test_14_tests_and_phases_are_told_apart_and_rewriting_is_hidden(every_project):
    every_project.write("mod.py", MOD)
    every_project.write("test_it.py", TESTS)
    run, recording = trace(every_project)
    assert list(run.outcomes().values()) == ["passed", "passed", "failed", "passed"]
    ids = [name for kind, name in recording.boundaries if kind == "test"]
    assert ids == list(run.outcomes())
    phases = [name for kind, name in recording.boundaries if kind == "phase"]
    assert phases == ["setup", "call", "teardown"] * 4
    names = {name for event in recording.events for name in event.state}
    assert names == {"n", "three", "values", "x", "self"}
    (failure,) = recording.all("x")
    assert (failure.func, failure.test, failure.how) == ("test_fails", ids[2], "AssertionError")
    assert failure.state == {"values": "[1]"}
    assert {recording.caller(e) for e in recording.all("c", "last")} == {"first", "three"}
    calls = [(e.test, e.state["n"]) for e in recording.all("c", "test_it") if e.state.get("n")]
    assert [test for test, _ in calls] == ids[:2]
    # 18: bodies of modules are not recorded in test runs.
    assert not recording.all(func="<module>")
    assert recording.end["exit"] == "error"
    assert recording.end["events"] == len(recording.events)


def test_filters_and_selection(every_project):
    every_project.write("mod.py", MOD)
    every_project.write("test_it.py", TESTS)
    run, recording = trace(
        every_project,
        select=["test_it.py::test_fails"],
        trace_files=["mod.py"],
        trace_functions=["last"],
        trace_states=False,
    )
    assert list(run.outcomes()) == ["test_it.py::test_fails"]
    assert recording.shape("last") == "c6c l7 r7r"
    assert {e.func for e in recording.events} == {"last"}
    assert not any(e.state for e in recording.events)


def test_01_the_tracer_comes_back_after_a_recursion_error(every_project):
    every_project.write(
        "test_it.py",
        """
        def deep(n):
            return deep(n + 1)

        def test_deep():
            deep(0)

        def test_after():
            x = 1
            assert x
        """,
    )
    run, recording = trace(every_project)
    assert list(run.outcomes().values()) == ["failed", "passed"]
    assert recording.end["truncated"] in ("tracer removed", "recursion")
    (last,) = recording.all("r", "test_after")
    assert last.state == {"x": "1"}


def test_07_a_test_that_takes_the_hook(every_project):
    every_project.write(
        "test_it.py",
        """
        import sys

        def other(*_):
            return None

        def test_takes():
            sys.settrace(other)

        def test_after():
            assert sys.gettrace() is not other
        """,
    )
    run, recording = trace(every_project)
    assert list(run.outcomes().values()) == ["passed", "passed"]
    assert any("test_it.other" in note for note in recording.notes)
    assert recording.all("r", "test_after")


def test_15_time_limits_are_lifted_and_said_so(project, needs_plugins):
    needs_plugins("timeout", "hypothesispytest")
    project.plugins = True
    project.write(
        "test_it.py",
        """
        import time
        import hypothesis
        import pytest
        from hypothesis import strategies

        @pytest.mark.timeout(0.1)
        def test_slow():
            time.sleep(0.3)

        @hypothesis.settings(deadline=1, max_examples=2)
        @hypothesis.given(strategies.integers())
        def test_deadline(n):
            time.sleep(0.01)
        """,
    )
    run, recording = trace(project)
    assert set(run.outcomes().values()) == {"passed"}
    assert any("pytest-timeout" in note for note in recording.notes)
    assert any("deadline" in note for note in recording.notes)
    assert any("pytest-timeout" in note["message"] for note in run.all("note"))


def test_tests_end_as_they_do_unrecorded(every_project):
    every_project.write("mod.py", MOD)
    every_project.write("test_it.py", TESTS)
    plain = every_project.run("-rA")
    run, _ = trace(every_project, "-rA")
    assert run.outcomes() == plain.outcomes()
    assert run.returncode == plain.returncode
    for mine, theirs in zip(run.all("report"), plain.all("report")):
        same = ("id", "when", "outcome", "exc", "frames", "assertion")
        assert json.dumps([mine.get(k) for k in same]) == json.dumps([theirs.get(k) for k in same])
