from datetime import date
from decimal import Decimal

import pytest

from expenses import Expense, read_expenses

HEADER = "date,category,amount,note\n"


@pytest.mark.parametrize(
    "amount", ["abc", "", "12.3.4", "--1", "five", "1e", "$4", "nan"]
)
def test_unreadable_amounts_become_problems(amount):
    text = HEADER + f"2023-01-01,food,{amount},x\n2023-01-02,food,7,y\n"
    expenses, problems = read_expenses(text)
    assert expenses == [Expense(date(2023, 1, 2), "food", Decimal("7.00"), "y")]
    assert [p.line for p in problems] == [2]


def test_reason_names_the_amount():
    _, problems = read_expenses(HEADER + "2023-01-01,food,lots,\n")
    assert "lots" in problems[0].reason


def test_several_problems_in_order():
    text = HEADER + "2023-01-01,food,x,\nnever,food,1,\n2023-01-01,,1,\n"
    expenses, problems = read_expenses(text)
    assert expenses == []
    assert [p.line for p in problems] == [2, 3, 4]


@pytest.mark.parametrize(
    "amount, expected",
    [("3", "3.00"), ("0", "0.00"), (" 4.50 ", "4.50"), ("1000000.01", "1000000.01")],
)
def test_good_amounts_are_kept(amount, expected):
    expenses, problems = read_expenses(HEADER + f"2023-01-01,food,{amount},\n")
    assert problems == []
    assert str(expenses[0].amount) == expected


def test_negative_amounts_are_still_named_as_such():
    _, problems = read_expenses(HEADER + "2023-01-01,food,-1.5,\n")
    assert problems == [(2, "negative amount: '-1.5'")]


def test_missing_columns_still_raise():
    with pytest.raises(ValueError, match="date"):
        read_expenses("category,amount\nfood,1\n")


def test_short_row_has_no_amount():
    expenses, problems = read_expenses(HEADER + "2023-01-01,food\n")
    assert expenses == []
    assert len(problems) == 1
