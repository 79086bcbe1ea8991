import pytest

from reflow import reflow, split_bullet, split_paragraphs, wrap_words


def test_short_text_stays_on_one_line():
    assert reflow("Hello\nworld", width=20) == "Hello world"


@pytest.mark.parametrize(
    "width, expected",
    [
        (6, ["to be", "or not", "to be"]),
        (8, ["to be or", "not to", "be"]),
        (17, ["to be or not to", "be"]),
    ],
)
def test_wrap_words(width, expected):
    assert wrap_words(["to", "be", "or", "not", "to", "be"], width) == expected


def test_long_word_gets_its_own_line():
    assert wrap_words(["a", "conversation", "b"], 5) == ["a", "conversation", "b"]


def test_list_items_are_indented():
    text = "- apples and some pears\n\n- nuts"
    assert reflow(text, width=14) == "- apples and\n  some pears\n\n- nuts"


def test_paragraphs():
    assert split_paragraphs("a\nb\n\n\n  c  \n") == ["a b", "c"]


def test_bullets():
    assert split_bullet("* item") == ("* ", "item")
    assert split_bullet("*item*") == ("", "*item*")


def test_width_must_be_positive():
    with pytest.raises(ValueError):
        reflow("text", width=0)
