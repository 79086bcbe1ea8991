"""The plugin object that writes the records of one pytest session.

Details of failures are read where the test ran and travel on the report object as JSON text, so
that reports of xdist workers arrive complete.

PYTEST_DONT_REWRITE: this is no test code.
"""

import json
import os
import sys
import time

import pytest

import ndbg_failure
from ndbg_records import clip

# Attributes on report objects; plain text, so that xdist can send them.
DETAIL = "_ndbg_detail"
COLLECTED_SUFFIX = ".collected."


class DetailReader:
    """Attaches details to failed reports in the process that runs the tests."""

    def __init__(self, settings, roots):
        self._repr_limit = settings.repr_limit
        self._reader = ndbg_failure.FailureReader(settings, roots)
        self._compared = None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._compared = None
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, op, left, right):
        # Text at once: holding on to the objects would keep them alive and show later states.
        frame = sys._getframe(1)
        while frame is not None and _is_hook_machinery(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            where = (frame.f_code.co_filename, frame.f_code.co_firstlineno)
            assertion = ndbg_failure.comparison(op, left, right, self._repr_limit)
            self._compared = (where, assertion)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if report is None or report.outcome == "passed":
            return
        # Skipped by xfail, or a rerun: no failure, but the reason is worth telling.
        if call.excinfo is not None and (
            report.outcome != "skipped" or hasattr(report, "wasxfail")
        ):
            self._attach(report, call.excinfo)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        outcome = yield
        report = outcome.get_result()
        call = getattr(report, "call", None)
        if not report.failed or call is None or call.excinfo is None:
            return
        error = call.excinfo.value
        # pytest wraps import and syntax errors into its own CollectError.
        if type(error).__name__ == "CollectError" and error.__cause__ is not None:
            error = error.__cause__
        detail = self._attach(report, error)
        path = getattr(collector, "path", None) or getattr(collector, "fspath", None)
        detail["file"] = os.path.abspath(str(path)) if path else None
        if isinstance(error, SyntaxError) and error.filename:
            place = {"file": os.path.abspath(error.filename), "line": error.lineno or 0}
            detail["frames"].append(dict(place, func="<module>"))
        setattr(report, DETAIL, json.dumps(detail))

    def _attach(self, report, raised):
        error = getattr(raised, "value", raised)
        try:
            detail = self._reader.read(error, error.__traceback__, self._compared)
        except Exception as trouble:
            detail = {"exc": ndbg_failure.exception(error), "frames": [], "assertion": None}
            detail["detail_error"] = f"{type(trouble).__name__}: {trouble}"
        setattr(report, DETAIL, json.dumps(detail))
        return detail


def _is_hook_machinery(name):
    return "pluggy" in name or os.sep + "_pytest" + os.sep in name or name == __file__


def detail_of(report):
    """The attached detail, or what can be told without one."""
    text = getattr(report, DETAIL, None)
    if text is not None:
        return json.loads(text)
    longrepr = getattr(report, "longrepr", None)
    message = str(longrepr) if longrepr is not None else ""
    # A strict xpass, a crashed worker, a subtest summary: no exception was raised in a test.
    exc = {"type": "Failed", "message": clip(message, ndbg_failure.MAX_MESSAGE)}
    return {"exc": exc, "frames": [], "assertion": None}


def collected_fields(session, selection):
    """The fields of the `collected` record."""
    items = session.items
    return {
        "ids": [item.nodeid for item in items],
        "all": selection.all,
        "locations": {item.nodeid: list(item.location) for item in items},
        "doctest": [item.nodeid for item in items if type(item).__name__ == "DoctestItem"],
    }


class Reporter:
    """Writes records. In an xdist session this is the controller, which runs no test itself."""

    def __init__(self, settings, records, selection, roots):
        self._settings = settings
        self._records = records
        self._selection = selection
        self._roots = roots
        self._began = time.monotonic()
        self._collected = None
        self._ran = set()
        self._failed = set()
        self._stopped = False

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        self._start(config)
        outcome = yield
        if outcome.excinfo is not None:
            # A usage error, say a test file that does not exist. No finish record: the session
            # is not complete.
            error = outcome.excinfo[1]
            self._records.emit("internal", message=clip(f"{type(error).__name__}: {error}", 4000))
        result = outcome.get_result()
        self._records.emit(
            "finish",
            exit=int(result) if result is not None else 0,
            collected=self._collected or 0,
            ran=len(self._ran),
            failed=len(self._failed),
            stopped=self._stopped,
            seconds=round(time.monotonic() - self._began, 3),
        )

    def _start(self, config):
        plugins = []
        for _, dist in config.pluginmanager.list_plugin_distinfo():
            name = getattr(dist, "project_name", None) or dist.metadata["Name"]
            if name not in plugins:
                plugins.append(name)
        params = getattr(config, "invocation_params", None)
        inipath = getattr(config, "inipath", None) or getattr(config, "inifile", None)
        self._records.emit(
            "start",
            pid=os.getpid(),
            python="{}.{}.{}".format(*sys.version_info[:3]),
            pytest=pytest.__version__,
            rootdir=str(getattr(config, "rootpath", None) or config.rootdir),
            invocation_dir=str(params.dir if params is not None else os.getcwd()),
            inipath=str(inipath) if inipath else None,
            plugins=plugins,
            testpaths=[str(path) for path in config.getini("testpaths")],
            args=[str(argument) for argument in config.args],
        )

    def pytest_collection_finish(self, session):
        if session.config.pluginmanager.hasplugin("dsession"):
            return
        self._emit_collected(collected_fields(session, self._selection))

    def _emit_collected(self, fields):
        if self._collected is None:
            self._collected = len(fields["ids"])
            self._records.emit("collected", **fields)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        # All workers collect the same; one of them tells.
        path = self._settings.results + COLLECTED_SUFFIX + str(node.gateway.id)
        try:
            with open(path, "rb") as file:
                fields = json.loads(file.read().decode("utf-8"))
            os.unlink(path)
        except (OSError, ValueError):
            # A worker on another machine.
            fields = {"ids": list(ids), "all": list(ids), "locations": {}, "doctest": []}
        self._emit_collected(fields)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        settings = self._settings
        node.workerinput["ndbg"] = json.dumps(
            {
                "select": settings.select,
                "roots": settings.roots,
                "repr_limit": settings.repr_limit,
                "memory_limit": settings.memory_limit,
                "neutral": settings.neutral,
                "results": settings.results,
            }
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report):
        if not report.failed:
            return
        detail = detail_of(report)
        self._records.emit(
            "collect_error",
            id=report.nodeid,
            file=detail.pop("file", None),
            longrepr=clip(_longrepr(report), self._settings.output_limit),
            **detail,
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        self._ran.add(report.nodeid)
        subtest = hasattr(report, "context") and type(report).__name__.lower() == "subtestreport"
        outcome = report.outcome
        if subtest and outcome != "failed":
            # The enclosing test has a report of its own.
            return
        fields = {
            "id": report.nodeid,
            "when": report.when,
            "outcome": outcome,
            "xfail": hasattr(report, "wasxfail"),
            "duration": round(report.duration, 6),
        }
        if subtest:
            fields["subtest"] = clip(str(report.head_line), 300)
        if outcome == "failed" or outcome not in ("passed", "skipped"):
            fields.update(detail_of(report))
            fields["longrepr"] = clip(_longrepr(report), self._settings.output_limit)
            fields["output"] = clip(_output(report), self._settings.output_limit)
        elif outcome == "skipped" and getattr(report, DETAIL, None) is not None:
            fields["exc"] = detail_of(report)["exc"]
        if outcome == "failed":
            self._failed.add(report.nodeid)
        # pytest-rerunfailures reports attempts that it is going to repeat with an outcome of its
        # own; they are not the result of the test.
        kind = "report" if outcome in ("passed", "failed", "skipped") else "rerun"
        self._records.emit(kind, **fields)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid):
        limit = self._settings.time_limit
        if limit is not None and not self._stopped and time.monotonic() - self._began > limit:
            self._stop()

    def pytest_sessionstart(self, session):
        self._session = session

    def _stop(self):
        self._stopped = True
        reason = "time limit reached"
        self._session.shouldstop = reason
        distributed = self._session.config.pluginmanager.get_plugin("dsession")
        if distributed is not None:
            distributed.shouldstop = reason

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        self._records.emit("modules", **loaded_modules(self._settings, self._roots))

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr):
        self._records.emit("internal", message=clip(str(excrepr), self._settings.output_limit))

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo):
        name = type(excinfo.value).__name__
        self._records.emit("internal", message=f"{name}: {excinfo.value}".rstrip(": "))


