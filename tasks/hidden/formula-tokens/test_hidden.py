import pytest

from formula import FormulaError, Token, references, tokenize


@pytest.mark.parametrize(
    "formula, kind, text, position",
    [
        ("=A1", "cell", "A1", 1),
        ("B", "name", "B", 0),
        ("=TOTAL", "name", "TOTAL", 1),
        ("=$AB$12", "cell", "$AB$12", 1),
        ("=tax_rate", "name", "tax_rate", 1),
        ("=2*price", "name", "price", 3),
        ("=1-ZZZ9", "cell", "ZZZ9", 3),
        ("=1+_x", "name", "_x", 3),
        ("=1+Sheet.A", "name", "Sheet.A", 3),
    ],
)
def test_word_at_the_end(formula, kind, text, position):
    assert tokenize(formula)[-1] == Token(kind, text, position)


@pytest.mark.parametrize(
    "formula, expected",
    [
        ("=A1+B2+C3", ["A1", "B2", "C3"]),
        ("=A1:A9", ["A1", "A9"]),
        ("=$C$3", ["C3"]),
        ("=A1 ", ["A1"]),
        ("=rate*A1+rate", ["A1"]),
    ],
)
def test_references(formula, expected):
    assert references(formula) == expected


def test_words_in_the_middle_are_unchanged():
    tokens = tokenize("=MAX(B2, tax_1) / 2")
    assert [t.text for t in tokens] == ["MAX", "(", "B2", ",", "tax_1", ")", "/", "2"]
    assert [t.position for t in tokens] == [1, 4, 5, 7, 9, 14, 16, 18]


def test_underscore_and_dollar_belong_to_words():
    assert [t.text for t in tokenize("=a_b+$C4+d.e")] == [
        "a_b",
        "+",
        "$C4",
        "+",
        "d.e",
    ]


def test_empty_formula():
    assert tokenize("") == []
    assert tokenize("=") == []


def test_unknown_character_after_a_word():
    with pytest.raises(FormulaError) as caught:
        tokenize("=A1#")
    assert caught.value.position == 3
