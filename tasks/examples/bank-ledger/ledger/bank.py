"""All accounts of a household."""

from ledger.account import Account


class Bank:
    """Opens accounts and moves money between them."""

    def __init__(self):
        self._accounts = {}

    def open(self, owner, limits=None):
        """Open an account with limits given as ``{category: cents}``."""
        if owner in self._accounts:
            raise ValueError(f"{owner} has an account already")
        account = Account(owner)
        for category, cents in (limits or {}).items():
            account.limits.set(category, cents)
        self._accounts[owner] = account
        return account

    def account(self, owner):
        """Return the account of an owner."""
        return self._accounts[owner]

    def transfer(self, day, source, target, cents):
        """Move money from one owner's account to another's."""
        receiver = self.account(target)
        self.account(source).spend(day, cents, "transfer")
        receiver.deposit(day, cents, "transfer")

    def total(self):
        """Return the money in all accounts together."""
        return sum(account.balance for account in self._accounts.values())
