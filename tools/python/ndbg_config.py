"""Settings of one pytest process, read from the JSON file that NDBG_CONFIG names.

PYTEST_DONT_REWRITE: this is no test code.
"""

import json
import os

ENVIRONMENT_VARIABLE = "NDBG_CONFIG"

MODES = ("run", "collect", "spectrum", "values", "trace", "serve")

DEFAULTS = {
    "mode": "run",
    "results": None,
    "token": "",
    "select": None,
    "roots": [],
    "foreign": None,
    "exclude_foreign": [],
    "trace": {},
    "trace_out": None,
    "trace_files": None,
    "trace_functions": None,
    "trace_states": True,
    "trace_lines": True,
    "trace_max_events": 1_000_000,
    "neutral": None,
    "memory_limit": None,
    "repr_limit": 2000,
    "output_limit": 4000,
    "max_hits": 4,
    "calls_only": False,
    "time_limit": None,
    "stage": "collected",
    "jobs": 1,
    "overlay": {},
}


class Settings:
    """The configuration, with defaults for every key that the file leaves out."""

    def __init__(self, values, folder=None):
        for name, default in DEFAULTS.items():
            value = values.get(name)
            setattr(self, name, default if value is None else value)
        if self.mode not in MODES:
            raise ValueError(f"unknown mode {self.mode!r}")
        if self.mode == "trace" and not self.trace_out:
            raise ValueError("mode trace needs trace_out")
        if self.neutral is None:
            # Recording and screening make no sense beside plugins that trace, reorder or rerun.
            self.neutral = self.mode in ("spectrum", "values", "trace", "serve")
        # Where temporary things may go: the caller owns this folder and cleans it up.
        self.folder = folder

    @property
    def single_process(self):
        """Whether xdist has to be off even when the project asks for it.

        Recorders and the warm runner live in one process, and an overlay cannot reach a worker
        before the worker has imported its conftest files.
        """
        return (
            self.neutral
            or self.mode in ("spectrum", "values", "trace", "serve")
            or bool(self.overlay)
        )


def take():
    """Read the settings and forget where they came from; None when the plugin is to be inert."""
    # Removed from the environment so that neither the code under test nor a pytest process that
    # it starts can find the file, write records or become a second runner.
    path = os.environ.pop(ENVIRONMENT_VARIABLE, None)
    if not path:
        return None
    with open(path, "rb") as file:
        values = json.loads(file.read().decode("utf-8"))
    try:
        # It holds the token of the records: code under test must not find it either.
        os.unlink(path)
    except OSError:
        pass
    return Settings(values, os.path.dirname(os.path.abspath(path)))
