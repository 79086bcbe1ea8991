"""Entry of the pytest plugin: `python -m pytest -p ndbg_pytest_plugin` with NDBG_CONFIG set.

Without NDBG_CONFIG the plugin does nothing, except in xdist workers, which get what they need
from the controller.

PYTEST_DONT_REWRITE: this is no test code.
"""

import json

import pytest

import ndbg_config
import ndbg_process
from ndbg_paths import Roots

_settings = ndbg_config.take()
_runner = None
_report_trouble = None

if _settings is not None:
    if _settings.mode == "serve":
        import ndbg_runner

        # At import, before pytest captures or anything prints: the protocol keeps the original
        # standard input and output for itself.
        _runner = ndbg_runner.Runner(_settings)
    else:
        ndbg_process.limit_memory(_settings.memory_limit)
    if _settings.overlay:
        import ndbg_overlay

        ndbg_overlay.install_encoded(_settings.overlay)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config):
    if _settings is not None:
        _register(early_config)
    outcome = yield
    if outcome.excinfo is not None and _report_trouble is not None:
        # A conftest that cannot be imported: pytest ends without another hook.
        _report_trouble(describe_trouble(outcome.excinfo[1]))


def describe_trouble(error):
    """Exception and, for a conftest, the one that it raised."""
    inner = getattr(error, "cause", None) or error.__cause__
    lines = [f"{type(error).__name__}: {error}"]
    if isinstance(inner, BaseException) and type(inner).__name__ not in lines[0]:
        lines.append(f"{type(inner).__name__}: {inner}")
    return "\n".join(lines)[:4000]


def _register(config):
    """Register the objects that do the work; the order here is from the inside out."""
    global _report_trouble
    settings, manager = _settings, config.pluginmanager
    roots = Roots(settings.roots)
    if settings.mode == "serve":
        _runner.register(config, roots)
        _report_trouble = _runner.report_trouble
    else:
        _report_trouble = _register_reporting(config, settings, roots)
    if settings.single_process:
        import ndbg_neutral

        neutralizer = ndbg_neutral.Neutralizer(settings)
        neutralizer.before_conftests(config)
        manager.register(neutralizer, "ndbg_neutral")
        if _runner is not None:
            _runner.at_exit = neutralizer.remove_cache


def _register_reporting(config, settings, roots):
    import ndbg_records
    import ndbg_reporting
    import ndbg_selection

    manager = config.pluginmanager
    records = ndbg_records.Records(settings.results, settings.token)
    selection = ndbg_selection.Selection(settings.select)
    manager.register(selection, "ndbg_selection")
    manager.register(ndbg_reporting.DetailReader(settings, roots), "ndbg_details")
    manager.register(ndbg_reporting.Reporter(settings, records, selection, roots), "ndbg_reporter")
    if settings.mode in ("spectrum", "values"):
        import ndbg_recording

        if settings.mode == "spectrum":
            recording = ndbg_recording.SpectrumRecording(roots, records)
            recording.start()
        else:
            recording = ndbg_recording.ValueRecording(settings, roots, records)
        manager.register(recording, "ndbg_recording")
    elif settings.mode == "trace":
        import ndbg_trace_tests

        recording = ndbg_trace_tests.TraceRecording(settings, roots, records, manager)
        manager.register(recording, "ndbg_recording")
    return lambda message: records.emit("internal", message=message)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    worker = getattr(config, "workerinput", None)
    if _settings is not None or worker is None or "ndbg" not in worker:
        return
    import ndbg_reporting
    import ndbg_selection

    settings = ndbg_config.Settings(json.loads(worker["ndbg"]))
    ndbg_process.limit_memory(settings.memory_limit)
    manager = config.pluginmanager
    selection = ndbg_selection.Selection(settings.select)
    manager.register(selection, "ndbg_selection")
    manager.register(ndbg_reporting.DetailReader(settings, Roots(settings.roots)), "ndbg_details")
    manager.register(ndbg_reporting.WorkerCollection(settings.results, selection), "ndbg_worker")
