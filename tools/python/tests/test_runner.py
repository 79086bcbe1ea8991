"""The warm runner: stages, deadlines, and candidates that misbehave."""

import os
import sys

import pytest
from pytest_process import outcomes, wait_until

MUST = ["test_it.py::test_it"]
KEEP = ["test_it.py::test_keep[1]", "test_it.py::test_keep[2]", "test_it.py::test_keep[3]"]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


@pytest.fixture
def small(every_project):
    return _fill(every_project)


@pytest.fixture
def own(project):
    return _fill(project)


def _fill(project):
    project.write("pkg/__init__.py", "")
    project.write("pkg/mod.py", "FACTOR = 1\n\n\ndef work(x):\n    return x * FACTOR\n")
    project.write(
        "test_it.py",
        """
        import pytest
        from pkg.mod import work

        def test_it():
            assert work(1) == 2

        @pytest.mark.parametrize("x", [1, 2, 3])
        def test_keep(x):
            assert work(x) != 5
        """,
    )
    return project


def body(project, text):
    return project.patch("pkg/mod.py", "return x * FACTOR", text)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_collected_stage(small):
    with small.serve() as server:
        assert server.ready["ids"] == MUST + KEEP
        assert server.ready["errors"] == []
        baseline = server.try_out(must=MUST, keep=KEEP)
        assert (baseline["status"], baseline["how"]) == ("done", "none")
        message = baseline["results"][0]
        assert message[:3] == [MUST[0], "failed", "AssertionError"]
        assert message[4] == ["1", "2"]
        assert len(baseline["results"]) == 1
        fixed = server.try_out(body(small, "return x + 1"), must=MUST, keep=KEEP)
        assert outcomes(fixed) == dict.fromkeys(MUST + KEEP, "passed")
        regressed = server.try_out(body(small, "return 2 if x == 1 else 5"), must=MUST, keep=KEEP)
        assert list(outcomes(regressed).values()) == ["passed", "passed", "failed"]
        constant = server.try_out(small.patch("pkg/mod.py", "= 1", "= 2"), must=MUST)
        assert constant["status"] == "cold"


def test_configured_stage(small):
    with small.serve(stage="configured") as server:
        assert server.ready["ids"] == []
        baseline = server.try_out(must=MUST)
        assert outcomes(baseline) == {MUST[0]: "failed"}
        constant = server.try_out(small.patch("pkg/mod.py", "= 1", "= 2"), must=MUST, keep=KEEP)
        assert (constant["status"], constant["how"]) == ("done", "reimport")
        assert outcomes(constant) == dict.fromkeys(MUST + KEEP, "passed")
        broken = server.try_out(small.patch("pkg/mod.py", "= 1", "= 1 / 0"), must=MUST)
        assert broken["results"] == [
            [MUST[0], "error", "ZeroDivisionError", "division by zero", None]
        ]
        syntax = server.try_out(small.patch("pkg/mod.py", "= 1", "= (1"), must=MUST)
        assert syntax["status"] == "invalid"
        missing = server.try_out(small.patch("pkg/mod.py", "= 1", "= 2"), must=["test_it.py::no"])
        assert outcomes(missing) == {"test_it.py::no": "error"}
        test_file = small.patch("test_it.py", "work(1) == 2", "work(1) == 1")
        assert outcomes(server.try_out(test_file, must=MUST)) == {MUST[0]: "passed"}
    assert not list(small.root.rglob("__pycache__"))


def test_configured_stage_forgets_modules_that_nothing_holds(own):
    own.write("conftest.py", "import sys, pkg.mod\ndel pkg\n")
    with own.serve(stage="configured") as server:
        result = server.try_out(own.patch("pkg/mod.py", "= 1", "= 2"), must=MUST)
        assert outcomes(result) == {MUST[0]: "passed"}


