"""Text of values without running anything that the value's author wrote.

Exact builtin types are written as Python literals. Everything else is `lossy`: objects become
`<Type attr=…>` from their real `__dict__` and `__slots__`, read past every property, `__getattr__`,
`__class__` and `__repr__` of the user, any of which may raise, block, or change state.

PYTEST_DONT_REWRITE: this is no test code.
"""

import collections
import datetime
import decimal
import enum
import types
from itertools import islice

MAX_DEPTH = 4
MAX_ITEMS = 20
MAX_STRING = 200
MAX_STATE = 2000
# Longer integers are described, not written: str() of them is quadratic and limited since 3.11.
MAX_INT_BITS = 2000
# Sets above this size are not sorted.
MAX_SORTED = 1000
ELLIPSIS = "…"

_type_name = type.__dict__["__name__"].__get__
_type_qualname = type.__dict__["__qualname__"].__get__
_type_module = type.__dict__["__module__"].__get__
_type_mro = type.__dict__["__mro__"].__get__
_type_namespace = type.__dict__["__dict__"].__get__
_c_repr = repr
_SHORT_TYPES = frozenset(map(id, [bool, float, complex, type(None)]))
_C_TYPES = _SHORT_TYPES.union(map(id, [int, str, bytes, list, tuple, dict]))
_ONLY_INT = frozenset([id(int)])
# Integers whose repr costs about as little as a comparison.
_PLAIN_INT = 1 << 64
_exception_args = BaseException.__dict__["args"].__get__

# Types of the standard library whose own repr is written in C or trivially safe.
_PLAIN_REPR = {
    datetime.date: datetime.date.__repr__,
    datetime.timedelta: datetime.timedelta.__repr__,
    decimal.Decimal: decimal.Decimal.__repr__,
    range: range.__repr__,
    type(Ellipsis): repr,
    type(NotImplemented): repr,
}
# Modules whose objects say everything with their text.
_WRITTEN_WHOLE = frozenset(
    ["builtins", "datetime", "decimal", "fractions", "pathlib", "pathlib._local", "re", "uuid"]
)
_BUILTIN_BASES = (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)


def type_name(value):
    """The name of the real type, whatever `__class__` claims."""
    return _name_of(type(value))


def qualified_type_name(cls):
    """`IndexError`, `package.module.Error`: builtins stay bare."""
    module = _module_of(cls)
    try:
        name = _type_qualname(cls)
    except Exception:
        name = _name_of(cls)
    return name if module in (None, "builtins") else f"{module}.{name}"


def _name_of(cls):
    name = _type_name(cls)
    return name if type(name) is str else "?"


def _module_of(cls):
    try:
        module = _type_module(cls)
    except Exception:
        return None
    return module if type(module) is str else None


def safe_repr(value, limit=MAX_STATE):
    """Returns (text, lossy): lossy when the text does not evaluate back to an equal value."""
    writer = _Writer(limit)
    try:
        text = writer.write(value, 0)
    except RecursionError:
        raise
    except Exception as error:
        # Most likely a container that changed under our hands.
        return f"<{type_name(value)} unreadable: {_name_of(type(error))}>", True
    if len(text) > limit:
        text = text[:limit] + ELLIPSIS
        writer.lossy = True
    return text, writer.lossy


def fast_repr(value, limit=MAX_STATE):
    """The result of `safe_repr`, by way of the interpreter's own repr where that is the same."""
    cls = type(value)
    if cls is str:
        if len(value) <= MAX_STRING:
            return _c_repr(value), False
    elif cls is int:
        if -_PLAIN_INT < value < _PLAIN_INT:
            return _c_repr(value), False
    elif value is None or cls is bool:
        return _c_repr(value), False
    elif (cls is list or cls is tuple or cls is dict) and _is_plain(value, cls, 1):
        text = _c_repr(value)
        # Within this length no string and no integer is too long; nan and inf are no literals.
        if len(text) <= MAX_STRING and "nan" not in text and "inf" not in text:
            return text, False
    return safe_repr(value, limit)


