"""An expression of the source with one part of it exchanged.

Most repairs leave most of an expression as it is, so that these are few and likely.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import time

import ndbg_pure as pure
from ndbg_grow import ATOM, PRODUCT, SUM
from ndbg_pure import Refused
from ndbg_pure_frame import sign_of

MAX_TERMS = 500
MAX_FOUND = 24


class Exchange:
    """Looks for parts of `own` to exchange; `states` hold values by text, and `same` says whether a
    value is what a state needs."""

    def __init__(self, own, states, same):
        self._own = own
        self._states = states
        self._same = same
        self.tried = 0
        try:
            self._tree = ast.parse(own, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = None

    def find(self, bank, seconds):
        """(cost, text) of what reaches the goal."""
        if self._tree is None or "\n" in self._own or not self._own.isascii():
            return []
        until = time.thread_time() + seconds
        terms = [one for one in bank.all() if one.cost <= 6][:MAX_TERMS]
        found = []
        for part in self._parts(self._tree):
            text = self._text(part)
            for term in terms:
                if time.thread_time() > until or len(found) >= MAX_FOUND:
                    return found
                if term.text != text and self._reaches(part, term):
                    found.append((term.cost + 2, self._written(part, term)))
        return found

    def value(self, state):
        """What the whole gives in a state; Refused."""
        if self._tree is None or not self._own.isascii():
            raise Refused("syntax")
        return self._value(self._tree, state, None, None)

    def _parts(self, tree):
        """Inner parts; the whole is grown elsewhere."""
        for node in ast.walk(tree):
            if node is not tree and isinstance(node, ast.expr):
                if type(getattr(node, "ctx", None)) in (ast.Store, ast.Del):
                    continue
                yield node

    def _text(self, node):
        return self._own[node.col_offset : node.end_col_offset]

    def _written(self, part, term):
        before, after = self._own[: part.col_offset], self._own[part.end_col_offset :]
        inside = before.rstrip()[-1:] in ("(", "[", ",") and after[:1] in (")", "]", ",")
        bare = term.strength >= ATOM or inside or self._is_left(part, term)
        return f"{before}{term.text if bare else f'({term.text})'}{after}"

    def _is_left(self, part, term):
        """Whether the term stands on the left of an operator that binds no tighter."""
        for node in ast.walk(self._tree):
            if type(node) is ast.BinOp and node.left is part:
                is_sum = type(node.op) in (ast.Add, ast.Sub)
                return term.strength >= (SUM if is_sum else PRODUCT)
        return False

    def _reaches(self, part, term):
        self.tried += 1
        for at, state in enumerate(self._states):
            try:
                value = self._value(self._tree, state, part, term.values[at])
                if not self._same(at, value):
                    return False
            except Refused:
                return False
        return True

    def _value(self, node, state, part, given):
        if node is part:
            return given
        text = self._text(node)
        # What was read at the visit, unless the part lies within.
        if text in state and not _holds(node, part):
            return state[text]
        kind = type(node)

        def inner(one):
            return self._value(one, state, part, given)

        if kind is ast.Constant:
            return node.value
        if kind is ast.BinOp:
            return pure.binary(sign_of(node.op), inner(node.left), inner(node.right))
        if kind is ast.UnaryOp:
            sign = "not" if type(node.op) is ast.Not else "-"
            return pure.unary(sign, inner(node.operand))
        if kind is ast.Compare and len(node.ops) == 1:
            return pure.compare(sign_of(node.ops[0]), inner(node.left), inner(node.comparators[0]))
        if kind is ast.BoolOp:
            value = None
            for one in node.values:
                value = inner(one)
                if pure.truth(value) is (type(node.op) is ast.Or):
                    break
            return value
        if kind is ast.IfExp:
            return inner(node.body if pure.truth(inner(node.test)) else node.orelse)
        if kind is ast.Subscript and type(node.slice) is not ast.Slice:
            index = node.slice
            # Python 3.8 puts a node of its own around it.
            index = index.value if type(index).__name__ == "Index" else index
            return pure.item(inner(node.value), inner(index))
        if kind is ast.Call and not node.keywords and type(node.func) is ast.Name:
            return pure.function(node.func.id, [inner(one) for one in node.args])
        if kind is ast.Call and not node.keywords and type(node.func) is ast.Attribute:
            arguments = [inner(one) for one in node.args]
            return pure.method(inner(node.func.value), node.func.attr, arguments)
        raise Refused(kind.__name__)


def _holds(node, part):
    return any(one is part for one in ast.walk(node))
