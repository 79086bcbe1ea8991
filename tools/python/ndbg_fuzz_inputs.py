"""Inputs of a kind, as source text, with the literals of the function mixed in."""

import ast

WORDS = [
    "apple",
    "berry",
    "hello",
    "world",
    "a",
    "b",
    "abc",
    "xyz",
    "foo",
    "Bar",
    "test",
    "42",
    "7",
    "x-y",
    "a,b",
    "key",
    "value",
    "one",
    "two",
]
LETTERS = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 .,-_:/()[]"


def literals_in(function):
    """{type name: values} of the constants in a body, in order, docstring left out."""
    body = function.body
    if (
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(getattr(body[0], "value", None), ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        body = body[1:]
    found = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
                values = found.setdefault(type(node.value).__name__, [])
                small = not isinstance(node.value, str) or len(node.value) <= 20
                if node.value not in values and small:
                    values.append(node.value)
    return found


def _int(chance, literals):
    known = literals.get("int")
    if known and chance.random() < 0.35:
        return chance.choice(known) + chance.choice((0, 0, 1, -1))
    if chance.random() < 0.7:
        return chance.randint(0, 12)
    return chance.choice((chance.randint(-20, 100), chance.randint(0, 2000)))


def _str(chance, literals):
    known = literals.get("str")
    if known and chance.random() < 0.4:
        text = chance.choice(known)
        if chance.random() < 0.5:
            text = chance.choice(WORDS) + text + chance.choice(("", chance.choice(WORDS)))
        return text
    if chance.random() < 0.5:
        return chance.choice((" ", "", ",", "-")).join(
            chance.choice(WORDS) for _ in range(chance.randint(1, 3))
        )
    return "".join(chance.choice(LETTERS) for _ in range(chance.randint(0, 8)))


def _value(kind, chance, literals):
    if kind == "int":
        return _int(chance, literals)
    if kind == "float":
        return chance.choice((chance.randint(-8, 40) / 4, float(_int(chance, literals))))
    if kind == "bool":
        return chance.random() < 0.5
    if kind == "str":
        return _str(chance, literals)
    if kind == "char":
        return (_str(chance, literals) or "a")[0]
    if kind == "digits":
        return str(abs(_int(chance, literals)))
    if kind == "bytes":
        return _str(chance, literals).encode("utf-8")
    if kind == "None":
        return None
    head, _, inner = kind.partition("[")
    inner = inner[:-1]
    size = chance.choice((0, 1, 2, 3, 3, 4, 5))
    if head == "list":
        inner = "tuple[str,int]" if inner == "tuple" else inner
        if inner.startswith(("list", "tuple")):
            size = min(size, 3)
        return [_value(inner, chance, literals) for _ in range(size)]
    if head == "set":
        return {_value(inner, chance, literals) for _ in range(size)}
    if head == "tuple":
        return tuple(_value(part, chance, literals) for part in inner.split(","))
    key, _, value = inner.partition(",")
    value = "list[int]" if value == "list" else value
    return {
        _value(key, chance, literals): _value(value, chance, literals) for _ in range(min(size, 4))
    }


def _text(value):
    """A literal of the value that is the same in every process: sets are sorted."""
    if isinstance(value, set):
        return "{" + ", ".join(_text(one) for one in sorted(value)) + "}" if value else "set()"
    if isinstance(value, list):
        return "[" + ", ".join(_text(one) for one in value) + "]"
    return repr(value)


def draw(kind, chance, literals):
    """Source text of an input of the kind."""
    return _text(_value(kind, chance, literals))
