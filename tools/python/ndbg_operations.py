"""Performs operations on literals: `python ndbg_operations.py`, one JSON list a line, in and out.

In: `[["v0 + v1", ["1", "2"]], …]`. Out, for each: `{"result": text}`, with `"after": text` where
`v0` is another afterwards, or `{"raises": [class, text]}`, or `{"opaque": why}` for a value that
is no literal, or for what is refused.

Expressions may come from anybody's program, so that they see the builtins and modules that compute
and none that reach out; each has a deadline, and the process a memory limit.

PYTEST_DONT_REWRITE: this is no test code.
"""

import bisect
import builtins
import collections
import copy
import datetime
import functools
import heapq
import itertools
import json
import math
import operator
import re
import signal
import statistics
import string
import sys
import textwrap

import ndbg_process
from ndbg_literal_text import Opaque, text

DEADLINE = 0.5
MEMORY = 1 << 30
LONGEST = 20_000
_REFUSED = {
    "breakpoint", "compile", "delattr", "dir", "eval", "exec", "exit", "getattr", "globals", "help",
    "id", "input", "locals", "memoryview", "open", "print", "quit", "setattr", "vars", "__import__",
    "copyright", "credits", "license",
}  # fmt: skip
_FORM = re.compile(r"[A-Za-z_0-9.,=()\[\]:+\-*/%@&|^~<>! ]{1,400}")
_KEY = re.compile(r"\bkey=(v[0-9]+)")


class Deadline(BaseException):
    """It takes too long; no Exception, so that nothing catches it."""


def _namespace():
    names = {
        name: value
        for name, value in vars(builtins).items()
        if not name.startswith("_") and name not in _REFUSED
    }
    for module in (
        bisect, collections, copy, datetime, functools, heapq, itertools, math, operator, re,
        statistics, string, textwrap,
    ):  # fmt: skip
        names[module.__name__] = module
    names.update(
        dict_keys=lambda keys: dict.fromkeys(keys).keys(),
        dict_values=lambda values: dict(enumerate(values)).values(),
        dict_items=lambda items: dict(items).items(),
        _by=_by,
        __builtins__={},
    )
    return names


def _by(keys):
    """A key function that gives what was computed before: sorting asks once for each, in order."""
    following = iter(keys)
    return lambda _: next(following)


def perform(expression, operands, names):
    """The effect of one operation."""
    if not _FORM.fullmatch(expression) or "__" in expression or "_by" in expression:
        return {"opaque": "refused"}
    scope = dict(names)
    slots = {}
    for number, operand in enumerate(operands):
        slots[f"v{number}"] = eval(operand, dict(names))
    scope.update(slots)
    held = slots.get("v0")
    changeable = type(held) in (list, dict, set, bytearray)
    before = text(held) if changeable else None
    source = _KEY.sub(r"key=_by(\1)", expression)
    if re.match(r"del |v0(\[[^\]]*\])? ?(=|[-+*/|&^%]{1,2}=)( |v)(?!=)", source):
        exec(compile(source, "<operation>", "exec"), scope)
        value = None
        held = scope["v0"]
    else:
        value = eval(compile(source, "<operation>", "eval"), scope)
    effect = {}
    if changeable:
        after = text(held)
        if after != before:
            effect["after"] = after
    effect["result"] = text(value)
    if len(effect["result"]) + len(effect.get("after", "")) > LONGEST:
        raise Opaque("too long")
    return effect


def _ring(_number, _frame):
    raise Deadline


def answer(expression, operands, names):
    """The effect of one operation, whatever happens."""
    try:
        signal.setitimer(signal.ITIMER_REAL, DEADLINE, DEADLINE)
        try:
            return perform(expression, operands, names)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Opaque as why:
        return {"opaque": str(why)}
    except NameError:
        # Not the program's: what is not in the namespace is refused.
        return {"opaque": "refused"}
    except (Deadline, MemoryError, RecursionError) as error:
        return {"opaque": type(error).__name__}
    except Exception as error:
        kind = type(error)
        if getattr(builtins, kind.__name__, None) is not kind:
            return {"opaque": kind.__name__}
        try:
            message = str(error)
            message.encode()
        except Exception:
            return {"opaque": "no text"}
        return {"raises": [kind.__name__, message]}


def main():
    ndbg_process.limit_memory(MEMORY)
    signal.signal(signal.SIGALRM, _ring)
    # Lengths of numbers are limited by the deadline, and their texts by the longest text.
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    names = _namespace()
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        effects = [answer(*operation, names) for operation in json.loads(line.decode())]
        out.write(json.dumps(effects).encode() + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
