"""What a call passes: outcomes of conditions, and how near each came to the other one.

PYTEST_DONT_REWRITE: this is no test code.
"""

import sys

import ndbg_execute_distance as distance


class Measure:
    """`raised` is what a condition of the user's raised, if it did at each visit."""

    def __init__(self):
        self.near = {}
        self.hit = set()
        self.raised = None
        self._asked = False

    def reset(self):
        self.near.clear()
        self.hit.clear()
        self.raised = None
        self._asked = False

    def names(self):
        near, hit = self.near, self.hit

        def condition(number, measured):
            value, to_true, to_false = distance.settled(measured)
            truthy = bool(value)
            hit.add(2 * number + truthy)
            far = to_false if truthy else to_true
            key = 2 * number + (not truthy)
            if far < near.get(key, 2.0):
                near[key] = far
            return truthy

        def mark(number):
            hit.add(2 * number + 1)

        parts = {}

        def part(number, measured):
            parts.setdefault(number, []).append(measured[1:])
            return measured[0]

        def join(number, is_and, count, value):
            asked = parts.pop(number)[-count:]
            if not is_and:
                asked = [(to_false, to_true) for to_true, to_false in asked]
            return distance.joined(is_and, count, asked, value)

        def where(number, measured):
            try:
                value, to_true, _ = distance.settled(measured())
                self._asked, self.raised = True, None
            except Exception as error:
                if isinstance(error, RecursionError) and sys.version_info < (3, 10):
                    raise
                value, to_true = False, 1.0
                if not self._asked:
                    self.raised = error
            if value:
                hit.add(2 * number + 1)
            else:
                key = 2 * number + 1
                near[key] = min(near.get(key, 2.0), to_true)

        return {
            "_ndbg_b": condition,
            "_ndbg_m": mark,
            "_ndbg_w": where,
            "_ndbg_v": distance.truth,
            "_ndbg_c": distance.compared,
            "_ndbg_s": distance.called,
            "_ndbg_not": distance.negated,
            "_ndbg_p": part,
            "_ndbg_j": join,
        }

    def far(self, ways):
        """The distance of the nearest way."""
        return min([self._far(mark, chain) for mark, chain in ways], default=None)

    def _far(self, mark, chain):
        hit = self.hit
        if 2 * mark + 1 in hit:
            return 0.0
        links = [2 * number + outcome for number, outcome in chain] + [2 * mark + 1]
        met = max([at for at, link in enumerate(links) if link in hit], default=-1)
        missing = len(links) - met - 2
        return missing + min(self.near.get(links[met + 1], 1.0), 1.0)
