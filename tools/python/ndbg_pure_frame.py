"""What a frame holds, read without running any of the program's code: names, attributes, terms.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import re
import types

import ndbg_pure as pure
from ndbg_pure import Opaque, Refused

MAX_ATTRIBUTES = 12
# Turns of a comprehension.
MAX_ITEMS = 100
_MISSING = object()
_mro = type.__dict__["__mro__"].__get__
_namespace = type.__dict__["__dict__"].__get__
_OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}


def attributes(held):
    """Attributes of an object that are there without a call: (name, value)."""
    cls = type(held)
    found = []
    if cls in pure.SCALARS:
        return [(name, getattr(held, name)) for name in pure.ATTRIBUTES.get(cls, ())]
    if _is_code(held):
        return found
    for name in _names(held, cls):
        if not name.startswith("__"):
            value = attribute(held, name)
            if value is not _MISSING:
                found.append((name, value))
    return found[:MAX_ATTRIBUTES]


def _names(held, cls):
    names = []
    for base in _mro(cls):
        space = _namespace(base)
        fields = space.get("_fields")
        if type(fields) is tuple and issubclass(cls, tuple):
            names.extend(one for one in fields if type(one) is str)
        names.extend(
            one for one, value in space.items() if type(value) is types.MemberDescriptorType
        )
    own = _own(held, cls)
    if own is not None:
        names.extend(one for one in own if type(one) is str)
    return list(dict.fromkeys(names))


def _is_code(value):
    # Not `isinstance`, which asks the object's own `__class__`.
    return issubclass(type(value), (type, types.ModuleType, types.FunctionType, types.MethodType))


def _watched(cls):
    """Whether a class that somebody wrote decides how attributes are read."""
    found = (_namespace(base).get("__getattribute__") for base in _mro(cls))
    return any(one is not None and type(one) is not types.WrapperDescriptorType for one in found)


def _own(held, cls):
    """The instance's dictionary, unless the class watches reads."""
    if _watched(cls):
        return None
    try:
        own = object.__getattribute__(held, "__dict__")
    except Exception:
        return None
    return own if type(own) is dict else None


def attribute(held, name):
    """One attribute, or `_MISSING` where reading it could run code."""
    cls = type(held)
    if name in pure.ATTRIBUTES.get(cls, ()):
        return getattr(held, name)
    if type(held) is types.ModuleType:
        return vars(held).get(name, _MISSING)
    if _is_code(held) or _watched(cls):
        return _MISSING
    own = _own(held, cls)
    for base in _mro(cls):
        space = _namespace(base)
        if name not in space:
            continue
        found = space[name]
        if type(found) is types.MemberDescriptorType:
            try:
                return found.__get__(held, cls)
            except Exception:
                return _MISSING
        fields = space.get("_fields")
        if type(fields) is tuple and name in fields and issubclass(cls, tuple):
            return tuple.__getitem__(held, fields.index(name))
        if own is not None and name in own and not _is_data(found):
            break
        return found if type(found) in pure.SCALARS else _MISSING
    if own is not None and name in own:
        return own[name]
    return _MISSING


def _is_data(found):
    spaces = [_namespace(base) for base in _mro(type(found))]
    return any("__set__" in space or "__delete__" in space for space in spaces)


def evaluate(node, frame, depth=0):
    """The frozen value of an expression in a frame; Refused where it would run code."""
    if depth > 12:
        raise Refused("deep")
    return pure.freeze(_evaluate(node, frame, depth))


def _held(value):
    return value.held if type(value) is Opaque else value