def _is_plain(value, cls, depth):
    """Whether a list, tuple or dict holds nothing but short plain scalars and such containers."""
    if len(value) > MAX_ITEMS or depth > MAX_DEPTH:
        return False
    # By id: a metaclass may have a `__hash__` of its own.
    kinds = set(map(id, map(type, value)))
    if cls is dict:
        values = value.values()
        kinds.update(map(id, map(type, values)))
        members = (value, values)
    else:
        members = (value,)
    if not kinds <= _C_TYPES:
        return False
    if kinds <= _SHORT_TYPES:
        return True
    if kinds == _ONLY_INT and cls is not dict:
        return min(value) > -_PLAIN_INT and max(value) < _PLAIN_INT
    for items in members:
        for item in items:
            kind = type(item)
            if kind is int:
                if not -_PLAIN_INT < item < _PLAIN_INT:
                    return False
            elif kind is str or kind is bytes:
                if len(item) > MAX_STRING:
                    return False
            elif (kind is list or kind is tuple or kind is dict) and not _is_plain(
                item, kind, depth + 1
            ):
                return False
    return True


def describe(value, limit=MAX_STATE, attributes=True):
    """The shape in which records hold a value: {ty, v, len?, lossy, attrs?}."""
    text, lossy = safe_repr(value, limit)
    shape = {"ty": type_name(value), "v": text, "lossy": lossy}
    length = _length(value)
    if length is not None:
        shape["len"] = length
    if attributes and _module_of(type(value)) not in _WRITTEN_WHOLE:
        try:
            found = None if issubclass(type(value), enum.Enum) else _attributes(value)
        except RecursionError:
            raise
        except Exception:
            found = None
        if found:
            shape["attrs"] = attrs = {}
            for name, attribute in islice(found, MAX_ITEMS):
                attrs[name] = {"ty": type_name(attribute), "v": safe_repr(attribute, 200)[0]}
    return shape


def describe_state(names, limit=MAX_STATE):
    """Shapes of many variables that together stay within `limit` characters of text."""
    state = {}
    left = limit
    for name, value in names:
        if left <= 0:
            state[name] = {"ty": type_name(value), "v": ELLIPSIS, "lossy": True}
            continue
        shape = describe(value, left)
        left -= len(shape["v"]) + sum(len(one["v"]) for one in shape.get("attrs", {}).values())
        state[name] = shape
    return state


def _length(value):
    cls = type(value)
    for base in (str, bytes, bytearray, list, tuple, dict, set, frozenset, collections.deque):
        if issubclass(cls, base):
            return base.__len__(value)
    return None


def _attributes(value):
    """Pairs of name and value of an object's own state; None for values without any."""
    cls = type(value)
    # Never isinstance(): it asks the value for its `__class__`.
    if issubclass(cls, (type, types.ModuleType, types.FunctionType)):
        return None
    if _module_of(cls) == "builtins" and not issubclass(cls, BaseException):
        return None
    found = []
    namespace = None
    for base in _type_mro(cls):
        members = _type_namespace(base)
        descriptor = members.get("__dict__")
        if namespace is None and type(descriptor) is types.GetSetDescriptorType:
            namespace = descriptor.__get__(value, cls)
        if "__slots__" in members:
            for name, member in members.items():
                if type(member) is types.MemberDescriptorType:
                    try:
                        found.append((name, member.__get__(value, cls)))
                    except AttributeError:
                        continue
    if namespace is not None and issubclass(type(namespace), dict):
        found.extend(
            (name, held) for name, held in islice(dict.items(namespace), 200) if type(name) is str
        )
    return found


