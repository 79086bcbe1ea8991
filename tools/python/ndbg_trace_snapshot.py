"""Whether a container still holds the very same scalars, found out without writing it.

PYTEST_DONT_REWRITE: this is no test code.
"""

from operator import is_

SCALARS = frozenset([int, float, bool, type(None), str, bytes, complex])
# By id: a metaclass may have a `__hash__` of its own.
_SCALAR_IDS = frozenset(map(id, SCALARS))
_TUPLE_ID = id(tuple)
_ATOM_IDS = _SCALAR_IDS | {_TUPLE_ID}
# Longer containers are abbreviated, and what is kept alive stays small.
_MAX_ITEMS = 64


def is_atom(value):
    """Whether a tuple holds nothing but scalars and such tuples: it never changes."""
    kinds = set(map(id, map(type, value)))
    if kinds <= _SCALAR_IDS:
        return True
    return kinds <= _ATOM_IDS and all(is_atom(one) for one in value if type(one) is tuple)


def _atoms(items):
    """The items, if all of them are scalars or tuples of scalars; else None."""
    held = tuple(items)
    return held if is_atom(held) else None


class Snapshot:
    """The scalars in a list, dict or set at one moment; they are all that it keeps alive."""

    __slots__ = ("_key", "_keys", "_kind", "_values")

    @classmethod
    def of(cls, value, kind):
        """None for values that hold anything else: those have to be looked through each time."""
        if not (kind is list or kind is dict or kind is set) or len(value) > _MAX_ITEMS:
            return None
        self = cls()
        self._key = id(value)
        self._kind = kind
        self._keys = _atoms(value)
        if self._keys is None:
            return None
        self._values = None
        if kind is dict:
            self._values = _atoms(value.values())
            if self._values is None:
                return None
        return self

    def shows(self, value):
        """Whether this is the same container with the same contents."""
        keys, values = self._keys, self._values
        return (
            id(value) == self._key
            # Another object may have taken its place and its id.
            and type(value) is self._kind
            and len(value) == len(keys)
            and all(map(is_, value, keys))
            and (values is None or all(map(is_, value.values(), values)))
        )
