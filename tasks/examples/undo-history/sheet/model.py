"""The document that is edited."""


class SheetError(Exception):
    """Raised for edits that the sheet does not accept."""


class Sheet:
    """Named cells with values, some of them locked against changes."""

    def __init__(self, title="Untitled"):
        self.title = title
        self._cells = {}
        self._locked = set()

    def value(self, name):
        """Return the value of a cell, ``None`` for empty cells."""
        return self._cells.get(name)

    def lock(self, name):
        """Refuse all further changes of a cell."""
        self._locked.add(name)

    def is_locked(self, name):
        return name in self._locked

    def put(self, name, value):
        """Write a cell; the value ``None`` empties it."""
        if value is None:
            self._cells.pop(name, None)
        else:
            self._cells[name] = value

    def filled(self):
        """Return the names of the cells with a value, sorted."""
        return sorted(self._cells)
