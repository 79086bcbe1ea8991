import sys

import pytest

FAILING_TESTS = """
    import unittest
    import pytest
    from pkg.mod import add

    def test_good():
        print("hello")

    def test_bad():
        print("printed by the test")
        assert add(1, 2) == 3

    def test_raises():
        {}["missing"]

    @pytest.fixture
    def broken():
        raise ValueError("no fixture")

    def test_setup(broken):
        pass

    @pytest.mark.xfail
    def test_known():
        assert 0

    @pytest.mark.skip
    def test_skipped():
        pass

    class TestCase(unittest.TestCase):
        def test_lists(self):
            self.assertEqual([1, 2], [1, add(4, 1)])

        def test_parts(self):
            for number in range(3):
                with self.subTest(number=number):
                    self.assertEqual(number, 1)
"""


@pytest.fixture
def failing(project):
    project.write("pkg/__init__.py", "")
    project.write("pkg/mod.py", "def add(a, b):\n    return a - b\n")
    project.write("test_it.py", FAILING_TESTS)
    return project


def test_every_line_has_type_and_token_and_the_run_is_complete(failing):
    run = failing.run()
    assert all(record["k"] == "secret" for record in run.records)
    start, finish = run.one("start"), run.one("finish")
    assert run.records[0] is start
    assert run.records[-1] is finish
    assert start["python"] == "{}.{}.{}".format(*sys.version_info[:3])
    assert start["rootdir"] == str(failing.root)
    assert finish["exit"] == run.returncode == 1
    assert finish["collected"] == finish["ran"] == 8
    assert finish["stopped"] is False
    modules = run.one("modules")
    assert str(failing.root / "pkg" / "mod.py") in modules["loaded"]


def test_reports_tell_exception_frames_and_sides(failing):
    run = failing.run()
    bad = run.one("report", id="test_it.py::test_bad", when="call")
    assert bad["outcome"] == "failed"
    assert bad["exc"]["type"] == "AssertionError"
    assert bad["frames"] == [
        {"file": str(failing.root / "test_it.py"), "line": 10, "func": "test_bad"}
    ]
    assert bad["assertion"] == {
        "op": "==",
        "left": "-1",
        "right": "3",
        "left_type": "int",
        "right_type": "int",
        "lossy": False,
    }
    assert "printed by the test" in bad["output"]
    assert "assert -1 == 3" in bad["longrepr"]
    raises = run.one("report", id="test_it.py::test_raises", when="call")
    assert raises["exc"] == {"type": "KeyError", "message": "'missing'"}
    assert raises["assertion"] is None
    setup = run.one("report", id="test_it.py::test_setup", when="setup")
    assert setup["exc"]["type"] == "ValueError"
    assert setup["frames"][-1]["func"] == "broken"
    good = run.one("report", id="test_it.py::test_good", when="call")
    assert good["outcome"] == "passed"
    assert "frames" not in good


def test_expected_failures_and_skips(failing):
    run = failing.run()
    known = run.one("report", id="test_it.py::test_known", when="call")
    assert (known["outcome"], known["xfail"]) == ("skipped", True)
    assert run.outcomes()["test_it.py::test_skipped"] == "skipped"


def test_unittest_comparisons_give_both_sides(failing):
    run = failing.run()
    lists = run.one("report", id="test_it.py::TestCase::test_lists", when="call")
    assert (lists["assertion"]["left"], lists["assertion"]["right"]) == ("[1, 2]", "[1, 3]")
    parts = run.all("report", id="test_it.py::TestCase::test_parts", when="call", outcome="failed")
    assert parts
    assert parts[0]["assertion"]["right"] == "1"


def test_doctest_failures_give_want_and_got(project):
    path = project.write(
        "mod.py",
        '''
        def double(x):
            """
            >>> double(2)
            4
            """
            return x + 3
        ''',
    )
    run = project.run("--doctest-modules", "mod.py")
    assert run.one("collected")["doctest"] == ["mod.py::mod.double"]
    report = run.one("report", when="call")
    assert report["assertion"]["left"] == "5"
    assert report["assertion"]["right"] == "4"
    assert report["frames"] == [{"file": path, "line": 3, "func": "mod.double"}]


def test_comparison_inside_raises_is_not_taken_for_the_failure(project):
    project.write(
        "test_it.py",
        """
        import pytest

        def check(x):
            assert x == 1

        def test_it():
            with pytest.raises(AssertionError):
                check(2)
            raise AssertionError("something else")
        """,
    )
    assert project.run().one("report", when="call")["assertion"] is None


def test_hostile_objects_are_not_run_by_the_records(project):
    project.write(
        "test_it.py",
        """
        class Money:
            def __init__(self, amount):
                self.amount = amount
            def __eq__(self, other):
                return False
            def __repr__(self):
                return "money"

        def test_it():
            assert Money(1) == Money(2)
        """,
    )
    assertion = project.run().one("report", when="call")["assertion"]
    assert assertion["left"] == "<Money amount=1>"
    assert assertion["left_type"] == "Money"
    assert assertion["lossy"] is True


def test_causes_are_told(project):
    project.write(
        "test_it.py",
        """
        def test_it():
            try:
                {}["x"]
            except KeyError as error:
                raise ValueError("outer") from error
        """,
    )
    report = project.run().one("report", when="call")
    assert report["exc"]["type"] == "ValueError"
    assert report["causes"][0]["exc"]["type"] == "KeyError"


