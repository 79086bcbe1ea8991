"""The forked child that tries one candidate: applies the patch, runs tests, streams results.

PYTEST_DONT_REWRITE: this is no test code.
"""

import os
import random
import sys
import warnings

import pytest

import ndbg_overlay
import ndbg_process
import ndbg_reporting
from ndbg_records import encode, write_all
from ndbg_source import Invalid, apply_edits, syntax_error
from ndbg_swap import Cold

MAX_MESSAGE = 300
MAX_SIDE = 300
FAILING = ("failed", "error")


class Candidate:
    """State of the child. The server process holds none of this."""

    def __init__(self, request, out):
        self._must = request.must
        self._keep = request.keep
        self._out = out
        self._pid = os.getpid()
        self._reported = set()
        # Of the test that is running: the worst outcome so far, and the failure that made it.
        self._outcome = None
        self._failure = None
        # Why a test that was asked for may be missing.
        self.trouble = None
        # Looks at places of the program, where that was asked for.
        self._probe = request.probe

    # What the server is told

    def send(self, message):
        if os.getpid() != self._pid:
            # A test forked, and its child came back through pytest. It is not this candidate.
            os._exit(1)
        try:
            write_all(self._out, encode(message))
        except OSError:
            # The code under test closed the pipe: nothing can be told any more.
            os._exit(1)

    def finish(self, status="done", reason=None):
        if self._probe is not None and status == "done":
            self.send({"probe": self._probe.conclude()})
        self.send({"end": status, "reason": reason})
        os._exit(0)

    def _send_result(self, nodeid, outcome, exc=None, message=None, sides=None):
        self._reported.add(nodeid)
        self.send({"r": [nodeid, outcome, exc, message, sides]})

    def _send_missing(self, nodeid):
        exc, message = self.trouble or ("NotCollected", "not collected")
        self._send_result(nodeid, "error", exc, message[:MAX_MESSAGE])

    # The patch

    def watch(self):
        if self._probe is not None:
            self._probe.install()

    def swap(self, plan):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                plan.apply()
            except Cold as reason:
                self.finish("cold", str(reason))
            except Invalid as reason:
                self.finish("invalid", str(reason))
            except (RecursionError, MemoryError) as error:
                self.finish("invalid", type(error).__name__)

    def overlay(self, patches, purge):
        files = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path, data, edits in patches:
                new = apply_edits(data, edits)
                trouble = syntax_error(new, path)
                if trouble is not None:
                    self.finish("invalid", trouble)
                if new == data:
                    continue
                files[os.path.realpath(path)] = new
        if not files:
            self.finish("invalid", "no effect")
        for name in purge:
            sys.modules.pop(name, None)
        ndbg_overlay.install(files)

    # The tests

    def run(self, session):
        """Run what was asked for and end the process."""
        by_id = {}
        for item in session.items:
            by_id.setdefault(item.nodeid, []).append(item)
        must, keep = set(self._must), set(self._keep) - set(self._must)
        # In the order of the session, so that fixtures of wider scope are set up once.
        first = [item for item in session.items if item.nodeid in must]
        second = [item for item in session.items if item.nodeid in keep]
        good = True
        for nodeid in self._must:
            if nodeid not in by_id:
                self._send_missing(nodeid)
                good = False
        for index, item in enumerate(first):
            following = first[index + 1] if index + 1 < len(first) else None
            if following is None and second and good:
                following = second[0]
            # A patch that makes a failing test skip itself has repaired nothing.
            good = self._run_item(item, following) == "passed" and good
        if good:
            for nodeid in self._keep:
                if nodeid not in by_id:
                    self._send_missing(nodeid)
                    good = False
        if good:
            for index, item in enumerate(second):
                following = second[index + 1] if index + 1 < len(second) else None
                if self._run_item(item, following) in FAILING:
                    break
        self._tear_down(session)
        self.finish()

    def _run_item(self, item, following):
        self._outcome, self._failure = None, None
        if self._probe is not None:
            self._probe.begin(item.nodeid)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException as error:
            # KeyboardInterrupt, pytest.exit, or pytest itself failed.
            name = type(error).__name__
            self._send_result(item.nodeid, "error", name, str(error)[:MAX_MESSAGE])
            self.finish()
        outcome = self._outcome or "error"
        self._send_result(item.nodeid, outcome, *(self._failure or (None, None, None)))
        return outcome

    def note_report(self, report):
        """One phase of the running test ended."""
        if report.failed:
            detail = ndbg_reporting.detail_of(report)
            outcome = "failed" if report.when == "call" else "error"
            if self._outcome not in FAILING:
                self._outcome = outcome
                assertion = detail.get("assertion")
                self._failure = (
                    detail["exc"]["type"],
                    detail["exc"]["message"][:MAX_MESSAGE],
                    [assertion["left"][:MAX_SIDE], assertion["right"][:MAX_SIDE]]
                    if assertion
                    else None,
                )
        elif report.skipped:
            self._outcome = self._outcome or "skipped"
        elif report.when == "call":
            self._outcome = self._outcome or "passed"

    def note_collect_error(self, report):
        if self.trouble is None:
            exc = ndbg_reporting.detail_of(report)["exc"]
            self.trouble = (exc["type"], exc["message"])

    def _tear_down(self, session):
        """After an early stop: session fixtures may have started servers or locked files."""
        state = session._setupstate
        try:
            if hasattr(state, "teardown_all"):
                state.teardown_all()
            else:
                state.teardown_exact(None)
        except BaseException:
            # The results are known already; what lives on is killed by the server.
            pass

    def give_up(self, error):
        """pytest ended without running the tests (usage error, crash in a hook)."""
        if self.trouble is None:
            self.trouble = (type(error).__name__ if error else "NoTests", str(error or "")[:300])
        for nodeid in self._must:
            if nodeid not in self._reported:
                self._send_missing(nodeid)
        self.finish()


def become_child(settings, close):
    """Make the forked process harmless: own session, limits, no input, no output."""
    os.setsid()
    for fd in close:
        try:
            os.close(fd)
        except OSError:
            pass
    ndbg_process.die_with_parent()
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)
    faulthandler = sys.modules.get("faulthandler")
    if faulthandler is not None:
        # It has a copy of the server's stderr.
        faulthandler.disable()
    ndbg_process.limit_memory(settings.memory_limit)
    ndbg_process.limit_file_size()
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        try:
            numpy.random.seed(0)
        except Exception:
            pass


class CandidateHooks:
    """Hooks that listen in the child; silent in the server."""

    def __init__(self):
        self.candidate = None
        self.collect_errors = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        if self.candidate is not None:
            self.candidate.note_report(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report):
        if not report.failed:
            return
        if self.candidate is not None:
            self.candidate.note_collect_error(report)
        else:
            self.collect_errors.append(dict(ndbg_reporting.detail_of(report), id=report.nodeid))
