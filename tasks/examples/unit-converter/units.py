"""Convert amounts between units of measurement.

>>> convert(5, "km", "m")
5000.0
>>> parse("2.5 kg").to("g")
Quantity(2500.0, 'g')
"""

from collections import namedtuple

# A unit is described by how an amount in it becomes an amount in the base unit
# of its dimension: add the offset, then multiply by the factor.
Unit = namedtuple("Unit", "dimension factor offset")

UNITS = {
    "m": Unit("length", 1.0, 0.0),
    "km": Unit("length", 1000.0, 0.0),
    "cm": Unit("length", 0.01, 0.0),
    "in": Unit("length", 0.0254, 0.0),
    "ft": Unit("length", 0.3048, 0.0),
    "g": Unit("mass", 1.0, 0.0),
    "kg": Unit("mass", 1000.0, 0.0),
    "lb": Unit("mass", 453.59237, 0.0),
    "K": Unit("temperature", 1.0, 0.0),
    "C": Unit("temperature", 1.0, 273.15),
    "F": Unit("temperature", 5.0 / 9.0, 459.67),
    "R": Unit("temperature", 5.0 / 9.0, 0.0),
}


class UnitError(ValueError):
    """An unknown unit, or two units that do not measure the same thing."""


class Quantity(namedtuple("Quantity", "amount unit")):
    """An amount together with its unit."""

    __slots__ = ()

    def __repr__(self):
        return f"Quantity({self.amount!r}, {self.unit!r})"

    def __str__(self):
        return f"{self.amount:g} {self.unit}"

    def to(self, unit):
        """Return the same quantity in another unit.

        >>> str(Quantity(12, "in").to("ft"))
        '1 ft'
        """
        return Quantity(convert(self.amount, self.unit, unit), unit)


def lookup(name):
    """Return the description of a unit.

    >>> lookup("kg").dimension
    'mass'
    """
    try:
        return UNITS[name]
    except KeyError:
        raise UnitError(f"unknown unit {name!r}") from None


def convert(amount, source, target):
    """Convert an amount from one unit to another, rounded to nine places.

    >>> convert(25, "C", "K")
    298.15
    >>> convert(1, "kg", "ft")
    Traceback (most recent call last):
        ...
    units.UnitError: cannot convert mass to length
    """
    old = lookup(source)
    new = lookup(target)
    if old.dimension != new.dimension:
        raise UnitError(f"cannot convert {old.dimension} to {new.dimension}")
    base = (amount + old.offset) * old.factor
    return round((base - new.offset) / new.factor, 9)


def parse(text):
    """Read a quantity such as ``"3.5 km"`` or ``"20C"``.

    >>> parse("20C")
    Quantity(20.0, 'C')
    """
    stripped = text.strip()
    end = len(stripped)
    while end and stripped[end - 1].isalpha():
        end -= 1
    unit = stripped[end:]
    lookup(unit)
    try:
        amount = float(stripped[:end])
    except ValueError:
        raise UnitError(f"no amount in {text!r}") from None
    return Quantity(amount, unit)
