"""Household accounts with entries, transfers and spending limits."""

from ledger.account import Account, Entry, InsufficientFunds
from ledger.bank import Bank
from ledger.limits import LimitExceeded, MonthlyLimits

__all__ = [
    "Account",
    "Bank",
    "Entry",
    "InsufficientFunds",
    "LimitExceeded",
    "MonthlyLimits",
]
