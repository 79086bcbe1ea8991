"""Line coverage per test (the program spectrum).

One interface, two ways to hear of lines: sys.monitoring on Python 3.12 and later, where a line
that was seen costs nothing until the next test, and sys.settrace before that.

PYTEST_DONT_REWRITE: this is no test code.
"""

import sys
import threading


class SpectrumRecorder:
    """`switch(name)` begins a new set of lines and returns the one before."""

    def __init__(self, roots, note):
        self._roots = roots
        self._note = note
        self._line_source = None
        self._current = {}
        self.truncated = False

    def start(self):
        if hasattr(sys, "monitoring"):
            self._line_source = _MonitoringLines.take(self._roots)
        if self._line_source is None:
            if hasattr(sys, "monitoring"):
                self._note("every sys.monitoring tool id is taken, lines come from sys.settrace")
            self._line_source = _TracedLines(self._roots)
        self._line_source.start(self._current)

    def stop(self):
        if self._line_source is not None:
            self._line_source.stop()
            self._line_source = None

    def rearm(self):
        """Between the phases of a test: a RecursionError in traced code removes the tracer."""
        trouble = self._line_source.rearm() if self._line_source else None
        if trouble == "removed":
            self.truncated = True
        elif trouble is not None:
            self.truncated = True
            self._note(f"sys.settrace belongs to {trouble}, lines may be missing")

    def switch(self):
        """Returns ({file: sorted lines}, truncated) since the last call and starts afresh."""
        self.rearm()
        finished, self._current = self._current, {}
        truncated, self.truncated = self.truncated, False
        if self._line_source is not None:
            self._line_source.switch(self._current)
        files = {}
        # Code of one file can be known under several spellings of its name.
        for name, lines in finished.items():
            files.setdefault(self._roots.locate(name), set()).update(lines)
        # The body of an empty module runs at line 0.
        return {name: sorted(lines - {0}) for name, lines in files.items()}, truncated


class _MonitoringLines:
    """sys.monitoring: PY_START decides about a code object, LINE is on for project code only."""

    @classmethod
    def take(cls, roots):
        # 0–2 and 5 are promised to debuggers, coverage, profilers and optimizers.
        for tool in (4, 3, 5, 2):
            try:
                sys.monitoring.use_tool_id(tool, "ndbg")
            except ValueError:
                continue
            return cls(roots, tool)
        return None

    def __init__(self, roots, tool):
        self._tool = tool
        self._lines = {}
        monitoring = sys.monitoring
        disable = monitoring.DISABLE
        line_event = monitoring.events.LINE
        set_local_events = monitoring.set_local_events
        locate = roots.locate
        # Keyed by id, because hashing a code object reads all of it; kept alive by the value.
        known = self._known = {}

        def on_start(code, _offset):
            if id(code) not in known:
                known[id(code)] = code
                if locate(code.co_filename) is not None:
                    set_local_events(tool, code, line_event)
            return disable

        def on_line(code, line):
            lines = self._lines
            try:
                lines[code.co_filename].add(line)
            except KeyError:
                lines[code.co_filename] = {line}
            return disable

        self._callbacks = (on_start, on_line)

    def start(self, lines):
        self._lines = lines
        events = sys.monitoring.events
        on_start, on_line = self._callbacks
        sys.monitoring.register_callback(self._tool, events.PY_START, on_start)
        sys.monitoring.register_callback(self._tool, events.LINE, on_line)
        sys.monitoring.set_events(self._tool, events.PY_START)

    def switch(self, lines):
        self._lines = lines
        sys.monitoring.restart_events()

    def rearm(self):
        return None

    def stop(self):
        events = sys.monitoring.events
        sys.monitoring.set_events(self._tool, 0)
        for code in self._known.values():
            sys.monitoring.set_local_events(self._tool, code, 0)
        sys.monitoring.register_callback(self._tool, events.PY_START, None)
        sys.monitoring.register_callback(self._tool, events.LINE, None)
        sys.monitoring.free_tool_id(self._tool)


class _TracedLines:
    """sys.settrace: the global tracer decides once per code object, the local one notes lines."""

    def __init__(self, roots):
        self._locals = {}
        self._known = {}
        known = self._known
        locate = roots.locate
        self._lines = {}

        def on_call(frame, _event, _argument):
            code = frame.f_code
            try:
                tracer, _ = known[id(code)]
            except KeyError:
                try:
                    # One local tracer a file: it needs no look-up to know where lines go.
                    name = code.co_filename
                    tracer = self._tracer(name) if locate(name) is not None else None
                    known[id(code)] = (tracer, code)
                except Exception:
                    return None
            return tracer

        self._on_call = on_call

    def _tracer(self, name):
        if name not in self._locals:

            def on_line(_frame, event, _argument, self=self, name=name):
                if event == "line":
                    try:
                        self._lines[name].add(_frame.f_lineno)
                    except KeyError:
                        self._lines[name] = {_frame.f_lineno}
                return on_line

            self._locals[name] = on_line
        return self._locals[name]

    def start(self, lines):
        self._lines = lines
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)

    def switch(self, lines):
        self._lines = lines

    def rearm(self):
        """None when all is well; "removed", or the name of the tool that took over."""
        owner = sys.gettrace()
        if owner is self._on_call:
            return None
        if owner is None:
            sys.settrace(self._on_call)
            threading.settrace(self._on_call)
            return "removed"
        return getattr(type(owner), "__module__", "?") + "." + type(owner).__name__

    def stop(self):
        if sys.gettrace() is self._on_call:
            sys.settrace(None)
        threading.settrace(None)
