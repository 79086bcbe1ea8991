"""Other pytest plugins: switched off when neutral, and working when not."""

import pytest

ORDERED = """
    import pytest

    @pytest.mark.parametrize("n", range(12))
    def test_it(n):
        pass
"""


@pytest.fixture
def plugged(project):
    project.plugins = True
    return project


def test_xdist_workers_get_the_selection_and_send_details(plugged, needs_plugins):
    needs_plugins("xdist")
    plugged.write(
        "test_it.py",
        """
        import pytest

        @pytest.mark.parametrize("n", range(6))
        def test_it(n):
            assert n == 1
        """,
    )
    wanted = ["test_it.py::test_it[1]", "test_it.py::test_it[2]"]
    run = plugged.run("-n", "2", "-p", "no:randomly", select=wanted)
    assert run.outcomes() == {wanted[0]: "passed", wanted[1]: "failed"}
    collected = run.one("collected")
    assert collected["ids"] == wanted
    assert len(collected["all"]) == 6
    report = run.one("report", id=wanted[1], when="call")
    assert report["assertion"]["left"] == "2"
    assert report["frames"][-1]["func"] == "test_it"
    assert run.one("finish")["collected"] == 2
    assert not list(plugged.root.parent.glob("*.collected.*"))


def test_xdist_tells_collection_errors(plugged, needs_plugins):
    needs_plugins("xdist")
    plugged.write("test_bad.py", "import no_such_module\n")
    plugged.write("test_good.py", "def test_it(): pass\n")
    run = plugged.run("-n", "1")
    assert run.all("collect_error")[0]["exc"]["type"] == "ModuleNotFoundError"
    assert run.one("finish")["exit"] != 0


def test_neutral_runs_in_one_process_despite_addopts(plugged, needs_plugins):
    needs_plugins("xdist")
    plugged.write("pytest.ini", "[pytest]\naddopts = -n auto --dist loadfile\n")
    plugged.write(
        "test_it.py",
        "import os\n\ndef test_it():\n    assert 'PYTEST_XDIST_WORKER' not in os.environ\n",
    )
    run = plugged.run(neutral=True)
    assert run.outcomes() == {"test_it.py::test_it": "passed"}


def test_neutral_starts_no_coverage(plugged, needs_plugins):
    needs_plugins("pytest_cov")
    plugged.write("pytest.ini", "[pytest]\naddopts = --cov=. --cov-fail-under=100\n")
    plugged.write(
        "test_it.py",
        "import sys\n\ndef test_it():\n    assert 'coverage' not in str(sys.gettrace())\n"
        "    assert sys.gettrace() is None\n\ndef unused():\n    return 1\n",
    )
    run = plugged.run(neutral=True)
    assert run.returncode == 0, run.output
    assert not (plugged.root / ".coverage").exists()
    assert "coverage:" not in run.output


def test_neutral_keeps_the_order(plugged, needs_plugins):
    needs_plugins("randomly")
    plugged.write("test_it.py", ORDERED)
    seen = []
    plugged.write("conftest.py", "import random\ndef pytest_runtest_call(): print(random.random())")
    for _ in range(2):
        run = plugged.run("-s", "-p", "randomly", neutral=True)
        seen.append([line for line in run.output.splitlines() if "0." in line[:3]])
        assert run.one("collected")["ids"] == [f"test_it.py::test_it[{n}]" for n in range(12)]
    assert seen[0] == seen[1]


def test_neutral_does_not_rerun(plugged, needs_plugins):
    needs_plugins("rerunfailures")
    plugged.write("pytest.ini", "[pytest]\naddopts = --reruns 3 --strict-markers\n")
    plugged.write(
        "test_it.py",
        """
        import pytest

        def test_it():
            assert 0

        @pytest.mark.flaky(reruns=4)
        def test_marked():
            assert 0
        """,
    )
    run = plugged.run(neutral=True)
    assert len(run.all("report", when="call", outcome="failed")) == 2
    assert not run.all("rerun")


def test_reruns_are_no_results(plugged, needs_plugins):
    needs_plugins("rerunfailures")
    plugged.write(
        "test_it.py",
        "tries = []\n\ndef test_it():\n    tries.append(1)\n    assert len(tries) == 3\n",
    )
    run = plugged.run("--reruns", "3")
    assert len(run.all("rerun")) == 2
    assert run.outcomes() == {"test_it.py::test_it": "passed"}


def test_neutral_has_no_timeout_of_its_own(plugged, needs_plugins):
    needs_plugins("timeout")
    plugged.write("pytest.ini", "[pytest]\ntimeout = 0.2\naddopts = --strict-markers\n")
    plugged.write(
        "test_it.py",
        """
        import time, pytest

        def test_it():
            time.sleep(0.5)

        @pytest.mark.timeout(0.1)
        def test_marked():
            time.sleep(0.3)
        """,
    )
    run = plugged.run(neutral=True)
    assert set(run.outcomes().values()) == {"passed"}, run.output


def test_neutral_runs_everything_despite_stop_options(project):
    project.write("pytest.ini", "[pytest]\naddopts = -x --ff\n")
    project.write("test_it.py", "def test_a():\n    assert 0\n\ndef test_b():\n    assert 0\n")
    for arguments in ([], ["--lf"], ["--sw"], ["--maxfail=1"]):
        assert len(project.run(*arguments, neutral=True).outcomes()) == 2
    assert not (project.root / ".pytest_cache").exists()
    assert not list(project.root.parent.glob("ndbg-cache-*"))
    assert len(project.run().outcomes()) == 1


def test_neutral_works_without_a_cache(project):
    project.write("test_it.py", "def test_a(): pass\n")
    assert project.run("-p", "no:cacheprovider", neutral=True).returncode == 0


def test_neutral_takes_deadlines_and_chance_from_hypothesis(plugged, needs_plugins):
    needs_plugins("hypothesispytest")
    plugged.write(
        "test_it.py",
        """
        import time
        from hypothesis import given, settings, strategies

        @given(strategies.integers())
        @settings(deadline=1, max_examples=4)
        def test_slow(n):
            time.sleep(0.01)

        @given(strategies.integers())
        @settings(max_examples=5)
        def test_print(n):
            print("drawn", n)
        """,
    )
    runs = [plugged.run("-s", neutral=True) for _ in range(2)]
    drawn = [[line for line in run.output.splitlines() if "drawn" in line] for run in runs]
    assert set(runs[0].outcomes().values()) == {"passed"}, runs[0].output
    assert drawn[0] == drawn[1] != []
    assert not (plugged.root / ".hypothesis").exists()


def test_neutral_is_a_change_only_when_asked_for(plugged, needs_plugins):
    needs_plugins("pytest_cov")
    plugged.write("test_it.py", "def test_it(): pass\n")
    assert "coverage:" in plugged.run("--cov=.").output


def test_start_names_plugins(plugged, needs_plugins):
    needs_plugins("xdist")
    plugged.write("test_it.py", "def test_it(): pass\n")
    assert "pytest-xdist" in plugged.run().one("start")["plugins"]
