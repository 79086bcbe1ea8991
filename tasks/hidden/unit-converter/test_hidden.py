import pytest

from units import UNITS, Quantity, UnitError, convert, parse


@pytest.mark.parametrize(
    "amount, source, target, expected",
    [
        (-40, "C", "F", -40),
        (0, "C", "F", 32),
        (37, "C", "F", 98.6),
        (0, "K", "F", -459.67),
        (300, "K", "F", 80.33),
        (68, "F", "F", 68),
        (491.67, "R", "F", 32),
        (32, "F", "C", 0),
        (32, "F", "K", 273.15),
        (20, "C", "C", 20),
        (0, "K", "C", -273.15),
        (20, "C", "R", 527.67),
    ],
)
def test_temperatures(amount, source, target, expected):
    assert convert(amount, source, target) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("source", sorted(UNITS))
@pytest.mark.parametrize("target", sorted(UNITS))
def test_there_and_back(source, target):
    if UNITS[source].dimension != UNITS[target].dimension:
        with pytest.raises(UnitError):
            convert(1, source, target)
    else:
        there = convert(17.5, source, target)
        assert convert(there, target, source) == pytest.approx(17.5, abs=1e-4)


@pytest.mark.parametrize(
    "amount, source, target, expected",
    [
        (1, "ft", "in", 12),
        (2500, "m", "km", 2.5),
        (1, "kg", "lb", 2.20462262),
        (3, "cm", "m", 0.03),
    ],
)
def test_units_without_offset(amount, source, target, expected):
    assert convert(amount, source, target) == pytest.approx(expected)


def test_quantity_to():
    assert Quantity(100, "C").to("F") == Quantity(212.0, "F")
    assert str(parse("451 F").to("F")) == "451 F"


def test_unit_table_is_unchanged():
    assert UNITS["F"] == ("temperature", 5.0 / 9.0, 459.67)
    assert UNITS["C"] == ("temperature", 1.0, 273.15)
