"""A tiny spreadsheet model with undo and redo."""

from sheet.commands import ClearCell, RenameSheet, SetCell
from sheet.history import History
from sheet.model import Sheet, SheetError

__all__ = ["ClearCell", "History", "RenameSheet", "SetCell", "Sheet", "SheetError"]
