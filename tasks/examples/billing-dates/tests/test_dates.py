import doctest
from datetime import date

import pytest

import billing.dates
from billing import add_months, days_in_month


@pytest.mark.parametrize(
    "start, months, expected",
    [
        (date(2023, 3, 15), 1, date(2023, 4, 15)),
        (date(2023, 1, 31), 3, date(2023, 4, 30)),
        (date(2023, 11, 5), 3, date(2024, 2, 5)),
        (date(2023, 5, 1), 24, date(2025, 5, 1)),
        (date(2023, 9, 30), 3, date(2023, 12, 30)),
    ],
)
def test_add_months(start, months, expected):
    assert add_months(start, months) == expected


def test_leap_years():
    assert days_in_month(2023, 2) == 28
    assert add_months(date(2023, 12, 31), 2) == date(2024, 2, 29)


def test_documentation():
    assert doctest.testmod(billing.dates).failed == 0
