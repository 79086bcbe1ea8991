"""Reading frames and growing expressions without running what the values' authors wrote."""

import collections
import datetime
import sys
import time

import pytest

import ndbg_grow as grow
import ndbg_pure as pure
import ndbg_pure_frame as frames
from ndbg_grow_conditions import conditions
from ndbg_pure import Opaque, Refused


class Trap:
    """Everything that is asked of it is noted, and would never end."""

    asked = []

    def __init__(self):
        self.plain = 3

    @property
    def owner(self):
        self.asked.append("property")

    def __getattr__(self, name):
        self.asked.append(name)
        raise AttributeError(name)

    def _trap(self, *_):
        self.asked.append("operator")
        raise SystemExit

    __eq__ = __lt__ = __add__ = __bool__ = __len__ = __iter__ = __hash__ = __contains__ = _trap
    __repr__ = __str__ = __index__ = __getitem__ = _trap


class Watched:
    def __getattribute__(self, name):
        Trap.asked.append(name)
        raise SystemExit


class Lying(str):
    def __eq__(self, other):
        Trap.asked.append("eq")
        return True

    __hash__ = str.__hash__


Pair = collections.namedtuple("Pair", "left right")


class Slotted:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 5


def here():
    trap, watched, lying = Trap(), Watched(), Lying("x")
    many = [trap, trap, watched]
    pair, slotted = Pair(1, trap), Slotted()
    huge = 7**90000
    day = datetime.date(2024, 2, 29)
    del trap
    assert many and pair and slotted and huge and day and lying is not None
    return sys._getframe()


@pytest.fixture(autouse=True)
def nothing_is_asked():
    Trap.asked.clear()
    yield
    assert Trap.asked == []


def test_names_of_a_frame_are_read_without_a_call():
    state = frames.names(here())
    assert state["pair.left"] == 1
    assert state["slotted.value"] == 5
    assert state["day.year"] == 2024
    assert type(state["lying"]) is type(state["watched"]) is type(state["huge"]) is Opaque
    assert [type(one) for one in state["many"]] == [Opaque] * 3
    assert "pair.right.plain" in state
    assert not any(text.endswith(".owner") for text in state)


def test_terms_that_would_run_code_are_refused():
    terms = frames.Terms(
        [
            "many[0].owner",
            "len(many)",
            "many[0] == many[1]",
            "watched.x",
            "lying == 'y'",
            "print(1)",
        ]
        + ["many[0].plain + 1", "10 ** 10 ** 10", "'x' * 10 ** 12", "huge * huge", "day.year % 4"]
    )
    found = terms.read(here())
    assert found["len(many)"] == 3
    assert found["many[0].plain + 1"] == 4
    assert found["day.year % 4"] == 0
    # The same object, which is not asked whether it is.
    assert found["many[0] == many[1]"] is True
    for text in ("many[0].owner", "watched.x", "print(1)", "10 ** 10 ** 10", "'x' * 10 ** 12"):
        assert text not in found
    assert found.get("lying == 'y'") is not True
    assert "huge * huge" not in found


def test_growing_over_traps_asks_nothing_and_ends():
    state = frames.names(here())
    bank = grow.Bank(grow.Limits(cost=5, seconds=0.5))
    for text, value in state.items():
        bank.add(grow.given(text, 1, [value]))
    for text, value in (("99", 99), ("'a'", "a")):
        bank.add(grow.given(text, 2, [value], True))
    began = time.monotonic()
    bank.grow()
    goal = [True]
    conditions(bank, goal, None, 5)
    assert time.monotonic() - began < 5
    assert bank.tried > 100


def test_huge_values_are_refused_before_they_are_made():
    with pytest.raises(Refused):
        pure.binary("**", 10, 10**9)
    with pytest.raises(Refused):
        pure.binary("*", "x", 10**12)
    with pytest.raises(Refused):
        pure.binary("*", 2**250, 2**250)
    with pytest.raises(Refused):
        pure.freeze([[0] * 300, [1] * 300])
    assert type(pure.freeze("x" * 10**6)) is Opaque


def test_equal_values_are_kept_once_and_the_simplest_is_kept():
    bank = grow.Bank(grow.Limits(cost=4, seconds=1))
    bank.add(grow.given("x", 1, [2, 3]))
    bank.add(grow.given("y", 1, [2, 3]))
    bank.add(grow.given("1", 2, [1, 1], True))
    bank.grow()
    kept = [one.text for one in bank.all()]
    assert "x" in kept and "y" not in kept
    values = [tuple(map(pure.key, one.values)) for one in bank.all()]
    assert len(set(values)) == len(values)


def test_the_last_step_is_looked_up():
    bank = grow.Bank(grow.Limits(cost=7, seconds=1), [3.0 / 0.5 - 1, 8.0 / 2.0 - 7])
    for text, values in (("a", [3.0, 8.0]), ("b", [0.5, 2.0]), ("c", [1, 7])):
        bank.add(grow.given(text, 1, values))
    bank.signs = frozenset("/")
    bank.grow()
    assert "a / b - c" in [one.text for one in bank.found]


def test_precedence_is_kept():
    bank = grow.Bank(grow.Limits(cost=5, seconds=1), [(7 - 2) * 3, (9 - 4) * 2])
    for text, values in (("a", [7, 9]), ("b", [2, 4]), ("c", [3, 2])):
        bank.add(grow.given(text, 1, values))
    bank.signs = frozenset("*")
    bank.grow()
    texts = [one.text for one in bank.found]
    assert any(eval(text, {"a": 7, "b": 2, "c": 3}) == 15 for text in texts)
    for text in texts:
        assert eval(text, {"a": 9, "b": 4, "c": 2}) == 10, text
