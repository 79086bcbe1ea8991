"""Date arithmetic in whole months."""

import calendar
from datetime import date


def days_in_month(year, month):
    """Return the number of days of a month.

    >>> days_in_month(2024, 2)
    29
    """
    return calendar.monthrange(year, month)[1]


def add_months(day, months):
    """Return the date a number of months later.

    A day that the resulting month does not have becomes its last day.

    >>> add_months(date(2023, 1, 31), 1)
    datetime.date(2023, 2, 28)
    """
    year = day.year + (day.month + months) // 12
    month = (day.month + months) % 12
    return date(year, month, min(day.day, days_in_month(year, month)))


def last_day_before(day):
    """Return the day before a date.

    >>> last_day_before(date(2023, 3, 1))
    datetime.date(2023, 2, 28)
    """
    return date.fromordinal(day.toordinal() - 1)
