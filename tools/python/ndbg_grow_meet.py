"""The last step towards a goal, backwards: what is missing is looked up among what was grown.

For `a + b` to be the goal, `b` has to be the goal less `a`. One look for each `a` replaces a try
for each pair.

PYTEST_DONT_REWRITE: this is no test code.
"""

import time

import ndbg_pure as pure
from ndbg_pure import Refused

MAX_FOUND = 40
# sign of the expression, whether the known part is on its left, and how the other part follows from
# the goal: as `goal sign known`, or turned around.
_NUMBERS = (
    ("+", True, "-", False),
    ("-", True, "-", True),
    ("-", False, "+", False),
    ("*", True, "/", False),
    ("/", True, "/", True),
    ("/", False, "*", False),
)


def meet(bank):
    """Adds to the bank's solutions those that join two of its expressions."""
    goal = bank.goal
    if all(pure.is_number(value) for value in goal):
        _meet_numbers(bank, goal)
    elif all(type(value) is str for value in goal) or all(type(value) is list for value in goal):
        _meet_sequences(bank, goal)


def _key(values):
    # Fewer digits than values differ in by rounding; what is found is computed again.
    return tuple([float(f"{float(value):.9g}") for value in values])


def _meet_numbers(bank, goal):
    table = {}
    terms = [one for one in bank.all() if one.kind == "number"]
    for one in terms:
        try:
            table.setdefault(_key(one.values), one)
        except (OverflowError, ValueError):
            continue
    for one in terms:
        if len(bank.found) >= MAX_FOUND or time.thread_time() > bank.limits.until:
            return
        for sign, is_left, inverse, is_turned in _NUMBERS:
            try:
                parts = [
                    pure.binary(inverse, *((value, want) if is_turned else (want, value)))
                    for value, want in zip(one.values, goal)
                ]
                other = table.get(_key(parts))
            except (Refused, OverflowError, ValueError):
                continue
            bank.tried += 1
            if other is None or (one.constant and other.constant):
                continue
            left, right = (one, other) if is_left else (other, one)
            if "-" not in (left.text[:1], right.text[:1]):
                bank.binary(sign, left, right, one.cost + other.cost + 1)


def _meet_sequences(bank, goal):
    table = {}
    terms = [one for one in bank.all() if type(one.values[0]) is type(goal[0])]
    for one in terms:
        table.setdefault(tuple([pure.key(value) for value in one.values]), one)
    for one in terms:
        if len(bank.found) >= MAX_FOUND or time.thread_time() > bank.limits.until:
            return
        pairs = list(zip(one.values, goal))
        if all(want[: len(value)] == value for value, want in pairs):
            rest = tuple([pure.key(want[len(value) :]) for value, want in pairs])
            bank.tried += 1
            other = table.get(rest)
            if other is not None and other is not one:
                bank.binary("+", one, other, one.cost + other.cost + 1)
