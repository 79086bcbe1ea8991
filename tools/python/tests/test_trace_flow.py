"""Pitfalls of recording: generators, asyncio, threads, forks, exceptions."""

from trace_run import Script


def recorded(tmp_path, python, source, **config):
    script = Script(tmp_path, python, source)
    plain = script.plain()
    ran, recording = script.record(**config)
    assert ran == plain
    return recording


GENERATORS = """
    def squares(n):
        for i in range(n):
            got = yield i * i
            if got:
                print("got", got)

    def cleans():
        try:
            yield 1
        finally:
            print("cleaned")

    def outer():
        result = yield from squares(2)
        yield 7

    def work():
        g = squares(5)
        next(g)
        g.send("x")
        g.close()
        c = cleans()
        next(c)
        c.close()
        o = outer()
        print(list(o))
        half = outer()
        next(half)
        half.close()
        t = squares(3)
        next(t)
        try:
            t.throw(KeyError("thrown"))
        except KeyError:
            pass
        return sum(x for x in squares(3))

    print(work())
"""


def test_05_generators_resume_yield_and_close_alike(tmp_path, every_python):
    recording = recorded(tmp_path, every_python, GENERATORS)
    squares = {}
    for event in recording.all(func="squares"):
        mark = event.kind + (event.how if event.kind in "cr" else "")
        squares.setdefault(event.frame, []).append(f"{mark}{event.line}")
    shapes = [" ".join(one) for one in squares.values()]
    assert shapes == [
        # next, send, close: closing where no `try` is open runs nothing.
        "cc1 l2 l3 ry3 cr3 l4 l5 l2 l3 ry3",
        "cc1 l2 l3 ry3 cr3 l4 l2 l3 ry3 cr3 l4 l2 rr2",
        "cc1 l2 l3 ry3",
        "cc1 l2 l3 ry3 cr3 x3 ru3",
        "cc1 l2 l3 ry3 cr3 l4 l2 l3 ry3 cr3 l4 l2 l3 ry3 cr3 l4 l2 rr2",
    ]
    cleans = " ".join(
        event.kind + str(event.line) + (event.how or "") for event in recording.all(func="cleans")
    )
    assert cleans == "c7c l8 l9 r9y c9r x9GeneratorExit l11 r11k"
    resumed = [e for e in recording.all("c", "squares") if e.how == "r"]
    assert all("n" in e.state and "i" in e.state for e in resumed)
    callers = {recording.caller(e).split(".")[-1] for e in recording.all("c", "squares")}
    assert callers == {"work", "outer", "<genexpr>"}


def test_06_asyncio_tasks_have_their_own_threads_and_parents(tmp_path, every_python):
    recording = recorded(
        tmp_path,
        every_python,
        """
        import asyncio

        def leaf(x):
            return x + 1

        async def inner(name, n):
            await asyncio.sleep(0)
            return leaf(n)

        async def worker(name):
            a = await inner(name, 1)
            b = await inner(name, 2)
            return a + b

        async def ticks():
            for i in range(2):
                yield i
                await asyncio.sleep(0)

        async def main():
            tasks = [asyncio.ensure_future(worker(n)) for n in "ab"]
            total = [x async for x in ticks()]
            return await asyncio.gather(*tasks), total

        print(asyncio.run(main()))
        """,
    )
    workers = {}
    for event in recording.all("c", "worker"):
        workers.setdefault(event.frame, set()).add(event.thread)
    assert len(workers) == 2
    assert all(len(names) == 1 for names in workers.values())
    assert len(set.union(*workers.values())) == 2
    assert "MainThread" not in set.union(*workers.values())
    for call in recording.all("c", "inner"):
        assert recording.caller(call) == "worker"
        assert {call.thread} == workers[recording.acts[call.parent][0]]
    for call in recording.all("c", "leaf"):
        assert recording.caller(call) == "inner"
    assert not [e for e in recording.all("x") if e.how == "StopIteration"]


def test_06_threads_are_named_and_have_no_parents_in_others(tmp_path, every_python):
    recording = recorded(
        tmp_path,
        every_python,
        """
        import threading

        def leaf(n):
            return n * 2

        def work(n):
            total = 0
            for i in range(n):
                total += leaf(i)
            return total

        def main():
            threads = [
                threading.Thread(target=work, args=(50,), name=f"w{i}") for i in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        main()
        """,
    )
    calls = recording.all("c", "work")
    assert sorted(call.thread for call in calls) == ["w0", "w1", "w2", "w3"]
    assert {recording.caller(call) for call in calls} == {None}
    for call in recording.all("c", "leaf"):
        assert recording.acts[call.parent][2] == call.thread
    assert recording.end["events"] == len(recording.events)


def test_06_a_forked_child_writes_nothing(tmp_path, every_python):
    recording = recorded(
        tmp_path,
        every_python,
        """
        import os

        def work(n):
            return n + 1

        work(1)
        child = os.fork()
        if child == 0:
            print(work(2), flush=True)
            work(3)
        else:
            os.waitpid(child, 0)
            print(work(4))
        """,
    )
    assert [e.state["n"] for e in recording.all("c", "work")] == ["1", "4"]
    assert recording.end["exit"] == "normal"
    assert any("forked" in note for note in recording.notes)


def test_13_exceptions_pass_through_every_frame(tmp_path, every_python):
    recording = recorded(
        tmp_path,
        every_python,
        """
        import contextlib

        def fails(d):
            return d["k"]

        def passes():
            x = 1
            fails({})

        def catches():
            try:
                passes()
            except KeyError as error:
                return None
            return 1

        def swallows():
            with contextlib.suppress(KeyError):
                passes()

        class Ends:
            def __iter__(self):
                return self

            def __next__(self):
                raise StopIteration

        def loops():
            for _ in Ends():
                pass

        catches()
        swallows()
        loops()
        """,
    )
    found = [(e.func, e.line, e.how, e.value) for e in recording.all("x")][:3]
    text = "<KeyError args=('k',)>"
    assert found == [
        ("fails", 4, "KeyError", text),
        ("passes", 8, "KeyError", text),
        ("catches", 12, "KeyError", text),
    ]
    ends = {e.func: (e.how, e.value) for e in recording.all("r")}
    assert ends["fails"] == ends["passes"] == ("u", "None")
    assert ends["catches"] == ends["swallows"] == ("r", "None")
    # The end of a loop is no exception of the frame that loops.
    assert not recording.all("x", "loops")
    assert recording.shape("__next__") == "c25c l26 x26 r26u"


def test_the_way_the_script_ended(tmp_path, every_python):
    for source, ended in [
        ("print(1)", "normal"),
        ("import sys; sys.exit(0)", "normal"),
        ("import sys; sys.exit('no')", "error"),
        ("1 // 0", "error"),
    ]:
        assert recorded(tmp_path, every_python, source).end["exit"] == ended
