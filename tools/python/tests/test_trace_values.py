"""Pitfalls of recording: values, their texts, their identity and their lives."""

import pytest
from trace_run import Script


@pytest.fixture
def record(tmp_path, every_python):
    def run(source, **config):
        script = Script(tmp_path, every_python, source)
        plain = script.plain()
        ran, recording = script.record(**config)
        assert ran == plain
        assert recording.end["dropped"] == {}
        return recording

    return run


def test_09_nothing_of_the_values_own_is_run(record):
    recording = record(
        """
        def loud(name):
            def method(self, *args):
                print("ran", name)
                raise RuntimeError(name)
            return method

        names = ["__repr__", "__str__", "__getattr__", "__eq__", "__len__", "__bool__", "__iter__"]
        Loud = type("Loud", (), dict({n: loud(n) for n in names}, __hash__=None))

        class Sly(list):
            __repr__ = __len__ = __iter__ = __eq__ = __getattribute__ = loud("sly")

            @property
            def __class__(self):
                print("asked for the class")

        class Meta(type):
            __hash__ = __eq__ = loud("meta")

        class Strange(metaclass=Meta):
            @property
            def size(self):
                print("asked for the size")

        class Slots:
            __slots__ = ("a", "b")

        def work():
            value = Loud()
            value.x = 1
            sly = Sly()
            strange = Strange()
            slots = Slots()
            slots.a = [value]
            pair = (value, sly)
            return pair

        work()
        """
    )
    last = recording.all("r", "work")[0].state
    assert last["value"] == "<Loud x=1>"
    assert last["sly"] == "<Sly []>"
    assert last["strange"] == "<Strange>"
    assert last["slots"] == "<Slots a=[<Loud x=1>]>"
    assert recording.is_lossy(last["value"])


def test_10_recording_prolongs_no_life(record):
    record(
        """
        import gc
        import weakref

        class Dies:
            def __init__(self, name):
                self.name = name

            def __del__(self):
                print("died", self.name)

        def work():
            a = Dies("a")
            held = [Dies("in list"), {"k": (Dies("in tuple"), 1)}]
            a = None
            print("after a")
            reference = weakref.ref(held[0])
            del held
            print("after list", reference())
            for i in range(3):
                item = [Dies(i)]
            print("after loop")
            return Dies("returned")

        def generates():
            kept = Dies("kept")
            yield 1
            yield 2

        work()
        print("after work")
        g = generates()
        next(g)
        del g
        print("after generator")
        try:
            local = Dies("raised")
            raise ValueError(local)
        except ValueError as error:
            del local
        print("after error", gc.collect() >= 0)
        """
    )


def test_11_mutation_is_seen_through_every_alias(record):
    recording = record(
        """
        def fill(target):
            target.append(1)
            return len(target)

        class Box:
            pass

        def work():
            a = []
            b = a
            c = []
            fill(b)
            box = Box()
            same = box
            box.items = c
            c.append(9)
            a = a + [2]
            a += [3]
            return b

        work()
        """
    )
    end = recording.all("r", "work")[0]
    assert end.state["b"] == "[1]"
    assert end.state["a"] == "[1, 2, 3]"
    assert end.state["box"] == end.state["same"] == "<Box items=[9]>"
    assert end.serials["box"] == end.serials["same"]
    assert len({end.serials[name] for name in "abc"}) == 3
    after = recording.states("work", 13)[0]
    assert after["a"] == after["b"] == "[1]"
    (call,) = recording.all("c", "fill")
    assert call.serials["target"] == end.serials["b"]
    lines = [e for e in recording.all("l", "work") if e.line == 13]
    assert lines[0].serials["a"] == lines[0].serials["b"] == end.serials["b"]
    # In place: the object stays the same one.
    last = [e for e in recording.all("l", "work") if e.line == 18][0]
    assert last.serials["a"] == end.serials["a"]


