"""The parts that a workshop knows."""


class CatalogError(Exception):
    """Raised for unknown, duplicate or circular parts."""


class Part:
    """A bought part with a price, or an assembly made of other parts.

    ``components`` is a list of pairs of a part number and the count of that
    part in one piece of this assembly.
    """

    def __init__(self, number, price=0, components=()):
        self.number = number
        self.price = price
        self.components = list(components)

    @property
    def is_assembly(self):
        return bool(self.components)


class Catalog:
    """All parts by their number."""

    def __init__(self):
        self._parts = {}

    def buy(self, number, price):
        """Register a part that is bought for ``price`` cents."""
        return self._register(Part(number, price=price))

    def assemble(self, number, **components):
        """Register an assembly of parts that are in the catalog already.

        Components are given as ``part_number=count``.
        """
        for name, count in components.items():
            self.part(name)
            if count < 1:
                raise CatalogError(f"{number}: bad count of {name}")
        return self._register(Part(number, components=components.items()))

    def part(self, number):
        """Return the part with a number."""
        if number not in self._parts:
            raise CatalogError(f"unknown part {number}")
        return self._parts[number]

    def _register(self, part):
        if part.number in self._parts:
            raise CatalogError(f"duplicate part {part.number}")
        self._parts[part.number] = part
        return part
