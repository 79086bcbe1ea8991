"""Expressions over given values, the simplest first.

A state is one visit of a place. What is given are the values of names, attributes, terms and
constants in every state; what is grown from them is a text with its values, one for each state. Of
the expressions that give equal values in all states only the first one is grown further.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import time

import ndbg_grow_meet as meeting
import ndbg_pure as pure
from ndbg_pure import Refused

MAX_CLASSES = 8000
ATOM, ITEM, UNARY, PRODUCT, SUM, BITS, COMPARISON, NOT, AND, OR = 10, 10, 9, 8, 7, 6, 5, 4, 3, 2
_STRENGTHS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}
_NUMERIC = {"+": SUM, "-": SUM, "*": PRODUCT, "//": PRODUCT, "%": PRODUCT, "/": PRODUCT}
_SIGNS = {
    "number": tuple(_NUMERIC.items()),
    "text": (("+", SUM),),
    "list": (("+", SUM),),
    "tuple": (("+", SUM),),
    "set": (("-", SUM), ("&", BITS), ("|", BITS)),
    "date": (("-", SUM), ("+", SUM)),
    "span": (("-", SUM), ("+", SUM)),
}
# Functions that code calls often, and those that it seldom needs.
_USUAL = frozenset(("len", "abs", "sum", "min", "max", "sorted", "any", "all"))
_RARE = frozenset(("str", "int", "float", "round", "list", "tuple", "set"))
_RARELY = frozenset(("title", "capitalize", "casefold", "copy", "isoformat", "is_integer"))
_COMMUTES = frozenset(("+", "*", "&", "|"))
ORDERED = frozenset(("number", "text", "date", "span"))


class Grown:
    """An expression with its values."""

    __slots__ = ("text", "strength", "cost", "values", "kind", "constant")

    def __init__(self, text, strength, cost, values, constant=False):
        self.text = text
        self.strength = strength
        self.cost = cost
        self.values = values
        self.kind = kind_of(values[0])
        self.constant = constant


def kind_of(value):
    cls = type(value)
    if cls is bool:
        return "bool"
    if cls in pure.NUMBERS:
        return "number"
    if cls in pure.SETS:
        return "set"
    name = cls.__name__
    return {
        "str": "text",
        "bytes": "bytes",
        "list": "list",
        "tuple": "tuple",
        "dict": "dict",
        "NoneType": "none",
        "date": "date",
        "datetime": "date",
        "timedelta": "span",
        "time": "time",
    }.get(name, "object")


class Limits:
    def __init__(self, cost=7, seconds=0.4, classes=MAX_CLASSES):
        self.cost = cost
        # Time that this thread computes: what is found must not depend on what else is running.
        self.until = time.thread_time() + seconds
        self.classes = classes


def wrapped(one, strength):
    """The text, in parentheses where it binds less tightly."""
    return one.text if one.strength >= strength else f"({one.text})"


class Bank:
    """Expressions by cost, each with values of its own."""

    def __init__(self, limits, goal=None):
        self.limits = limits
        self.levels = {}
        self.count = 0
        self.tried = 0
        self._known = {}
        self.goal = goal
        # Operators that the place has: the likelier ones.
        self.signs = frozenset()
        # In which states the last digit of a float counts.
        self.exact = [False] * len(goal or ())
        # Expressions that reach the goal, however many have the same values.
        self.found = []

    def add(self, one):
        """Keep an expression that gives new values."""
        self.tried += 1
        if self.goal is not None and self._reaches(one):
            self.found.append(one)
            return
        key = tuple([pure.key(value) for value in one.values])
        known = self._known.get(key)
        if known is not None and known.cost <= one.cost:
            return
        if known is not None:
            self.levels[known.cost].remove(known)
        self._known[key] = one
        self.count += 1
        self.levels.setdefault(one.cost, []).append(one)

    def _reaches(self, one):
        try:
            return all(self.is_goal(at, value) for at, value in enumerate(one.values))
        except Exception:
            return False

    def is_goal(self, at, value):
        """Whether a value is what is needed in a state."""
        want = self.goal[at]
        return pure.same(value, want) and not (self.exact[at] and value != want)

    def full(self):
        return self.count >= self.limits.classes or time.thread_time() > self.limits.until

    def all(self):
        return [one for cost in sorted(self.levels) for one in self.levels[cost]]

    def _try(self, text, strength, cost, compute):
        try:
            values = compute()
        except Refused:
            self.tried += 1
            return
        self.add(Grown(text, strength, cost, values))

    def grow(self):
        """All levels up to the limit, each from those before it."""
        for cost in range(2, self.limits.cost + 1):
            if self.goal is not None and cost > 2:
                meeting.meet(self)
                if self.found or self.full():
                    return
            for one in list(self.levels.get(cost - 1, ())):
                if self.full():
                    return
                self._extend(one, cost, _USUAL)
            for one in list(self.levels.get(cost - 2, ())):
                if self.full():
                    return
                self._extend(one, cost, _RARE)
            for left in range(1, cost - 1):
                others = self.levels.get(cost - 1 - left, ())
                for one in list(self.levels.get(left, ())):
                    if self.full():
                        return
                    for other in list(others):
                        self._join(one, other, cost)

    def _extend(self, one, cost, names):
        cls = type(one.values[0])
        if one.constant:
            return
        for name in pure.FUNCTIONS_OF.get(cls, ()):
            if name not in names:
                continue
            self._try(
                f"{name}({one.text})",
                ATOM,
                cost,
                lambda name=name: [pure.function(name, [value]) for value in one.values],
            )
        for name, count in pure.METHODS.get(cls, {}).items():
            if count == 0 and (name in _RARELY) == (names is _RARE):
                self._try(
                    f"{wrapped(one, ITEM)}.{name}()",
                    ITEM,
                    cost,
                    lambda name=name: [pure.method(value, name, []) for value in one.values],
                )
        for name in pure.ATTRIBUTES.get(cls, ()) if names is _USUAL else ():
            self._try(
                f"{wrapped(one, ITEM)}.{name}",
                ITEM,
                cost,
                lambda name=name: [pure.attribute(value, name) for value in one.values],
            )
        if one.kind == "number" and names is _RARE:
            self._try(
                f"-{wrapped(one, UNARY)}",
                UNARY,
                cost,
                lambda: [pure.unary("-", value) for value in one.values],
            )

    def _join(self, one, other, cost):
        if one.constant and other.constant:
            return
        kind = one.kind
        if kind == other.kind or {kind, other.kind} == {"date", "span"}:
            for sign, strength in sorted(_SIGNS.get(kind, ()), key=self._is_rare):
                if sign in _COMMUTES and one.text > other.text and kind == "number":
                    continue
                if sign in "+-" and other.text[:1] == "-":
                    continue
                # A neutral element changes nothing, and `x - x` is a roundabout way to write 0.
                if one is other and sign in ("-", "/", "//", "%"):
                    continue
                self._binary(sign, strength, one, other, cost + self._is_rare((sign, strength)))
        elif kind in ("text", "list") and other.kind == "number" and other.constant is False:
            self._binary("*", PRODUCT, one, other, cost)
        keys = ("number", "text") if kind == "dict" else ("number",)
        if kind in ("list", "tuple", "text", "dict") and other.kind in keys:
            self._try(
                f"{wrapped(one, ITEM)}[{other.text}]",
                ITEM,
                cost,
                lambda: [pure.item(a, b) for a, b in zip(one.values, other.values)],
            )
        if kind == "dict" and other.kind in ("number", "text"):
            self._method(one, "get", other, cost)
        elif kind == "text" and other.kind == "text":
            for name in ("startswith", "endswith", "count", "find"):
                self._method(one, name, other, cost)
        if kind == other.kind == "number" and one.text < other.text:
            for name in ("min", "max"):
                self._try(
                    f"{name}({one.text}, {other.text})",
                    ATOM,
                    cost,
                    lambda name=name: [
                        pure.function(name, [a, b]) for a, b in zip(one.values, other.values)
                    ],
                )
        if one is not other and not one.constant and kind != "bool":
            self._either(one, other, cost)

    def _is_rare(self, entry):
        return entry[0] not in "+-" and entry[0] not in self.signs

    def _either(self, one, other, cost):
        def choose():
            return [a if pure.truth(a) else b for a, b in zip(one.values, other.values)]

        if kind_of(one.values[0]) == other.kind or "none" in {kind_of(v) for v in one.values}:
            text = f"{wrapped(one, OR)} or {wrapped(other, OR)}"
            self._try(text, OR, cost, choose)

    def _method(self, one, name, other, cost):
        # With two names it fits by chance more often than a comparison does.
        cost += 1
        self._try(
            f"{wrapped(one, ITEM)}.{name}({other.text})",
            ITEM,
            cost,
            lambda: [pure.method(a, name, [b]) for a, b in zip(one.values, other.values)],
        )

    def binary(self, sign, one, other, cost):
        """Keep `one sign other`."""
        self._binary(sign, _STRENGTHS[sign], one, other, cost)

    def _binary(self, sign, strength, one, other, cost):
        # The three that work on bits differ in how tightly they bind.
        left = strength + 1 if strength == BITS else strength
        text = f"{wrapped(one, left)} {sign} {wrapped(other, strength + 1)}"
        self._try(
            text,
            strength,
            cost,
            lambda: [pure.binary(sign, a, b) for a, b in zip(one.values, other.values)],
        )


def values(bank, count):
    """The simplest expressions of the bank, one for each distinct series of values."""
    bank.grow()
    return bank.all()[:count]


def nearly_best(found):
    """(cost, text) of what costs little more than the simplest one: the rest fits by chance."""
    found = sorted(found, key=lambda one: (one[0], len(one[1]), one[1]))
    return [one for one in found if one[0] <= found[0][0] + 1]


def given(text, cost, values, constant=False):
    """An expression of the source to grow from."""
    return Grown(text, ATOM if text.isidentifier() else _strength(text), cost, values, constant)


def _strength(text):
    """How tightly a text of the source binds; what is not known binds loosest."""
    node = ast.parse(f"({text})", mode="eval").body
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)):
            return PRODUCT
        return SUM if isinstance(node.op, (ast.Add, ast.Sub)) else 0
    if isinstance(node, ast.UnaryOp):
        return NOT if isinstance(node.op, ast.Not) else UNARY
    if isinstance(node, ast.Compare):
        return COMPARISON
    if isinstance(node, ast.BoolOp):
        return AND if isinstance(node.op, ast.And) else OR
    if isinstance(node, (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return ATOM
    if isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Set)) and text[:1] in "([{":
        return ATOM
    return 0
