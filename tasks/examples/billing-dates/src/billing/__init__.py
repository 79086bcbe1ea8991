"""When subscriptions are billed, and for which days."""

from billing.dates import add_months, days_in_month
from billing.schedule import Invoice, Subscription

__all__ = ["Invoice", "Subscription", "add_months", "days_in_month"]
