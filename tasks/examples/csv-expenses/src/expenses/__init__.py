"""Import expense lists from CSV exports and add them up."""

from expenses.reader import Expense, RowProblem, read_expenses
from expenses.report import monthly_totals

__all__ = ["Expense", "RowProblem", "monthly_totals", "read_expenses"]
