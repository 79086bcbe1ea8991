"""The local tracer of one frame: turns its events into records.

PYTEST_DONT_REWRITE: this is no test code.
"""

import sys

import ndbg_safe_repr
from ndbg_trace_plan import LOOP_ENDS, RETURNS
from ndbg_trace_values import LIMIT, Variables

# Before 3.10 the interpreter aborts when an overflow is caught and the recursion then goes on; the
# program gets the RecursionError that it is about to cause anyway.
MUST_PROPAGATE = sys.version_info < (3, 10)
# Before 3.10 a frame with a local tracer believes the last line event: without events, tracebacks
# would show old lines.
STALE_LINES = sys.version_info < (3, 10)
_STOPS = (StopIteration, StopAsyncIteration)


class Activation:
    """State of a frame between its events; the frame holds it, and it never holds the frame.

    act, frame: numbers of the current activation and of the frame; act is None before the first
    record of an activation.
    group, start, last: the statement that runs (its first line), the instruction at which it began
    and the last one at which it was seen.
    raised_at: instruction at which the last exception passed, while it may still be under way.
    waiting: the call record of a resumption is held back until something follows it. Closing a
    generator outside of every `try` runs nothing since 3.13; before, it resumes and unwinds it.
    """

    __slots__ = (
        "act",
        "closing",
        "frame",
        "group",
        "held_exit",
        "last",
        "parent",
        "plan",
        "raised_at",
        "silent",
        "start",
        "thread",
        "tracer",
        "variables",
        "waiting",
    )

    def __init__(self, tracer, plan, parent, thread):
        self.tracer = tracer
        self.plan = plan
        self.parent = parent
        self.thread = thread
        self.act = None
        self.group = self.start = self.last = -1
        self.raised_at = None
        self.closing = False
        self.waiting = False
        self.held_exit = None
        # Callees that no event will end.
        self.silent = None
        self.frame = None
        self.variables = Variables(tracer.values) if tracer.states else None

    def begin(self, frame):
        """The record of a first call."""
        variables = self.variables
        deltas = "" if variables is None else variables.changes(frame, self, 0)
        self._write_call(self.plan.call, deltas)
        if self.plan.stateless:
            self.variables = None

    def _write_call(self, where, deltas):
        stream, plan = self.tracer.stream, self.plan
        parent = self.parent
        number = plan.number
        if number is None:
            number = plan.define()
        with stream.lock:
            act = self.act = stream.act
            stream.act = act + 1
            if self.frame is None:
                self.frame = stream.frame
                stream.frame += 1
            stream.lines.append(
                f"c {act} {self.frame} {'-' if parent is None else parent} {self.thread}"
                f" {number}{where}{deltas}"
            )
            stream.calls_seen.append(plan.digest)
            stream.lines_seen.append(plan.digest)
        tracer = self.tracer
        tracer.open[act] = self.thread
        tracer.left -= 1
        if tracer.left <= 0:
            tracer.refill()

    def resume(self, parent, thread):
        """A generator goes on; nothing is written before it is clear that it runs."""
        self.parent = parent
        self.thread = thread
        self.act = None
        self.raised_at = None
        self.closing = False
        self.waiting = True
        self.held_exit = None

    def settle(self, frame):
        """Write the records that were held back."""
        self.waiting = False
        variables = self.variables
        deltas = ""
        if variables is not None:
            variables.changes(frame, self, self.group)
            deltas = variables.all()
        line = self.group if self.group >= 0 else self._line(frame)
        self._write_call(f" {line} r", deltas)
        held, self.held_exit = self.held_exit, None
        if held is not None:
            self._write(f"x {self.act} {held}")

    def _write(self, record):
        tracer = self.tracer
        tracer.stream.lines.append(record)
        tracer.left -= 1
        if tracer.left <= 0:
            tracer.refill()

    def _line(self, frame):
        line = frame.f_lineno or self.plan.first
        if self.plan.expression or self.plan.lines is None:
            return self.plan.first
        return self.plan.lines.get(line, line)

    def event(self, frame, event, argument):
        """The local trace function. Returns None, which leaves it in place."""
        tracer = self.tracer
        if not tracer.live:
            if tracer.doom is not None:
                raise tracer.doom
            if not STALE_LINES:
                sys.settrace(None)
            return
        try:
            if event == "line":
                self._on_line(frame)
            elif event == "return":
                self._on_return(frame, argument)
            elif event == "exception":
                self._on_exception(frame, argument)
        except RecursionError:
            tracer.lose("recursion")
            if MUST_PROPAGATE:
                raise
        except Exception as error:
            # Nothing of ours may surface in the program; a signal handler's exception must.
            if not tracer.is_ours(error):
                raise
            tracer.fail(error)

    def _on_line(self, frame):
        plan = self.plan
        line = frame.f_lineno
        if line is None or plan.lines is None:
            return
        if plan.expression:
            if self.group >= 0 and not self.waiting:
                return
            group = plan.first
        else:
            group = plan.lines.get(line, line)
            position = frame.f_lasti
            if group == self.group:
                # Within one statement execution jumps back and forth; it runs again only where it
                # begins again.
                if position > self.start and not (line in plan.loops and position <= self.last):
                    self.last = position
                    self.raised_at = None
                    return
                if position < self.start:
                    self.start = position
            else:
                self.start = position
            self.last = position
        if self.waiting:
            self.settle(frame)
        self.raised_at = None
        if self.silent is not None:
            self._end_silent()
        variables = self.variables
        deltas = "" if variables is None else variables.changes(frame, self, self.group)
        self.group = group
        tracer = self.tracer
        stream = tracer.stream
        stream.lines.append(f"l {self.act} {group}{deltas}")
        stream.lines_seen.append(group)
        tracer.left -= 1
        if tracer.left <= 0:
            tracer.refill()

    def _on_exception(self, frame, argument):
        kind, value, _ = argument
        plan = self.plan
        position = frame.f_lasti
        if issubclass(kind, _STOPS) and position >= 0 and plan.bytes[position] in LOOP_ENDS:
            return
        self.raised_at = position
        string = self.tracer.stream.string
        text, lossy = ndbg_safe_repr.safe_repr(value, LIMIT)
        name = string(ndbg_safe_repr.qualified_type_name(kind))
        record = f"{self._line(frame)} {name} {string(text, lossy)}"
        self.closing = kind is GeneratorExit
        if self.waiting:
            if self.closing:
                self.held_exit = record
                return
            self.settle(frame)
        if self.silent is not None:
            self._end_silent()
        deltas = ""
        if self.variables is not None and not plan.clashes:
            deltas = self.variables.changes(frame, self, self.group)
        self._write(f"x {self.act} {record}{deltas}")

    def _on_return(self, frame, value):
        plan = self.plan
        position = frame.f_lasti
        how = "r"
        if value is None:
            operation = plan.bytes[position] if position >= 0 else -1
            if self.raised_at == position:
                how = "u"
            elif plan.generator and plan.yields(position):
                how = "y"
            elif operation not in RETURNS:
                how = "u"
        elif plan.generator and plan.yields(position):
            how = "y"
        tracer = self.tracer
        if how == "u" and self.closing:
            if self.waiting:
                # Closed where it stood: no version runs anything of it.
                self.waiting = False
                self.held_exit = None
                return
            how = "k"
        if self.waiting:
            self.settle(frame)
        if self.silent is not None:
            self._end_silent()
        variables = self.variables
        deltas = ""
        if variables is not None:
            deltas = variables.changes(frame, self, self.group)
        values = tracer.values
        if value is None:
            text = values.none
        else:
            text = values.text(value) if tracer.states else values.unknown()
        act = self.act
        tracer.open.pop(act, None)
        self._write(f"r {act} {self._line(frame)} {text} {how}{deltas}")
        if how != "y":
            if variables is not None and variables.known:
                variables.release(self)
        else:
            self.act = None

    def _end_silent(self):
        """Calls whose end no event told of are over: their caller goes on."""
        tracer = self.tracer
        ended, self.silent = self.silent, None
        for act, line in ended:
            if tracer.open.pop(act, None) is not None:
                self._write(f"r {act} {line} {tracer.values.unknown()} r")