def test_11_serials_outlive_ids(record):
    recording = record(
        """
        class Box:
            pass

        def take(items, box):
            return None

        def work():
            for i in range(6):
                items = [i]
                box = Box()
                take(items, box)
                take([i], Box())
            a = [1]
            a = None; b = [1]
            c = [2]
            c = None; c = [3]
            return 0

        work()
        """
    )
    seen = [e.serials for e in recording.all("l", "work") if e.line == 11]
    assert len({one["items"] for one in seen}) == len({one["box"] for one in seen}) == 6
    calls = recording.all("c", "take")
    inside = [(e.serials["items"], e.serials["box"]) for e in calls]
    assert len(set(inside)) == 12
    assert len({one[0] for one in inside}) == len({one[1] for one in inside}) == 12
    old = [e for e in recording.all("l", "work") if e.line == 14][0].serials["a"]
    end = recording.all("r", "work")[0]
    assert end.serials["b"] != old
    before = [e for e in recording.all("l", "work") if e.line == 16][0].serials["c"]
    assert end.serials["c"] != before
    assert "i" not in end.serials


def test_names_come_and_go_in_the_order_of_binding(record):
    recording = record(
        """
        def work(second, first):
            third = 1
            del second
            for second in "xy":
                pass
            return third

        work(1, 2)
        """
    )
    states = [list(e.state) for e in recording.all(func="work")]
    assert states[0] == ["second", "first"]
    assert states[-1] == ["first", "third", "second"]
    assert "=-" in recording.text


def test_texts_are_literals_or_marked_and_never_long(record):
    recording = record(
        """
        import math

        class Node:
            def __init__(self, next=None):
                self.next = next

        def work():
            short = {"a": [1, (2,), None], "b": {"c": {3, 1, 2}}}
            long = ["x" * 150] * 50
            text = "y" * 5000
            nan = [math.nan, -math.inf]
            big = 1 << 5000
            cyclic = [1]
            cyclic.append(cyclic)
            deep = [[[[[[1]]]]]]
            node = Node(Node(Node()))
            many = list(range(1000))
            surrogate = "\\ud800 é 😀"
            wide = [{"key%d" % i: "v" * 100 for i in range(20)} for _ in range(20)]
            return 0

        work()
        """
    )
    state = recording.all("r", "work")[0].state
    assert state["short"] == "{'a': [1, (2,), None], 'b': {'c': {1, 2, 3}}}"
    assert eval(state["nan"])[1] == float("-inf")
    assert state["many"].startswith("[0, 1, 2") and "…+980" in state["many"]
    assert state["surrogate"] == "'\\ud800 é 😀'"
    for name in ("long", "text", "nan", "big", "cyclic", "deep", "node", "many", "wide"):
        assert recording.is_lossy(state[name]), name
    assert not recording.is_lossy(state["short"])
    assert max(map(len, recording.strings)) <= 2000


def test_a_value_that_did_not_change_is_not_written_again(record):
    recording = record(
        """
        def work():
            items = [1, 2]
            text = "a"
            function = print
            total = 0
            for i in range(50):
                total += 1
            return total

        work()
        """
    )
    lines = [line for line in recording.text.splitlines() if line.startswith("l ")]
    assert max(len(line.split(" ")) - 3 for line in lines) <= 1
    assert recording.text.count('"[1, 2]"') == 1


def test_closures_and_rebinding_from_inside(record):
    recording = record(
        """
        def counter():
            items = []
            count = 0
            def step():
                nonlocal count, items
                count += 1
                items = None
                items = [count]
                return count
            step()
            step()
            return items

        counter()
        """
    )
    (outer,) = recording.all("r", "counter")
    assert outer.state["count"] == "2"
    assert outer.state["items"] == "[2]"
    serials = [e.serials["items"] for e in recording.all("l", "counter") if "items" in e.serials]
    assert len({*serials, outer.serials["items"]}) == 3
