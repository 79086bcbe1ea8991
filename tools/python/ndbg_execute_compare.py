"""Whether two values, or two ends of a call, are the same to a user.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ndbg_literal_text

_DEEPEST = 50


def same(value, wanted, depth=0):
    """Equal, and of the same types all through; `-0.0` is not `0.0`."""
    if type(value) is not type(wanted) or depth > _DEEPEST:
        return False
    if isinstance(wanted, (float, complex)):
        # What Python writes tells apart all but kinds of `nan`.
        return repr(value) == repr(wanted)
    if isinstance(wanted, (list, tuple)):
        if len(value) != len(wanted):
            return False
        return all(same(one, other, depth + 1) for one, other in zip(value, wanted))
    if isinstance(wanted, dict):
        if value.keys() != wanted.keys():
            return False
        keys = {key: key for key in value}
        return all(
            same(keys[key], key, depth + 1) and same(value[key], held, depth + 1)
            for key, held in wanted.items()
        )
    if isinstance(wanted, (set, frozenset)):
        return value == wanted and _text(value) == _text(wanted)
    try:
        return bool(value == wanted) or bool(wanted != wanted and value != value)
    except Exception:
        return False


def _text(items):
    try:
        return ndbg_literal_text.text(items, halves=True)
    except Exception:
        return None


def differ(outcome, value, other, there):
    """Whether two versions end apart: outcomes and, where they return, what."""
    if outcome[0] != other[0]:
        return True
    if outcome[0] == "raised":
        return outcome[1] != other[1]
    if outcome[0] != "returned" or outcome[1] == other[1]:
        return False
    # Objects of classes that both versions define are told apart by their texts alone.
    return not same(value, there)
