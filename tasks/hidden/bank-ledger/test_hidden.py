from datetime import date

import pytest

from ledger import Account, Bank, LimitExceeded

DAY = date(2021, 3, 10)


def rich(owner):
    account = Account(owner)
    account.deposit(DAY, 100000)
    return account


@pytest.mark.parametrize("category", ["toys", "travel", "h1"])
def test_limit_binds_only_its_account(category):
    first = rich("first")
    second = rich("second")
    first.limits.set(category, 10)
    second.spend(DAY, 5000, category)
    with pytest.raises(LimitExceeded):
        first.spend(DAY, 11, category)
    assert second.limits.get(category) is None


def test_limits_differ_between_accounts():
    accounts = [rich(f"a{i}") for i in range(4)]
    for number, account in enumerate(accounts, start=1):
        account.limits.set("h2", number * 100)
    for number, account in enumerate(accounts, start=1):
        assert account.limits.get("h2") == number * 100
        account.spend(DAY, number * 100, "h2")
        with pytest.raises(LimitExceeded):
            account.spend(DAY, 1, "h2")


def test_removing_a_limit_keeps_the_others():
    first = rich("first")
    second = rich("second")
    first.limits.set("h3", 10)
    second.limits.set("h3", 10)
    first.limits.set("h3", None)
    first.spend(DAY, 20, "h3")
    with pytest.raises(LimitExceeded):
        second.spend(DAY, 20, "h3")


def test_later_accounts_start_without_limits():
    rich("first").limits.set("h4", 10)
    later = rich("later")
    assert later.limits.get("h4") is None
    later.spend(DAY, 5000, "h4")


def test_banks_are_separate():
    one = Bank()
    two = Bank()
    one.open("kid", limits={"h5": 50})
    other = two.open("kid")
    other.deposit(DAY, 100)
    other.spend(DAY, 60, "h5")
    assert other.balance == 40
    assert one.account("kid").limits.get("h5") == 50


def test_limits_of_one_account_are_kept():
    account = rich("solo")
    limits = account.limits
    account.limits.set("h6", 70)
    account.limits.set("h7", 80)
    assert account.limits is limits
    assert (limits.get("h6"), limits.get("h7")) == (70, 80)
    account.spend(DAY, 70, "h6")
    with pytest.raises(LimitExceeded, match="h6"):
        account.spend(DAY, 1, "h6")


def test_currency_is_still_there():
    assert Account.currency == "EUR"
    assert rich("solo").currency == "EUR"
