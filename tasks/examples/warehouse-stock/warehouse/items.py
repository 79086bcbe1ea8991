"""The things that lie on the shelves."""

from dataclasses import dataclass


@dataclass
class StockItem:
    """One article and how much of it the warehouse holds.

    ``on_hand`` counts every unit in the building; ``reserved`` counts the
    units among them that are promised to an order but not shipped yet.
    """

    sku: str
    name: str
    on_hand: int = 0
    reserved: int = 0
    reorder_level: int = 0

    @property
    def available(self):
        """Units that can still be promised to a new order."""
        return self.on_hand - self.reserved

    @property
    def needs_reorder(self):
        """True once the available units have fallen to the reorder level."""
        return self.available <= self.reorder_level
