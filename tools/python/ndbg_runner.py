"""The warm runner: a pytest process that forks once per candidate.

Requests come in and responses go out as JSON lines over private copies of the original standard
input and output; tests see neither.

PYTEST_DONT_REWRITE: this is no test code.
"""

import base64
import collections
import gc
import json
import os
import selectors
import signal
import sys
import time
import warnings

import pytest

import ndbg_angelic
import ndbg_candidate
import ndbg_foresee
import ndbg_process
import ndbg_reimport
import ndbg_reporting
import ndbg_selection
from ndbg_records import encode, write_all
from ndbg_source import MalformedEdit, apply_edits
from ndbg_swap import CallLog, Cold, Swapper

DEFAULT_DEADLINE_MS = 10000


class Malformed(Exception):
    """A request that does not say what it has to."""


class Request:
    """A validated request."""

    def __init__(self, message):
        if not isinstance(message, dict) or not isinstance(message.get("id"), (int, str)):
            raise Malformed("a request is an object with an id")
        self.id = message["id"]
        self.must = _ids(message, "must")
        self.keep = _ids(message, "keep")
        self.how = message.get("how", "auto")
        if self.how not in ("auto", "swap", "reimport"):
            raise Malformed(f"unknown how {self.how!r}")
        deadline = message.get("deadline_ms", DEFAULT_DEADLINE_MS)
        if isinstance(deadline, bool) or not isinstance(deadline, (int, float)) or deadline <= 0:
            raise Malformed("deadline_ms is a positive number")
        self.seconds = deadline / 1000
        self.patches = [_patch(patch) for patch in message.get("patches") or []]
        probe = message.get("probe")
        try:
            self.probe = None if probe is None else _probe(probe, self.must)
        except (TypeError, ValueError) as error:
            raise Malformed(f"bad probe: {error}") from None


def _ids(message, key):
    ids = message.get(key) or []
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise Malformed(f"{key} is a list of node ids")
    return ids


def _probe(message, must):
    if isinstance(message, dict) and message.get("mode") == "foresee":
        return ndbg_foresee.Foresight(message)
    return ndbg_angelic.Probe(message, must)


