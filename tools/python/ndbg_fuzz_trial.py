"""Calls tried in forked children: each batch has a deadline and a memory limit."""

import json
import os
import shutil
import signal
import sys
import tempfile
import time

DEADLINE = 2.0
CALL_SECONDS = 0.2
MEMORY = 512 << 20
LONGEST = 2000


class _TooSlow(BaseException):
    """A call that took too long; no `Exception`, so that handlers let it through."""


def _alarm(_signal, _frame):
    raise _TooSlow


def _confine(folder):
    """What a process can do to itself so that a mistake stays small."""
    import resource

    os.chdir(folder)
    os.setsid()
    for kind, limit in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, int(DEADLINE) + 2),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        try:
            resource.setrlimit(kind, (limit, limit))
        except (ValueError, OSError):
            pass
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    # Whoever started this process may have put objects of their own in these places.
    sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
    sys.stderr = sys.stdout
    sys.setrecursionlimit(300)

    def refuse(*_arguments, **_options):
        raise PermissionError("not in a trial")

    import socket

    for name in (
        "fork",
        "forkpty",
        "execv",
        "execve",
        "posix_spawn",
        "system",
        "kill",
        "remove",
        "unlink",
    ):
        if hasattr(os, name):
            setattr(os, name, refuse)
    socket.socket = socket.create_connection = refuse


def _covered(call, namespace, filename):
    """Lines of the source that a call reaches, or None when it does not return a plain value."""
    lines = set()

    def local(frame, event, _argument):
        if event == "line":
            lines.add(frame.f_lineno)
        return local

    def tracer(frame, _event, _argument):
        return local if frame.f_code.co_filename == filename else None

    code = compile(call, "<call>", "eval")
    signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
    sys.settrace(tracer)
    try:
        value = eval(code, namespace)
        sys.settrace(None)
        text = repr(value)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, MemoryError)):
            raise
        return None
    finally:
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_REAL, 0)
    # An object's address or a huge value is nothing that a recording can show.
    if len(text) > LONGEST or " at 0x" in text or value is NotImplemented:
        return None
    return lines


class Trials:
    """A source that calls are tried against. Use as a context manager."""

    def __init__(self, source, name):
        self.source = source
        self.name = name
        self.filename = "<fuzz>"
        self.deaths = 0
        self.problem = ""
        self.ready = False
        self._folder = None

    def __enter__(self):
        self._folder = tempfile.mkdtemp(prefix="ndbg-fuzz-")
        answer = self._child([])
        self.ready = answer is not None and answer.get("ready", False)
        if not self.ready:
            self.problem = (answer or {}).get("problem", "it died or took too long")
        return self

    def __exit__(self, *_error):
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, calls):
        """For each call the lines that it reached, or None."""
        outcomes = []
        left = list(calls)
        while left:
            answer = self._child(left)
            done = (answer or {}).get("lines", [])
            outcomes += [None if lines is None else frozenset(lines) for lines in done]
            left = left[len(done) :]
            if left:
                # The first that did not answer is to blame.
                self.deaths += 1
                outcomes.append(None)
                left = left[1:]
            if self.deaths > 5:
                return outcomes + [None] * len(left)
        return outcomes

    def _child(self, calls):
        """Forks, lets the child work, reads what it said; None when it said nothing."""
        out, back = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(out)
                self._work(calls, back)
                status = 0
            except BaseException:
                pass
            finally:
                os._exit(status)
        os.close(back)
        data = self._read(out, pid)
        answer = {}
        for line in data.splitlines():
            try:
                record = json.loads(line.decode("utf-8"))
            except ValueError:
                break
            if "lines" in record:
                answer.setdefault("lines", []).append(record["lines"])
            else:
                answer.update(record)
        return answer or None

    def _read(self, out, pid):
        import select

        parts, end = [], time.monotonic() + DEADLINE
        try:
            while True:
                left = end - time.monotonic()
                if left <= 0 or not select.select([out], [], [], left)[0]:
                    break
                part = os.read(out, 1 << 16)
                if not part:
                    break
                parts.append(part)
        finally:
            os.close(out)
            for kill, target in ((os.killpg, pid), (os.kill, pid)):
                try:
                    kill(target, signal.SIGKILL)
                except OSError:
                    pass
            os.waitpid(pid, 0)
        return b"".join(parts)

    def _work(self, calls, back):
        write = os.write
        _confine(self._folder)
        signal.signal(signal.SIGALRM, _alarm)
        namespace = {"__name__": "fuzzed", "__builtins__": __builtins__}
        try:
            exec(compile(self.source, self.filename, "exec"), namespace)
        except BaseException as error:
            problem = f"{type(error).__name__}"
            write(back, (json.dumps({"ready": False, "problem": problem}) + "\n").encode("utf-8"))
            return
        write(back, b'{"ready": true}\n')
        for call in calls:
            # Each call on a module of its own: caches and counters would tell on later ones.
            fresh = {"__name__": "fuzzed", "__builtins__": __builtins__}
            exec(compile(self.source, self.filename, "exec"), fresh)
            lines = _covered(call, fresh, self.filename)
            lines = None if lines is None else sorted(lines)
            write(back, (json.dumps({"lines": lines}) + "\n").encode("utf-8"))
