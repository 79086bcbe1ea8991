"""A queue of jobs that are retried when they fail.

The scheduler has no clock of its own: every method that depends on the time
takes ``now`` in seconds, so that it can be driven by any loop.
"""

import heapq
import itertools

from backoff import Policy, delay_after


class Job:
    """A callable with the history of its attempts."""

    def __init__(self, name, action):
        self.name = name
        self.action = action
        self.attempts = 0
        self.last_error = None

    def __repr__(self):
        return f"Job({self.name!r}, attempts={self.attempts})"


class Scheduler:
    """Runs jobs when they are due and plans the retries."""

    def __init__(self, policy=None):
        self.policy = policy or Policy()
        self.finished = []
        self.dead = []
        self._queue = []
        self._order = itertools.count()

    def add(self, name, action, at=0.0):
        """Queue a job for its first attempt at the time ``at``."""
        job = Job(name, action)
        self._push(at, job)
        return job

    def next_due(self):
        """Time of the earliest queued attempt, or ``None`` if there is none."""
        return self._queue[0][0] if self._queue else None

    def run_due(self, now):
        """Run every job that is due and return how many were run."""
        count = 0
        while self._queue and self._queue[0][0] <= now:
            _, _, job = heapq.heappop(self._queue)
            self._attempt(job, now)
            count += 1
        return count

    def _attempt(self, job, now):
        job.attempts += 1
        try:
            job.action()
        except Exception as error:
            job.last_error = error
            self._plan_retry(job, now)
        else:
            self.finished.append(job.name)

    def _plan_retry(self, job, now):
        policy = self.policy
        if job.attempts >= policy.max_attempts:
            self.dead.append(job.name)
            return
        wait = delay_after(policy.base, job.attempts, policy.factor, policy.limit)
        self._push(now + wait, job)

    def _push(self, at, job):
        heapq.heappush(self._queue, (at, next(self._order), job))
