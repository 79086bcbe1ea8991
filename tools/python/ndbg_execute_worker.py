"""Executes calls of one function, one after the other: what `ndbg_execute.py` forks.

PYTEST_DONT_REWRITE: this is no test code.
"""

import builtins
import importlib
import inspect
import itertools
import json
import os
import re
import signal
import sys
import time

import ndbg_execute_describe
import ndbg_execute_distance as distance
import ndbg_execute_module
import ndbg_literal_text
import ndbg_process
import ndbg_safe_repr
from ndbg_execute_guard import Guard
from ndbg_execute_module import Problem

LONGEST = 4_000
MOST_ITEMS = 10_000
RECURSION = 400
FLUSH = 0.02
SHORTEST = 0.005
ASLEEP = 4
IMPORT_SECONDS = 20
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class TooLong(BaseException):
    """A call beyond its time; no `Exception`, so that handlers let it through."""


def _ring(_number, _frame):
    raise TooLong


def start_clock(seconds):
    """Rings after so much time on the processor, or a few times as much by the clock.

    Again and again, for code that takes the ringing for an error of its own.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    signal.setitimer(signal.ITIMER_REAL, ASLEEP * seconds, ASLEEP * seconds)


def stop_clock():
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)


class Measure:
    """What a call passes: outcomes of conditions, and how near each came to the other one."""

    def __init__(self):
        self.count = 0
        self.near = {}
        self.hit = set()

    def reset(self):
        self.near.clear()
        self.hit.clear()

    def names(self):
        near, hit = self.near, self.hit

        def condition(number, measured):
            value, to_true, to_false = distance.settled(measured)
            truthy = bool(value)
            hit.add(2 * number + truthy)
            far = to_false if truthy else to_true
            key = 2 * number + (not truthy)
            if far < near.get(key, 2.0):
                near[key] = far
            return truthy

        def mark(number):
            hit.add(2 * number + 1)

        parts = {}

        def part(number, measured):
            parts.setdefault(number, []).append(measured[1:])
            return measured[0]

        def join(number, is_and, count, value):
            asked = parts.pop(number)[-count:]
            if not is_and:
                asked = [(to_false, to_true) for to_true, to_false in asked]
            return distance.joined(is_and, count, asked, value)

        def where(number, measured):
            try:
                value, to_true, _ = distance.settled(measured())
            except Exception:
                value, to_true = False, 1.0
            if value:
                hit.add(2 * number + 1)
            else:
                key = 2 * number + 1
                near[key] = min(near.get(key, 2.0), to_true)

        return {
            "_ndbg_b": condition,
            "_ndbg_m": mark,
            "_ndbg_w": where,
            "_ndbg_v": distance.truth,
            "_ndbg_c": distance.compared,
            "_ndbg_s": distance.called,
            "_ndbg_not": distance.negated,
            "_ndbg_p": part,
            "_ndbg_j": join,
        }

    def far(self, ways):
        """The distance of the nearest way."""
        return min([self._far(mark, chain) for mark, chain in ways], default=None)

    def _far(self, mark, chain):
        hit = self.hit
        if 2 * mark + 1 in hit:
            return 0.0
        links = [2 * number + outcome for number, outcome in chain] + [2 * mark + 1]
        met = max([at for at, link in enumerate(links) if link in hit], default=-1)
        missing = len(links) - met - 2
        return missing + min(self.near.get(links[met + 1], 1.0), 1.0)


def _run_site():
    """What Python does by itself when it starts without `-S`; once."""
    if "site" not in sys.modules:
        # The guard sees files opened, and an environment may run code of its own.
        importlib.import_module("site").main()


class Side:
    """One version of the function."""

    def __init__(self, subject, goal, measure):
        path, root = subject["file"], subject["root"]
        plain = ndbg_execute_module.parse(path)
        definition = ndbg_execute_module.definition(plain, subject["function"])
        self.path = path
        self.ways = []
        tree, names, made = plain, {}, None
        if goal is not None:
            tree, made = ndbg_execute_module.prepared(path, goal)
            names = measure.names()
        if sys.flags.no_site and ndbg_execute_module.needs_site(path, root, plain):
            _run_site()
        self.module = ndbg_execute_module.load(path, root, tree, names)
        self.function, self.owner = ndbg_execute_module.function_of(
            self.module, subject["function"]
        )
        self.tree, self.definition = plain, definition
        if inspect.iscoroutinefunction(self.function):
            # Few functions need it, and it takes longer to import than a call may take.
            importlib.import_module("asyncio")
        if made is not None:
            self.ways = [(name, mark, chain) for name, mark, chain in made.ways]
        names = dict(vars(self.module))
        names["_ndbg_arguments"] = lambda *places, **named: (places, named)
        names.setdefault("rebuilt", _rebuilt)
        names["__builtins__"] = vars(builtins)
        self.names = names

    def describe(self):
        function = self.function
        return {
            "parameters": ndbg_execute_describe.parameters(function, self.owner is not None),
            "receiver": self.owner,
            "classes": ndbg_execute_describe.classes(self.module),
            "literals": ndbg_execute_describe.literals(self.tree, self.definition),
            "lines": [self.definition.lineno, self.definition.end_lineno],
            "is_async": inspect.iscoroutinefunction(function),
            "is_generator": inspect.isgeneratorfunction(function),
        }


class Worker:
    """Loads the function, or raises `Problem`."""

    def __init__(self, settings):
        self.each = settings["each"]
        self.limit = settings["each"]
        self.slowest, self.ended = 0.0, 0
        # Texts of the arguments after a call, where versions are compared.
        self.left = self.other = None
        self.goal = goal = settings["goal"]
        self.guard = Guard(settings["folder"])
        self.guard.install()
        self.measure = Measure()
        measured = goal if goal["kind"] != "Returns" else None
        signal.signal(signal.SIGALRM, _ring)
        signal.signal(signal.SIGPROF, _ring)
        signal.setitimer(signal.ITIMER_REAL, IMPORT_SECONDS)
        try:
            self.side = Side(settings["subject"], measured, self.measure)
            if goal["kind"] == "Differs":
                self.other = Side(goal["subject"], None, self.measure)
        except TooLong:
            raise Problem("import", f"the import takes longer than {IMPORT_SECONDS} s") from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.ways = [(mark, chain) for _, mark, chain in self.side.ways]
        self.wanted = None
        if goal["kind"] == "Returns":
            self.wanted = eval(goal["value"], {})
            try:
                self.wanted_text = ndbg_literal_text.text(self.wanted)
            except Exception:
                self.wanted_text = None
        elif goal["kind"] == "Raises":
            self.wanted = self._exception(goal["class"])
            self.ways = [
                (mark, chain) for name, mark, chain in self.side.ways if self._is_wanted(name)
            ]
        self.guard.close()
        sys.setrecursionlimit(RECURSION)

    def _exception(self, name):
        held = vars(builtins).get(name)
        found = self.side.module
        if held is None:
            for part in name.split("."):
                found = getattr(found, part, None)
            held = found
        if not (isinstance(held, type) and issubclass(held, BaseException)):
            known = [one for one, it in vars(builtins).items() if isinstance(it, type)]
            known = [one for one in known if issubclass(vars(builtins)[one], BaseException)]
            known += [
                one
                for one, it in vars(self.side.module).items()
                if isinstance(it, type) and issubclass(it, BaseException)
            ]
            import difflib

            near = difflib.get_close_matches(name, known, 3, 0.4)
            raise Problem("goal", f"`{name}` is no exception that the module knows", near)
        return held

    def _is_wanted(self, name):
        held = vars(self.side.module).get(name, vars(builtins).get(name))
        return isinstance(held, type) and issubclass(held, self.wanted)

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
        self.guard.refused = None
        outcome, value, error = self._run(self.side, receiver, arguments)
        reached, far, other = False, None, None
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
        elif kind == "Differs":
            if outcome[0] not in ("unbuildable", "refused"):
                left = self.left
                other, there, _ = self._run(self.other, receiver, arguments)
                reached = _differ(outcome, value, other, there)
                if not reached and outcome[0] == other[0] and left != self.left:
                    # Nothing but what they make of their arguments tells them apart.
                    reached = True
                    outcome, other = outcome + [left], other + [self.left]
        else:
            reached = outcome[0] == "returned"
        covered = [] if kind == "Returns" else sorted(self.measure.hit)
        if reached:
            far = 0.0
        seconds = time.perf_counter() - begin
        if outcome[0] in ("returned", "raised"):
            self._learn(time.process_time() - busy)
        return [outcome, reached, far, covered, seconds, other]

    def _learn(self, seconds):
        """Gives up early what takes far longer than all that ended: it hardly ever ends."""
        self.slowest = max(self.slowest, seconds)
        self.ended += 1
        if self.ended % 64 == 0:
            self.limit = min(self.each, max(SHORTEST, 30 * self.slowest))

    def _is_value(self, value, text):
        if text == self.wanted_text and type(value) is type(self.wanted):
            return True
        return _same(value, self.wanted)

    def _run(self, side, receiver, arguments):
        """`(outcome, value, error)`."""
        value = error = self.left = None
        # What is drawn by chance is drawn alike, so that a search can go on from what it saw.
        chance = sys.modules.get("random")
        if chance is not None:
            chance.seed(0)
        try:
            start_clock(self.each)
            try:
                names = side.names
                places, named = eval("_ndbg_arguments(" + arguments + ")", names)
                if receiver is not None:
                    places = (eval(receiver, names),) + places
            finally:
                stop_clock()
        except TooLong:
            stop_clock()
            return ["long"], None, None
        except BaseException as problem:
            return ["unbuildable", _line(problem)], None, None
        try:
            start_clock(self.limit)
            try:
                value = side.function(*places, **named)
                if inspect.iscoroutine(value):
                    value = importlib.import_module("asyncio").run(value)
                elif inspect.isgenerator(value):
                    value = list(itertools.islice(value, MOST_ITEMS))
                text, cut = _text(value)
                outcome = ["returned", text, cut]
                if self.other is not None:
                    self.left = _text((list(places), named))[0]
            finally:
                stop_clock()
        except TooLong:
            stop_clock()
            outcome = ["long"]
        except MemoryError:
            outcome = ["raised", "MemoryError", "", None]
        except BaseException as problem:
            error = problem
            outcome = ["raised", type(problem).__qualname__, _message(problem), None]
            outcome[3] = _line_of(problem, side.path)
            if outcome[3] is None and isinstance(problem, TypeError):
                # The function did not begin: its parameters are others.
                outcome, error = ["unbuildable", _line(problem)], None
            problem.__traceback__ = None
        if self.guard.refused is not None:
            outcome, error = ["refused", self.guard.refused], None
        return outcome, value, error


def _rebuilt(cls, **attributes):
    """An object with attributes that a recording holds, made without calling its class."""
    made = cls.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made


def _same(value, wanted, depth=0):
    """Equal, and of the same types all through."""
    if type(value) is not type(wanted) or depth > 50:
        return False
    if isinstance(wanted, (list, tuple)):
        if len(value) != len(wanted):
            return False
        return all(_same(one, other, depth + 1) for one, other in zip(value, wanted))
    if isinstance(wanted, dict):
        if value.keys() != wanted.keys():
            return False
        return all(_same(value[key], held, depth + 1) for key, held in wanted.items())
    try:
        return bool(value == wanted) or (wanted != wanted and value != value)
    except Exception:
        return False


def _differ(outcome, value, other, there):
    if outcome[0] != other[0]:
        return True
    if outcome[0] == "raised":
        return outcome[1] != other[1]
    if outcome[0] != "returned" or outcome[1] == other[1]:
        return False
    try:
        # Objects of classes that both versions define are told apart by their texts alone.
        if type(value) is type(there) and bool(value == there):
            return False
    except Exception:
        pass
    return True


def _text(value):
    try:
        text = ndbg_literal_text.text(value)
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


def confine(settings):
    """Limits of the process, streams that lead nowhere, a folder of its own."""
    os.chdir(settings["folder"])
    ndbg_process.limit_memory(settings["memory"])
    ndbg_process.limit_file_size()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
    sys.stderr = sys.stdout


def work(settings, requests, answers):
    """Reads requests, `[careful, calls]` a line, and writes a line a call."""
    confine(settings)
    sys.argv = [settings["subject"]["file"]]
    write = os.write

    def say(lines):
        data = "".join(lines).encode("utf-8", "replace")
        while data:
            data = data[write(answers, data) :]

    try:
        worker = Worker(settings)
        say([json.dumps({"ready": worker.describe()}) + "\n"])
    except Problem as problem:
        known = {"problem": problem.kind, "text": str(problem), "near": problem.near}
        say([json.dumps(known) + "\n"])
        return
    for line in os.fdopen(requests, "rb"):
        careful, calls = json.loads(line.decode("utf-8"))
        lines, flushed = [], time.monotonic()
        for receiver, arguments in calls:
            lines.append(json.dumps(worker.execute(receiver, arguments)) + "\n")
            if careful or time.monotonic() - flushed > FLUSH:
                say(lines)
                lines, flushed = [], time.monotonic()
        say(lines)
