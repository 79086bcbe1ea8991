"""Executes calls of one function, one after the other: what `ndbg_execute.py` forks.

PYTEST_DONT_REWRITE: this is no test code.
"""

import gc
import importlib
import inspect
import itertools
import json
import os
import re
import sys
import time

import ndbg_execute_clock as clock
import ndbg_execute_describe
import ndbg_execute_goal
import ndbg_execute_landlock
import ndbg_literal_text
import ndbg_process
import ndbg_safe_repr
from ndbg_execute_chance import Chance
from ndbg_execute_clock import TooLong
from ndbg_execute_compare import differ, same
from ndbg_execute_guard import Guard
from ndbg_execute_measure import Measure
from ndbg_execute_problem import Problem
from ndbg_execute_side import Side

LONGEST = 4_000
MOST_ITEMS = 10_000
FLUSH = 0.02
SHORTEST = 0.005
# Descriptors that calls may leave open before they are in the way of later ones.
MOST_LEFT = 64
# Calls after which it is looked for these, unless one raises.
EACH_LOOK = 8
# Frames that measured conditions add to the deepest one.
MEASURING = 4
PATIENCE = 20
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Worker:
    """Loads the function, or raises `Problem`. `null` is a descriptor that leads nowhere."""

    def __init__(self, settings, null):
        self.each = settings["each"]
        self.limit = settings["each"]
        self.slowest, self.ended = 0.0, 0
        # Texts of the arguments after a call, where versions are compared.
        self.left = self.other = None
        self.sort = None
        self.goal = settings["goal"]
        self.chance = Chance(settings.get("chance", 0))
        self.guard = Guard(settings["folder"])
        self.guard.held = ndbg_execute_landlock.confine(settings["folder"])
        self.guard.install()
        self.measure = Measure()
        patience = settings.get("patience", PATIENCE)
        clock.install()
        clock.start_real(patience)
        try:
            self._load(settings)
        except TooLong:
            raise Problem("import", f"the import takes longer than {patience:g} s") from None
        finally:
            clock.stop()
        self.recursion = sys.getrecursionlimit()
        self.guard.close()
        self.null = null
        self.lowest, self.looked = _lowest_free(null), 0

    def _load(self, settings):
        goal = self.goal
        kind = goal["kind"]
        self.wanted, self.wanted_text = None, None
        if kind == "Returns":
            # Whatever is wrong with it is not the module's fault.
            self.wanted, self.wanted_text = ndbg_execute_goal.value(goal["value"])
        measured = goal if kind != "Returns" else None
        self.side = Side(settings["subject"], measured, self.measure, self.guard)
        if kind == "Differs":
            self.other = Side(goal["subject"], None, self.measure, self.guard)
        self.ways = [(mark, chain) for _, mark, chain in self.side.ways]
        self.measure_frames = False
        if kind == "Raises":
            self.wanted = ndbg_execute_goal.exception(self.side, goal["class"])
            self.measure_frames = issubclass(RecursionError, self.wanted)
            self.ways = [
                (mark, chain)
                for name, mark, chain in self.side.ways
                if ndbg_execute_goal.raises(self.side, name, self.wanted)
            ]

    def describe(self):
        described = self.side.describe()
        if self.goal["kind"] == "Where":
            wanted = ndbg_execute_describe.literals_of(self.goal["predicate"])
            described["literals"] = wanted + described["literals"]
        return described

    def execute(self, receiver, arguments):
        """The result of one call, as `ndbg_execute.py` writes it."""
        begin, busy = time.perf_counter(), time.process_time()
        self.measure.reset()
        self.guard.reset()
        outcome, value, error = self._run(self.side, receiver, arguments)
        reached, far, other, raised = False, None, None, None
        kind = self.goal["kind"]
        if kind == "Returns":
            reached = outcome[0] == "returned" and self._is_value(value, outcome[1])
        elif kind == "Raises":
            reached = outcome[0] == "raised" and isinstance(error, self.wanted)
            reached = reached and self.goal.get("line") in (None, outcome[3])
            far = self.measure.far(self.ways)
        elif kind in ("Reaches", "Where"):
            far = self.measure.far(self.ways)
            reached = far == 0.0 and outcome[0] not in ("unbuildable", "refused")
            if self.measure.raised is not None:
                raised = self._told(_line, self.measure.raised)
        elif kind == "Differs":
            if outcome[0] not in ("unbuildable", "refused"):
                outcome, other, reached = self._compare(outcome, value, receiver, arguments)
        else:
            reached = outcome[0] == "returned"
        covered = [] if kind == "Returns" else sorted(self.measure.hit)
        if reached:
            far = 0.0
        seconds = time.perf_counter() - begin
        if outcome[0] in ("returned", "raised"):
            self._learn(time.process_time() - busy)
        if sys.getrecursionlimit() != self.recursion:
            sys.setrecursionlimit(self.recursion)
        return [outcome, reached, far, covered, seconds, other, raised]

    def _compare(self, outcome, value, receiver, arguments):
        """`(outcome, other, reached)`."""
        left, sort = self.left, self.sort
        other, there, _ = self._run(self.other, receiver, arguments)
        if _is_too_deep(outcome) and not _is_too_deep(other):
            # Conditions are measured in one version alone, a few frames further down.
            kept = self.left, self.sort
            sys.setrecursionlimit(self.recursion + MEASURING)
            outcome, value, _ = self._run(self.side, receiver, arguments)
            left, sort = self.left, self.sort
            self.left, self.sort = kept
        if outcome[0] == other[0] == "returned" and sort != self.sort:
            # Their items may be the same; how a caller gets them is not.
            return _of_sort(sort, outcome), _of_sort(self.sort, other), True
        reached = self._told(lambda _: differ(outcome, value, other, there), None)
        if not reached and outcome[0] == other[0] and left != self.left:
            # Nothing but what they make of their arguments tells them apart.
            return outcome + [left], other + [self.left], True
        return outcome, other, bool(reached)

    def _told(self, telling, of):
        """What the program's own code may be asked for; None where it does not end."""
        try:
            clock.start(self.limit)
            try:
                return telling(of)
            finally:
                clock.stop()
        except TooLong:
            return None

    def deepen(self):
        """Gives calls the depth that a script gives them. Called from where `execute` is."""
        self.recursion += self._begin()
        if self.measure_frames:
            self.recursion += MEASURING
        sys.setrecursionlimit(self.recursion)

    def _begin(self):
        """How much deeper calls begin than from the first line of a script, as the interpreter
        counts, which differs by version. As far from `work` as `_run` is, and calls alike."""
        kept = sys.getrecursionlimit()
        places, named = (_SOUNDING - _SHORT,), {}
        try:
            for more in range(200):
                try:
                    sys.setrecursionlimit(_SOUNDING + more)
                    _deep(*places, **named)
                    return more
                except RecursionError:
                    continue
            return 0
        finally:
            sys.setrecursionlimit(kept)

    def left_open(self, outcome):
        """Whether calls left so many descriptors open that others will miss them.

        Streams that they closed are opened again.
        """
        self.looked += 1
        if outcome[0] != "raised" and self.looked % EACH_LOOK:
            return False
        if _lowest_free(self.null) <= self.lowest + MOST_LEFT:
            return False
        # Cycles may hold them.
        gc.collect()
        return _lowest_free(self.null) > self.lowest + MOST_LEFT

    def _learn(self, seconds):
        """Gives up early what takes far longer than all that ended: it hardly ever ends."""
        self.slowest = max(self.slowest, seconds)
        self.ended += 1
        if self.ended % 64 == 0:
            self.limit = min(self.each, max(SHORTEST, 30 * self.slowest))

    def _is_value(self, value, text):
        if text == self.wanted_text and type(value) is type(self.wanted):
            return True
        return same(value, self.wanted)

    def _run(self, side, receiver, arguments):
        """`(outcome, value, error)`."""
        value = error = self.left = self.sort = None
        self.chance.reset()
        building = True
        try:
            clock.start(self.each)
            try:
                names = side.names
                places, named = eval("_ndbg_arguments(" + arguments + ")", names)
                if receiver is not None:
                    made = eval(receiver, names)
                    # What another class builds would run code that its caller never reaches.
                    if side.owner is not None and side.owner not in type(made).__mro__:
                        raise TypeError(f"an object of {side.owner.__name__} is needed")
                    places = (made,) + places
                building = False
                clock.start(self.limit)
                value = side.function(*places, **named)
                if type(value) not in _PLAIN:
                    value = self._taken(value)
                text, cut = _text(value)
                outcome = ["returned", text, cut]
                if self.other is not None:
                    self.left = _text((list(places), named))[0]
            finally:
                clock.stop()
        except TooLong as late:
            # An allocation that took all memory may have been what took so long.
            outcome = ["long"]
            if isinstance(late.__context__, MemoryError):
                outcome = ["raised", "MemoryError", "", None]
        except BaseException as problem:
            error = problem
            outcome = ["raised", type(problem).__qualname__, "", None]
            outcome[3] = _line_of(problem, side.path)
            if building or (outcome[3] is None and isinstance(problem, TypeError)):
                # The function did not begin: its parameters are others.
                outcome, error = ["unbuildable", self._told(_line, problem) or ""], None
            else:
                outcome[2] = self._told(_message, problem) or ""
            self.guard.judge(problem)
            problem.__traceback__ = None
        if self.guard.refused is not None:
            outcome, error = ["refused", self.guard.refused], None
        return outcome, value, error

    def _taken(self, value):
        """What a caller gets of it in the end; `sort` says how."""
        if inspect.iscoroutine(value):
            self.sort = "a coroutine"
            return importlib.import_module("asyncio").run(value)
        if inspect.isgenerator(value):
            self.sort = "a generator"
            return list(itertools.islice(value, MOST_ITEMS))
        if inspect.isasyncgen(value):
            self.sort = "an asynchronous generator"
            return importlib.import_module("asyncio").run(_items(value))
        return value


