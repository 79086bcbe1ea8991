import pytest

from formula import FormulaError, references, tokenize


def kinds(formula):
    return [token.kind for token in tokenize(formula)]


def test_function_call():
    assert kinds("=SUM(A1:B4)") == ["name", "open", "cell", "colon", "cell", "close"]


def test_numbers_and_operators():
    tokens = tokenize("=12.5 * (3 - .5)")
    assert [t.text for t in tokens] == ["12.5", "*", "(", "3", "-", ".5", ")"]


def test_sum_of_two_cells():
    assert kinds("=A1 + B2") == ["cell", "operator", "cell"]


def test_two_character_operators():
    tokens = tokenize('=IF(A1 <= 3, "low", "high")')
    assert "<=" in [t.text for t in tokens]


def test_strings_keep_their_quotes():
    assert [t.text for t in tokenize('"a b" & "c"')] == ['"a b"', "&", '"c"']


def test_references_are_listed_once():
    assert references("=SUM($A$1, B2, A1)") == ["A1", "B2"]


@pytest.mark.parametrize(
    "formula, position", [("=1.2.3", 4), ('="open', 1), ("=(3 # 4)", 4), ("=.", 1)]
)
def test_errors_carry_the_position(formula, position):
    with pytest.raises(FormulaError) as caught:
        tokenize(formula)
    assert caught.value.position == position
