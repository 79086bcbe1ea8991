"""Subscriptions and their invoices."""

from typing import NamedTuple

from billing.dates import add_months, last_day_before


class Invoice(NamedTuple):
    """A bill for the days from ``first`` to ``last``, both included."""

    number: int
    first: object
    last: object
    cents: int


class Subscription:
    """A plan that is paid every ``period`` months from its start on.

    The price holds for one period. With ``free_periods`` the first periods
    are billed with an amount of zero.
    """

    def __init__(self, start, cents, period=1, free_periods=0):
        if period < 1:
            raise ValueError("a period has at least one month")
        self.start = start
        self.cents = cents
        self.period = period
        self.free_periods = free_periods

    def period_start(self, index):
        """Return the first day of a period, counted from 0.

        It is always computed from the start of the subscription, so that
        short months do not move the later billing days.
        """
        return add_months(self.start, index * self.period)

    def invoices(self, count):
        """Return the first ``count`` invoices."""
        return [self._invoice(index) for index in range(count)]

    def period_of(self, day):
        """Return the index of the period that a day belongs to."""
        if day < self.start:
            raise ValueError("the subscription has not started yet")
        index = 0
        while self.period_start(index + 1) <= day:
            index += 1
        return index

    def next_billing(self, day):
        """Return the first billing date after a day."""
        if day < self.start:
            return self.start
        return self.period_start(self.period_of(day) + 1)

    def _invoice(self, index):
        return Invoice(
            number=index + 1,
            first=self.period_start(index),
            last=last_day_before(self.period_start(index + 1)),
            cents=0 if index < self.free_periods else self.cents,
        )
