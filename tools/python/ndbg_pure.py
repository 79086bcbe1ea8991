"""Operations that run nothing that the authors of the values wrote, and that stay small.

Values are frozen first: exact builtin types are copied, everything else becomes an `Opaque`
reference, which only knows whether it is the same object. An `__eq__` that never ends is never
asked.

PYTEST_DONT_REWRITE: this is no test code.
"""

import datetime
import decimal
import fractions
import math
import operator

MAX_NODES = 400
MAX_TEXT = 2000
MAX_BITS = 256
MAX_EXPONENT = 8


class Refused(Exception):
    """Not plain, too large, or an error."""


class Opaque:
    """A reference to an object that is never asked anything."""

    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held

    def __eq__(self, other):
        return type(other) is Opaque and other.held is self.held

    def __hash__(self):
        return id(self.held)


NUMBERS = (int, float, decimal.Decimal, fractions.Fraction)
TIMES = (datetime.date, datetime.datetime, datetime.time, datetime.timedelta)
SCALARS = frozenset((type(None), bool, *NUMBERS, str, bytes, *TIMES))
SEQUENCES = frozenset((list, tuple))
SETS = frozenset((set, frozenset))
SIZED = frozenset((str, bytes, list, tuple, dict, set, frozenset))


def freeze(value):
    """A copy that later changes do not reach."""
    return _freeze(value, [MAX_NODES])


def _freeze(value, left):
    cls = type(value)
    left[0] -= 1
    if left[0] < 0:
        raise Refused("too large")
    if cls is Opaque:
        return value
    if cls in SCALARS:
        if (cls is str or cls is bytes) and len(value) > MAX_TEXT:
            return Opaque(value)
        if cls is int and value.bit_length() > 16 * MAX_BITS:
            return Opaque(value)
        if (cls is datetime.datetime or cls is datetime.time) and value.tzinfo is not None:
            return Opaque(value)
        return value
    if cls in SEQUENCES or cls in SETS or cls is dict:
        if len(value) > left[0]:
            raise Refused("too large")
        if cls is dict:
            return {_freeze(key, left): _freeze(one, left) for key, one in value.items()}
        return cls([_freeze(one, left) for one in value])
    return Opaque(value)


def key(value):
    """What tells values apart: `1`, `True` and `1.0` are three."""
    cls = type(value)
    if cls is float:
        # Two ways to compute a number rarely agree in the last digit.
        return (float, float(f"{value:.12g}") if value == value else "nan")
    if cls in SEQUENCES:
        return (cls, tuple([key(one) for one in value]))
    if cls is dict:
        return (cls, tuple([(key(k), key(v)) for k, v in value.items()]))
    if cls in SETS:
        return (cls, frozenset([key(one) for one in value]))
    return (cls, value)


def same(one, other):
    """Whether two values are the same, up to the rounding of floats."""
    if type(one) is float and type(other) in (float, int) and type(other) is not bool:
        return one == other or math.isclose(one, other, rel_tol=1e-9)
    if type(other) is float and type(one) is int:
        return same(other, one)
    return key(one) == key(other)


def is_number(value):
    return type(value) in NUMBERS


def binary(sign, one, other):
    """`one sign other` for builtin values."""
    a, b = type(one), type(other)
    if sign in ("+", "-") and (a in TIMES or b in TIMES):
        if a in TIMES and b in TIMES:
            return _attempt(_BINARY[sign], one, other)
        raise Refused(sign)
    if is_number(one) and is_number(other):
        if sign == "**":
            if b is not int or not 0 <= other <= MAX_EXPONENT:
                raise Refused(sign)
        elif sign in ("&", "|", "^") and not a is b is int:
            raise Refused(sign)
        return _small(_attempt(_BINARY[sign], one, other))
    if sign == "+" and a is b and a in (str, bytes, list, tuple):
        if len(one) + len(other) <= MAX_NODES:
            return one + other
    elif sign == "*" and b is int and a in (str, list, tuple):
        if len(one) * max(other, 0) <= MAX_NODES:
            return one * other
    elif sign in ("-", "&", "|", "^") and a in SETS and b in SETS:
        return _BINARY[sign](one, other)
    raise Refused(sign)


_BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def _attempt(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        raise Refused(type(error).__name__) from None


def _small(value):
    if type(value) is int and value.bit_length() > MAX_BITS:
        raise Refused("too large")
    if type(value) is float and not math.isfinite(value):
        raise Refused("not finite")
    if type(value) is complex:
        raise Refused("complex")
    return value


_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(sign, one, other):
    """`one sign other`; a membership test of an opaque object is one of identity."""
    if sign in _COMPARE:
        if sign not in ("==", "!=") and (type(one) is Opaque or type(other) is Opaque):
            raise Refused(sign)
        return _attempt(_COMPARE[sign], one, other)
    if sign == "in" or sign == "not in":
        if type(other) not in SIZED or (type(other) is str and type(one) is not str):
            raise Refused(sign)
        found = _attempt(operator.contains, other, one)
        return found if sign == "in" else not found
    if sign == "is" or sign == "is not":
        if type(one) is Opaque and type(other) is Opaque:
            found = one == other
        elif one is None or other is None:
            found = one is other
        else:
            raise Refused(sign)
        return found if sign == "is" else not found
    raise Refused(sign)


def truth(value):
    if type(value) is Opaque:
        raise Refused("truth of an object")
    return bool(value)


def unary(sign, value):
    if sign == "not":
        return not truth(value)
    if sign == "-" and (is_number(value) or type(value) is datetime.timedelta):
        return -value
    raise Refused(sign)


def item(value, index):
    """`value[index]`."""
    cls = type(value)
    if cls is dict:
        return _attempt(operator.getitem, value, index)
    if cls in (str, bytes, list, tuple) and type(index) is int:
        return _attempt(operator.getitem, value, index)
    raise Refused("item")


def _plain_sum(value):
    if all(is_number(one) for one in value):
        return _small(sum(value))
    raise Refused("sum")


def _integer(value):
    if type(value) is str and len(value) > 40:
        raise Refused("too large")
    return _small(int(value))


def _text(value):
    if type(value) in (str, int, float):
        return str(value)
    raise Refused("str")


_CONTAINERS = (list, tuple, dict, set, frozenset)
_FUNCTIONS = {
    "len": (len, tuple(SIZED)),
    "abs": (abs, NUMBERS),
    "sum": (_plain_sum, (list, tuple, set)),
    "min": (min, _CONTAINERS),
    "max": (max, _CONTAINERS),
    "sorted": (sorted, _CONTAINERS),
    "str": (_text, (int, float)),
    "int": (_integer, (str, float, bool)),
    "float": (float, (int, str)),
    "round": (round, (float,)),
    "list": (list, (tuple, dict, set, frozenset)),
    "tuple": (tuple, (list,)),
    "set": (set, (list, tuple)),
    "any": (any, (list, tuple)),
    "all": (all, (list, tuple)),
    "bool": (truth, ()),
}
# Names of builtin functions that take one value, by the type that they take.
FUNCTIONS_OF = {}
for _name, (_, _types) in _FUNCTIONS.items():
    for _type in _types:
        FUNCTIONS_OF.setdefault(_type, []).append(_name)


def function(name, arguments):
    """A builtin function of one value, or `min` and `max` of two numbers or texts."""
    if name not in _FUNCTIONS:
        raise Refused(name)
    if len(arguments) == 2 and name in ("min", "max"):
        one, other = arguments
        alike = type(one) is type(other) and type(one) in TIMES
        if alike or (is_number(one) and is_number(other)):
            return _attempt(min if name == "min" else max, one, other)
        raise Refused(name)
    if name == "round" and len(arguments) == 2:
        number, digits = arguments
        if type(number) is float and type(digits) is int and abs(digits) < 30:
            return _attempt(round, number, digits)
        raise Refused(name)
    if len(arguments) != 1:
        raise Refused(name)
    call, types = _FUNCTIONS[name]
    value = arguments[0]
    if name != "bool" and type(value) not in types:
        raise Refused(name)
    holds = type(value) in _CONTAINERS and any(type(one) is Opaque for one in value)
    if holds and name not in ("len", "list", "tuple", "set"):
        raise Refused(name)
    return freeze(_attempt(call, value))


# Methods that change nothing, by type: name -> number of arguments.
METHODS = {
    str: {
        "lower": 0,
        "upper": 0,
        "strip": 0,
        "lstrip": 0,
        "rstrip": 0,
        "title": 0,
        "capitalize": 0,
        "casefold": 0,
        "split": 0,
        "splitlines": 0,
        "isdigit": 0,
        "isalpha": 0,
        "isalnum": 0,
        "isspace": 0,
        "isupper": 0,
        "islower": 0,
        "startswith": 1,
        "endswith": 1,
        "find": 1,
        "count": 1,
    },
    list: {"count": 1, "index": 1, "copy": 0},
    tuple: {"count": 1, "index": 1},
    dict: {"get": 1, "copy": 0},
    set: {"copy": 0},
    float: {"is_integer": 0},
    datetime.date: {"weekday": 0, "isoweekday": 0, "toordinal": 0, "isoformat": 0},
    datetime.datetime: {"weekday": 0, "date": 0, "time": 0, "isoformat": 0},
    datetime.timedelta: {"total_seconds": 0},
}
# Further methods of text with arguments that source code already calls them with.
_WRITTEN = {str: {"split", "strip", "lstrip", "rstrip", "replace", "join", "rfind"}, dict: {"get"}}


def method(value, name, arguments):
    """`value.name(*arguments)` for methods that change nothing."""
    cls = type(value)
    wanted = METHODS.get(cls, {}).get(name)
    if wanted != len(arguments) and name not in _WRITTEN.get(cls, ()):
        raise Refused(name)
    if cls is str:
        for one in arguments:
            if type(one) is Opaque or (type(one) in (str, list, tuple) and len(one) > 100):
                raise Refused(name)
    return freeze(_attempt(getattr(value, name), *arguments))


# Attributes of builtin values that cost nothing.
ATTRIBUTES = {
    datetime.date: ("year", "month", "day"),
    datetime.datetime: ("year", "month", "day", "hour", "minute", "second", "microsecond"),
    datetime.time: ("hour", "minute", "second"),
    datetime.timedelta: ("days", "seconds"),
    fractions.Fraction: ("numerator", "denominator"),
}


def attribute(value, name):
    """An attribute of a builtin value."""
    if name in ATTRIBUTES.get(type(value), ()):
        return getattr(value, name)
    raise Refused(name)
