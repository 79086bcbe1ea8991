"""What is drawn by chance is drawn alike in all calls of a process, so that a search can go on from
what it saw. Processes that verify draw otherwise, each in its own way.

PYTEST_DONT_REWRITE: this is no test code.
"""

import os
import sys


class Chance:
    """`reset` before each call."""

    def __init__(self, number):
        self._number = number
        self._held = {}

    def reset(self):
        for name, seeding in _SEEDED:
            module = sys.modules.get(name)
            if module is None:
                continue
            held = self._held.get(name)
            if held is None or held[0] is not module:
                # Looked up once: calls may exchange what the module holds.
                held = self._held[name] = (module, seeding(module))
            if held[1] is not None:
                held[1](self._number)


def _of_random(module):
    # A file of the user may have that name.
    inner = getattr(module, "_inst", None)
    return module.seed if type(inner).__module__ == "random" and inner is not None else None


def _of_numpy(module):
    return getattr(module, "seed", None)


_SEEDED = (("random", _of_random), ("numpy.random", _of_numpy))


def shift_ids(number):
    """Numbers of processes follow each other: what depends on them shall not see a pattern."""
    for _ in range(number % 3):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
