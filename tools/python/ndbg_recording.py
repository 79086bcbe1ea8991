"""Plugin objects that switch the recorders at the borders of tests.

PYTEST_DONT_REWRITE: this is no test code.
"""

import pytest

import ndbg_recorder
import ndbg_values


class SpectrumRecording:
    """One `cov` record a test, and one with an empty id for what ran during collection."""

    def __init__(self, roots, records):
        self._records = records
        self._recorder = ndbg_recorder.SpectrumRecorder(roots, records.note)

    def start(self):
        self._recorder.start()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self):
        self._emit("")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._recorder.switch()
        yield
        self._emit(item.nodeid)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self):
        self._recorder.rearm()
        yield
        self._recorder.rearm()

    def _emit(self, nodeid):
        files, truncated = self._recorder.switch()
        fields = {"truncated": True} if truncated else {}
        self._records.emit("cov", id=nodeid, files=files, **fields)

    def pytest_unconfigure(self):
        self._recorder.stop()


class ValueRecording:
    def __init__(self, settings, roots, records):
        self._recorder = ndbg_values.ValueRecorder(settings, roots, records.emit, records.note)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._recorder.start(item.nodeid)
        yield
        self._recorder.stop()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self):
        self._recorder.rearm()
        yield
        self._recorder.rearm()
