"""Values per test: locals before chosen lines, and arguments and results of calls.

Frames and values are never kept: everything becomes text at once, so recording neither prolongs
the life of an object nor shows a later state than the one at the event.

PYTEST_DONT_REWRITE: this is no test code.
"""

import dis
import inspect
import sys
import threading

import ndbg_safe_repr

MAX_CALLS = 20
MAX_RECORDS = 20000
# States read in one test, most of them only to know the last one of a hot line.
MAX_READS = 50000
# Before Python 3.12 these have frames of their own; from 3.12 on they have none.
_INLINED = frozenset(["<listcomp>", "<dictcomp>", "<setcomp>"])
_YIELDS = frozenset(
    dis.opmap[name]
    for name in ("YIELD_VALUE", "YIELD_FROM", "SEND", "RESUME", "INSTRUMENTED_YIELD_VALUE")
    if name in dis.opmap
)
# Before 3.10 the interpreter aborts when an overflow is caught and the recursion then goes on; the
# code under test gets the RecursionError that it is about to cause anyway.
_MUST_PROPAGATE = sys.version_info < (3, 10)
_GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class ValueRecorder:
    """Traces the code objects whose first line lies in the configured ranges."""

    def __init__(self, settings, roots, emit, note):
        self._roots = roots
        self._ranges = {roots.name(name): ranges for name, ranges in settings.trace.items()}
        self._max_hits = max(1, settings.max_hits)
        # Arguments and results alone: what a function does, not how.
        self.calls_only = settings.calls_only
        self._emit = emit
        self._note = note
        self._known = {}
        self._test = None
        self._lock = threading.Lock()
        self._begin()

    def _begin(self):
        self._hits = {}
        self._last = {}
        self._calls = {}
        self._records = 0
        self._reads = 0
        self._errors = 0
        self._capped = False

    def start(self, test):
        self._test = test
        self._begin()
        self._owner = sys.gettrace()
        if self._owner is not None:
            self._note(
                f"sys.settrace belonged to {type(self._owner).__name__}, now to the recorder"
            )
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)

    def rearm(self):
        """Between the phases of a test: a RecursionError in traced code removes the tracer."""
        if self._test is not None and sys.gettrace() != self._on_call:
            self._note(f"tracer was removed during {self._test}, values are missing")
            sys.settrace(self._on_call)

    def stop(self):
        self.rearm()
        sys.settrace(self._owner)
        threading.settrace(self._owner)
        test = self._test
        for key in sorted(self._last):
            self._write("value", self._last[key])
        for (file, func, line), count in self._calls.items():
            self._emit("calls", id=test, func=func, file=file, line=line, count=count)
        if self._capped:
            self._note(
                f"values of {test} are not complete: the cap on records or reads was reached"
            )
        if self._errors:
            self._note(f"{self._errors} values of {test} could not be read")
        self._test = None
        self._begin()

    def _write(self, kind, fields):
        if self._records >= MAX_RECORDS:
            self._capped = True
            return
        self._records += 1
        self._emit(kind, id=self._test, **fields)

    def _where(self, code):
        """The file's name in records, or None for code that is not to be traced."""
        try:
            return self._known[id(code)][0]
        except KeyError:
            pass
        file = None
        # Bodies of modules and classes are not functions: huge, and run once.
        if code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in _INLINED:
            name = self._roots.name(code.co_filename)
            for first, last in self._ranges.get(name, ()):
                if first <= code.co_firstlineno <= last:
                    file = name
                    break
        self._known[id(code)] = (file, code)
        return file

    def _on_call(self, frame, _event, _argument):
        try:
            file = self._where(frame.f_code)
            if file is None:
                return None
            return _FrameTracer(self, frame, file).event
        except RecursionError:
            return self._out_of_stack()
        except Exception:
            self._errors += 1
            return None

    def _out_of_stack(self):
        self.failed()
        if _MUST_PROPAGATE:
            raise
        return

    def count_call(self, file, code):
        with self._lock:
            key = (file, code.co_name, code.co_firstlineno)
            count = self._calls[key] = self._calls.get(key, 0) + 1
        return count

    def line(self, file, frame):
        """The state before a line runs."""
        with self._lock:
            key = (file, frame.f_lineno)
            hit = self._hits[key] = self._hits.get(key, 0) + 1
            early = hit < self._max_hits
            if self._reads >= MAX_READS or (early and self._records >= MAX_RECORDS):
                self._capped = True
                # The state kept as the last one is not the last one any more.
                self._last.pop(key, None)
                return
            self._reads += 1
            fields = {
                "file": file,
                "line": frame.f_lineno,
                "n": hit,
                "func": frame.f_code.co_name,
                "locals": read_locals(frame),
            }
            if early:
                self._write("value", fields)
            else:
                self._last[key] = fields

    def returned(self, fields):
        with self._lock:
            self._write("ret", fields)

    def failed(self):
        self._errors += 1


