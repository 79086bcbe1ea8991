"""Spectra and values on every interpreter."""

MOD = """
    def branch(x):
        if x:
            return "yes"
        return "no"


    def deep(n):
        return deep(n + 1)


    def steps(n):
        total = 0
        for i in range(n):
            total += i
        return total


    def fails(key):
        try:
            {}[key]
        except KeyError:
            pass
        return {}[key]


    def squares(n):
        for i in range(n):
            yield i * i


    def listed(n):
        return [i + 1 for i in range(n)]


    async def waits(n):
        return n + 1
"""


def lines(run, nodeid, name):
    files = run.one("cov", id=nodeid)["files"]
    found = [value for path, value in files.items() if path.endswith("/" + name)]
    return found[0] if found else []


def test_spectrum_of_each_test_and_of_the_imports(every_project):
    every_project.write("mod.py", MOD)
    every_project.write(
        "test_it.py",
        """
        import threading
        import mod

        def test_yes():
            assert mod.branch(1) == "yes"

        def test_no():
            assert mod.branch(0) == "no"

        def test_again():
            assert mod.branch(0) == "no"

        def test_thread():
            thread = threading.Thread(target=mod.branch, args=(1,))
            thread.start()
            thread.join()

        def test_generator():
            assert list(mod.squares(2)) == [0, 1]
        """,
    )
    run = every_project.run(mode="spectrum")
    assert set(run.outcomes().values()) == {"passed"}, run.output
    imports = lines(run, "", "mod.py")
    assert 1 in imports
    assert 2 not in imports
    assert lines(run, "test_it.py::test_yes", "mod.py") == [2, 3]
    assert lines(run, "test_it.py::test_no", "mod.py") == [2, 4]
    assert lines(run, "test_it.py::test_again", "mod.py") == [2, 4]
    assert lines(run, "test_it.py::test_thread", "mod.py") == [2, 3]
    assert lines(run, "test_it.py::test_generator", "mod.py") == [27, 28]
    assert lines(run, "test_it.py::test_yes", "test_it.py") == [5]
    for record in run.all("cov"):
        assert all(path.startswith(str(every_project.root)) for path in record["files"])


def test_spectrum_goes_on_after_a_recursion_error(every_project):
    every_project.write("mod.py", MOD)
    every_project.write(
        "test_it.py",
        """
        import mod

        def test_deep():
            mod.deep(0)

        def test_after():
            assert mod.branch(1) == "yes"
        """,
    )
    run = every_project.run(mode="spectrum")
    assert lines(run, "test_it.py::test_deep", "mod.py") == [8]
    assert lines(run, "test_it.py::test_after", "mod.py") == [2, 3]
    assert run.outcomes()["test_it.py::test_deep"] == "failed"


def test_spectrum_goes_on_after_a_test_removed_the_tracer(every_project):
    every_project.write("mod.py", MOD)
    every_project.write(
        "test_it.py",
        """
        import sys
        import mod

        def test_removes():
            sys.settrace(None)

        def test_after():
            assert mod.branch(1) == "yes"
        """,
    )
    run = every_project.run(mode="spectrum")
    assert lines(run, "test_it.py::test_after", "mod.py") == [2, 3]


def test_spectrum_leaves_out_installed_packages_and_venvs(project):
    project.write("venv/pyvenv.cfg", "")
    project.write("venv/lib/dep.py", "VALUE = 1\n")
    project.write("vendor/site-packages/other.py", "VALUE = 1\n")
    project.write(
        "test_it.py",
        """
        import sys
        sys.path[:0] = ["venv/lib", "vendor/site-packages"]
        import dep, other

        def test_it():
            exec(compile("x = 1", "made_up.py", "exec"))
        """,
    )
    files = {path for record in project.run(mode="spectrum").all("cov") for path in record["files"]}
    assert files == {str(project.root / "test_it.py")}


