import unittest
from datetime import date

from ledger import Account, Bank, InsufficientFunds, LimitExceeded

MAY_1 = date(2022, 5, 1)
MAY_9 = date(2022, 5, 9)
JUNE_1 = date(2022, 6, 1)


class AccountTest(unittest.TestCase):
    def setUp(self):
        self.account = Account("ann")
        self.account.deposit(MAY_1, 10000)

    def test_balance(self):
        self.account.spend(MAY_1, 2500, "food")
        self.assertEqual(self.account.balance, 7500)

    def test_cannot_be_overdrawn(self):
        with self.assertRaises(InsufficientFunds):
            self.account.spend(MAY_1, 10001, "food")

    def test_limit_of_a_month(self):
        self.account.limits.set("games", 3000)
        self.account.spend(MAY_1, 2000, "games")
        with self.assertRaises(LimitExceeded):
            self.account.spend(MAY_9, 1001, "games")
        self.account.spend(JUNE_1, 3000, "games")
        self.assertEqual(self.account.balance, 5000)

    def test_removed_limit(self):
        self.account.limits.set("books", 100)
        self.account.limits.set("books", None)
        self.account.spend(MAY_1, 2000, "books")
        self.assertEqual(self.account.spent("books", MAY_9), 2000)


class BankTest(unittest.TestCase):
    def test_transfer(self):
        bank = Bank()
        bank.open("ann").deposit(MAY_1, 500)
        bank.open("bob")
        bank.transfer(MAY_9, "ann", "bob", 200)
        self.assertEqual(bank.account("bob").balance, 200)
        self.assertEqual(bank.total(), 500)

    def test_second_account(self):
        bank = Bank()
        bank.open("ann")
        with self.assertRaises(ValueError):
            bank.open("ann")

    def test_child_with_a_limit(self):
        bank = Bank()
        parent = bank.open("parent")
        child = bank.open("child", limits={"sweets": 300})
        parent.deposit(MAY_1, 5000)
        bank.transfer(MAY_1, "parent", "child", 1000)
        child.spend(MAY_9, 300, "sweets")
        parent.spend(MAY_9, 450, "sweets")
        self.assertEqual(parent.balance, 3550)


if __name__ == "__main__":
    unittest.main()