def test_selection_by_exact_id_with_odd_parameters(every_project):
    every_project.write(
        "test_it.py",
        """
        import pytest

        @pytest.mark.parametrize("x", ["a", "b c", "[d]", "e::f", "g]["])
        def test_it(x):
            pass
        """,
    )
    wanted = ["test_it.py::test_it[b c]", "test_it.py::test_it[[d]]", "test_it.py::test_it[e::f]"]
    run = every_project.run(select=wanted)
    collected = run.one("collected")
    assert collected["ids"] == wanted
    assert len(collected["all"]) == 5
    assert collected["locations"][wanted[0]][0] == "test_it.py"
    assert sorted(run.outcomes()) == sorted(wanted)


def test_collect_mode_lists_tests(failing):
    run = failing.run("--collect-only", "-q", mode="collect")
    assert len(run.one("collected")["ids"]) == 8
    assert not run.all("report")
    assert run.one("finish")["exit"] == 0


@pytest.mark.parametrize(
    ("text", "exc"),
    [
        ("import no_such_module\n", "ModuleNotFoundError"),
        ("def broken(:\n    pass\n", "SyntaxError"),
        ("1 / 0\n", "ZeroDivisionError"),
    ],
)
def test_files_that_cannot_be_collected(project, text, exc):
    path = project.write("test_broken.py", text)
    project.write("test_good.py", "def test_it(): pass\n")
    run = project.run()
    error = run.one("collect_error")
    assert error["exc"]["type"] == exc
    assert error["file"] == path
    assert error["id"] == "test_broken.py"
    assert error["frames"][-1]["file"] == path
    assert error["frames"][-1]["line"] == 1
    assert run.one("collected")["ids"] == ["test_good.py::test_it"]
    assert run.one("finish")["exit"] == run.returncode == 2


def test_broken_conftest_leaves_no_finish_record(project):
    project.write("conftest.py", "1 / 0\n")
    project.write("test_it.py", "def test_it(): pass\n")
    run = project.run()
    assert run.returncode != 0
    assert not run.all("finish")
    assert "ZeroDivisionError" in run.one("internal")["message"]


def test_usage_error_is_told(project):
    project.write("test_it.py", "def test_it(): pass\n")
    run = project.run("no_such_file.py")
    assert run.returncode == 4
    assert not run.all("finish")
    assert "no_such_file.py" in run.one("internal")["message"]


def test_internal_error_is_told(project):
    project.write("conftest.py", "def pytest_runtest_logstart():\n    1 / 0\n")
    project.write("test_it.py", "def test_it(): pass\n")
    run = project.run()
    assert "ZeroDivisionError" in run.one("internal")["message"]


def test_forked_children_write_nothing(project):
    project.write(
        "test_it.py",
        """
        import os

        def test_fork():
            if os.fork() == 0:
                return
            os.wait()
        """,
    )
    run = project.run()
    assert len(run.all("report", when="call")) == 1
    assert len(run.all("finish")) == 1


def test_configuration_is_hidden_from_the_tests(project):
    project.write(
        "test_it.py",
        """
        import os

        def test_it():
            assert "NDBG_CONFIG" not in os.environ
        """,
    )
    assert project.run().outcomes() == {"test_it.py::test_it": "passed"}


def test_time_limit_stops_between_tests(project):
    project.write(
        "test_it.py",
        """
        import time, pytest

        @pytest.mark.parametrize("n", range(20))
        def test_it(n):
            time.sleep(0.2)
        """,
    )
    finish = project.run(time_limit=0.5).one("finish")
    assert finish["stopped"] is True
    assert 1 <= finish["ran"] < 10


def test_modules_from_another_checkout_are_told(project, tmp_path):
    other = tmp_path / "checkout" / "src" / "lib"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    project.write("test_it.py", "import lib\n\ndef test_it(): pass\n")
    project.write("conftest.py", f"import sys\nsys.path.append({str(other.parent)!r})\n")
    checkout = str(tmp_path / "checkout")
    found = project.run(foreign=checkout).one("modules")["foreign"]
    assert found == [{"name": "lib", "file": str(other / "__init__.py")}]
    excluded = project.run(foreign=checkout, exclude_foreign=[str(other.parent)])
    assert excluded.one("modules")["foreign"] == []


def test_memory_limit_fails_the_test_only(project):
    project.write("test_it.py", "def test_it():\n    bytearray(1 << 31)\n")
    run = project.run(memory_limit=1 << 28)
    assert run.one("report", when="call")["exc"]["type"] == "MemoryError"


def test_overlay_replaces_files_in_memory(project):
    import base64

    project.write("pkg/__init__.py", "")
    mod = project.write("pkg/mod.py", "VALUE = 1\n")
    sub = project.write("pkg/sub/__init__.py", "NAME = 'old'\n")
    test = project.write(
        "test_it.py",
        "from pkg.mod import VALUE\nfrom pkg.sub import NAME\n\ndef test_it():\n    assert 0\n",
    )
    new_test = (
        "from pkg.mod import VALUE\nfrom pkg import sub\n\n"
        "def test_it():\n    assert VALUE == 3, sub.NAME\n"
    )
    overlay = {
        mod: base64.b64encode(b"VALUE = 2\n").decode(),
        sub: base64.b64encode(b"NAME = 'new'\n").decode(),
        test: base64.b64encode(new_test.encode()).decode(),
    }
    report = project.run(overlay=overlay).one("report", when="call")
    assert report["exc"]["message"].startswith("new")
    # Still rewritten by pytest: both sides are known.
    assert (report["assertion"]["left"], report["assertion"]["right"]) == ("2", "3")
    assert (project.root / "pkg" / "mod.py").read_text() == "VALUE = 1\n"


def test_inert_without_configuration(project):
    project.write("test_it.py", "def test_it(): pass\n")
    run = project.run(env={"NDBG_CONFIG": ""})
    assert run.returncode == 0
    assert run.records == []
