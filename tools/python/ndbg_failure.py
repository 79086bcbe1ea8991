"""What a failure was: exception, frames, and both sides of the comparison that failed.

PYTEST_DONT_REWRITE: this is no test code.
"""

import os

import ndbg_safe_repr
from ndbg_records import clip

# A RecursionError has a thousand frames that say the same.
MAX_FRAMES = 120
MAX_MESSAGE = 2000
MAX_CAUSES = 3

# The comparing assertions of unittest: method -> (operator, local of the left and right side).
_UNITTEST_COMPARISONS = {
    "assertEqual": ("==", "first", "second"),
    "assertNotEqual": ("!=", "first", "second"),
    "assertAlmostEqual": ("≈", "first", "second"),
    "assertNotAlmostEqual": ("!≈", "first", "second"),
    "assertGreater": (">", "a", "b"),
    "assertGreaterEqual": (">=", "a", "b"),
    "assertLess": ("<", "a", "b"),
    "assertLessEqual": ("<=", "a", "b"),
    "assertIn": ("in", "member", "container"),
    "assertNotIn": ("not in", "member", "container"),
    "assertIs": ("is", "expr1", "expr2"),
    "assertIsNot": ("is not", "expr1", "expr2"),
    "assertListEqual": ("==", "list1", "list2"),
    "assertTupleEqual": ("==", "tuple1", "tuple2"),
    "assertDictEqual": ("==", "d1", "d2"),
    "assertSetEqual": ("==", "set1", "set2"),
    "assertSequenceEqual": ("==", "seq1", "seq2"),
    "assertMultiLineEqual": ("==", "first", "second"),
    "assertCountEqual": ("== in any order", "first", "second"),
}


def comparison(op, left, right, limit):
    """The `assertion` field for two live objects."""
    left_text, left_lossy = ndbg_safe_repr.safe_repr(left, limit)
    right_text, right_lossy = ndbg_safe_repr.safe_repr(right, limit)
    return {
        "op": op,
        "left": left_text,
        "right": right_text,
        "left_type": ndbg_safe_repr.type_name(left),
        "right_type": ndbg_safe_repr.type_name(right),
        "lossy": left_lossy or right_lossy,
    }


class FailureReader:
    """Turns exceptions into plain data."""

    def __init__(self, settings, roots):
        self._repr_limit = settings.repr_limit
        self._roots = roots
        # Leading frames of the test machinery say nothing about the failure.
        import unittest

        import _pytest
        import pluggy

        self._machinery = tuple(
            os.path.dirname(os.path.abspath(module.__file__)) + os.sep
            for module in (_pytest, pluggy, unittest)
        )
        self._unittest = self._machinery[2]
        self._own = os.path.dirname(os.path.abspath(__file__)) + os.sep

    def read(self, error, traceback, compared=None):
        """Fields exc, frames and assertion for an exception.

        `compared` is what pytest said last about a failing comparison: (where, assertion).
        """
        doctest = self._doctest(error)
        if doctest is not None:
            return doctest
        steps = list(_steps(traceback))
        detail = {
            "exc": exception(error),
            "frames": self._frames(steps),
            "assertion": self._assertion(error, steps, compared),
        }
        causes = self._causes(error)
        if causes:
            detail["causes"] = causes
        return detail

    def _frames(self, steps):
        first = 0
        while first < len(steps) and self._is_machinery(steps[first][0].f_code.co_filename):
            first += 1
        # Nothing but machinery (a missing fixture): better than no frame at all.
        kept = steps[first:] or steps[-1:]
        if len(kept) > MAX_FRAMES:
            kept = kept[: MAX_FRAMES // 2] + kept[-MAX_FRAMES // 2 :]
        return [
            {
                "file": self._roots.name(frame.f_code.co_filename),
                "line": line,
                "func": frame.f_code.co_name,
            }
            for frame, line in kept
        ]

    def _is_machinery(self, name):
        path = os.path.abspath(name)
        return path.startswith((*self._machinery, self._own))

    def _causes(self, error):
        found = []
        seen = {id(error)}
        while len(found) < MAX_CAUSES:
            cause = error.__cause__
            if cause is None and not error.__suppress_context__:
                cause = error.__context__
            if cause is None or id(cause) in seen:
                break
            seen.add(id(cause))
            steps = list(_steps(cause.__traceback__))
            found.append({"exc": exception(cause), "frames": self._frames(steps)})
            error = cause
        return found

    def _assertion(self, error, steps, compared):
        if not isinstance(error, AssertionError) or not steps:
            return None
        if compared is not None:
            where, assertion = compared
            code = steps[-1][0].f_code
            # A comparison that failed elsewhere, inside pytest.raises say, is not this failure.
            if where == (code.co_filename, code.co_firstlineno):
                return assertion
        # From the innermost frame outwards: assertEqual calls assertListEqual calls fail.
        found = None
        for frame, _ in reversed(steps):
            code = frame.f_code
            if not os.path.abspath(code.co_filename).startswith(self._unittest):
                break
            names = _UNITTEST_COMPARISONS.get(code.co_name)
            if names is not None and names[1] in frame.f_locals and names[2] in frame.f_locals:
                values = frame.f_locals
                found = (names[0], values[names[1]], values[names[2]])
        return comparison(*found, limit=self._repr_limit) if found else None

    def _doctest(self, error):
        """Doctest failures carry the example instead of raising inside it."""
        import sys

        doctest = sys.modules.get("doctest")
        if doctest is None:
            return None
        failures = getattr(error, "failures", None)
        if type(error).__name__ == "MultipleDoctestFailures" and failures:
            error = failures[0]
        if not isinstance(error, (doctest.DocTestFailure, doctest.UnexpectedException)):
            return None
        test, example = error.test, error.example
        line = (test.lineno or 0) + example.lineno + 1
        where = {"file": self._roots.name(test.filename or ""), "line": line, "func": test.name}
        if isinstance(error, doctest.UnexpectedException):
            _, inner, traceback = error.exc_info
            frames = self._frames(list(_steps(traceback)))
            return {
                "exc": exception(inner),
                "frames": [where] + [f for f in frames if not f["file"].startswith("<doctest")],
                "assertion": None,
            }
        want, got = (
            clip(text.rstrip("\n"), self._repr_limit) for text in (example.want, error.got)
        )
        return {
            "exc": {"type": "doctest.DocTestFailure", "message": clip(example.source, 300)},
            "frames": [where],
            # Text as printed, which for a plain expression is the repr of its value.
            "assertion": {
                "op": "==",
                "left": got,
                "right": want,
                "left_type": "str",
                "right_type": "str",
                "lossy": len(error.got) > self._repr_limit or len(example.want) > self._repr_limit,
                "doctest": True,
            },
        }


def exception(error):
    """Type and message; the message comes from the user's `__str__`, as in pytest's own report."""
    try:
        message = str(error)
    except BaseException as trouble:
        message = f"<message unreadable: {type(trouble).__name__}>"
    return {
        "type": ndbg_safe_repr.qualified_type_name(type(error)),
        "message": clip(message, MAX_MESSAGE),
    }


def _steps(traceback):
    """Pairs of frame and line, outermost first. A traceback can be a loop (bpo-25782)."""
    seen = set()
    while traceback is not None and id(traceback) not in seen:
        seen.add(id(traceback))
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