def _patch(patch):
    try:
        path = patch["file"]
        edits = [
            (int(start), int(end), base64.b64decode(text, validate=True))
            for start, end, text in patch["edits"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise Malformed(f"bad patch: {type(error).__name__}: {error}") from None
    if not isinstance(path, str) or not os.path.isabs(path):
        raise Malformed("the file of a patch is an absolute path")
    return path, edits


class _Running:
    """A child at work, as the server sees it."""

    def __init__(self, request, how, pid, pipe, began):
        self.request = request
        self.how = how
        self.pid = pid
        self.pipe = pipe
        self.began = began
        self.deadline = began + request.seconds
        self.buffer = b""
        self.results = []
        self.end = None
        self.probe = None
        self.killed = False


class Runner:
    """Created when the plugin is imported, before pytest touches the standard streams."""

    def __init__(self, settings):
        self._settings = settings
        self._began = time.monotonic()
        self._commands = _private_copy(0)
        self._responses = _private_copy(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        # Whatever pytest and the tests print goes where errors go.
        os.dup2(2, 1)
        ndbg_process.adopt_orphans()
        ndbg_process.leave_when_orphaned()
        self.at_exit = lambda: None
        self._config = None
        self._roots = None
        self._log = None
        self._swapper = None
        self._hooks = ndbg_candidate.CandidateHooks()
        self._selector = None
        self._input = b""
        self._queue = collections.deque()
        self._running = {}
        self._files = {}

    # Into pytest

    def register(self, config, roots):
        self._roots = roots
        # Nobody reads the formatted traceback of a candidate, and formatting one costs several
        # times what running a small test does.
        config.option.tbstyle = "value"
        manager = config.pluginmanager
        manager.register(ndbg_reporting.DetailReader(self._settings, roots), "ndbg_details")
        manager.register(self._hooks, "ndbg_candidate")
        manager.register(self, "ndbg_runner")
        if self._settings.select is not None:
            selection = ndbg_selection.Selection(self._settings.select)
            manager.register(selection, "ndbg_selection")
        if self._settings.stage == "collected":
            self._log = CallLog(roots)
            self._log.start()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        self._config = config
        if self._settings.stage == "configured":
            self._serve(None)
        outcome = yield
        candidate = self._hooks.candidate
        if candidate is not None:
            # A candidate whose tests ran never comes back here.
            try:
                outcome.get_result()
                candidate.give_up(None)
            except BaseException as error:
                candidate.give_up(error)
        elif outcome.excinfo is not None:
            error = outcome.excinfo[1]
            self.report_trouble(f"{type(error).__name__}: {error}")
        self.at_exit()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        if self._hooks.candidate is not None:
            self._hooks.candidate.run(session)
        else:
            self._serve(session)
        return True

    def report_trouble(self, message):
        """pytest ended before it could serve."""
        self._respond({"t": "internal", "message": message[-4000:]})

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr, excinfo):
        if self._hooks.candidate is None:
            self.report_trouble(str(excrepr))
        elif self._hooks.candidate.trouble is None:
            self._hooks.candidate.trouble = (excinfo.typename, str(excinfo.value))

    # The server

    def _serve(self, session):
        """Serve until the commands end; returns only in a candidate that pytest has to run."""
        if self._log is not None:
            self._log.stop()
        _stop_capturing(self._config)
        if session is not None:
            self._swapper = Swapper(self._roots, self._log)
        self._session = session
        self._respond(
            {
                "t": "ready",
                "stage": self._settings.stage,
                "ids": [item.nodeid for item in session.items] if session is not None else [],
                "errors": self._hooks.collect_errors,
                "pid": os.getpid(),
                "ms": self._elapsed_ms(self._began),
            }
        )
        self._settled = frozenset(ndbg_process.children())
        self._selector = selectors.DefaultSelector()
        os.set_blocking(self._commands, False)
        self._selector.register(self._commands, selectors.EVENT_READ, None)
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._old_handler = signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        # Children share these pages for as long as their collector leaves them alone.
        gc.collect()
        gc.freeze()
        try:
            while self._hooks.candidate is None:
                self._start_queued()
                if self._hooks.candidate is None:
                    self._wait()
        except BaseException:
            if self._hooks.candidate is None:
                self._leave(1)
            raise

    def _start_queued(self):
        while self._queue and len(self._running) < max(1, self._settings.jobs):
            self._start(self._queue.popleft())
            if self._hooks.candidate is not None:
                return

    def _wait(self):
        timeout = None
        if self._running:
            soonest = min(child.deadline for child in self._running.values())
            timeout = max(0.0, soonest - time.monotonic())
        for key, _ in self._selector.select(timeout):
            if key.fileobj == self._commands:
                self._read_commands()
            elif key.fileobj == self._wake_read:
                _drain(self._wake_read)
            elif key.data in self._running:
                self._read_child(self._running[key.data])
        now = time.monotonic()
        for child in list(self._running.values()):
            if now >= child.deadline and child.end is None:
                child.killed = True
                ndbg_process.kill_group(child.pid)
            self._check_ended(child)

    def _read_commands(self):
        try:
            data = os.read(self._commands, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._leave(0)
        self._input += data
        if b"\n" not in data:
            return
        *lines, self._input = self._input.split(b"\n")
        for line in lines:
            if line.strip():
                self._command(line)

    def _command(self, line):
        number = None
        try:
            message = json.loads(line.decode("utf-8"))
            if isinstance(message, dict):
                if message.get("quit"):
                    self._leave(0)
                if isinstance(message.get("id"), (int, str)):
                    number = message["id"]
            self._queue.append(Request(message))
        except (Malformed, ValueError, RecursionError) as error:
            self._respond({"t": "error", "id": number, "reason": str(error)})

    def _start(self, request):
        began = time.monotonic()
        how = "none"
        plan = purge = None
        patches = []
        try:
            patches = [(path, self._file(path), edits) for path, edits in request.patches]
            for path, data, edits in patches:
                apply_edits(data, edits)
                if self._roots.locate(path) is None:
                    raise Cold("the file is not below a root")
            if patches and self._session is not None:
                how = "swap"
                if request.how == "reimport":
                    raise Cold("modules are imported already in this stage")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    plan = self._swapper.plan(patches, request.how == "swap")
            elif patches:
                how = "reimport"
                if request.how == "swap":
                    raise Cold("nothing is imported yet in this stage")
                purge = ndbg_reimport.modules_to_forget(
                    self._config, self._roots, [path for path, _, _ in patches]
                )
        except MalformedEdit as error:
            self._respond({"t": "error", "id": request.id, "reason": str(error)})
            return
        except OSError as error:
            self._respond({"t": "error", "id": request.id, "reason": f"{error}"})
            return
        except Cold as reason:
            self._answer(request, "cold", how, str(reason), [], began)
            return
        pid, read_end = self._fork(request)
        if pid:
            child = _Running(request, how, pid, read_end, began)
            self._running[pid] = child
            self._selector.register(read_end, selectors.EVENT_READ, pid)
            return
        candidate = self._hooks.candidate
        try:
            candidate.watch()
            if plan is not None:
                candidate.swap(plan)
            elif how == "reimport":
                candidate.overlay(patches, purge)
            if self._session is not None:
                candidate.run(self._session)
        except BaseException as error:
            candidate.give_up(error)

    def _file(self, path):
        if path not in self._files:
            with open(path, "rb") as file:
                self._files[path] = file.read()
        return self._files[path]

    def _fork(self, request):
        """Returns (pid, read end) in the server and (0, None) in the candidate."""
        read_end, write_end = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        with warnings.catch_warnings():
            # Threads that collection left behind: the child may hang, which its deadline ends.
            warnings.simplefilter("ignore")
            pid = os.fork()
        if pid:
            os.close(write_end)
            os.set_blocking(read_end, False)
            return pid, read_end
        # Set first: an exception from here on must never return into the server's loop.
        self._hooks.candidate = ndbg_candidate.Candidate(request, write_end)
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, self._old_handler or signal.SIG_DFL)
            self._selector.close()
            close = [self._commands, self._responses, self._wake_read, self._wake_write, read_end]
            close.extend(child.pipe for child in self._running.values())
            ndbg_candidate.become_child(self._settings, close)
        except BaseException as error:
            self._hooks.candidate.give_up(error)
        return 0, None

    def _read_child(self, child):
        while True:
            try:
                data = os.read(child.pipe, 1 << 16)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self._unregister(child)
                break
            child.buffer += data
        *lines, child.buffer = child.buffer.split(b"\n")
        for line in lines:
            try:
                message = json.loads(line.decode("utf-8"))
            except ValueError:
                continue
            if "r" in message:
                child.results.append(message["r"])
            elif "probe" in message:
                child.probe = message["probe"]
            elif "end" in message:
                child.end = message

    def _unregister(self, child):
        try:
            self._selector.unregister(child.pipe)
        except (KeyError, ValueError):
            pass

    def _check_ended(self, child):
        """Answer for a child that is dead, or that said everything and only has to die."""
        if child.end is None:
            if not ndbg_process.has_ended(child.pid):
                return
            self._read_child(child)
        ndbg_process.kill_group(child.pid)
        status = ndbg_process.reap(child.pid)
        self._unregister(child)
        os.close(child.pipe)
        del self._running[child.pid]
        ndbg_process.kill_strays(self._settled | set(self._running))
        if child.end is not None:
            state, reason = child.end["end"], child.end.get("reason")
        elif child.killed:
            state, reason = "timeout", None
        else:
            state, reason = "crash", _death(status)
        self._answer(
            child.request, state, child.how, reason, child.results, child.began, child.probe
        )

    def _answer(self, request, status, how, reason, results, began, probe=None):
        answer = {
            "t": "result",
            "id": request.id,
            "status": status,
            "how": how,
            "reason": reason,
            "results": results,
            "ms": self._elapsed_ms(began),
        }
        if probe is not None:
            answer["probe"] = probe
        self._respond(answer)

    def _elapsed_ms(self, began):
        return round((time.monotonic() - began) * 1000, 1)

    def _respond(self, message):
        try:
            write_all(self._responses, encode(message))
        except OSError:
            self._leave(0)

    def _leave(self, code):
        for pid in list(self._running):
            ndbg_process.kill_group(pid)
        # Including what collection started: nobody is left to use it.
        ndbg_process.kill_strays(frozenset())
        self.at_exit()
        os._exit(code)


def _private_copy(fd):
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)


def _drain(fd):
    try:
        while os.read(fd, 4096):
            pass
    except BlockingIOError:
        pass


def _death(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"signal {signal.Signals(number).name}"
        except ValueError:
            return f"signal {number}"
    return f"exit code {os.WEXITSTATUS(status)}"


def _stop_capturing(config):
    """Captured output goes to one temporary file that all children would share and fill."""
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is None:
        return
    stdin = sys.stdin
    capture.stop_global_capturing()
    capture._method = "no"
    capture.start_global_capturing()
    if type(stdin).__name__ == "DontReadFromInput":
        # Reading input in a test stays the error that it is under capturing.
        sys.stdin = stdin
