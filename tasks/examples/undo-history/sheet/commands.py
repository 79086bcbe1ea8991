"""Edits that can be taken back.

A command is applied to a sheet once and keeps what it needs to restore the
state from before. Commands that the sheet refuses raise ``SheetError`` and
leave the sheet as it was.
"""

from sheet.model import SheetError


class SetCell:
    """Write a value into a cell."""

    def __init__(self, name, value):
        self.name = name
        self.value = value
        self._before = None

    @property
    def label(self):
        return f"set {self.name}"

    def apply(self, sheet):
        if sheet.is_locked(self.name):
            raise SheetError(f"{self.name} is locked")
        self._before = sheet.value(self.name)
        sheet.put(self.name, self.value)

    def revert(self, sheet):
        sheet.put(self.name, self._before)


class ClearCell(SetCell):
    """Empty a cell."""

    def __init__(self, name):
        super().__init__(name, None)

    @property
    def label(self):
        return f"clear {self.name}"


class RenameSheet:
    """Change the title of the sheet."""

    label = "rename"

    def __init__(self, title):
        self.title = title
        self._before = ""

    def apply(self, sheet):
        if not self.title.strip():
            raise SheetError("a sheet needs a title")
        self._before = sheet.title
        sheet.title = self.title.strip()

    def revert(self, sheet):
        sheet.title = self._before