@pytest.mark.parametrize(
    "line", ["import pkg.mod", "from pkg.mod import work", "from pkg import mod; held = [mod.work]"]
)
def test_configured_stage_is_cold_when_a_conftest_holds_the_module(own, line):
    own.write("conftest.py", line + "\n")
    with own.serve(stage="configured") as server:
        result = server.try_out(own.patch("pkg/mod.py", "= 1", "= 2"), must=MUST)
        assert result["status"] == "cold"
        conftest = server.try_out(own.patch("conftest.py", "pkg", "pkg "), must=MUST)
        assert conftest["status"] == "cold"


@pytest.mark.parametrize("stage", ["collected", "configured"])
def test_a_runner_that_cannot_start_says_so(own, stage):
    own.write("conftest.py", "1 / 0\n")
    server = own.serve(stage=stage)
    with server:
        assert server.ready["t"] == "internal"
        assert "ZeroDivisionError" in server.ready["message"]
        assert server.process.wait(10) != 0


def test_the_selection_counts_for_the_runner_too(own):
    with own.serve(select=MUST) as server:
        assert server.ready["ids"] == MUST


def test_collection_errors_are_in_ready(own):
    own.write("test_bad.py", "import no_such_module\n")
    with own.serve() as server:
        assert server.ready["errors"][0]["id"] == "test_bad.py"
        assert server.ready["errors"][0]["exc"]["type"] == "ModuleNotFoundError"
        assert outcomes(server.try_out(must=MUST)) == {MUST[0]: "failed"}


MISBEHAVIOUR = {
    "endless loop": ("while True: pass", "timeout", None),
    "sleep": ("import time; time.sleep(60)", "timeout", None),
    "exit": ("import os; os._exit(0)", "crash", "exit code 0"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "crash", "signal SIGSEGV"),
    "kill": ("import os; os.kill(os.getpid(), 9)", "crash", "signal SIGKILL"),
    "recursion": ("return work(x)", "done", "RecursionError"),
    "interrupt": ("raise KeyboardInterrupt", "done", "KeyboardInterrupt"),
    "system exit": ("raise SystemExit(0)", "done", "SystemExit"),
    "memory": ("return bytearray(1 << 30)", "done", "MemoryError"),
    "closed": ("import os; os.closerange(3, 999)", "crash", None),
    "pytest exit": ("import pytest; pytest.exit('no')", "done", "Exit"),
}


@linux_only
def test_a_misbehaving_candidate_costs_only_itself(small):
    with small.serve(memory_limit=1 << 29) as server:
        for name, (text, status, reason) in MISBEHAVIOUR.items():
            result = server.try_out(body(small, text), must=MUST, keep=KEEP, deadline_ms=1000)
            assert result["status"] == status, (name, result)
            assert result["ms"] < 5000, (name, result)
            if status == "crash" and reason:
                assert result["reason"] == reason, (name, result)
            if status == "done":
                assert result["results"][0][1] in ("failed", "error"), (name, result)
                assert result["results"][0][2] == reason, (name, result)
        good = server.try_out(body(small, "return x + 1"), must=MUST, keep=KEEP)
        assert outcomes(good) == dict.fromkeys(MUST + KEEP, "passed")


def test_output_floods_go_nowhere(own):
    flood = "import os, sys\n    for _ in range(3000): {}\n    return x + 1"
    with own.serve(memory_limit=1 << 29) as server:
        for call in ("print('x' * 9999)", "os.write(1, b'x' * 9999)", "os.write(2, b'x' * 9999)"):
            result = server.try_out(body(own, flood.format(call)), must=MUST)
            assert outcomes(result) == {MUST[0]: "passed"}, result
    assert os.path.getsize(server._errors) < 10000


def test_files_are_limited(own):
    own.write("conftest.py", "")
    text = "open('big', 'wb').truncate(1 << 30)"
    with own.serve() as server:
        result = server.try_out(body(own, text), must=MUST)
        assert result["results"][0][1] == "failed"
    assert (own.root / "big").stat().st_size == 0


