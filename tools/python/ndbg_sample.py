"""Records many small programs in one process, for data sets: `python ndbg_sample.py CONFIG.json`.

CONFIG.json:

    {"jobs": path of a JSON-lines file, "out": path of the raw stream, "skip": jobs to leave out at
     the beginning, "deadline": seconds a program, "memory_limit": bytes of address space | null}

A job: {"id": text, "source": text, "entry": name of a function or an expression,
"args": [JSON value…], "max_events": n}. The source is compiled under the file name `<id>`. Each
program has a boundary `B function "id"` and ends with `X normal|error|never`: `never` when it ran
past its deadline or number of events. The module's body runs unrecorded.

A process that dies without `E` died of the first job without `X`: go on with "skip" behind it.

PYTEST_DONT_REWRITE: this is no test code.
"""

import builtins
import gc
import json
import os
import random
import signal
import sys
import threading

import ndbg_process
import ndbg_trace
import ndbg_trace_stream

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MAX_EVENTS = 10_000
_DEADLINE = 2.0
# How soon a program that swallowed its end, or a recorder that must not be interrupted, is asked
# again.
_AGAIN = 0.01
_PATIENCE = 300
_BUILTINS = vars(builtins)


class Ended(BaseException):
    """Ends a program from outside; no Exception, so that few programs catch it."""


class Sampler:
    def __init__(self, stream, deadline):
        self._stream = stream
        self._deadline = deadline
        self._rings = 0
        self._builtins = dict(vars(builtins))
        self._recursion_limit = sys.getrecursionlimit()
        self._environment = dict(os.environ)
        signal.signal(signal.SIGALRM, self._ring)

    def run(self, job):
        """Record one program; nothing that it does ends this process, short of a crash."""
        name = job["id"]
        file = f"<{name}>"
        stream = self._stream
        stream.boundary("function", name)
        tracer = ndbg_trace.Tracer(
            stream,
            lambda code: code.co_filename == file and code.co_name != "<module>",
            max_events=job.get("max_events") or _MAX_EVENTS,
            sources={file: job["source"]},
            when_full=Ended("too many events"),
        )
        self._rings = 0
        self._tracer = tracer
        streams = sys.stdin, sys.stdout, sys.stderr
        random.seed(0)
        with open(os.devnull) as nothing, open(os.devnull, "w") as nowhere:
            sys.stdin, sys.stdout, sys.stderr = nothing, nowhere, nowhere
            try:
                ended = self._within_deadline(job, file, tracer)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                sys.stdin, sys.stdout, sys.stderr = streams
        record = tracer.stop()
        why = record["truncated"]
        if why == "max_events" or self._rings:
            ended = "never"
        if why is None and record["dropped"]:
            why = sorted(record["dropped"])[0]
        stream.outcome(ended, why)
        stream.forget_file(file)
        stream.flush()
        self._clean_up()
        return record

    def _within_deadline(self, job, file, tracer):
        try:
            signal.setitimer(signal.ITIMER_REAL, self._deadline, _AGAIN)
            try:
                _call(job, file, tracer)
                return "normal"
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                # Before anything here needs one of them.
                names = _BUILTINS
                names.update(self._builtins)
                for name in names.keys() - self._builtins.keys():
                    del names[name]
        except Ended:
            return "never"
        except SystemExit as error:
            return "normal" if error.code in (None, 0) else "error"
        except BaseException:
            return "error"

    def _ring(self, _number, frame):
        self._rings += 1
        if self._rings > _PATIENCE:
            # It catches everything. A process without `E` tells who is to blame.
            os._exit(70)
        # Within the recorder an exception could tear a record apart.
        for _ in range(8):
            if frame is None:
                break
            name = frame.f_code.co_filename
            if name.startswith(_HERE) and frame.f_code is not _call.__code__:
                self._tracer.abort(Ended("deadline"))
                return
            if name.startswith("<"):
                break
            frame = frame.f_back
        raise Ended("deadline")

    def _clean_up(self):
        """What one program did is no concern of the next."""
        sys.setrecursionlimit(self._recursion_limit)
        if dict(os.environ) != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        if threading.active_count() > 1:
            self._stream.note("a program left threads running")
        gc.collect()


def _call(job, file, tracer):
    """Run a program: its module, then its entry under the tracer."""
    code = compile(job["source"], file, "exec", dont_inherit=True)
    scope = {"__name__": "__sample__", "__builtins__": builtins}
    exec(code, scope)
    entry = job["entry"]
    if entry.isidentifier():
        function, arguments = scope[entry], job.get("args") or ()
        tracer.start()
        function(*arguments)
    else:
        code = compile(entry, "<entry>", "eval", dont_inherit=True)
        tracer.start()
        eval(code, scope)


def main():
    with open(sys.argv[1], "rb") as file:
        config = json.loads(file.read().decode("utf-8"))
    stream = ndbg_trace_stream.TraceStream(config["out"], "functions")
    sampler = Sampler(stream, config.get("deadline") or _DEADLINE)
    ndbg_process.limit_memory(config.get("memory_limit"))
    gc.collect()
    # What is alive now is never looked at again, which makes collecting after each program cheap.
    gc.freeze()
    events = 0
    with open(config["jobs"], "rb") as jobs:
        for number, line in enumerate(jobs):
            if number >= (config.get("skip") or 0) and line.strip():
                events += sampler.run(json.loads(line.decode("utf-8")))["events"]
    stream.end(
        {
            "events": events,
            "truncated": None,
            "dropped": {},
            "exit": "normal",
            "structure": stream.structure(),
        }
    )


if __name__ == "__main__":
    main()
