from datetime import date

import pytest

from billing import Invoice, Subscription, add_months


@pytest.mark.parametrize(
    "start, months, expected",
    [
        (date(2023, 11, 30), 1, date(2023, 12, 30)),
        (date(2023, 12, 31), 0, date(2023, 12, 31)),
        (date(2023, 12, 31), 12, date(2024, 12, 31)),
        (date(2022, 12, 1), 36, date(2025, 12, 1)),
        (date(2022, 1, 1), 11, date(2022, 12, 1)),
        (date(2022, 1, 1), 23, date(2023, 12, 1)),
        (date(2022, 10, 31), 14, date(2023, 12, 31)),
        (date(2022, 12, 31), 1, date(2023, 1, 31)),
        (date(2022, 12, 31), 2, date(2023, 2, 28)),
        (date(2024, 2, 29), 10, date(2024, 12, 29)),
        (date(2024, 2, 29), 12, date(2025, 2, 28)),
        (date(2024, 3, 31), -3, date(2023, 12, 31)),
        (date(2024, 3, 31), -1, date(2024, 2, 29)),
        (date(2024, 1, 15), -1, date(2023, 12, 15)),
    ],
)
def test_add_months(start, months, expected):
    assert add_months(start, months) == expected


@pytest.mark.parametrize("month", range(1, 13))
def test_all_months_follow_each_other(month):
    day = date(2020, month, 1)
    for step in range(60):
        later = add_months(day, step)
        assert (later.year - 2020) * 12 + later.month - month == step
        assert later.day == 1


def test_invoices_over_the_turn_of_the_year():
    plan = Subscription(date(2023, 10, 31), cents=100)
    assert plan.invoices(4) == [
        Invoice(1, date(2023, 10, 31), date(2023, 11, 29), 100),
        Invoice(2, date(2023, 11, 30), date(2023, 12, 30), 100),
        Invoice(3, date(2023, 12, 31), date(2024, 1, 30), 100),
        Invoice(4, date(2024, 1, 31), date(2024, 2, 28), 100),
    ]


def test_yearly_plan_that_starts_in_december():
    plan = Subscription(date(2020, 12, 24), cents=100, period=12)
    assert [i.first for i in plan.invoices(3)] == [
        date(2020, 12, 24),
        date(2021, 12, 24),
        date(2022, 12, 24),
    ]


def test_next_billing_in_december():
    plan = Subscription(date(2022, 5, 10), cents=100)
    assert plan.next_billing(date(2022, 11, 10)) == date(2022, 12, 10)
    assert plan.next_billing(date(2022, 12, 9)) == date(2022, 12, 10)
    assert plan.next_billing(date(2022, 12, 10)) == date(2023, 1, 10)


def test_period_of_over_years():
    plan = Subscription(date(2020, 1, 31), cents=100)
    assert plan.period_of(date(2020, 12, 31)) == 11
    assert plan.period_of(date(2021, 1, 30)) == 11
    assert plan.period_of(date(2023, 1, 31)) == 36