def test_partial_results_of_a_timeout_are_kept(own):
    text = "import time\n    time.sleep(9 if x == 2 else 0)\n    return x + 1"
    with own.serve() as server:
        result = server.try_out(body(own, text), must=MUST, keep=KEEP, deadline_ms=700)
        assert result["status"] == "timeout"
        assert outcomes(result) == {MUST[0]: "passed", KEEP[0]: "passed"}
        assert 600 < result["ms"] < 3000


@linux_only
@pytest.mark.parametrize("how", ["same group", "daemon", "daemon that outlives a timeout"])
def test_descendants_are_killed(own, how):
    pids = own.root / "pid"
    daemonise = "" if how == "same group" else "os.setsid()\n            if os.fork(): os._exit(0)"
    after = "time.sleep(60)" if how.endswith("timeout") else "time.sleep(0.3)"
    text = f"""import os, time
    if x == 1:
        if os.fork() == 0:
            {daemonise or "pass"}
            open({str(pids)!r}, "w").write(str(os.getpid()))
            time.sleep(300)
            os._exit(0)
        {after}
    return x + 1"""
    with own.serve() as server:
        result = server.try_out(body(own, text), must=MUST, deadline_ms=1500)
        assert result["status"] == ("timeout" if how.endswith("timeout") else "done")
        pid = int(pids.read_text())
        assert wait_until(lambda: not alive(pid))


@linux_only
def test_nothing_is_left_after_the_end_of_commands(own):
    pids = own.root / "pids"
    text = f"import os, time; open({str(pids)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(60)"
    server = own.serve(jobs=2)
    with server:
        for _ in range(2):
            server.request([body(own, text)], must=MUST, deadline_ms=60000)
        assert wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    assert server.process.returncode == 0
    for pid in pids.read_text().split():
        assert wait_until(lambda pid=pid: not alive(int(pid)))
    assert not list(own.root.parent.glob("ndbg-cache-*"))


@linux_only
def test_candidates_die_with_a_killed_server(own):
    pids = own.root / "pids"
    text = f"import os, time; open({str(pids)!r}, 'a').write(str(os.getpid())); time.sleep(60)"
    with own.serve() as server:
        server.request([body(own, text)], must=MUST, deadline_ms=60000)
        assert wait_until(lambda: pids.exists() and pids.read_text())
        server.process.kill()
    assert wait_until(lambda: not alive(int(pids.read_text())))


def test_quit_ends_the_server(own):
    server = own.serve()
    with server:
        server.send({"quit": True})
        assert server.process.wait(10) == 0


def test_malformed_requests_are_answered(own):
    good = {"id": 1, "patches": [], "must": MUST, "keep": [], "deadline_ms": 5000, "how": "auto"}
    file = str(own.root / "pkg" / "mod.py")
    bad = [
        b"not json",
        b"[]",
        b"\xff\xfe",
        b'"text"',
        {"must": []},
        dict(good, must="text"),
        dict(good, how="magic"),
        dict(good, deadline_ms=0),
        dict(good, deadline_ms="soon"),
        dict(good, patches=[{"file": "relative.py", "edits": []}]),
        dict(good, patches=[{"file": file, "edits": [[0, 1]]}]),
        dict(good, patches=[{"file": file, "edits": [[0, 1, "%%%"]]}]),
        dict(good, patches=[{"file": file, "edits": [[0, 10**9, ""]]}]),
        dict(good, patches=[{"file": file, "edits": [[5, 9, ""], [7, 12, ""]]}]),
        dict(good, patches=[{"file": file + "x", "edits": [[0, 1, ""]]}]),
    ]
    with own.serve() as server:
        for message in bad:
            server.send(message)
            assert server.receive()["t"] == "error", message
        server.send(good)
        assert server.receive()["status"] == "done"


