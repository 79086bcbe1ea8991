"""Adding expenses up."""

from decimal import Decimal


def monthly_totals(expenses):
    """Return ``{"YYYY-MM": {category: total}}`` for a list of expenses."""
    totals = {}
    for expense in expenses:
        month = totals.setdefault(expense.day.strftime("%Y-%m"), {})
        month[expense.category] = (
            month.get(expense.category, Decimal(0)) + expense.amount
        )
    return totals


def largest_category(expenses):
    """Return the category with the highest sum, or ``None`` without expenses."""
    sums = {}
    for expense in expenses:
        sums[expense.category] = sums.get(expense.category, Decimal(0)) + expense.amount
    if not sums:
        return None
    return max(sorted(sums), key=sums.get)
