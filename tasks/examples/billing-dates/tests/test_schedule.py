from datetime import date

import pytest

from billing import Invoice, Subscription


def test_first_invoices():
    plan = Subscription(date(2023, 1, 31), cents=990, free_periods=1)
    assert plan.invoices(2) == [
        Invoice(1, date(2023, 1, 31), date(2023, 2, 27), 0),
        Invoice(2, date(2023, 2, 28), date(2023, 3, 30), 990),
    ]


def test_quarterly_plan():
    plan = Subscription(date(2023, 3, 1), cents=2500, period=3)
    starts = [invoice.first for invoice in plan.invoices(4)]
    assert starts == [
        date(2023, 3, 1),
        date(2023, 6, 1),
        date(2023, 9, 1),
        date(2023, 12, 1),
    ]


def test_next_billing():
    plan = Subscription(date(2023, 2, 10), cents=990)
    assert plan.next_billing(date(2023, 2, 1)) == date(2023, 2, 10)
    assert plan.next_billing(date(2023, 2, 10)) == date(2023, 3, 10)
    assert plan.next_billing(date(2023, 4, 9)) == date(2023, 4, 10)


def test_period_of():
    plan = Subscription(date(2023, 2, 10), cents=990, period=2)
    assert plan.period_of(date(2023, 4, 9)) == 0
    assert plan.period_of(date(2023, 4, 10)) == 1
    with pytest.raises(ValueError):
        plan.period_of(date(2023, 2, 9))


def test_period_is_positive():
    with pytest.raises(ValueError):
        Subscription(date(2023, 2, 10), cents=990, period=0)