_PLAIN = frozenset([int, float, str, bool, type(None), list, tuple, dict, set, bytes])


# From a script's first line a limit of so many lets `_deep` come to a few less.
_SOUNDING = 300
_SHORT = 2 if sys.version_info >= (3, 11) else 3


def _deep(left):
    return 0 if left == 0 else _deep(left - 1)


async def _items(generator):
    items = []
    async for item in generator:
        items.append(item)
        if len(items) == MOST_ITEMS:
            break
    return items


def _is_too_deep(outcome):
    return outcome[:2] == ["raised", "RecursionError"]


def _of_sort(sort, outcome):
    if sort is None:
        return outcome
    return [outcome[0], f"{sort} of {outcome[1]}", *outcome[2:]]


def _text(value):
    try:
        text = ndbg_literal_text.text(value, halves=True)
    except Exception:
        text = _ADDRESS.sub("", ndbg_safe_repr.safe_repr(value, LONGEST)[0])
    return (text, False) if len(text) <= LONGEST else (text[:LONGEST], True)


def _message(error):
    try:
        text = str(error)
    except Exception:
        return ""
    return _ADDRESS.sub("", text)[:300].encode("utf-8", "replace").decode()


def _line(error):
    message = _message(error)
    name = type(error).__name__
    return f"{name}: {message.splitlines()[0]}" if message.strip() else name


