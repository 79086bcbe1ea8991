"""Swapping code objects in the warm runner, for every way in which functions are held."""

import pytest
from pytest_process import outcomes

MOD = '''
import contextlib
import functools

LIMIT = 10


def plain(x):
    return x - 1


class Base:
    def __init__(self, x):
        self.__x = x

    def method(self):
        return self.__x - 2

    @property
    def prop(self):
        return self.__x - 3

    @classmethod
    def made(cls, x):
        return cls(x - 4)

    @staticmethod
    def static(x):
        return x - 5

    def __len__(self):
        return self.__x - 6

    class Inner:
        def method(self):
            return 7 - 7


class Child(Base):
    def method(self):
        return super().method() * 20


def counted(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) - 8

    return wrapper


@counted
def decorated(x):
    return x - 9


@functools.lru_cache(maxsize=None)
def cached(x):
    return x - 10


def default(x, y=11):
    return x + y


def keyword(x, *, y=LIMIT + 12):
    return x + y


def generator(n):
    for i in range(n):
        yield i - 13


async def coroutine(x):
    return x - 14


def make(n):
    def closure(x):
        return x + n - 15

    return closure


kept = make(0)

shift = lambda x: x - 16  # noqa: E731


@contextlib.contextmanager
def managed():
    yield 17 - 17


def nested(x):
    def inner(y):
        return y - 18

    return inner(x)


def comprehended(xs):
    return [x - 19 for x in xs]


def documented(x):
    """Says something.

    >>> 1
    1
    """
    return x - 20


if LIMIT > 5:

    def conditional(x):
        return x - 21

else:

    def conditional(x):
        return x


def last(x):
    return x - 22
'''

# name: (test body, old text, new text)
CASES = {
    "plain": ("assert mod.plain(1) == 2", "x - 1\n", "x + 1\n"),
    "method": ("assert mod.Base(1).method() == 3", "self.__x - 2", "self.__x + 2"),
    "inherited": ("assert mod.Child(1).method() == 60", "self.__x - 2", "self.__x + 2"),
    "super": ("assert mod.Child(3).method() == 3", "super().method() * 20", "super().method() + 2"),
    "property": ("assert mod.Base(1).prop == 4", "self.__x - 3", "self.__x + 3"),
    "classmethod": ("assert mod.Base.made(1).prop == 2", "cls(x - 4)", "cls(x + 4)"),
    "staticmethod": ("assert mod.Base.static(1) == 6", "x - 5", "x + 5"),
    "dunder": ("assert len(mod.Base(1)) == 7", "self.__x - 6", "self.__x + 6"),
    "inner_class": ("assert mod.Base.Inner().method() == 14", "7 - 7", "7 + 7"),
    "decorated": ("assert mod.decorated(0) == 1", "x - 9", "x + 9"),
    "wrapper": ("assert mod.decorated(0) == -1", "function(*args) - 8", "function(*args) + 8"),
    "lru_cache": ("assert mod.cached(0) == 10", "x - 10", "x + 10"),
    "default": ("assert mod.default(0) == 12", "y=11", "y=12"),
    "new_default": ("assert mod.plain() == 4", "def plain(x)", "def plain(x=5)"),
    "keyword_default": ("assert mod.keyword(0) == 13", "y=LIMIT + 12", "y=LIMIT + 3"),
    "generator": ("assert list(mod.generator(1)) == [13]", "yield i - 13", "yield i + 13"),
    "coroutine": ("import asyncio; assert asyncio.run(mod.coroutine(0)) == 14", "x - 14", "x + 14"),
    "closure": ("assert mod.kept(0) == 15", "x + n - 15", "x + n + 15"),
    "new_closure": ("assert mod.make(1)(0) == 16", "x + n - 15", "x + n + 15"),
    "lambda": ("assert mod.shift(0) == 16", "x - 16", "x + 16"),
    "context_manager": ("with mod.managed() as x: assert x == 34", "17 - 17", "17 + 17"),
    "nested": ("assert mod.nested(0) == 18", "y - 18", "y + 18"),
    "comprehension": ("assert mod.comprehended([0]) == [19]", "x - 19", "x + 19"),
    "after_docstring": ("assert mod.documented(0) == 20", "x - 20", "x + 20"),
    "conditional": ("assert mod.conditional(0) == 21", "x - 21", "x + 21"),
    "appended": ("assert mod.last(0) == 1", "x - 22\n", "x - 22 if x else 1\n    pass\n"),
    "inserted": (
        "assert mod.last(0) == 0",
        "    return x - 22",
        "    x = x + 22\n    return x - 22",
    ),
    "before_next": (
        "assert mod.comprehended([]) is None",
        "    return [x - 19 for x in xs]\n",
        "    if not xs:\n        return None\n    return [x - 19 for x in xs]\n",
    ),
}