def test_files_outside_the_roots_are_cold(own, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text("def f():\n    return 1\n")
    with own.serve() as server:
        patch = {"file": str(outside), "edits": [[0, 0, ""]]}
        assert server.try_out(patch, must=MUST)["status"] == "cold"


def test_jobs_run_side_by_side(own):
    text = "import time; time.sleep(0.5)\n    return x + 1"
    with own.serve(jobs=2) as server:
        numbers = [server.request([body(own, text)], must=MUST) for _ in range(4)]
        results = [server.receive() for _ in numbers]
        assert sorted(result["id"] for result in results) == numbers
        assert all(outcomes(result) == {MUST[0]: "passed"} for result in results)


def test_candidates_start_from_the_same_state(own):
    own.write(
        "test_it.py",
        """
        import random, tempfile, os
        from pkg.mod import work
        seen = []

        def test_it():
            seen.append(1)
            assert len(seen) == 1
            assert work(1) == [], (random.random(), os.getpid())
        """,
    )
    with own.serve() as server:
        messages = [
            server.try_out(body(own, "return x + 1"), must=MUST)["results"][0][3] for _ in range(2)
        ]
        assert messages[0].split(",")[0] == messages[1].split(",")[0]
        assert messages[0] != messages[1]


def test_fixtures_are_torn_down_after_an_early_stop(own):
    log = own.root / "log"
    own.write(
        "conftest.py",
        f"""
        import pytest

        @pytest.fixture(scope="session", autouse=True)
        def server():
            yield
            open({str(log)!r}, "a").write("down ")
        """,
    )
    with own.serve() as server:
        server.try_out(must=MUST, keep=KEEP)
        assert log.read_text() == "down "
        server.try_out(body(own, "return x + 1"), must=MUST, keep=KEEP)
        assert log.read_text() == "down down "


def test_a_skipped_test_is_not_passed(own):
    with own.serve() as server:
        text = "import pytest; pytest.skip('no')"
        result = server.try_out(body(own, text), must=MUST, keep=KEEP)
        assert outcomes(result) == {MUST[0]: "skipped"}


def test_a_thread_from_collection_cannot_block_for_longer_than_the_deadline(own):
    own.write(
        "conftest.py",
        """
        import threading, time
        lock = threading.Lock()

        def hold():
            with lock:
                time.sleep(3600)

        threading.Thread(target=hold, daemon=True).start()
        time.sleep(0.1)
        """,
    )
    text = "import conftest\n    with conftest.lock: return x + 1"
    with own.serve() as server:
        result = server.try_out(body(own, text), must=MUST, deadline_ms=500)
        assert result["status"] == "timeout"
        good = server.try_out(body(own, "return x + 1"), must=MUST)
        assert outcomes(good) == {MUST[0]: "passed"}


def test_tests_that_capture_output_still_work(own):
    own.write(
        "test_it.py",
        """
        import os, sys, logging, pytest
        from pkg.mod import work

        def test_it(capsys, capfd, caplog):
            pass

        def test_sys(capsys):
            print("out")
            assert capsys.readouterr().out == "out\\n"

        def test_fd(capfd):
            os.write(1, b"fd")
            assert capfd.readouterr().out == "fd"

        def test_log(caplog):
            logging.warning("careful")
            assert "careful" in caplog.text

        def test_input():
            with pytest.raises(OSError):
                input()
        """,
    )
    ids = ["test_it.py::test_" + name for name in ("sys", "fd", "log", "input")]
    with own.serve() as server:
        assert outcomes(server.try_out(must=ids)) == dict.fromkeys(ids, "passed")


def test_plugins_do_not_disturb(project, needs_plugins):
    needs_plugins("xdist", "pytest_cov", "randomly", "timeout", "rerunfailures", "hypothesispytest")
    _fill(project)
    project.plugins = True
    project.write("pytest.ini", "[pytest]\naddopts = -n 2 --cov=. --reruns 2 -x\ntimeout = 60\n")
    for stage in ("collected", "configured"):
        with project.serve(stage=stage) as server:
            assert outcomes(server.try_out(must=MUST)) == {MUST[0]: "failed"}
            result = server.try_out(body(project, "return x + 1"), must=MUST, keep=KEEP)
            assert outcomes(result) == dict.fromkeys(MUST + KEEP, "passed")
    assert not (project.root / ".coverage").exists()
