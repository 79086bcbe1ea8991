from datetime import date
from decimal import Decimal

import pytest

from expenses import Expense, monthly_totals, read_expenses
from expenses.report import largest_category

HEADER = "date,category,amount,note\n"


def test_reads_rows():
    expenses, problems = read_expenses(HEADER + "2023-04-01,Food,12.5,lunch\n")
    assert expenses == [Expense(date(2023, 4, 1), "food", Decimal("12.50"), "lunch")]
    assert problems == []


def test_reads_local_notation():
    expenses, _ = read_expenses(HEADER + '03.04.2023,rent,"1 200,00",\n')
    assert expenses[0].day == date(2023, 4, 3)
    assert expenses[0].amount == Decimal("1200.00")


def test_bad_date_is_reported():
    expenses, problems = read_expenses(HEADER + "soon,food,3,\n2023-04-02,food,4,\n")
    assert len(expenses) == 1
    assert problems[0].line == 2
    assert "soon" in problems[0].reason


def test_bad_amount_is_reported():
    text = HEADER + "2023-04-01,food,3,\n2023-04-02,food,n/a,\n2023-04-03,food,5,\n"
    expenses, problems = read_expenses(text)
    assert [e.amount for e in expenses] == [Decimal("3.00"), Decimal("5.00")]
    assert [p.line for p in problems] == [3]
    assert "n/a" in problems[0].reason


def test_negative_amount_is_reported():
    _, problems = read_expenses(HEADER + "2023-04-01,food,-3,\n")
    assert problems == [(2, "negative amount: '-3'")]


def test_missing_column():
    with pytest.raises(ValueError, match="amount"):
        read_expenses("date,category\n2023-04-01,food\n")


def test_totals():
    expenses, _ = read_expenses(
        HEADER + "2023-04-01,food,3,\n2023-04-09,food,4,\n2023-05-01,rent,9,\n"
    )
    assert monthly_totals(expenses) == {"2023-04": {"food": 7}, "2023-05": {"rent": 9}}
    assert largest_category(expenses) == "rent"
