"""Conditions over grown expressions, as bits: one for each state.

PYTEST_DONT_REWRITE: this is no test code.
"""

import time

import ndbg_pure as pure
from ndbg_grow import AND, COMPARISON, NOT, OR, ORDERED, nearly_best, wrapped
from ndbg_pure import Refused

MAX_CONDITIONS = 1200
MAX_TERMS = 400
# States on the rarer side that two new conditions together need: of the many pairs some tell one or
# two states from the others by chance.
BOTH_WAYS = 3


def conditions(bank, goal, own, count):
    """Conditions that are true exactly where `goal` says, the simplest first: (cost, text).

    `own` is the condition that stands there, as a part that costs little; none where a new one is
    asked for.
    """
    bank.grow()
    masks = _Masks(len(goal), bank.limits)
    wanted = sum(1 << at for at, one in enumerate(goal) if one)
    if own is not None:
        masks.add(own)
    terms = bank.all()
    for one in terms:
        if one.kind == "bool" or (not one.constant and one.kind != "object"):
            masks.truth(one)
    for one, other in _by_cost(terms):
        if masks.full():
            break
        masks.compare(one, other)
    return masks.reaching(wanted, own, count), masks.tried


def _by_cost(terms):
    """Pairs of terms, the simplest first."""
    pairs = {}
    for one in terms[:MAX_TERMS]:
        for other in terms[:MAX_TERMS]:
            if one is not other and not (one.constant and other.constant):
                pairs.setdefault(one.cost + other.cost, []).append((one, other))
    for cost in sorted(pairs):
        yield from pairs[cost]


class _Masks:
    """Conditions as bits, one for each state: joining two is one operation."""

    def __init__(self, states, limits):
        self._all = (1 << states) - 1
        self._limits = limits
        self._found = {}
        self.tried = 0

    def full(self):
        return len(self._found) >= MAX_CONDITIONS or time.thread_time() > self._limits.until

    def _note(self, mask, cost, text, strength):
        self.tried += 1
        kept = self._found.setdefault(mask, [])
        if len(kept) < 24:
            kept.append((cost, text, strength))

    def add(self, one):
        mask = sum(1 << at for at, value in enumerate(one.values) if value is True)
        self._note(mask, one.cost, one.text, one.strength)

    def truth(self, one):
        try:
            mask = sum(1 << at for at, value in enumerate(one.values) if pure.truth(value))
        except Refused:
            return
        # `if x` says little where x is a number: zero is rarely what is meant.
        cost = one.cost + (2 if one.kind == "number" else 0)
        self._note(mask, cost, one.text, one.strength)
        self._note(self._all & ~mask, cost + 1, f"not {wrapped(one, NOT)}", NOT)

    def compare(self, one, other):
        kinds = {one.kind, other.kind}
        if one.constant:
            signs = ("in",) if other.kind in ("text", "list", "dict", "set", "tuple") else ()
        elif "none" in kinds:
            signs = ("is",) if other.kind == "none" else ()
        elif one.kind == other.kind:
            signs = ("==", "<", "<=") if one.kind in ORDERED else ("==",)
            if one.kind == "text":
                signs = ("==", "in")
            if one.kind == "object":
                signs = ("is",)
            if one.kind == "bool":
                return
            if other.constant and one.kind in ORDERED and one.kind != "text":
                signs = ("==", "<", "<=")
            elif (other.cost, one.text) < (one.cost, other.text):
                # The one that is said at the place stands on the left.
                signs = tuple(sign for sign in signs if sign != "==")
        elif other.kind in ("list", "dict", "set", "tuple"):
            signs = ("in",)
        else:
            return
        for sign in signs:
            try:
                values = [pure.compare(sign, a, b) for a, b in zip(one.values, other.values)]
            except (Refused, TypeError):
                self.tried += 1
                continue
            mask = sum(1 << at for at, value in enumerate(values) if value is True)
            cost = one.cost + other.cost + (1 if sign != "in" else 2)
            a, b = wrapped(one, COMPARISON + 1), wrapped(other, COMPARISON + 1)
            self._note(mask, cost, f"{a} {sign} {b}", COMPARISON)
            turned = {"==": "!=", "<": ">=", "<=": ">", "in": "not in", "is": "is not"}[sign]
            self._note(self._all & ~mask, cost, f"{a} {turned} {b}", COMPARISON)

    def reaching(self, wanted, own, count):
        found = list(self._found.get(wanted, ()))
        best = {}
        for mask, kept in self._found.items():
            best[mask] = min(kept)
        if own is not None:
            mask = sum(1 << at for at, value in enumerate(own.values) if value is True)
            found.extend(self._joined(mask, (own.cost, own.text, own.strength), wanted))
        fewer = min(bin(wanted).count("1"), bin(self._all & ~wanted).count("1"))
        if len(found) < count and fewer >= BOTH_WAYS:
            ordered = sorted(best.items(), key=lambda entry: entry[1])[:250]
            for at, (mask, one) in enumerate(ordered):
                if time.thread_time() > self._limits.until + 0.2 or len(found) > 4 * count:
                    break
                for other, two in ordered[at + 1 :]:
                    self.tried += 2
                    if mask & other == wanted:
                        found.append(_both(one, two, "and", AND))
                    if mask | other == wanted:
                        found.append(_both(one, two, "or", OR))
        unique = {}
        for cost, text, _ in sorted(found):
            unique.setdefault(text, cost)
        return nearly_best([(cost, text) for text, cost in unique.items()])[: 3 * count]

    def _joined(self, mask, own, wanted):
        """The condition that stands there, with another one beside it."""
        for other, kept in self._found.items():
            for two in kept[:4]:
                if two[1] == own[1]:
                    continue
                self.tried += 2
                if mask & other == wanted and mask != wanted:
                    yield _both(own, two, "and", AND)
                if mask | other == wanted and mask != wanted:
                    yield _both(own, two, "or", OR)


def _both(one, two, word, strength):
    left = one[1] if one[2] >= strength else f"({one[1]})"
    right = two[1] if two[2] > strength else f"({two[1]})"
    return (one[0] + two[0] + 1, f"{left} {word} {right}", strength)