@pytest.fixture
def swapping(every_project):
    every_project.write("mod.py", MOD)
    tests = [f"def test_{name}():\n    {body}\n" for name, (body, _, _) in CASES.items()]
    every_project.write("test_it.py", "import mod\n\n" + "\n".join(tests))
    return every_project


def test_functions_are_swapped_wherever_they_are_held(swapping):
    with swapping.serve() as server:
        before = server.try_out(must=[f"test_it.py::test_{name}" for name in CASES])
        assert set(outcomes(before).values()) == {"failed"}, before
        for name, (_, old, new) in CASES.items():
            must = [f"test_it.py::test_{name}"]
            result = server.try_out(swapping.patch("mod.py", old, new), must=must)
            assert (result["status"], result["how"]) == ("done", "swap"), (name, result)
            assert outcomes(result) == {must[0]: "passed"}, (name, result)


COLD = {
    "constant": ("LIMIT = 10", "LIMIT = 11", "outside a function"),
    "import": ("import functools\n", "import functools, os\n", "outside a function"),
    "before_all": ("import contextlib", "import os\nimport contextlib", "outside a function"),
    "decorator": ("@counted\n", "\n", "decorator_list"),
    "parameters": ("def plain(x)", "def plain(x, z=1)", "parameters"),
    "annotation": ("def plain(x)", "def plain(x: int)", "parameters"),
    "base_class": ("class Child(Base)", "class Child(Base, object)", "outside a function"),
    "docstring": ("Says something", "Says nothing", "docstring"),
    "new_function": ("LIMIT = 10", "LIMIT = 10\n\ndef extra(): pass", "outside a function"),
    "free_variables": ("self.__x - 2", "len(super().__repr__())", "free variables"),
    "cell": ("return x + n - 15", "return x - 15", "ran during collection"),
    "ran": ("    return closure", "    return lambda x: 15", "ran during collection"),
    "not_live": ("else:\n\n    def conditional(x):\n        return x\n", None, "not live"),
    "became_generator": ("return x - 1\n", "yield x + 1\n", "generator"),
    "whole_function": ("def last(x):\n    return x - 22\n", "", "outside a function"),
}


def test_everything_else_is_cold(swapping):
    with swapping.serve() as server:
        for name, (old, new, reason) in COLD.items():
            if new is None:
                new = old.replace("return x", "return x + 1")
            result = server.try_out(
                swapping.patch("mod.py", old, new), must=["test_it.py::test_plain"]
            )
            assert result["status"] == "cold", (name, result)
            assert reason in result["reason"], (name, result)
        cold = server.try_out(
            swapping.patch("test_it.py", "assert mod.plain(1) == 2", "pass"),
            must=["test_it.py::test_plain"],
        )
        differs = "the loaded code differs from the source on disk"
        assert (cold["status"], cold["reason"]) == ("cold", differs)
        forced = server.try_out(
            swapping.patch("mod.py", "x - 1\n", "x + 1\n"), how="reimport", must=[]
        )
        assert forced["status"] == "cold"


def test_patches_without_effect_or_sense_are_invalid(swapping):
    must = ["test_it.py::test_plain"]
    with swapping.serve() as server:
        result = server.try_out(swapping.patch("mod.py", "x - 1\n", "(x - 1)  # x\n"), must=must)
        assert (result["status"], result["reason"]) == ("invalid", "no effect")
        for new in ("x -\n", "x - 1)\n", "x - '''\n", "x\n    nonlocal y\n", "x; break\n"):
            result = server.try_out(swapping.patch("mod.py", "x - 1\n", new), must=must)
            assert result["status"] == "invalid", result
            assert "SyntaxError" in result["reason"]
        # The server is as it was.
        assert outcomes(server.try_out(must=must)) == {must[0]: "failed"}


