"""How long to wait before a failed job is tried again."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """Settings of the waiting time.

    The first retry comes after ``base`` seconds, and every further one after
    ``factor`` times the wait before it, but never after more than ``limit``.
    """

    base: float = 1.0
    factor: float = 2.0
    limit: float = 300.0
    max_attempts: int = 5


def delay_after(attempt, base, factor, limit):
    """Seconds to wait after the given failed attempt, counted from 1."""
    if attempt < 1:
        raise ValueError("attempts are counted from 1")
    return min(base * factor ** (attempt - 1), limit)


def total_wait(policy):
    """Seconds that all retries of a job take together, at most."""
    return sum(
        delay_after(attempt, policy.base, policy.factor, policy.limit)
        for attempt in range(1, policy.max_attempts)
    )
