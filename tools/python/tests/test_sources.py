"""Byte edits and the region of a file that they touch."""

import pytest

from ndbg_source import Invalid, MalformedEdit, SourceFile, apply_edits

TEXT = b"import os\n\n\ndef f():\n    return 1\n\n\nx = 1; y = 2\n\n\n@os.name\ndef g(): pass\n"


def test_edits_apply_in_any_order_and_may_touch():
    assert apply_edits(b"abcdef", [(4, 6, b"X"), (0, 1, b""), (1, 1, b"-")]) == b"-bcdX"


@pytest.mark.parametrize("edits", [[(2, 1, b"")], [(0, 9, b"")], [(0, 3, b""), (2, 4, b"")]])
def test_bad_ranges_are_refused(edits):
    with pytest.raises(MalformedEdit):
        apply_edits(b"abcdef", edits)


@pytest.mark.parametrize(
    ("place", "names"),
    [
        (b"return 1", ["FunctionDef"]),
        (b"y = 2", ["Assign", "Assign"]),
        (b"def g", ["FunctionDef"]),
        (b"os.name", ["FunctionDef"]),
    ],
)
def test_the_region_is_the_statements_around_an_edit(place, names):
    source = SourceFile("m.py", TEXT)
    start = TEXT.index(place)
    region = source.region([(start, start + len(place), b"")])
    assert [type(node).__name__ for node in source.old_statements(region)] == names


def test_text_in_front_of_a_statement_may_belong_to_the_one_before():
    source = SourceFile("m.py", TEXT)
    start = TEXT.index(b"x = 1")
    region = source.region([(start, start, b"    # more\n")])
    assert len(source.old_statements(region)) == 3


def test_line_numbers_are_those_of_the_file():
    source = SourceFile("m.py", TEXT)
    start = TEXT.index(b"return 1")
    edits = [(start, start + 8, b"return 2")]
    statements, code = source.new_region(source.region(edits), edits)
    assert statements[0].lineno == 4
    assert 4 in [one.co_firstlineno for one in code.co_consts if hasattr(one, "co_firstlineno")]


def test_syntax_errors_name_the_line():
    source = SourceFile("m.py", TEXT)
    start = TEXT.index(b"return 1")
    edits = [(start, start + 8, b"return )")]
    with pytest.raises(Invalid, match="line 5"):
        source.new_region(source.region(edits), edits)
