"""Keeps only the selected tests, by exact node id.

The command line cannot do it: parametrised ids may hold brackets, spaces and `::`.

PYTEST_DONT_REWRITE: this is no test code.
"""

import pytest


class Selection:
    """Filters the items and remembers what was there before."""

    def __init__(self, wanted):
        self._wanted = None if wanted is None else frozenset(wanted)
        self.all = []

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        # Outermost: after every plugin that adds, drops or reorders items.
        yield
        self.all = [item.nodeid for item in items]
        if self._wanted is None:
            return
        left_out = [item for item in items if item.nodeid not in self._wanted]
        if left_out:
            items[:] = [item for item in items if item.nodeid in self._wanted]
            config.hook.pytest_deselected(items=left_out)