def _longrepr(report):
    try:
        return report.longreprtext
    except Exception:
        return str(getattr(report, "longrepr", ""))


def _output(report):
    return "\n".join(f"--- {title} ---\n{text.rstrip()}" for title, text in report.sections if text)


def loaded_modules(settings, roots):
    """Modules of the project, and those that come from the user's other checkout instead."""
    from ndbg_paths import lies_below

    foreign_root = os.path.realpath(settings.foreign) if settings.foreign else None
    excluded = [os.path.realpath(path) for path in settings.exclude_foreign]
    foreign, loaded = [], []
    for name, module in list(sys.modules.items()):
        try:
            file = object.__getattribute__(module, "__dict__").get("__file__")
        except Exception:
            continue
        if type(file) is not str:
            continue
        below = roots.locate(file)
        if below is not None:
            loaded.append(below)
        elif foreign_root is not None and not roots.contains(file):
            real = os.path.realpath(file)
            if lies_below(real, foreign_root) and not any(lies_below(real, p) for p in excluded):
                foreign.append({"name": name, "file": real})
    return {"foreign": foreign, "loaded": sorted(set(loaded))}


class WorkerCollection:
    """In an xdist worker: leaves the collected ids where the controller finds them."""

    def __init__(self, results, selection):
        self._results = results
        self._selection = selection

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session):
        path = self._results + COLLECTED_SUFFIX + session.config.workerinput["workerid"]
        try:
            with open(path, "wb") as file:
                file.write(json.dumps(collected_fields(session, self._selection)).encode("utf-8"))
        except OSError:
            pass