def test_values_before_lines_and_of_calls(every_project):
    path = every_project.write("mod.py", MOD)
    every_project.write(
        "test_it.py",
        """
        import mod, pytest

        def test_steps():
            assert mod.steps(10) == 45

        def test_fails():
            with pytest.raises(KeyError):
                mod.fails("k")
            assert mod.branch(1) == "yes"
        """,
    )
    run = every_project.run(mode="values", trace={path: [[11, 23]]})
    assert set(run.outcomes().values()) == {"passed"}, run.output
    hits = run.all("value", id="test_it.py::test_steps", line=14)
    assert [hit["n"] for hit in hits] == [1, 2, 3, 10]
    assert [hit["locals"]["total"]["v"] for hit in hits] == ["0", "0", "1", "36"]
    assert hits[0]["locals"]["i"] == {"ty": "int", "v": "0", "lossy": False}
    assert {hit["func"] for hit in hits} == {"steps"}
    returned = run.one("ret", id="test_it.py::test_steps")
    assert returned["line"] == 11
    assert returned["args"]["n"]["v"] == "10"
    assert returned["value"]["v"] == "45"
    assert returned["exc"] is None
    raised = run.one("ret", id="test_it.py::test_fails")
    assert raised["exc"] == "KeyError"
    assert raised["value"] is None
    calls = run.one("calls", id="test_it.py::test_fails")
    assert (calls["func"], calls["count"]) == ("fails", 1)
    # branch() lies outside the configured ranges.
    assert {record["func"] for record in run.all("value")} == {"steps", "fails"}


def test_values_of_generators_comprehensions_and_coroutines(every_project):
    path = every_project.write("mod.py", MOD)
    every_project.write(
        "test_it.py",
        """
        import asyncio, mod

        def test_it():
            assert list(mod.squares(3)) == [0, 1, 4]
            assert mod.listed(2) == [1, 2]
            assert asyncio.run(mod.waits(1)) == 2
        """,
    )
    run = every_project.run(mode="values", trace={path: [[26, 99]]})
    assert set(run.outcomes().values()) == {"passed"}, run.output
    counts = {record["func"]: record["count"] for record in run.all("calls")}
    assert counts == {"squares": 1, "listed": 1, "waits": 1}
    squares = run.all("ret", func="squares")
    assert [one["value"]["v"] for one in squares if one.get("yield")] == ["0", "1", "4"]
    assert [one["value"]["v"] for one in squares if not one.get("yield")] == ["None"]
    assert run.one("ret", func="waits")["value"]["v"] == "2"


def test_calls_only_records_what_goes_in_and_out_and_nothing_between(every_project):
    path = every_project.write("mod.py", MOD)
    every_project.write(
        "test_it.py",
        """
        import mod

        def test_steps():
            assert mod.steps(10) == 45
        """,
    )
    run = every_project.run(mode="values", calls_only=True, trace={path: [[0, 10**9]]})
    assert run.all("value") == []
    assert run.one("ret", func="steps")["value"]["v"] == "45"


def test_values_do_not_disturb_the_program(every_project):
    path = every_project.write(
        "mod.py",
        """
        class Odd:
            def __init__(self):
                self.x = 1
            def __repr__(self):
                raise SystemExit
            def __getattr__(self, name):
                raise SystemExit
            @property
            def __class__(self):
                raise SystemExit

        def uses(odd):
            assert list(locals()) == ["odd"]
            return odd.x

        def deep(n):
            return deep(n + 1)

        def plain(n):
            return n
        """,
    )
    every_project.write(
        "test_it.py",
        """
        import mod, pytest

        def test_odd():
            assert mod.uses(mod.Odd()) == 1

        def test_deep():
            with pytest.raises(RecursionError):
                mod.deep(0)

        def test_plain():
            assert mod.plain(3) == 3
        """,
    )
    run = every_project.run(mode="values", trace={path: [[1, 99]]})
    outcomes = run.outcomes()
    assert outcomes["test_it.py::test_deep"] == "passed"
    assert outcomes["test_it.py::test_plain"] == "passed"
    odd = run.all("value", id="test_it.py::test_odd", func="uses")[0]["locals"]["odd"]
    assert odd["ty"] == "Odd"
    assert odd["attrs"] == {"x": {"ty": "int", "v": "1"}}
    assert run.one("ret", id="test_it.py::test_plain")["value"]["v"] == "3"


def test_values_of_one_test_are_capped(project):
    path = project.write(
        "mod.py",
        "\n".join(
            ["def many(n):"]
            + ["    x = n"] * 30
            + ["def all():", "    for n in range(3000): many(n)"]
        ),
    )
    project.write("test_it.py", "import mod\n\ndef test_it():\n    mod.all()\n")
    run = project.run(mode="values", trace={path: [[1, 1]]}, max_hits=1000)
    assert len(run.all("value")) + len(run.all("ret")) <= 20000
    assert run.one("calls")["count"] == 3000
    assert "not complete" in run.one("note")["message"]
