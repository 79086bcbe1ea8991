"""Foresees what edits do: evaluates what they change at the visits of a run of the unchanged code.

An edit whose expressions give the same values at all visits changes nothing that the run does: its
tests fail as before. Edits whose statements give the same values at all visits do the same as far
as the first visit that differs, and most likely beyond. Nothing of the program is run for it
(`ndbg_pure`); where that does not do, nothing is said.

PYTEST_DONT_REWRITE: this is no test code.
"""

import ast
import os
import sys
import threading
import time

import ndbg_effects as effects
import ndbg_pure as pure
import ndbg_pure_frame as frames
from ndbg_pure import Refused

# Visits of a statement in one test that are looked at, and how many of them tell edits apart.
MAX_VISITS = 200
TELLING = 24


class _Edit:
    """One edit, and what is known of it so far."""

    __slots__ = ("number", "path", "effect", "seen", "differs", "unclear", "meets")

    def __init__(self, number, path):
        self.number = number
        self.path = path
        self.effect = None
        self.seen = []
        self.differs = False
        self.unclear = False
        self.meets = set()


class Foresight:
    """Looks on while tests run."""

    def __init__(self, message):
        if not isinstance(message.get("functions"), list):
            raise ValueError("foresight needs functions")
        self._message = message
        self._seconds = min(5.0, float(message.get("seconds") or 0.5))
        self._edits = {}
        self._needed = message.get("needed") or []
        # (file, line of the statement) -> edits that are seen there; and the functions they are in.
        self._statements = {}
        self._functions = {}
        self._lines = {}
        self._codes = {}
        self._entered = set()
        self._spent = self._read_in = 0.0
        self._test = None
        self._counts = {}

    def _read(self, message):
        path = os.path.realpath(message["file"])
        first, text = int(message["line"]), message["text"]
        old = None
        for number, changes in message["edits"]:
            edit = self._edits[number] = _Edit(number, path)
            edit.unclear = True
            try:
                old = old or effects.parse(text, first)
                effect = effects.difference(old, effects.parse(_edited(text, changes), first))
            except (effects.Unclear, RecursionError):
                continue
            edit.unclear = False
            if effect is None:
                continue
            edit.effect = effect
            statement = effect.statement
            self._statements.setdefault((path, statement.lineno), []).append(edit)
            for line in range(statement.lineno, _header_end(statement) + 1):
                self._lines[path, line] = statement.lineno
            function = effect.function
            start = min([one.lineno for one in [function, *function.decorator_list]])
            self._functions[path, function.name, start, function.lineno] = True

    def install(self):
        # Here and not before: this is the child, and the server has others to wait for.
        began = time.thread_time()
        for function in self._message["functions"]:
            self._read(function)
        self._read_in = time.thread_time() - began
        threading.settrace(self._called)
        sys.settrace(self._called)

    def begin(self, nodeid):
        """A test starts."""
        self._test = nodeid
        self._counts = {}
        # A test may have left a trace function of its own.
        sys.settrace(self._called)

    # While it runs

    def _called(self, frame, event, _):
        code = frame.f_code
        is_wanted = self._codes.get(code)
        if is_wanted is None:
            is_wanted = self._codes[code] = self._wants(code)
        if not is_wanted:
            return None
        self._entered.add((os.path.realpath(code.co_filename), code.co_name))
        last = [None]
        path = os.path.realpath(code.co_filename)

        def line(frame, event, _):
            if event == "line":
                statement = self._lines.get((path, frame.f_lineno))
                if statement is not None and (statement != last[0] or frame.f_lineno == statement):
                    self._visit(path, statement, frame)
                last[0] = statement
            return line

        return line

    def _wants(self, code):
        path = os.path.realpath(code.co_filename)
        return any(
            path == file and code.co_name == name and start <= code.co_firstlineno <= first
            for file, name, start, first in self._functions
        )

    def _visit(self, path, line, frame):
        number = self._counts[path, line] = self._counts.get((path, line), -1) + 1
        edits = self._statements[path, line]
        if self._test is None or self._spent > self._seconds or number >= MAX_VISITS:
            for edit in edits:
                # What was not looked at may differ.
                edit.unclear = edit.unclear or not edit.differs
            return
        began = time.thread_time()
        look = _Look(frame)
        for edit in edits:
            if not edit.unclear and not (edit.differs and number >= TELLING):
                self._note(edit, look, (self._test, number))
        self._meet(edits, look, line, path, number)
        self._spent += time.thread_time() - began

    def _note(self, edit, look, visit):
        try:
            done = look.effect(edit.effect)
        except (Refused, RecursionError):
            edit.unclear = True
            return
        if done is not None:
            edit.differs = True
            edit.seen.append((visit, done))

    def _meet(self, edits, look, line, path, number):
        """Which edits give what was needed here."""
        for at, needed in enumerate(self._needed):
            if needed["line"] != line or os.path.realpath(needed["file"]) != path:
                continue
            if needed["test"] != self._test or needed.get("visit") not in (None, number):
                continue
            try:
                value = pure.freeze(ast.literal_eval(needed["value"]))
            except (ValueError, SyntaxError, RecursionError, Refused):
                continue
            for edit in edits:
                try:
                    if look.gives(edit.effect, needed.get("name"), value):
                        edit.meets.add(at)
                except (Refused, RecursionError):
                    continue

    # At the end

    def conclude(self):
        """Number, verdict, group, needed values met: of each edit."""
        sys.settrace(None)
        threading.settrace(None)
        groups = {}
        answer = []
        for edit in self._edits.values():
            verdict, group = "unclear", None
            if not edit.unclear and not edit.differs:
                # A function that was never entered may have run before, or in another process.
                effect = edit.effect
                if effect is None or (edit.path, effect.function.name) in self._entered:
                    verdict = "none"
            elif not edit.unclear:
                verdict = "differs"
                group = groups.setdefault(tuple(edit.seen), len(groups))
            answer.append([edit.number, verdict, group, sorted(edit.meets)])
        spent = {"reading": round(self._read_in, 4), "looking": round(self._spent, 4)}
        return {"edits": answer, "seconds": spent}