def test_line_endings_encodings_and_byte_order_marks(every_project):
    root = every_project.root
    (root / "crlf.py").write_bytes(
        b"def one():\r\n    return 0\r\n\r\n\r\ndef two():\r\n    return 3"
    )
    (root / "bom.py").write_bytes("\ufeffdef bom():\n    return 'é', 4\n".encode())
    latin = "# -*- coding: latin-1 -*-\nNAME = 'é'\ndef latin():\n    return 'é', 5\n"
    (root / "latin.py").write_bytes(latin.encode("latin-1"))
    every_project.write(
        "test_it.py",
        """
        import crlf, bom, latin

        def test_one(): assert crlf.one() == 1
        def test_two(): assert crlf.two() == 1
        def test_bom(): assert bom.bom() == ('é', 1)
        def test_latin(): assert latin.latin() == ('é', 1)
        """,
    )
    with every_project.serve() as server:
        for name, file, old in [
            ("one", "crlf.py", "return 0"),
            ("two", "crlf.py", "return 3"),
            ("bom", "bom.py", "4"),
            ("latin", "latin.py", "5"),
        ]:
            new = old[:-1] + "1"
            must = [f"test_it.py::test_{name}"]
            result = server.try_out(every_project.patch(file, old, new), must=must)
            assert outcomes(result) == {must[0]: "passed"}, result


def test_future_annotations_and_type_parameters(every_project, every_python):
    generic = "def pick[T](x: T) -> T:\n    return x - 1\n"
    modern = not every_python.endswith("x") and _version(every_python) >= (3, 12)
    text = generic if modern else "def pick(x):\n    return x - 1\n"
    every_project.write("mod.py", "from __future__ import annotations\n\n" + text)
    every_project.write("test_it.py", "import mod\n\ndef test_it():\n    assert mod.pick(1) == 2\n")
    with every_project.serve() as server:
        result = server.try_out(
            every_project.patch("mod.py", "x - 1", "x + 1"), must=["test_it.py::test_it"]
        )
        assert outcomes(result) == {"test_it.py::test_it": "passed"}, result


def _version(python):
    from conftest import INTERPRETERS

    for version, (path, _) in INTERPRETERS.items():
        if path == python:
            return tuple(int(part) for part in version.split("."))
    return (0, 0)


def test_two_files_and_several_edits_at_once(project):
    project.write("a.py", "def f():\n    return 1\n\n\ndef g():\n    return 1\n")
    project.write("b.py", "def f():\n    return 1\n")
    project.write(
        "test_it.py",
        "import a, b\n\ndef test_it():\n    assert (a.f(), a.g(), b.f()) == (2, 3, 4)\n",
    )
    first = project.patch("a.py", "def f():\n    return 1", "def f():\n    return 2")
    second = project.patch("a.py", "def g():\n    return 1", "def g():\n    return 3")
    other = project.patch("b.py", "return 1", "return 4")
    both = {"file": first["file"], "edits": second["edits"] + first["edits"]}
    with project.serve() as server:
        result = server.try_out(both, other, must=["test_it.py::test_it"])
        assert outcomes(result) == {"test_it.py::test_it": "passed"}, result
        split = server.try_out(first, second, other, must=["test_it.py::test_it"])
        assert outcomes(split) == {"test_it.py::test_it": "passed"}, split


def test_modules_whose_loaded_code_is_not_their_source_are_cold(project):
    project.write("mod.py", "def f():\n    return 1\n")
    project.write(
        "test_it.py",
        """
        import mod, types
        mod.f.__code__ = mod.f.__code__.replace(co_consts=(None, 5))

        def test_it():
            assert mod.f() == 2
        """,
    )
    with project.serve() as server:
        result = server.try_out(
            project.patch("mod.py", "return 1", "return 2"), must=["test_it.py::test_it"]
        )
        assert result["status"] == "cold"
        assert "differs from the source" in result["reason"]


def test_a_module_with_doctests_is_swapped_where_it_asserts_nothing(project):
    project.write(
        "mod.py",
        """
        def twice(x):
            \"\"\"Double.

            >>> twice(2)
            4
            \"\"\"
            return x + 2


        def checked(x):
            assert x
            return x
        """,
    )
    test = "from mod import twice\n\ndef test_it():\n    assert twice(3) == 6\n"
    project.write("test_it.py", test)
    must, keep = ["test_it.py::test_it"], ["mod.py::mod.twice"]
    with project.serve("--doctest-modules", "mod.py", "test_it.py") as server:
        assert set(server.ready["ids"]) == {*must, *keep}
        good = server.try_out(project.patch("mod.py", "x + 2", "x * 2"), must=must, keep=keep)
        assert (good["status"], good["how"]) == ("done", "swap")
        assert outcomes(good) == dict.fromkeys(must + keep, "passed")
        bad = server.try_out(project.patch("mod.py", "x + 2", "6"), must=must, keep=keep)
        assert outcomes(bad)[keep[0]] == "failed"
        cold = server.try_out(project.patch("mod.py", "return x\n", "return -x\n"), must=must)
        assert cold["status"] == "cold"