class _Writer:
    """Writes one value; collects on the way whether something was lost."""

    def __init__(self, limit):
        self.lossy = False
        self._left = limit
        self._open = set()

    def write(self, value, depth):
        cls = type(value)
        if value is None or cls is bool:
            return "None" if value is None else ("True" if value else "False")
        if cls is int:
            return self._int(value)
        if cls is str:
            return self._string(value, str)
        if cls is float:
            return self._float(value)
        if cls is complex:
            return complex.__repr__(value)
        if cls is bytes or cls is bytearray:
            return self._string(value, cls)
        if self._left <= 0:
            self.lossy = True
            return ELLIPSIS
        # A class with a metaclass is none of these, and its `__hash__` may be anyone's.
        if type(cls) is type:
            if cls in _CONTAINERS:
                return self._nested(value, depth, _CONTAINERS[cls])
            if cls in _PLAIN_REPR:
                # Evaluates back only with imports, so not a literal.
                self.lossy = self.lossy or cls is not range
                return _PLAIN_REPR[cls](value)
        self.lossy = True
        return self._other(value, cls, depth)

    def _spend(self, text):
        self._left -= len(text)
        return text

    def _int(self, value):
        if int.bit_length(value) > MAX_INT_BITS:
            self.lossy = True
            return f"<int of {int.bit_length(value)} bits>"
        return self._spend(int.__repr__(value))

    def _float(self, value):
        text = self._spend(float.__repr__(value))
        if text in ("nan", "inf", "-inf"):
            self.lossy = True
            return f"float('{text}')"
        return text

    def _string(self, value, base):
        length = base.__len__(value)
        if length <= MAX_STRING:
            return self._spend(base.__repr__(value))
        self.lossy = True
        head = base.__repr__(base.__getitem__(value, slice(0, MAX_STRING * 2 // 3)))
        tail = base.__repr__(base.__getitem__(value, slice(length - MAX_STRING // 3, length)))
        left_out = length - MAX_STRING * 2 // 3 - MAX_STRING // 3
        return self._spend(f"{head} {ELLIPSIS}+{left_out} {tail}")

    def _nested(self, value, depth, write):
        key = id(value)
        if depth >= MAX_DEPTH or key in self._open:
            self.lossy = True
            return f"<{type_name(value)} {ELLIPSIS}>"
        self._open.add(key)
        try:
            return write(self, value, depth + 1)
        finally:
            self._open.discard(key)

    def _items(self, items, reverse, length, depth):
        """Texts of at most MAX_ITEMS elements, the middle replaced by `…+N`."""
        if length <= MAX_ITEMS:
            return [self.write(item, depth) for item in list(islice(items, MAX_ITEMS))]
        self.lossy = True
        half = MAX_ITEMS // 2
        texts = [self.write(item, depth) for item in list(islice(items, half))]
        last = [] if reverse is None else list(islice(reverse, half))
        texts.append(f"{ELLIPSIS}+{length - half - len(last)}")
        texts.extend(self.write(item, depth) for item in reversed(last))
        return texts

    def _sequence(self, value, base, depth):
        return self._items(base.__iter__(value), _reversed(value, base), base.__len__(value), depth)

    def _list(self, value, depth):
        return "[{}]".format(", ".join(self._sequence(value, list, depth)))

    def _tuple(self, value, depth):
        texts = self._sequence(value, tuple, depth)
        return f"({texts[0]},)" if len(texts) == 1 else "({})".format(", ".join(texts))

    def _deque(self, value, depth):
        self.lossy = True
        texts = self._items(
            collections.deque.__iter__(value),
            collections.deque.__reversed__(value),
            len(value),
            depth,
        )
        return "deque([{}])".format(", ".join(texts))

    def _set_items(self, value, base, depth):
        length = base.__len__(value)
        members = list(islice(base.__iter__(value), MAX_SORTED + 1))
        if length > MAX_SORTED:
            self.lossy = True
            texts = [self.write(item, depth) for item in members[: MAX_ITEMS // 2]]
            return [*texts, f"{ELLIPSIS}+{length - len(texts)}"]
        if all(type(item) is int for item in members) or all(type(x) is str for x in members):
            members.sort()
        elif length <= MAX_ITEMS:
            return sorted(self.write(item, depth) for item in members)
        return self._items(iter(members), reversed(members), length, depth)

    def _set(self, value, depth):
        texts = self._set_items(value, set, depth)
        return "{{{}}}".format(", ".join(texts)) if texts else "set()"

    def _frozenset(self, value, depth):
        texts = self._set_items(value, frozenset, depth)
        return "frozenset({{{}}})".format(", ".join(texts)) if texts else "frozenset()"

    def _pairs(self, value, base, depth):
        length = base.__len__(value)
        if length <= MAX_ITEMS:
            keys = list(islice(base.items(value), MAX_ITEMS))
            return [f"{self.write(k, depth)}: {self.write(v, depth)}" for k, v in keys]
        self.lossy = True
        half = MAX_ITEMS // 2
        head = list(islice(dict.items(value), half))
        tail = list(islice(reversed(dict.items(value)), half)) if base is dict else []
        texts = [f"{self.write(k, depth)}: {self.write(v, depth)}" for k, v in head]
        texts.append(f"{ELLIPSIS}+{length - len(head) - len(tail)}")
        texts.extend(f"{self.write(k, depth)}: {self.write(v, depth)}" for k, v in reversed(tail))
        return texts

    def _dict(self, value, depth):
        return "{{{}}}".format(", ".join(self._pairs(value, dict, depth)))

    def _named_dict(self, value, depth):
        self.lossy = True
        return "{}({{{}}})".format(type_name(value), ", ".join(self._pairs(value, dict, depth)))

    def _other(self, value, cls, depth):
        name = _name_of(cls)
        if issubclass(cls, type):
            return f"<class {_name_of(value)}>"
        if cls is types.FunctionType:
            return "<function {}>".format(types.FunctionType.__dict__["__name__"].__get__(value))
        if cls is types.BuiltinFunctionType:
            return f"<builtin {value.__name__}>"
        if cls is types.MethodType:
            return f"<method of {type_name(value.__self__)}>"
        if issubclass(cls, types.ModuleType):
            module = types.ModuleType.__getattribute__(value, "__dict__").get("__name__")
            return f"<module {module}>" if type(module) is str else "<module>"
        if cls is slice:
            parts = (value.start, value.stop, value.step)
            return "slice({})".format(", ".join(self.write(part, depth) for part in parts))
        if cls is datetime.datetime or cls is datetime.time:
            zone = value.tzinfo
            if zone is None or type(zone) is datetime.timezone:
                return cls.__repr__(value)
        if cls is datetime.timezone:
            return cls.__repr__(value)
        standard = self._standard_library(value, cls, name, depth)
        if standard is not None:
            return standard
        return self._nested(value, depth, _Writer._object)

    def _standard_library(self, value, cls, name, depth):
        module = _module_of(cls)
        if module == "fractions" and name == "Fraction":
            return f"Fraction({value._numerator!r}, {value._denominator!r})"
        if name in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath") and module in (
            "pathlib",
            "pathlib._local",
        ):
            return f"{name}({str(value)!r})"
        if module == "uuid" and name == "UUID":
            return f"UUID({str(value)!r})"
        if module == "re" and name == "Pattern":
            return f"re.compile({self.write(value.pattern, depth)})"
        if module == "numpy" and name == "ndarray" and value.dtype.kind in "biufc":
            if value.size <= 100:
                return f"array({self.write(value.tolist(), depth)})"
            return f"<ndarray shape={value.shape!r} dtype={value.dtype.name}>"
        return None

    def _object(self, value, depth):
        cls = type(value)
        name = _name_of(cls)
        parts = []
        if issubclass(cls, BaseException):
            parts.append(f"args={self.write(_exception_args(value), depth)}")
        for base in _BUILTIN_BASES:
            if issubclass(cls, base):
                parts.append(self._as_base(value, base, depth))
                break
        fields = _attributes(value) or ()
        # An enum member says everything with its name and value.
        enum = [(k, v) for k, v in fields if k in ("_name_", "_value_")]
        if len(enum) == 2:
            by_name = dict(enum)
            member, inner = by_name["_name_"], by_name["_value_"]
            return f"<{name}.{member}: {self.write(inner, depth)}>"
        parts.extend(f"{key}={self.write(held, depth)}" for key, held in fields[:MAX_ITEMS])
        if len(fields) > MAX_ITEMS:
            parts.append(f"{ELLIPSIS}+{len(fields) - MAX_ITEMS}")
        return self._spend("<{}>".format(" ".join([name, *parts])))

    def _as_base(self, value, base, depth):
        """A subclass of a builtin, written with the builtin's own methods."""
        if base in (int, float, complex):
            return base.__repr__(value)
        if base in (str, bytes, bytearray):
            return self._string(value, base)
        if base is dict:
            return "{{{}}}".format(", ".join(self._pairs(value, dict, depth)))
        if base in (set, frozenset):
            return "{{{}}}".format(", ".join(self._set_items(value, base, depth)))
        texts = self._sequence(value, base, depth)
        names = _type_namespace(type(value)).get("_fields")
        if base is tuple and type(names) is tuple and len(names) == len(texts):
            return ", ".join(f"{field}={text}" for field, text in zip(names, texts))
        return ("[{}]" if base is list else "({})").format(", ".join(texts))


def _reversed(value, base):
    if base is list:
        return list.__reversed__(value)
    length = base.__len__(value)
    return (base.__getitem__(value, index) for index in range(length - 1, -1, -1))


_CONTAINERS = {
    list: _Writer._list,
    tuple: _Writer._tuple,
    dict: _Writer._dict,
    set: _Writer._set,
    frozenset: _Writer._frozenset,
    collections.deque: _Writer._deque,
    collections.OrderedDict: _Writer._named_dict,
    collections.defaultdict: _Writer._named_dict,
    collections.Counter: _Writer._named_dict,
}
