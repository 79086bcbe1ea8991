"""Plugin object that records a test run into a raw stream.

PYTEST_DONT_REWRITE: this is no test code.
"""

import sys

import pytest

import ndbg_trace
import ndbg_trace_stream
from ndbg_trace_filter import Filter

# Plugins that the neutral settings silence, and what a person should know about it.
_SILENCED = {
    "timeout": "pytest-timeout is switched off: recording slows tests down",
    "pytest_timeout": "pytest-timeout is switched off: recording slows tests down",
    "pytest_cov": "pytest-cov is switched off: it needs the trace hook too",
    "xdist": "pytest-xdist is switched off: recording needs one process",
}
_DEADLINES = "hypothesis runs without deadlines: recording slows tests down"


class TraceRecording:
    """Records from the first test to the last, with boundaries between them and their phases."""

    def __init__(self, settings, roots, records, plugins):
        self._records = records
        self._neutral = settings.neutral
        self._stream = ndbg_trace_stream.TraceStream(settings.trace_out, "tests")
        self._tracer = ndbg_trace.Tracer(
            self._stream,
            Filter(roots, settings.trace_files, settings.trace_functions),
            states=settings.trace_states,
            lines=settings.trace_lines,
            max_events=settings.trace_max_events,
        )
        for name, message in _SILENCED.items():
            if settings.neutral and plugins.has_plugin(name):
                self._note(message)

    def _note(self, message):
        self._stream.note(message)
        self._records.note(message)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session):
        if self._neutral and "hypothesis" in sys.modules:
            self._note(_DEADLINES)
        ndbg_trace_stream.write_before_termination(self._stream)
        self._tracer.start()
        yield
        self._stream.end(self._tracer.stop("error" if session.testsfailed else "normal"))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._tracer.rearm()
        self._stream.boundary("test", item.nodeid)
        yield
        self._tracer.rearm()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self):
        self._phase("setup")
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self):
        self._phase("call")
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self):
        self._phase("teardown")
        yield

    def _phase(self, name):
        self._tracer.rearm()
        self._stream.boundary("phase", name)

    def pytest_unconfigure(self):
        # Nothing to record, or an interrupt: the stream ends all the same.
        self._stream.end(self._tracer.stop())
