"""How far a condition is from being true, and from being false.

A measured condition is `(value, to_true, to_false)`: distances are 0 for what it is, and more than
0 and at most 1 for what it is not. They only guide a search, so they are cheap and never raise, and
they look at builtin values only: whatever a class of the program defines runs once, as without
them.

PYTEST_DONT_REWRITE: this is no test code.
"""

import operator
import sys

_NUMBERS = (int, float, bool)
_SIZED = (str, bytes, list, tuple, dict, set, frozenset)
_LONGEST = 64
_OPERATORS = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
}


def normalised(distance):
    """Anything from 0 on, into 0 to 1."""
    try:
        return distance / (distance + 1.0)
    except (OverflowError, ValueError):
        return 1.0


def apart(left, right, depth=0):
    """From 0 (equal) to 1."""
    one, other = type(left), type(right)
    if one in _NUMBERS and other in _NUMBERS:
        try:
            distance = abs(left - right)
            return normalised(distance) if distance == distance else 1.0
        except (OverflowError, ValueError):
            return 1.0
    if one is not other or depth > 3:
        return 1.0
    if one is str or one is bytes:
        return normalised(_texts(left, right))
    if one is list or one is tuple:
        paired = [apart(a, b, depth + 1) for a, b in zip(left[:_LONGEST], right[:_LONGEST])]
        return normalised(sum(paired) + abs(len(left) - len(right)))
    if one is dict:
        keys = len(left.keys() ^ right.keys())
        values = [
            apart(value, right[key], depth + 1) for key, value in left.items() if key in right
        ]
        return normalised(keys + sum(values[:_LONGEST]))
    if one is set or one is frozenset:
        return normalised(len(left ^ right))
    return 0.0 if left is right else 1.0


def _texts(left, right):
    """Places that differ, and a part of how far the letters are apart."""
    distance = abs(len(left) - len(right))
    if type(left) is bytes:
        left, right = left.decode("latin-1"), right.decode("latin-1")
    for a, b in zip(left[:_LONGEST], right[:_LONGEST]):
        if a != b:
            distance += 0.5 + 0.5 * normalised(abs(ord(a) - ord(b)) / 8)
    return distance


def truth(value):
    """A condition that is a value."""
    cls = type(value)
    if cls is bool:
        return (value, 0.0, 1.0) if value else (value, 1.0, 0.0)
    if cls is int or cls is float:
        try:
            return (value, 0.0, normalised(abs(value))) if value else (value, 0.5, 0.0)
        except (OverflowError, ValueError):
            return (value, 0.0, 1.0)
    if cls in _SIZED:
        return (value, 0.0, normalised(len(value))) if value else (value, 0.5, 0.0)
    if value is None:
        return (value, 1.0, 0.0)
    return (value, None, None)


def compared(name, left, right):
    """A comparison; what it gives is what Python's gives."""
    value = _OPERATORS[name](left, right)
    if value is not True and value is not False:
        return (value, None, None)
    try:
        far = _far(name, left, right, value)
    except RecursionError:
        # Who handles it there has no limit from then on, and ends the process.
        if sys.version_info < (3, 10):
            raise
        far = 1.0
    except Exception:
        far = 1.0
    return (value, 0.0, far) if value else (value, far, 0.0)


def _far(name, left, right, value):
    """From being the other truth value."""
    if name in ("Eq", "Is"):
        return 0.5 if value else max(apart(left, right), 0.01)
    if name in ("NotEq", "IsNot"):
        return max(apart(left, right), 0.01) if value else 0.5
    if name in ("In", "NotIn"):
        if value == (name == "In"):
            return 0.5
        if type(right) is str and type(left) is str:
            return _within(left, right)
        if type(right) in (list, tuple, set, frozenset, dict):
            items = list(right)[:_LONGEST]
            return max(min([apart(left, item) for item in items], default=1.0), 0.01)
        return 1.0
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return normalised(abs(left - right) + 0.5)
    if type(left) is str and type(right) is str:
        return normalised(_texts(left[:1], right[:1]) + 0.5)
    return 0.5


def _within(part, whole):
    """The least of the distances to parts of this length."""
    if not part:
        return 0.01
    size = len(part)
    if len(whole) < size:
        return normalised(_texts(part, whole))
    starts = range(min(len(whole) - size + 1, _LONGEST))
    return normalised(min(_texts(part, whole[at : at + size]) for at in starts))


def called(name, value, arguments):
    """`value.startswith(…)` and `value.endswith(…)`."""
    result = getattr(value, name)(*arguments)
    if type(value) is not str or result is not True and result is not False:
        return truth(result)
    if result:
        return (result, 0.0, 0.5)
    wanted = arguments[0] if arguments else ""
    choices = wanted if type(wanted) is tuple else (wanted,)
    far = 1.0
    for choice in choices:
        if type(choice) is str and choice:
            part = value[: len(choice)] if name == "startswith" else value[-len(choice) :]
            far = min(far, normalised(_texts(part, choice)))
    return (result, far, 0.0)


def negated(measured):
    value, to_true, to_false = measured
    if to_true is None:
        return (not value, None, None)
    return (not value, to_false, to_true)


def joined(is_and, count, parts, value):
    """`and` or `or` of `count` parts; `parts` are distances `(to_it, from_it)` of those asked.

    For `and`, `it` is true: all have to be; what was not asked counts 1. `or` is its mirror image.
    """
    last = parts[-1]
    if last[0] is None:
        return (value, None, None)
    to_it, from_it = last
    if len(parts) == count and to_it == 0.0:
        known = [part[1] for part in parts if part[1]]
        far = (0.0, max(min(known, default=0.5), 0.01))
    elif len(parts) == count or to_it > 0.0:
        far = (normalised(to_it + count - len(parts)), 0.0)
    else:
        far = (0.5, 0.0)
    return (value, *(far if is_and else (far[1], far[0])))


def settled(measured):
    """Distances for what has none: a value of a class whose `__bool__` may only run once."""
    value, to_true, to_false = measured
    if to_true is not None:
        return measured
    truthy = bool(value)
    return (truthy, 0.0, 1.0) if truthy else (truthy, 1.0, 0.0)
