import pytest

from sheet import ClearCell, History, RenameSheet, SetCell, Sheet, SheetError


def refuse(history, command):
    with pytest.raises(SheetError):
        history.run(command)


@pytest.fixture
def history():
    history = History(Sheet("First"))
    history.run(SetCell("A1", "x"))
    history.run(SetCell("Z9", "fixed"))
    history.sheet.lock("Z9")
    return history


@pytest.mark.parametrize(
    "command", [SetCell("Z9", 1), ClearCell("Z9"), RenameSheet(""), RenameSheet("  ")]
)
def test_refused_commands_leave_no_trace(history, command):
    refuse(history, command)
    assert history.labels() == ["set Z9", "set A1"]
    assert history.sheet.value("Z9") == "fixed"
    assert history.sheet.title == "First"


@pytest.mark.parametrize("times", [1, 2, 5])
def test_undo_skips_refused_commands(history, times):
    history.run(RenameSheet("Second"))
    for _ in range(times):
        refuse(history, RenameSheet(" "))
    assert history.undo()
    assert history.sheet.title == "First"
    assert history.labels() == ["set Z9", "set A1"]


def test_only_refused_commands():
    history = History(Sheet("T"))
    refuse(history, RenameSheet(""))
    assert not history.undo()
    assert history.sheet.title == "T"
    assert history.labels() == []


def test_refused_command_is_not_redone(history):
    history.run(SetCell("B2", 2))
    refuse(history, ClearCell("Z9"))
    assert history.undo()
    assert history.redo()
    assert history.sheet.value("B2") == 2
    assert history.sheet.value("Z9") == "fixed"
    assert not history.redo()


def test_refused_commands_do_not_push_others_out():
    history = History(Sheet(), limit=2)
    history.run(SetCell("A1", 1))
    history.run(SetCell("A2", 2))
    for _ in range(3):
        refuse(history, RenameSheet(""))
    assert history.labels() == ["set A2", "set A1"]
    assert [history.undo(), history.undo(), history.undo()] == [True, True, False]
    assert history.sheet.filled() == []


def test_limit_still_counts():
    history = History(Sheet(), limit=3)
    for number in range(10):
        history.run(SetCell("A1", number))
    assert history.labels() == ["set A1"] * 3
    while history.undo():
        pass
    assert history.sheet.value("A1") == 6


def test_undo_redo_of_accepted_commands(history):
    history.run(RenameSheet(" Second "))
    history.run(ClearCell("A1"))
    history.undo()
    history.undo()
    assert (history.sheet.title, history.sheet.value("A1")) == ("First", "x")
    history.redo()
    history.redo()
    assert (history.sheet.title, history.sheet.value("A1")) == ("Second", None)
    assert history.labels() == ["clear A1", "rename", "set Z9", "set A1"]