class _FrameTracer:
    """The local tracer of one frame: its arguments at the start and a pending exception."""

    def __init__(self, recorder, frame, file):
        self._recorder = recorder
        self._file = file
        code = frame.f_code
        self._exception = None
        # Every `next` of a generator is a call event; only the first one is a call.
        self._resumed = bool(code.co_flags & _GENERATOR_FLAGS) and _started(frame)
        self._arguments = None
        if not self._resumed:
            count = recorder.count_call(file, code)
            if count <= MAX_CALLS:
                self._arguments = read_arguments(frame)

    def event(self, frame, event, argument):
        try:
            if event == "line":
                self._exception = None
                if not self._recorder.calls_only:
                    self._recorder.line(self._file, frame)
            elif event == "exception":
                self._exception = argument[0]
            elif event == "return":
                self._returned(frame, argument)
        except RecursionError:
            self._recorder.failed()
            if _MUST_PROPAGATE:
                raise
        except Exception:
            # Nothing of ours may surface in the code under test.
            self._recorder.failed()
        return self.event

    def _returned(self, frame, argument):
        if self._arguments is None and not self._resumed:
            return
        code = frame.f_code
        raised = self._exception if argument is None else None
        yielded = raised is None and bool(code.co_flags & _GENERATOR_FLAGS) and _at_yield(frame)
        fields = {
            "file": self._file,
            "line": code.co_firstlineno,
            "func": code.co_name,
            "args": self._arguments if self._arguments is not None else {},
            "value": None if raised is not None else ndbg_safe_repr.describe(argument),
            "exc": None if raised is None else ndbg_safe_repr.qualified_type_name(raised),
        }
        if yielded:
            fields["yield"] = True
        self._recorder.returned(fields)


def _started(frame):
    """Whether a generator's frame has run before."""
    code = frame.f_code
    if sys.version_info >= (3, 11):
        # The frame begins at RETURN_GENERATOR / RESUME and is entered again at a later yield.
        return frame.f_lineno != code.co_firstlineno or _at_yield(frame)
    return frame.f_lasti >= 0


def _at_yield(frame):
    code = frame.f_code.co_code
    last = frame.f_lasti
    if not 0 <= last < len(code):
        return False
    if code[last] in _YIELDS and code[last] != dis.opmap.get("RESUME"):
        return True
    # A resumed frame of 3.11 and later stands at the RESUME whose argument tells why.
    return code[last] == dis.opmap.get("RESUME") and (code[last + 1] & 3) != 0


def read_locals(frame):
    # On 3.13 this is a proxy that writes through; copied in any case. Names of pytest's assertion
    # rewriting and the iterator of comprehensions are not the user's.
    values = dict(frame.f_locals)
    return ndbg_safe_repr.describe_state(
        (name, value)
        for name, value in values.items()
        if not name.startswith(("@py_", ".")) and name != "__class__"
    )


def read_arguments(frame):
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    values = dict(frame.f_locals)
    return ndbg_safe_repr.describe_state(
        (name, values[name]) for name in code.co_varnames[:count] if name in values
    )
