"""Switches off, without unknown-option errors, the plugins that disturb screening.

Options are changed after parsing instead of passing `-p no:…`, which would turn the project's own
`addopts = -n auto` into a usage error.

PYTEST_DONT_REWRITE: this is no test code.
"""

import os
import shutil
import sys
import tempfile

import pytest

SEED = 20240229

# Plugins whose hooks act on markers and ini settings too, so that options cannot silence them.
_UNREGISTERED = ("rerunfailures", "pytest_rerunfailures", "timeout", "pytest_timeout", "flaky")

# Option -> neutral value; set only where the option exists.
_NEUTRAL_OPTIONS = {
    "no_cov": True,
    "cov_source": None,
    "cov_fail_under": None,
    "randomly_reorganize": False,
    "randomly_seed": SEED,
    "random_order": False,
    "random_order_bucket": None,
    "reruns": None,
    "force_reruns": None,
    "timeout": None,
    "session_timeout": None,
    "maxfail": 0,
    "lf": False,
    "failedfirst": False,
    "newfirst": False,
    "stepwise": False,
    "stepwise_skip": False,
    "stepwise_reset": False,
    "usepdb": False,
    "trace": False,
    "forked": False,
    # Reports that would be written into the checkout.
    "xmlpath": None,
    "htmlpath": None,
}
_SINGLE_PROCESS_OPTIONS = {
    "numprocesses": None,
    "maxprocesses": None,
    "dist": "no",
    "distload": False,
    "tx": [],
    "looponfail": False,
}


class Neutralizer:
    """A plugin object; `full` also stops what is not about processes."""

    def __init__(self, settings):
        self._full = settings.neutral
        self._single = settings.single_process
        self._folder = settings.folder
        self._cache = None

    def before_conftests(self, config):
        """Act on the early namespace: pytest-cov starts coverage while conftests are loaded."""
        self._set_options(config.known_args_namespace)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        # Outermost, so before xdist turns `-n` into workers.
        self._set_options(config.option)
        if self._full:
            self._redirect_cache(config)
        yield
        self.remove_cache()

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config):
        if not self._full:
            return
        # Only now: their own pytest_configure has registered the markers that --strict-markers
        # wants to see.
        for name in _UNREGISTERED:
            plugin = config.pluginmanager.get_plugin(name)
            if plugin is not None:
                config.pluginmanager.unregister(plugin)
        _calm_hypothesis_profile()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        if self._full:
            _calm_hypothesis_profile()
            for item in items:
                _calm_hypothesis_item(item)
        yield

    def _set_options(self, options):
        changes = dict(_SINGLE_PROCESS_OPTIONS) if self._single else {}
        if self._full:
            changes.update(_NEUTRAL_OPTIONS)
        for name, value in changes.items():
            if hasattr(options, name):
                setattr(options, name, list(value) if isinstance(value, list) else value)

    def _redirect_cache(self, config):
        """Send `.pytest_cache` to a temporary folder: the project's stays as the user left it."""
        cached_ini = getattr(config, "_inicache", None)
        if cached_ini is None or self._folder is None:
            return
        try:
            self._cache = tempfile.mkdtemp(prefix="ndbg-cache-", dir=self._folder)
        except OSError:
            return
        cached_ini["cache_dir"] = os.path.join(self._cache, "cache")
        # Hypothesis stores more than its database: without this `.hypothesis` appears.
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(self._cache, "hypothesis")

    def remove_cache(self):
        if self._cache is not None:
            shutil.rmtree(self._cache, ignore_errors=True)
            self._cache = None


def _calm(settings):
    return type(settings)(settings, deadline=None, derandomize=True, database=None)


def _calm_hypothesis_profile():
    hypothesis = sys.modules.get("hypothesis")
    # Not imported on purpose: that costs more than most test runs.
    if hypothesis is None or not hasattr(hypothesis, "settings"):
        return
    try:
        settings = hypothesis.settings
        settings.register_profile("ndbg", _calm(settings.default))
        settings.load_profile("ndbg")
    except Exception:
        # An old hypothesis with other settings: deadlines stay, which errs towards failure.
        pass


def _calm_hypothesis_item(item):
    """Settings are bound to a test when it is decorated, so the profile comes too late for it."""
    hypothesis = sys.modules.get("hypothesis")
    if hypothesis is None:
        return
    function = getattr(item, "obj", None)
    function = getattr(function, "__func__", function)
    holder, name = function, "_hypothesis_internal_use_settings"
    settings = getattr(holder, "__dict__", {}).get(name)
    if settings is None:
        # A state machine's TestCase.
        holder, name = getattr(item, "cls", None), "settings"
        settings = getattr(holder, "__dict__", {}).get(name)
    try:
        if isinstance(settings, hypothesis.settings):
            setattr(holder, name, _calm(settings))
    except Exception:
        pass