def _line_of(error, path):
    """Where in the user's file it passed last."""
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _lowest_free(null):
    """The lowest number that a descriptor can get: all below are taken."""
    try:
        number = os.dup(null)
        while number < 3:
            os.set_inheritable(number, True)
            number = os.dup(null)
    except OSError:
        return 1 << 30
    os.close(number)
    return number


def out_of_reach(descriptor):
    """The same with a high number: calls may be given small ones for files, and close them."""
    try:
        import fcntl
        import resource

        most = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1024)
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, max(most - 16, 3))
    except (ImportError, OSError, ValueError):
        return descriptor
    os.close(descriptor)
    return moved


def confine(settings):
    """Limits of the process, a folder of its own, streams that lead where what is returned does:
    nowhere.
    """
    folder = settings["folder"]
    os.chdir(folder)
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = folder
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
    ndbg_process.limit_memory(settings["memory"])
    ndbg_process.limit_file_size()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
    sys.stderr = sys.stdout
    return out_of_reach(null)


def work(settings, requests, answers):
    """Reads requests, `[careful, calls]` a line, and writes a line a call.

    The line `"anew"` asks for another worker, which goes on with what was not answered.
    """
    null = confine(settings)
    requests, answers = out_of_reach(requests), out_of_reach(answers)
    sys.argv = [settings["subject"]["file"]]
    write = os.write
    # Made once: it costs more than what it writes.
    encode = json.JSONEncoder(ensure_ascii=False).encode

    def say(lines):
        data = "".join(lines).encode("utf-8", "replace")
        while data:
            data = data[write(answers, data) :]

    def line_of(value):
        # Lone halves of pairs are replaced: other readers of JSON do not take them.
        return encode(value) + "\n"

    try:
        worker = Worker(settings, null)
        worker.deepen()
        say([line_of({"ready": worker.describe()})])
    except Problem as problem:
        say([line_of({"problem": problem.kind, "text": str(problem), "near": problem.near})])
        return
    except Exception as error:
        # What a module does to the standard library, or its classes to who looks at them.
        text = "`" + settings["subject"]["file"] + "` cannot be looked at: " + _line(error)
        say([line_of({"problem": "import", "text": text, "near": []})])
        return
    alone = True
    for line in os.fdopen(requests, "rb"):
        careful, calls = json.loads(line.decode("utf-8"))
        lines, flushed = [], time.monotonic()
        for receiver, arguments in calls:
            result = worker.execute(receiver, arguments)
            if not worker.left_open(result[0]):
                lines.append(line_of(result))
            elif alone or result[0][0] != "raised":
                say([*lines, line_of(result), '"anew"\n'])
                return
            else:
                # Others may have left too little for it.
                say([*lines, '"anew"\n'])
                return
            alone = False
            if careful or time.monotonic() - flushed > FLUSH:
                say(lines)
                lines, flushed = [], time.monotonic()
        say(lines)
