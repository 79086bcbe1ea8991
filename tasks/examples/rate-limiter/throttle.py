"""Limit how often clients may call a service.

Every client has a bucket of tokens. A request costs one or more tokens; the
bucket fills up again at a steady rate, but never beyond its capacity.
"""

import time


class Bucket:
    """The tokens of one client."""

    def __init__(self, rate, capacity, now):
        self.rate = rate
        self.capacity = capacity
        self.tokens = capacity
        self.updated = now

    def refill(self, now):
        """Add the tokens that came in since the last update."""
        gained = (now - self.updated) * self.rate
        self.tokens = min(self.capacity, self.tokens + gained)

    def take(self, cost, now):
        """Pay for a request. Returns false, and takes nothing, if it cannot."""
        self.refill(now)
        if cost > self.tokens:
            return False
        self.tokens -= cost
        return True

    def wait_time(self, cost, now):
        """Seconds until the bucket could pay for a request."""
        self.refill(now)
        missing = cost - self.tokens
        return max(0.0, missing / self.rate)


class Throttle:
    """Keeps one bucket for each client."""

    def __init__(self, rate, capacity, clock=time.monotonic):
        if rate <= 0 or capacity <= 0:
            raise ValueError("rate and capacity must be positive")
        self.rate = rate
        self.capacity = capacity
        self._clock = clock
        self._buckets = {}

    def allow(self, client, cost=1):
        """Return whether a client may make a request now, and count it."""
        if cost > self.capacity:
            raise ValueError("no bucket can ever pay for this request")
        now = self._clock()
        return self._bucket(client, now).take(cost, now)

    def retry_after(self, client, cost=1):
        """Seconds a client should wait before the next request."""
        now = self._clock()
        return self._bucket(client, now).wait_time(cost, now)

    def forget_idle(self):
        """Drop the buckets that are full again; return how many were dropped."""
        now = self._clock()
        idle = []
        for client, bucket in self._buckets.items():
            bucket.refill(now)
            if bucket.tokens >= bucket.capacity:
                idle.append(client)
        for client in idle:
            del self._buckets[client]
        return len(idle)

    def _bucket(self, client, now):
        if client not in self._buckets:
            self._buckets[client] = Bucket(self.rate, self.capacity, now)
        return self._buckets[client]
