import pytest

from sheet import ClearCell, History, RenameSheet, SetCell, Sheet, SheetError


@pytest.fixture
def history():
    return History(Sheet("Budget"))


def test_undo_restores_the_old_value(history):
    history.run(SetCell("A1", 5))
    history.run(SetCell("A1", 6))
    assert history.undo()
    assert history.sheet.value("A1") == 5


def test_undo_and_redo(history):
    history.run(SetCell("A1", 5))
    history.run(ClearCell("A1"))
    history.undo()
    assert history.sheet.filled() == ["A1"]
    history.redo()
    assert history.sheet.filled() == []
    assert not history.redo()


def test_new_command_drops_the_redo_list(history):
    history.run(SetCell("A1", 5))
    history.undo()
    history.run(RenameSheet("Plan"))
    assert not history.redo()
    assert history.labels() == ["rename"]


def test_locked_cell_cannot_be_changed(history):
    history.run(SetCell("A1", 5))
    history.sheet.lock("A1")
    with pytest.raises(SheetError, match="A1"):
        history.run(SetCell("A1", 6))
    assert history.sheet.value("A1") == 5


def test_refused_command_cannot_be_undone(history):
    history.run(SetCell("A1", 5))
    history.run(SetCell("B1", 7))
    history.sheet.lock("A1")
    with pytest.raises(SheetError):
        history.run(SetCell("A1", 6))
    history.undo()
    assert history.sheet.value("A1") == 5
    assert history.sheet.value("B1") is None


def test_limit():
    history = History(Sheet(), limit=2)
    for number in range(5):
        history.run(SetCell(f"A{number}", number))
    assert history.labels() == ["set A4", "set A3"]
    assert [history.undo() for _ in range(3)] == [True, True, False]
    assert history.sheet.filled() == ["A0", "A1", "A2"]


def test_nothing_to_undo(history):
    assert not history.undo()
    assert history.sheet.title == "Budget"
