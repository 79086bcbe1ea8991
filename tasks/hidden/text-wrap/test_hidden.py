import pytest

from reflow import reflow, wrap_words


@pytest.mark.parametrize(
    "text, width, expected",
    [
        ("aa bb", 5, ["aa bb"]),
        ("aa bb", 4, ["aa", "bb"]),
        ("aa bb", 6, ["aa bb"]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 13, ["one two three"]),
        ("one two three", 12, ["one two", "three"]),
        ("a b c d e", 3, ["a b", "c d", "e"]),
        ("a b c d e", 1, ["a", "b", "c", "d", "e"]),
        ("a b c d e", 2, ["a", "b", "c", "d", "e"]),
        ("abc", 3, ["abc"]),
        ("abcd ef", 3, ["abcd", "ef"]),
    ],
)
def test_lines_are_filled_up_to_the_width(text, width, expected):
    assert wrap_words(text.split(), width) == expected


@pytest.mark.parametrize("width", range(9, 40))
def test_greedy_filling(width):
    text = "the quick reply was sent back over a slow and noisy line"
    words = text.split()
    lines = wrap_words(words, width)
    assert " ".join(lines).split() == words
    assert all(len(line) <= width for line in lines)
    for line, following in zip(lines, lines[1:]):
        assert len(line) + 1 + len(following.split()[0]) > width


def test_list_item_counts_its_lead():
    assert wrap_words(["ab", "cd", "ef"], 7, "- ") == ["- ab cd", "  ef"]
    assert wrap_words(["ab", "cd", "ef"], 6, "* ") == ["* ab", "  cd", "  ef"]


def test_no_words():
    assert wrap_words([], 10) == [""]
    assert wrap_words([], 10, "- ") == ["-"]


def test_reflow_keeps_paragraphs_apart():
    assert reflow("aa bb cc\n\n* dd ee ff", 5) == "aa bb\ncc\n\n* dd\n  ee\n  ff"
