"""Monthly spending limits by category."""


class LimitExceeded(Exception):
    """Raised when an expense would go over the limit of its category."""


class MonthlyLimits:
    """How much may be spent on each category within a calendar month."""

    def __init__(self):
        self._cents = {}

    def set(self, category, cents):
        """Set the limit of a category; ``None`` removes it."""
        if cents is None:
            self._cents.pop(category, None)
        else:
            self._cents[category] = cents

    def get(self, category):
        """Return the limit of a category or ``None``."""
        return self._cents.get(category)

    def check(self, category, spent, cents):
        """Raise an error if ``cents`` more than ``spent`` are too much."""
        limit = self._cents.get(category)
        if limit is not None and spent + cents > limit:
            raise LimitExceeded(f"{category}: limit {limit}, wanted {spent + cents}")
