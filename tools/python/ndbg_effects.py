"""What an edit of a function changes: parts of a statement, or one that comes or goes.

Two versions of a function are compared as syntax. Where they differ in one statement, the smallest
expressions that differ are found, so that what they give can be compared at the visits of a run.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast

HEADERS = {
    ast.If: ("test",),
    ast.While: ("test",),
    ast.For: ("iter",),
    ast.Return: ("value",),
    ast.Assign: ("value",),
    ast.AugAssign: ("value",),
    ast.AnnAssign: ("value",),
    ast.Expr: ("value",),
    ast.Raise: ("exc",),
    ast.Assert: ("test",),
}
CONDITIONS = (ast.If, ast.While, ast.Assert)
BODIES = ("body", "orelse", "finalbody")
# Their names are their own: nothing in them can be looked at from outside.
CLOSED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Unclear(Exception):
    """The versions differ in a way that is not told apart here."""


class Effect:
    """One difference: `kind` is `change`, `insert` or `delete`.

    `statement` is where it is seen: the statement that changes or goes, or the one before which
    `new` comes. `pairs` are the smallest expressions that differ, old and new.
    """

    __slots__ = ("kind", "statement", "new", "pairs", "function")

    def __init__(self, kind, statement, new, pairs, function):
        self.kind = kind
        self.statement = statement
        self.new = new
        self.pairs = pairs
        self.function = function


def parse(text, first_line):
    """The definition that a text holds, with the lines that it has in its file; Unclear if none."""
    indented = text[:1] in (" ", "\t")
    try:
        tree = ast.parse(f"if 1:\n{text}" if indented else text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unclear("syntax") from None
    body = tree.body[0].body if indented and tree.body else tree.body
    if len(body) != 1 or not isinstance(body[0], FUNCTIONS):
        raise Unclear("no definition")
    ast.increment_lineno(body[0], first_line - (2 if indented else 1))
    return body[0]


def difference(old, new):
    """The one effect of an edit; None where there is no difference; Unclear."""
    if text_of(old.args) != text_of(new.args) or old.name != new.name:
        raise Unclear("signature")
    if _texts(old.decorator_list) != _texts(new.decorator_list):
        raise Unclear("decorators")
    found = []
    _bodies(old.body, new.body, old, found)
    if len(found) > 1:
        raise Unclear("several statements")
    return found[0] if found else None


def text_of(node):
    """What a node says, wherever it stands; kept with the node."""
    if not isinstance(node, ast.AST):
        return repr(node)
    known = getattr(node, "ndbg_text", None)
    if known is None:
        known = node.ndbg_text = ast.dump(node)
    return known


def _texts(nodes):
    return [text_of(node) for node in nodes]


def _bodies(old, new, function, found):
    """Compares two blocks."""
    start = 0
    most = min(len(old), len(new))
    while start < most and text_of(old[start]) == text_of(new[start]):
        start += 1
    end = 0
    while end < most - start and text_of(old[-1 - end]) == text_of(new[-1 - end]):
        end += 1
    one, other = old[start : len(old) - end], new[start : len(new) - end]
    if not one and not other:
        return
    if not one and len(other) == 1:
        if start == len(old):
            raise Unclear("at the end of a block")
        found.append(Effect("insert", old[start], other[0], [], function))
    elif len(one) == 1 and not other:
        found.append(Effect("delete", one[0], None, [], function))
    elif len(one) == len(other):
        for a, b in zip(one, other):
            if text_of(a) != text_of(b):
                _statements(a, b, function, found)
    else:
        raise Unclear("several statements")


def _statements(old, new, function, found):
    """Compares two statements that differ."""
    kind = type(old)
    if kind is not type(new):
        raise Unclear("another kind of statement")
    if kind in FUNCTIONS:
        inner = difference(old, new)
        if inner is not None:
            found.append(inner)
        return
    headers = HEADERS.get(kind, ())
    pairs = []
    for name, value in ast.iter_fields(old):
        other = getattr(new, name)
        if name in headers:
            if (value is None) != (other is None):
                raise Unclear("a value comes or goes")
            if value is not None:
                _expressions(value, other, pairs)
        elif name in BODIES and isinstance(value, list):
            _bodies(value, other, function, found)
        elif name == "op" and kind is ast.AugAssign:
            continue
        elif isinstance(value, list):
            if _texts(value) != _texts(other):
                raise Unclear(name)
        elif text_of(value) != text_of(other):
            raise Unclear(name)
    if pairs or (kind is ast.AugAssign and text_of(old.op) != text_of(new.op)):
        found.append(Effect("change", old, new, pairs, function))


def _expressions(old, new, pairs):
    """Adds the smallest expressions that differ."""
    if text_of(old) == text_of(new):
        return
    if type(old) is not type(new) or isinstance(old, CLOSED):
        pairs.append((old, new))
        return
    inner = []
    for name, value in ast.iter_fields(old):
        other = getattr(new, name)
        if not _inner(value, other, inner, name == "func"):
            pairs.append((old, new))
            return
    pairs.extend(inner)


def _inner(value, other, pairs, called):
    """Compares a field; False where the difference is the node's own."""
    if isinstance(value, list):
        alike = isinstance(other, list) and len(value) == len(other)
        return alike and all(_inner(a, b, pairs, False) for a, b in zip(value, other))
    if isinstance(value, ast.Starred):
        return text_of(value) == text_of(other)
    if isinstance(value, ast.expr) and isinstance(other, ast.expr):
        if called and text_of(value) != text_of(other):
            # Of another method nothing can be said before it is called; where the object is another
            # one, it is what differs.
            same = type(value) is type(other) is ast.Attribute and value.attr == other.attr
            if not same:
                return False
            value, other = value.value, other.value
        _expressions(value, other, pairs)
        return True
    if isinstance(value, ast.keyword) and isinstance(other, ast.keyword):
        if value.arg != other.arg:
            return False
        _expressions(value.value, other.value, pairs)
        return True
    if type(value).__name__ in ("Index", "Slice") and type(value) is type(other):
        # Python 3.8 puts a node of its own around an index.
        fields = [name for name, _ in ast.iter_fields(value)]
        return all(_inner(getattr(value, n), getattr(other, n), pairs, False) for n in fields)
    return text_of(value) == text_of(other)
