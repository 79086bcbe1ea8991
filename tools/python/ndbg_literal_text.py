"""Values as literals, sets in order.

PYTEST_DONT_REWRITE: this is no test code.
"""

import itertools

MOST_ITEMS = 2_000
DEEPEST = 30


TOO_MANY = "too many items"


class Opaque(Exception):
    """A value that is no literal."""


def in_order(items):
    """Sets have no order: sorted where their items have one, by their text else."""
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=text)


def text(value, depth=0, halves=False):
    """A value as a literal, sets in order; with `halves`, lone halves of pairs are letters, too."""
    cls = type(value)
    if cls in (int, float, complex, bool, bytes, bytearray, type(None), range):
        return repr(value)
    if cls is str:
        if not halves:
            value.encode()
        return repr(value)
    if cls is type(Ellipsis):
        return "Ellipsis"
    if depth > DEEPEST:
        raise Opaque("nested too deeply")
    if cls in (list, tuple, set, frozenset, dict) and len(value) > MOST_ITEMS:
        raise Opaque(TOO_MANY)

    def many(items):
        return ", ".join([text(item, depth + 1, halves) for item in items])

    if cls is list:
        return "[" + many(value) + "]"
    if cls is tuple:
        return "(" + many(value) + ("," if len(value) == 1 else "") + ")"
    if cls is dict:
        pairs = [(text(k, depth + 1, halves), text(v, depth + 1, halves)) for k, v in value.items()]
        return "{" + ", ".join([f"{key}: {held}" for key, held in pairs]) + "}"
    if cls is set:
        return "{" + many(in_order(value)) + "}" if value else "set()"
    if cls is frozenset:
        return "frozenset({" + many(in_order(value)) + "})" if value else "frozenset()"
    if cls is type:
        return value.__name__
    if depth == 0:
        for kind, name in (
            (type({}.keys()), "dict_keys"),
            (type({}.values()), "dict_values"),
            (type({}.items()), "dict_items"),
        ):
            if cls is kind:
                return name + "([" + many(value) + "])"
        if hasattr(cls, "__next__"):
            items = list(itertools.islice(value, MOST_ITEMS + 1))
            if len(items) > MOST_ITEMS:
                raise Opaque("an iterator without end")
            return "iter([" + many(items) + "])"
    raise Opaque("no literal: " + cls.__name__)
