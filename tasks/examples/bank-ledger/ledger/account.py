"""A single account."""

from datetime import date
from typing import NamedTuple

from ledger.limits import MonthlyLimits


class InsufficientFunds(Exception):
    """Raised when an account does not hold enough money."""


class Entry(NamedTuple):
    """A line of the account: deposits are positive, expenses negative."""

    day: date
    category: str
    cents: int


class Account:
    """An account that cannot be overdrawn. Amounts are whole cents."""

    currency = "EUR"
    limits = MonthlyLimits()

    def __init__(self, owner):
        self.owner = owner
        self.entries = []

    @property
    def balance(self):
        """The money in the account."""
        return sum(entry.cents for entry in self.entries)

    def deposit(self, day, cents, category="deposit"):
        """Put money into the account."""
        if cents <= 0:
            raise ValueError("a deposit must be positive")
        self.entries.append(Entry(day, category, cents))

    def spend(self, day, cents, category):
        """Take money out, within the balance and the limit of the category."""
        if cents <= 0:
            raise ValueError("an expense must be positive")
        if cents > self.balance:
            raise InsufficientFunds(f"{self.owner} has only {self.balance}")
        self.limits.check(category, self.spent(category, day), cents)
        self.entries.append(Entry(day, category, -cents))

    def spent(self, category, day):
        """Return what was spent on a category in the month of ``day``."""
        return -sum(
            entry.cents
            for entry in self.entries
            if entry.category == category
            and entry.cents < 0
            and (entry.day.year, entry.day.month) == (day.year, day.month)
        )
