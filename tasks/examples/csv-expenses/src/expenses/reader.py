"""Reading expense rows from CSV text.

The export has the columns ``date``, ``category``, ``amount`` and optionally
``note``. One bad row must never stop the import: it is reported next to the
expenses that could be read.
"""

from __future__ import annotations

import csv
import decimal
import io
from datetime import date, datetime
from typing import NamedTuple

REQUIRED = ("date", "category", "amount")


class Expense(NamedTuple):
    """One imported expense."""

    day: date
    category: str
    amount: decimal.Decimal
    note: str = ""


class RowProblem(NamedTuple):
    """A row that was left out, and why."""

    line: int
    reason: str


def read_expenses(text: str) -> tuple[list[Expense], list[RowProblem]]:
    """Parse CSV text and return the expenses and the rows left out."""
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
    if missing:
        raise ValueError("missing columns: " + ", ".join(missing))

    expenses = []
    problems = []
    for row in reader:
        try:
            expenses.append(_parse_row(row))
        except ValueError as error:
            problems.append(RowProblem(reader.line_num, str(error)))
    return expenses, problems


def _parse_row(row):
    category = (row["category"] or "").strip().lower()
    if not category:
        raise ValueError("no category")
    return Expense(
        day=_parse_day(row["date"] or ""),
        category=category,
        amount=_parse_amount(row["amount"] or ""),
        note=(row.get("note") or "").strip(),
    )


def _parse_day(text):
    for pattern in ("%Y-%m-%d", "%d.%m.%Y"):
        try:
            return datetime.strptime(text.strip(), pattern).date()
        except ValueError:
            continue
    raise ValueError(f"not a date: {text!r}")


def _parse_amount(text):
    cleaned = text.strip().replace(" ", "").replace(",", ".")
    try:
        amount = decimal.Decimal(cleaned)
    except ValueError:
        raise ValueError(f"not an amount: {text!r}") from None
    if not amount.is_finite():
        raise ValueError(f"not a finite amount: {text!r}")
    if amount < 0:
        raise ValueError(f"negative amount: {text!r}")
    return amount.quantize(decimal.Decimal("0.01"))