class _Look:
    """What stands in a frame at one visit; every expression is evaluated once."""

    def __init__(self, frame):
        self._frame = frame
        self._known = {}

    def value(self, node):
        text = effects.text_of(node)
        if text not in self._known:
            try:
                self._known[text] = frames.evaluate(node, self._frame)
            except Refused as refused:
                self._known[text] = refused
        known = self._known[text]
        if type(known) is Refused:
            raise known
        return known

    def truth(self, node):
        return pure.truth(self.value(node))

    def effect(self, effect):
        """What an edit does here, hashable; None where it does nothing."""
        if effect.kind == "change":
            return self._change(effect)
        if effect.kind == "delete":
            return self._bound(effect.statement, "delete", True)
        new = effect.new
        if type(new) is ast.If and len(new.body) == 1 and not new.orelse:
            if not self.truth(new.test):
                return None
            return ("guard", effect.statement.lineno, self._words(new.body[0]))
        return self._bound(new, "insert", False, effect.statement.lineno)

    def _change(self, effect):
        old, new = effect.statement, effect.new
        parts = self._parts(effect)
        if parts is not None and not parts:
            return None
        try:
            one, other = self._whole(old), self._whole(new)
        except Refused:
            if parts is None:
                raise
            return ("part", old.lineno, tuple(parts))
        if one == other:
            return None
        return ("whole", old.lineno, other)

    def _parts(self, effect):
        """Parts that give something else; None where one cannot be evaluated."""
        if type(effect.new) is ast.AugAssign and not effect.pairs:
            return None
        parts = []
        for old, new in effect.pairs:
            try:
                one, other = self.value(old), self.value(new)
            except Refused:
                return None
            if not pure.same(one, other):
                parts.append((old.lineno, old.col_offset, pure.key(other)))
        return parts

    def _whole(self, statement):
        if isinstance(statement, effects.CONDITIONS):
            return self.truth(statement.test)
        return pure.key(self._given(statement))

    def _given(self, statement):
        """What a statement binds, returns or asks."""
        kind = type(statement)
        if kind is ast.AugAssign:
            sign = frames.sign_of(statement.op)
            return pure.binary(sign, self._target(statement.target), self.value(statement.value))
        if isinstance(statement, effects.CONDITIONS):
            return self.truth(statement.test)
        if kind in (ast.Return, ast.Assign, ast.AnnAssign) and statement.value is not None:
            return self.value(statement.value)
        if kind is ast.For:
            return self.value(statement.iter)
        raise Refused(kind.__name__)

    def _target(self, target):
        """What the target of an assignment holds."""
        return self.value(ast.parse(_unparsed(target), mode="eval").body)

    def _bound(self, statement, how, is_old, line=None):
        """What it does that a plain assignment comes or goes."""
        kind = type(statement)
        if kind is ast.Assign and len(statement.targets) == 1:
            target = statement.targets[0]
        elif kind is ast.AugAssign:
            target = statement.target
        else:
            raise Refused(kind.__name__)
        value = self._given(statement)
        try:
            before = self._target(target)
        except Refused:
            if type(target) is not ast.Name:
                raise
            # Not bound yet.
            before = _UNBOUND
        if before is not _UNBOUND and pure.same(before, value):
            return None
        what = pure.key(before) if is_old and before is not _UNBOUND else pure.key(value)
        return (how, line or statement.lineno, effects.text_of(target), what)

    def _words(self, statement):
        """What a guarded statement would do."""
        if type(statement) is ast.Return and statement.value is not None:
            try:
                return ("return", pure.key(self.value(statement.value)))
            except Refused:
                pass
        return effects.text_of(statement)

    def gives(self, effect, name, needed):
        """Whether the edited statement binds a needed value to `name`, returns it or asks it."""
        if effect.kind == "insert":
            new = effect.new
            if type(new) is ast.If and len(new.body) == 1 and not new.orelse:
                inner = new.body[0]
                return self.truth(new.test) and pure.same(self._given(inner), needed)
            return False
        if effect.kind == "delete":
            return False
        new = effect.new
        if isinstance(new, effects.CONDITIONS):
            return type(needed) is bool and self.truth(new.test) is needed
        if name is not None:
            targets = new.targets if type(new) is ast.Assign else [getattr(new, "target", None)]
            if not any(type(one) is ast.Name and one.id == name for one in targets):
                return False
        return pure.same(self._given(new), needed)


_UNBOUND = object()


def _edited(text, changes):
    """A text with byte ranges of it replaced, the last ones first."""
    data = text.encode("utf-8")
    for start, end, new in sorted(changes, key=lambda one: (one[0], one[1]), reverse=True):
        data = data[:start] + new.encode("utf-8") + data[end:]
    return data.decode("utf-8", "replace")


def _header_end(statement):
    """The last line of what a statement does before its blocks."""
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        return max(statement.lineno, body[0].lineno - 1)
    return getattr(statement, "end_lineno", None) or statement.lineno


def _unparsed(target):
    """The text of a plain target: names, attributes and subscripts of them."""
    if type(target) is ast.Name:
        return target.id
    if type(target) is ast.Attribute:
        return f"{_unparsed(target.value)}.{target.attr}"
    raise Refused(type(target).__name__)
