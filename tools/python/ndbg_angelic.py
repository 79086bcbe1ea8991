"""Puts other values in at places of a program while tests run; finds expressions that give them.

The places are marked in the source by calls of `__ndbg_at__(number, value)`, which return the
value, or another one where that visit of that place is forced. All of it happens in a forked child
that is thrown away.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import builtins
import re
import sys
import time

import ndbg_grow as grow
import ndbg_grow_agree
import ndbg_grow_conditions
import ndbg_grow_part
import ndbg_pure as pure
import ndbg_pure_frame as frames
from ndbg_pure import Refused
from ndbg_safe_repr import safe_repr

NAME = "__ndbg_at__"
MODES = ("survey", "force", "values", "synthesize")
# Visits that are looked at, of each test and in all.
MAX_VISITS = 40
MAX_ROWS = 160
# Rows that tell states apart, for growing.
MAX_STATES = 48
MAX_SHOWN = 60


class Malformed(ValueError):
    """A probe that does not say what it has to."""


class _Row:
    """One visit: what was there, what was computed, what is needed."""

    __slots__ = ("test", "visit", "state", "recorded", "needed", "forced", "shown", "must", "own")


class Probe:
    """What one child does with the places."""

    def __init__(self, message, must):
        if not isinstance(message, dict) or message.get("mode") not in MODES:
            raise Malformed("a probe has a mode")
        self._mode = message["mode"]
        self._place = message.get("place")
        self._shape = message.get("shape", "value")
        self._own = message.get("own") or ""
        self._terms = [one for one in message.get("terms") or [] if isinstance(one, str)]
        self._constants = message.get("constants") or []
        self._count = int(message.get("count") or 12)
        self._cost = int(message.get("cost") or 6)
        self._seconds = min(5.0, float(message.get("seconds") or 0.4))
        self._rules = [_Rule(rule) for rule in message.get("force") or []]
        self._must = frozenset(must)
        self._test = None
        self._visits = {}
        self._seen = {}
        self._rows = []
        self._reader = None
        self._error = None
        self._looking = False

    def install(self):
        self._reader = frames.Terms(self._terms)
        setattr(builtins, NAME, self._at)

    def begin(self, nodeid):
        """A test starts."""
        self._test = nodeid
        self._visits = {}

    # At a visit

    def _at(self, place, value):
        visits = self._visits
        number = visits[place] = visits.get(place, -1) + 1
        if self._mode == "survey":
            if number < MAX_VISITS:
                seen = self._seen.setdefault(place, {}).setdefault(self._test, [])
                seen.append(_shown(value))
            return value
        forced = False
        needed = value
        for rule in self._rules:
            if rule.applies(place, self._test, number):
                frame = sys._getframe(1)
                try:
                    needed = rule.value(frame, value)
                    forced = True
                except Exception as error:
                    self._error = f"{type(error).__name__}: {error}"[:200]
        if place == self._place and self._mode != "force" and self._has_room(number):
            self._looking = True
            try:
                self._note(sys._getframe(1), number, value, needed, forced)
            except Exception as error:
                # A visit that cannot be read says nothing; the test goes on.
                self._error = type(error).__name__
            finally:
                self._looking = False
        return needed

    def _has_room(self, number):
        if self._looking or self._test is None:
            return False
        return len(self._rows) < MAX_ROWS and number < MAX_VISITS

    def _note(self, frame, number, value, needed, forced):
        row = _Row()
        row.test, row.visit, row.forced = self._test, number, forced
        row.must = self._test in self._must
        state = frames.names(frame)
        for text, one in frames.constants(frame).items():
            state.setdefault(text, one)
        state.update(self._reader.read(frame))
        row.state = state
        row.recorded, row.needed = _frozen(value), _frozen(needed)
        local = frames.local_names(frame)
        row.own = frozenset(local)
        used = [name for name in local if name.isidentifier()]
        row.shown = [[name, _shown(local[name])] for name in used[:6]]
        self._rows.append(row)

    # At the end

    def conclude(self):
        """What the child says besides the results of the tests."""
        if self._mode == "survey":
            seen = self._seen.items()
            return {"seen": [[place, test, one[test]] for place, one in seen for test in one]}
        if self._mode == "force":
            return {"error": self._error}
        began = time.thread_time()
        answer = {"error": self._error, "rows": len(self._rows), "examples": self._examples()}
        try:
            rows = self._distinct()
            if rows:
                if self._mode == "values":
                    found, tried = self._values(rows)
                else:
                    found, tried = self._solve(rows)
                    found, answer["kinds"] = ndbg_grow_agree.voted(found, rows)
                    found = found[: self._count]
                answer.update(found=found, tried=tried, states=len(rows))
        except (RecursionError, MemoryError) as error:
            answer["error"] = type(error).__name__
        answer["seconds"] = round(time.thread_time() - began, 4)
        return answer

    def _examples(self):
        chosen = [row for row in self._rows if row.forced] or self._rows
        return [
            {
                "test": row.test,
                "visit": row.visit,
                "state": row.shown,
                "recorded": _shown(row.recorded),
                "needed": _shown(row.needed),
            }
            for row in chosen[:3]
        ]

    def _distinct(self):
        """Rows of different states; those of the failing tests first."""
        rows, known = [], set()
        for row in sorted(self._rows, key=lambda row: not row.must):
            if self._mode == "values" and not row.must:
                continue
            key = (
                tuple([(text, pure.key(value)) for text, value in row.state.items()]),
                pure.key(row.recorded),
                pure.key(row.needed),
            )
            if key not in known:
                known.add(key)
                rows.append(row)
        return rows[:MAX_STATES]

    def _bank(self, rows, goal):
        bank = grow.Bank(grow.Limits(self._cost, self._seconds), goal)
        bank.signs = frozenset(re.findall(r"//|\*\*|[*/%&|^]", self._own))
        shared = set(rows[0].state)
        for row in rows[1:]:
            shared &= set(row.state)
        terms = frozenset(self._terms)
        said = frozenset(re.findall(r"[^\W\d][\w.]*", self._own))
        for text in sorted(shared, key=lambda text: (len(text), text)):
            is_path = text.replace(".", "").isidentifier()
            # What the place says already is likelier than what the function says, and that likelier
            # than what is there but not said.
            longer = len(re.findall(r"[-+*/%<>=(\[]", text)) > 1
            cost = 1 + text.count(".") if is_path else 2 + longer
            known = rows[0].own if text.isidentifier() else terms
            if text not in known:
                cost += 1
            if is_path and text in said:
                cost = 1
            bank.add(grow.given(text, cost, [row.state[text] for row in rows]))
        for text, cost in self._constants:
            try:
                value = pure.freeze(ast.literal_eval(text))
            except (ValueError, SyntaxError, Refused):
                continue
            bank.add(grow.given(text, cost, [value] * len(rows), True))
        return bank

    def _values(self, rows):
        """Distinct values that expressions give, one expression each."""
        bank = self._bank(rows, None)
        kinds = {grow.kind_of(row.recorded) for row in rows}
        own = tuple([pure.key(row.recorded) for row in rows])
        fitting = []
        for one in grow.values(bank, 4000):
            alike = {grow.kind_of(value) for value in one.values} == kinds
            if tuple([pure.key(value) for value in one.values]) != own:
                fitting.append((one.cost + (0 if alike or kinds == {"none"} else 4), one.text))
        fitting.sort(key=lambda entry: entry[0])
        return fitting[: self._count], bank.tried

    def _solve(self, rows):
        if self._shape == "value":
            goal = [row.needed for row in rows]
            bank = self._bank(rows, goal)
            # What was computed is known to the last digit; what is needed often is not.
            bank.exact = [not row.forced for row in rows]
            bank.grow()
            found = {(one.cost, one.text) for one in bank.found if not one.constant}
            parts = self._parts(rows, bank, lambda at, value: bank.is_goal(at, value))
            found.update(parts[0])
            return grow.nearly_best(found)[: 3 * self._count], bank.tried + parts[1]
        own = []
        try:
            if self._shape == "guard":
                goal = [row.forced for row in rows]
            else:
                goal = [pure.truth(row.needed) for row in rows]
            if self._shape == "condition":
                own = [pure.truth(row.recorded) for row in rows]
        except Refused:
            return [], 0
        if len(set(goal)) < 2:
            # One state, or all alike: every constant would do, and says nothing.
            return [], 0
        bank = self._bank(rows, None)
        bank.limits.cost = min(bank.limits.cost, 4)
        written = grow.given(self._own, 0, own) if self._shape == "condition" else None
        found, tried = ndbg_grow_conditions.conditions(bank, goal, written, self._count)
        if written is not None:
            parts = self._parts(rows, bank, lambda at, value: value is goal[at])
            tried += parts[1]
            found = grow.nearly_best({*map(tuple, found), *parts[0]})[: 3 * self._count]
        return found, tried + bank.tried

    def _parts(self, rows, bank, same):
        """The expression of the place with one part exchanged."""
        states = [row.state for row in rows]
        exchange = ndbg_grow_part.Exchange(self._own, states, same)
        return exchange.find(bank, self._seconds / 2), exchange.tried


class _Rule:
    """Forces a place at some visits of some test."""

    def __init__(self, rule):
        try:
            self._place = int(rule["place"])
            self._test = rule.get("test")
            visits = rule.get("visits")
            self._visits = None if visits is None else frozenset(visits)
            self._code = compile(rule["value"], "<angelic>", "eval")
        except (KeyError, TypeError, ValueError, SyntaxError) as error:
            raise Malformed(f"bad rule: {type(error).__name__}: {error}") from None

    def applies(self, place, test, number):
        return (
            place == self._place
            and (self._test is None or self._test == test)
            and (self._visits is None or number in self._visits)
        )

    def value(self, frame, recorded):
        names = dict(frames.local_names(frame))
        names["__ndbg_recorded__"] = recorded
        return eval(self._code, frame.f_globals, names)


def _frozen(value):
    try:
        return pure.freeze(value)
    except Refused:
        return pure.Opaque(value)


def _shown(value):
    return safe_repr(value.held if type(value) is pure.Opaque else value, MAX_SHOWN)[0]
