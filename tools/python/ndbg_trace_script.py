"""Records a script: `python ndbg_trace_script.py CONFIG.json`.

The script runs as `python script.py args…` would run it. CONFIG.json:

    {"script": path, "args": [word…], "out": path of the raw stream, "roots": [folder…],
     "files": [glob…] | null, "functions": [name…] | null, "states": bool, "lines": bool,
     "max_events": n, "memory_limit": bytes | null}

PYTEST_DONT_REWRITE: this is no test code.
"""

import atexit
import json
import os
import sys
import types
from importlib.machinery import SourceFileLoader

import ndbg_process
import ndbg_trace
import ndbg_trace_stream
from ndbg_paths import Roots
from ndbg_trace_filter import Filter

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Run:
    """One script, from reading the configuration to the end of the interpreter."""

    def __init__(self, config):
        self._script = config["script"]
        self._arguments = list(config.get("args") or ())
        folder = os.path.dirname(os.path.realpath(self._script))
        self._folder = folder
        # Since 3.9 the name of the main file is absolute.
        self._name = self._script
        if sys.version_info >= (3, 9):
            self._name = os.path.abspath(self._script)
        roots = Roots(config.get("roots") or [folder])
        wanted = Filter(roots, config.get("files"), config.get("functions"), modules=True)
        self._ended = None
        self._stream = ndbg_trace_stream.TraceStream(
            config["out"], "script", [self._script, *self._arguments]
        )
        self._tracer = ndbg_trace.Tracer(
            self._stream,
            wanted,
            states=config.get("states", True),
            lines=config.get("lines", True),
            max_events=config.get("max_events") or 1_000_000,
        )
        # Registered first, so called last: the script's own functions are recorded, and so are the
        # threads that outlive its main one.
        atexit.register(self._finish)

        ndbg_process.limit_memory(config.get("memory_limit"))

    def run(self):
        module = types.ModuleType("__main__")
        module.__dict__.update(
            __file__=self._name,
            __builtins__=sys.modules["builtins"],
            __loader__=SourceFileLoader("__main__", self._name),
            __annotations__={},
        )
        if sys.version_info < (3, 15):
            module.__cached__ = None
        sys.modules[os.path.splitext(os.path.basename(__file__))[0]] = sys.modules["__main__"]
        sys.modules["__main__"] = module
        sys.argv[:] = [self._script, *self._arguments]
        sys.path[0] = self._folder
        try:
            with open(self._script, "rb") as file:
                source = file.read()
            code = compile(source, self._name, "exec", dont_inherit=True)
            del source
            ndbg_trace_stream.write_before_termination(self._stream)
            self._tracer.start()
            exec(code, module.__dict__)
            self._ended = "normal"
        except SystemExit as error:
            self._ended = "normal" if error.code in (None, 0) else "error"
            raise
        except BaseException:
            self._ended = "error"
            sys.excepthook = _without_our_frames(sys.excepthook)
            raise

    def _finish(self):
        self._stream.end(self._tracer.stop(self._ended))


def _without_our_frames(hook):
    """An excepthook that shows the traceback as it is without a recorder, by way of `hook`."""

    def show(kind, error, trace):
        sys.excepthook = hook
        while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
            trace = trace.tb_next
        error.__traceback__ = sys.last_traceback = trace
        hook(kind, error, trace)

    return show


def main():
    with open(sys.argv[1], "rb") as file:
        config = json.loads(file.read().decode("utf-8"))
    Run(config).run()


if __name__ == "__main__":
    main()
