"""A recorded program does what it does unrecorded: output, exit code, traceback."""

import re
import sys

import pytest
from conftest import INTERPRETERS
from trace_run import Script

OLDEST = INTERPRETERS[min(INTERPRETERS, key=lambda name: int(name[2:]))][0]

PROGRAMS = {
    "facts of the main module": """
        import os
        import sys

        print(__name__, __doc__, __package__, __spec__, os.path.basename(__file__))
        print(os.path.isabs(__file__), os.path.isabs(sys.argv[0]), sys.argv)
        print(sys.path[0] == os.path.dirname(os.path.realpath(__file__)))
        print(sys.modules["__main__"].__dict__ is globals(), type(__loader__).__name__)
        print([name for name in dir() if not name.startswith("__")], type(__builtins__))
        """,
    "traceback": """
        class Problem(Exception):
            pass

        def inner(n):
            if n:
                return inner(n - 1)
            raise Problem("deep")

        def outer():
            try:
                inner(2)
            except Problem as error:
                raise ValueError("outer") from error

        print("before")
        outer()
        """,
    "traceback of a syntax error": "x = (1,\ny = 2\n",
    "context of an exception": """
        try:
            {}["a"]
        except KeyError:
            1 // 0
        """,
    "exit with a number": "import sys\nprint(1)\nsys.exit(3)\n",
    "exit with a text": "raise SystemExit('that was it')\n",
    "exit without anything": "raise SystemExit\n",
    "an own excepthook": """
        import sys
        import traceback

        def hook(kind, error, trace):
            print("hook", kind.__name__, len(traceback.extract_tb(trace)))

        sys.excepthook = hook
        def fails():
            raise LookupError
        fails()
        """,
    "atexit and threads": """
        import atexit
        import threading
        import time

        def late(name):
            print("late", name)

        def work():
            time.sleep(0.05)
            print("thread")

        atexit.register(late, "a")
        atexit.register(late, "b")
        threading.Thread(target=work).start()
        print("main ends")
        """,
    "error in a thread": """
        import threading

        def work():
            raise KeyError("in thread")

        t = threading.Thread(target=work, name="worker")
        t.start()
        t.join()
        print("goes on")
        """,
    "interrupt": """
        import os, signal
        print("before", flush=True)
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass
        """,
    "generators and contexts": """
        import contextlib

        @contextlib.contextmanager
        def managed(log):
            log.append("in")
            try:
                yield len(log)
            except ValueError as error:
                log.append(str(error))
            finally:
                log.append("out")

        log = []
        with managed(log) as n:
            raise ValueError(n)
        it = iter([1, 2, 3])
        print(log, [a * b for a in it for b in it], list(zip(*[iter("abcd")] * 2)))
        """,
    "classes": """
        import enum
        import functools

        class Color(enum.Enum):
            RED = 1
            BLUE = 2

            @property
            def pretty(self):
                return self.name.lower()

        class Base:
            made = []

            def __init_subclass__(cls, **more):
                Base.made.append((cls.__name__, more))

            def __getattr__(self, name):
                if name.startswith("x"):
                    return name
                raise AttributeError(name)

        class Child(Base, flag=1):
            __slots__ = ("a", "__dict__")

            @functools.cached_property
            def size(self):
                print("computed")
                return 3

            def __enter__(self):
                return super().__init__()

            def __exit__(self, *rest):
                return True

        c = Child()
        with c:
            c.missing
        print(Color.RED.pretty, Base.made, c.size, c.size, c.xx, hasattr(c, "y"), vars(c))
        """,
    "exec, eval and globals": """
        scope = {}
        exec("def f(n):\\n    return n + k\\nk = 2", scope)
        def work():
            a = 1
            exec("a = 5; b = 6")
            return a, eval("a + 1"), sorted(vars()), [eval("a", {"a": i}) for i in range(2)]
        print(scope["f"](1), work(), "work" in globals())
        """,
    "recursion": """
        def count(n):
            return count(n + 1)

        def flat(x):
            return [flat(i) for i in x] if isinstance(x, list) else x

        for _ in range(3):
            try:
                count(0)
            except RecursionError as error:
                print(type(error).__name__)
        print(flat([1, [2, [3]]]))
        """,
    "asyncio": """
        import asyncio

        async def numbers(n):
            for i in range(n):
                await asyncio.sleep(0)
                yield i

        async def fails():
            raise OSError("no")

        async def main():
            found = [i async for i in numbers(3)]
            results = await asyncio.gather(fails(), asyncio.sleep(0, 5), return_exceptions=True)
            try:
                await asyncio.wait_for(asyncio.sleep(5), 0.01)
            except asyncio.TimeoutError:
                found.append("late")
            return found, results

        print(asyncio.run(main()))
        """,
    "identity and references": """
        import gc
        import sys
        import weakref

        class Thing:
            pass

        def count(thing):
            items = [thing]
            before = sys.getrefcount(thing)
            items.append(thing)
            return sys.getrefcount(thing) - before

        def cycle():
            a = Thing()
            a.me = a
            return weakref.ref(a)

        print(count(Thing()))
        gc.disable()
        reference = cycle()
        print(reference() is not None, gc.collect() > 0, reference())
        """,
    "surrogates and bytes": """
        names = {"\\ud800": b"\\xff", "é": "😀"}
        def f(**kw):
            return len(kw), ascii(kw)
        print(f(**names))
        """,
}
# The depth at which recursion ends differs by the frames of the recorder.
_REPEATED = re.compile(r"\[Previous line repeated \d+ more times\]")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_recorded_program_does_the_same(tmp_path, every_python, name):
    script = Script(tmp_path, every_python, PROGRAMS[name])
    plain = script.plain("one", "--two=3")
    expected = plain._replace(err=_REPEATED.sub("", plain.err))
    others = [{"states": False}, {"states": False, "lines": False}, {"max_events": 7}]
    for config in [{}, *(others if every_python in (sys.executable, OLDEST) else [])]:
        ran, recording = script.record("one", "--two=3", **config)
        assert ran._replace(err=_REPEATED.sub("", ran.err)) == expected, config
        assert recording.end is not None
        if "max_events" not in config:
            assert recording.end["events"] == len(recording.events)
            assert not [why for why in recording.end["dropped"] if "error in the recorder" in why]
