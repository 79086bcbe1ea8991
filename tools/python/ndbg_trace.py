"""The tracer: calls, lines, returns and exceptions of the wanted code, in all threads.

    stream = TraceStream("out.raw", "script")
    tracer = Tracer(stream, wanted)
    tracer.start()
    …
    stream.end(tracer.stop("normal"))

PYTEST_DONT_REWRITE: this is no test code.
"""

import gc
import os
import sys
import threading
import types
import weakref

import ndbg_safe_repr
from ndbg_trace_activation import MUST_PROPAGATE, STALE_LINES, Activation
from ndbg_trace_plan import COMPREHENSIONS, Plan
from ndbg_trace_source import Sources
from ndbg_trace_stream import BATCH
from ndbg_trace_values import Values

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_METHOD = types.MethodType
_get_ident = threading.get_ident


class Tracer:
    """Records into `stream` the code for which `wanted(code)`, asked once a code object, is true.

    states: full local states; otherwise calls and lines alone. lines: otherwise calls alone.
    max_events: recording ends there, and the program goes on unrecorded; with `when_full`, an
    exception that is no Exception, this is raised in the program instead.
    sources: {file name of code: source text} for code that is on no disk.
    """

    def __init__(
        self,
        stream,
        wanted,
        *,
        states=True,
        lines=True,
        max_events=1_000_000,
        sources=None,
        when_full=None,
    ):
        self.stream = stream
        self.states = states
        self.values = Values(stream)
        self.live = False
        self.truncated = None
        self.dropped = {}
        # act -> thread id, of the activations that have not ended.
        self.open = {}
        self._wanted = wanted
        self._when_full = when_full
        self.doom = None
        self._lines = lines
        self._sources = Sources(sources)
        # id(code) -> Plan, or False; plans and `_unwanted` keep the code objects alive, and with
        # them their ids. (Hashing a code object would read all of it.)
        self._plans = {}
        self._unwanted = []
        self._max_events = max_events
        # Events of the stream that came before this tracer's; none of them is held back any more.
        self._before = stream.events
        # Events until the next look at the limit. Threads may lose a step of it to each other, so
        # nothing is counted by it.
        self.left = min(BATCH, max_events)
        # id(frame) -> (code, act): calls in which no event happens; see Plan.silent.
        self._silent = {}
        self._orphans = []
        self._threads = stream.numbers
        self._tasks = {}
        self._owner = None
        self._on_call = self._make_on_call()
        self._on_collection = _collection_callback(weakref.ref(self))

    def start(self):
        owner = self._owner = sys.gettrace()
        if owner is not None:
            self.stream.note(f"sys.settrace belonged to {_describe(owner)}, now to the recorder")
        self.live = True
        gc.callbacks.append(self._on_collection)
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)

    def rearm(self):
        """Take the hook back if this thread has lost it, to a RecursionError or another tool."""
        if not self.live or not self.stream.live:
            return
        current = sys.gettrace()
        if current is self._on_call:
            return
        if current is None:
            self.lose("tracer removed")
        else:
            self.lose("tracer replaced")
            self.stream.note(
                f"sys.settrace was taken over by {_describe(current)}, what ran then is missing"
            )
        self._end_the_dead(sys._getframe(1))
        sys.settrace(self._on_call)

    def stop(self, ended=None):
        """Stop in every thread; returns the fields of the `E` record.

        ended: how the program ended, "normal", "error" or "never", if it is known.
        """
        if self.live:
            self.rearm()
            self.live = False
            sys.settrace(self._owner)
            self._let_go()
            self._end_orphans()
        elif sys.gettrace() is self._on_call:
            sys.settrace(self._owner)
        self._plans = {}
        self._unwanted = []
        structure = self.stream.structure() if self.stream.live else None
        return {
            "events": self.stream.events - self._before,
            "truncated": self.truncated,
            "dropped": self.dropped,
            "exit": ended,
            "structure": structure,
        }

    def abort(self, error):
        """Record nothing any more, and raise `error` in the program at its next event.

        For signal handlers that have interrupted the recorder: raising there would tear a record.
        """
        if self.live:
            self.doom = error
            self._let_go()

    def _let_go(self):
        self.live = False
        threading.settrace(self._owner)
        gc.callbacks.remove(self._on_collection)

    def refill(self):
        """A batch is full, or the number of events has reached its limit."""
        with self.stream.lock:
            if self.left > 0:
                # Another thread was here first.
                return
            self.left = BATCH
        self.stream.flush()
        remaining = self._max_events - (self.stream.events - self._before)
        if remaining <= 0 and self.live:
            self.truncated = self.truncated or "max_events"
            self._let_go()
            if not STALE_LINES:
                sys.settrace(None)
            if self._when_full is not None:
                raise self._when_full
        if not self.stream.live:
            # A forked child.
            self.live = False
        self.left = max(1, min(BATCH, remaining))

    def lose(self, reason):
        """Something was not recorded; the recording is not whole any more."""
        self.truncated = self.truncated or reason
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def fail(self, error):
        name = "error in the recorder: " + ndbg_safe_repr.qualified_type_name(type(error))
        self.dropped[name] = self.dropped.get(name, 0) + 1

    @staticmethod
    def is_ours(error):
        """Whether an exception arose in the recorder, not in a signal handler that ran in it."""
        trace = error.__traceback__
        foreign = None
        while trace is not None:
            name = trace.tb_frame.f_code.co_filename
            if foreign is None and not name.startswith(_HERE):
                foreign = trace.tb_frame
            trace = trace.tb_next
        if foreign is None:
            return True
        # Of Python code, the writer of texts calls that of the standard library's values alone.
        module = foreign.f_globals.get("__name__")
        return module in ("pathlib", "pathlib._local", "fractions", "uuid", "_pydecimal", "re")

    def _make_on_call(self):
        plans = self._plans
        silent = self._silent
        lines = self._lines
        threads = self._threads

        def on_call(frame, _event, _argument):
            try:
                if silent:
                    silent.pop(id(frame), None)
                code = frame.f_code
                plan = plans.get(id(code))
                if not plan:
                    if plan is False:
                        return None
                    plan = self._decide(code)
                    if not plan:
                        return None
                if not self.live:
                    if self.doom is not None:
                        raise self.doom
                    return None
                # The nearest recorded caller.
                parent = None
                caller = frame.f_back
                while caller is not None:
                    trace = caller.f_trace
                    if trace is not None and type(trace) is _METHOD:
                        state = trace.__self__
                        if type(state) is Activation and state.tracer is self:
                            parent = state
                            break
                    if silent and id(caller) in silent:
                        parent = silent[id(caller)]
                        break
                    caller = caller.f_back
                if plan.generated and (parent is None or caller is not frame.f_back):
                    return None
                if parent is None:
                    act = None
                    thread = None
                    if self._orphans:
                        self._end_orphans()
                else:
                    if parent.waiting:
                        parent.settle(caller)
                    act = parent.act
                    thread = parent.thread
                if plan.generator and "asyncio" in sys.modules:
                    task = self._task()
                    if task is not None:
                        thread = task
                if thread is None:
                    thread = getattr(threads, "number", None)
                    if thread is None:
                        thread = self._thread()
                if plan.generator:
                    trace = frame.f_trace
                    if trace is not None and type(trace) is _METHOD:
                        state = trace.__self__
                        if type(state) is Activation and state.tracer is self:
                            state.resume(act, thread)
                            return trace
                state = Activation(self, plan, act, thread)
                state.begin(frame)
                if plan.silent:
                    silent[id(frame)] = state
                    self._remember(state, parent)
                    return None
                if not lines or plan.lines is None:
                    frame.f_trace_lines = False
                return state.event
            except RecursionError:
                self.lose("recursion")
                if MUST_PROPAGATE:
                    raise
                return None
            except Exception as error:
                if not self.is_ours(error):
                    raise
                self.fail(error)
                return None

        return on_call

    def _decide(self, code):
        plan = False
        excluded = code.co_name in COMPREHENSIONS or code.co_filename.startswith(_HERE)
        if not excluded and self._wanted(code):
            plan = Plan(code, self.stream, self._sources, self.states)
        else:
            self._unwanted.append(code)
        self._plans[id(code)] = plan
        return plan

    def _remember(self, state, parent):
        where = (state.act, state.plan.first)
        if parent is None or parent.plan.silent:
            self._orphans.append(where)
        elif parent.silent is None:
            parent.silent = [where]
        else:
            parent.silent.append(where)

    def _end_orphans(self):
        ended, self._orphans[:] = self._orphans[:], []
        for act, line in reversed(ended):
            if self.open.pop(act, None) is not None:
                self._count(f"r {act} {line} {self.values.unknown()} r")

    def _count(self, record):
        self.stream.lines.append(record)
        self.left -= 1

    def _end_the_dead(self, frame):
        """Activations of this thread whose end was missed: unwound, as far as anyone knows."""
        alive = set()
        while frame is not None:
            state = getattr(frame.f_trace, "__self__", None)
            if type(state) is Activation and state.act is not None:
                alive.add(state.act)
            if id(frame) in self._silent:
                alive.add(self._silent[id(frame)].act)
            frame = frame.f_back
        thread = getattr(self._threads, "number", None)
        for act in sorted(self.open, reverse=True):
            if self.open.get(act) == thread and act not in alive:
                del self.open[act]
                self._count(f"r {act} 0 {self.values.none} u")

    def _thread(self):
        thread = threading._active.get(_get_ident())
        name = getattr(thread, "_name", None)
        number = self.stream.thread(name if type(name) is str else f"thread-{_get_ident()}")
        self._threads.number = number
        return number

    def _task(self):
        """The thread id of the running asyncio task, or None outside of tasks."""
        tasks = sys.modules.get("asyncio.tasks")
        if tasks is None:
            return None
        try:
            task = tasks.current_task()
        except RuntimeError:
            return None
        if task is None:
            return None
        known = self._tasks.get(id(task))
        if known is not None and known[0]() is task:
            return known[1]
        kind = type(task)
        standard = kind.__module__ in ("_asyncio", "asyncio.tasks")
        number = self.stream.thread(task.get_name() if standard else "task")
        if len(self._tasks) > 1000:
            self._tasks = {k: v for k, v in self._tasks.items() if v[0]() is not None}
        self._tasks[id(task)] = (weakref.ref(task), number)
        return number


def _describe(owner):
    function = getattr(owner, "__func__", owner)
    module = getattr(function, "__module__", None) or type(owner).__module__
    return f"{module}.{getattr(function, '__qualname__', type(owner).__name__)}"


def _collection_callback(reference):
    """A callback of the garbage collector: the only code of ours that runs without the hook.

    A RecursionError in the program removes the hook, and nothing tells of it.
    """

    def on_collection(phase, _info):
        if phase == "start" and sys.gettrace() is None:
            tracer = reference()
            if tracer is not None and getattr(tracer._threads, "number", None) is not None:
                try:
                    tracer.rearm()
                except Exception as error:
                    tracer.fail(error)

    return on_collection
