import pytest

from units import Quantity, UnitError, convert, parse


@pytest.mark.parametrize(
    "amount, source, target, expected",
    [
        (3, "km", "m", 3000),
        (10, "in", "cm", 25.4),
        (2, "lb", "g", 907.18474),
        (0, "C", "K", 273.15),
        (212, "F", "C", 100),
        (100, "C", "F", 212),
        (90, "R", "K", 50),
    ],
)
def test_convert(amount, source, target, expected):
    assert convert(amount, source, target) == pytest.approx(expected)


def test_unknown_unit():
    with pytest.raises(UnitError, match="parsec"):
        convert(1, "parsec", "m")


def test_parse_with_and_without_space():
    assert parse(" 12.5 kg ") == Quantity(12.5, "kg")
    assert parse("-40F") == Quantity(-40, "F")


def test_parse_needs_an_amount():
    with pytest.raises(UnitError, match="no amount"):
        parse("km")


def test_text_form():
    assert str(parse("1.50 m").to("cm")) == "150 cm"
