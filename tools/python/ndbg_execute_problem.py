"""What cannot be done, and whose fault it is.

PYTEST_DONT_REWRITE: this is no test code.
"""


def near(name, known, count=3, likeness=0.5):
    """What may have been meant."""
    try:
        # Lazily: most runs have no problem, and a file of the user's may have that name.
        import difflib

        return difflib.get_close_matches(name, list(known), count, likeness)
    except Exception:
        return []


class Problem(Exception):
    """What a user did wrong: `kind`, a text, and what may have been meant."""

    def __init__(self, kind, text, near=()):
        super().__init__(text)
        self.kind = kind
        self.near = [str(name) for name in near]