def _evaluate(node, frame, depth):
    def inner(one):
        return evaluate(one, frame, depth + 1)

    kind = type(node)
    if kind is ast.Constant:
        return node.value
    if kind is ast.Name:
        for space in (local_names(frame), frame.f_globals):
            if node.id in space:
                return space[node.id]
        raise Refused(node.id)
    if kind is ast.Attribute:
        value = attribute(_held(inner(node.value)), node.attr)
        if value is _MISSING:
            raise Refused(node.attr)
        return value
    if kind is ast.Subscript:
        index = node.slice
        index = getattr(index, "value", index) if type(index).__name__ == "Index" else index
        value = inner(node.value)
        if type(index) is ast.Slice:
            ends = (index.lower, index.upper, index.step)
            return _slice(value, [one and inner(one) for one in ends])
        if type(value) is Opaque and type(value.held) is re.Match:
            return pure._attempt(value.held.__getitem__, inner(index))
        return pure.item(value, inner(index))
    if kind is ast.BinOp:
        return pure.binary(sign_of(node.op), inner(node.left), inner(node.right))
    if kind is ast.UnaryOp:
        sign = {ast.Not: "not", ast.USub: "-"}.get(type(node.op))
        return pure.unary(sign, inner(node.operand))
    if kind is ast.Compare:
        left, found = inner(node.left), True
        for op, one in zip(node.ops, node.comparators):
            right = inner(one)
            found = pure.compare(sign_of(op), left, right)
            if not found:
                break
            left = right
        return found
    if kind is ast.BoolOp:
        value = None
        for one in node.values:
            value = inner(one)
            if pure.truth(value) is isinstance(node.op, ast.Or):
                break
        return value
    if kind is ast.IfExp:
        return inner(node.body if pure.truth(inner(node.test)) else node.orelse)
    if kind in (ast.Tuple, ast.List):
        return (tuple if kind is ast.Tuple else list)([inner(one) for one in node.elts])
    if kind is ast.Dict and None not in node.keys:
        items = [(inner(key), inner(one)) for key, one in zip(node.keys, node.values)]
        return pure._attempt(dict, items)
    if kind in COMPREHENSIONS:
        return _comprehended(node, frame, depth)
    if kind is ast.Call and not node.keywords:
        arguments = [
            # Whoever is called takes them one by one.
            _comprehended(one, frame, depth) if type(one) is ast.GeneratorExp else inner(one)
            for one in node.args
        ]
        if type(node.func) is ast.Name:
            if node.func.id in local_names(frame) or node.func.id in frame.f_globals:
                raise Refused(node.func.id)
            return pure.function(node.func.id, arguments)
        if type(node.func) is ast.Attribute:
            return pure.method(inner(node.func.value), node.func.attr, arguments)
    raise Refused(kind.__name__)


COMPREHENSIONS = {ast.ListComp: list, ast.SetComp: set}


class _Inside:
    """A frame with names of a comprehension in it."""

    def __init__(self, frame, names):
        self.f_locals = {**local_names(frame), **names}
        self.f_globals = frame.f_globals
        self.f_code = frame.f_code
        self.f_back = None


def _comprehended(node, frame, depth):
    """The values of a comprehension with one loop."""
    loop = node.generators[0]
    if len(node.generators) > 1 or loop.is_async or type(loop.target) is not ast.Name:
        raise Refused(type(node).__name__)
    series = evaluate(loop.iter, frame, depth + 1)
    if type(series) not in (*pure.SEQUENCES, *pure.SETS, dict, str) or len(series) > MAX_ITEMS:
        raise Refused(type(node).__name__)
    found = []
    for one in series:
        inside = _Inside(frame, {loop.target.id: _held(one)})
        if all(pure.truth(evaluate(test, inside, depth + 1)) for test in loop.ifs):
            found.append(evaluate(node.elt, inside, depth + 1))
    return pure._attempt(COMPREHENSIONS.get(type(node), list), found)


def sign_of(node):
    """The text of an operator."""
    return _OPERATORS.get(type(node), "")


def _slice(value, parts):
    if type(value) not in (str, bytes, list, tuple):
        raise Refused("slice")
    if any(type(one) not in (int, type(None)) for one in parts):
        raise Refused("slice")
    return pure._attempt(lambda: value[slice(*parts)])


class Terms:
    """Reads the same expressions at every visit."""

    def __init__(self, texts):
        self._nodes = []
        for text in texts:
            try:
                self._nodes.append((text, ast.parse(text, mode="eval").body))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue

    def read(self, frame):
        found = {}
        for text, node in self._nodes:
            try:
                found[text] = evaluate(node, frame)
            except Refused:
                continue
            except RecursionError:
                continue
        return found


_INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def local_names(frame):
    """Local variables; a comprehension may have a frame of its own, inside that of its function."""
    found = frame.f_locals
    if frame.f_code.co_name in _INNER and frame.f_back is not None:
        around = frame.f_back
        if around.f_code.co_filename == frame.f_code.co_filename:
            return {**local_names(around), **found}
    return found


def names(frame):
    """Local variables and their attributes, two deep: text -> frozen value."""
    found = {}
    for name, value in list(local_names(frame).items()):
        if not name.isidentifier() or name.startswith("__"):
            continue
        if not _is_code(value):
            _note(found, name, value, 2)
    return found


def _note(found, text, value, depth):
    try:
        found[text] = pure.freeze(value)
    except Refused:
        found[text] = Opaque(value)
    if depth > 0:
        for name, inner in attributes(value):
            if not _is_code(inner):
                _note(found, f"{text}.{name}", inner, depth - 1 if len(found) < 120 else 0)


def constants(frame):
    """Plain values that the module names: text -> frozen value."""
    found = {}
    for name, value in list(frame.f_globals.items()):
        if name.startswith("_") and name not in frame.f_code.co_names:
            continue
        if len(found) >= 30 or name in frame.f_locals:
            continue
        if type(value) in pure.SCALARS or type(value) in pure.SIZED:
            try:
                found[name] = pure.freeze(value)
            except Refused:
                continue
    return found
