"""How far a run is, and the learning rate that belongs there: warm-up, constant, linear decay to
zero.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """What a run may use; the first that is spent ends it. `None` is without limit."""

    seconds: float | None = None
    tokens: int | None = None
    steps: int | None = None

    def progress(self, seconds, tokens, steps):
        """Share that is used up, from 0 to 1."""
        shares = [
            used / limit
            for used, limit in (
                (seconds, self.seconds),
                (tokens, self.tokens),
                (steps, self.steps),
            )
            if limit is not None
        ]
        return min(1.0, max(shares, default=math.nan))


def rate_factor(progress, steps, warmup, decay):
    """Factor of the learning rates: `warmup` steps up, down to zero over the last share `decay`."""
    rise = min(1.0, (steps + 1) / warmup) if warmup else 1.0
    fall = min(1.0, (1.0 - progress) / decay) if decay else 1.0
    return rise * max(0.0, fall)
