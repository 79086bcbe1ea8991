"""Pricing an order of one or more parcels."""

import math
from dataclasses import dataclass

GRAMS_PER_STEP = 500
CUBIC_CM_PER_KILO = 5000


@dataclass(frozen=True)
class Parcel:
    """A parcel with its weight in grams and its size in centimetres."""

    grams: int
    length: float = 0
    width: float = 0
    height: float = 0

    @property
    def volume_grams(self):
        """The weight that carriers assume for a parcel of this size."""
        volume = self.length * self.width * self.height
        return volume * 1000 / CUBIC_CM_PER_KILO

    @property
    def billed_kilos(self):
        """Weight to pay for, rounded up to full half kilograms."""
        grams = max(self.grams, self.volume_grams)
        steps = max(1, math.ceil(grams / GRAMS_PER_STEP))
        return steps * GRAMS_PER_STEP / 1000


def quote(card, zone, parcels, order_value=0):
    """Return the shipping price of an order in cents.

    Orders worth at least the card's ``free_from`` are shipped free.
    """
    parcels = list(parcels)
    if not parcels:
        raise ValueError("nothing to ship")
    weight_price = sum(card.kilo_price(zone) * p.billed_kilos for p in parcels)
    if card.free_from is not None and order_value >= card.free_from:
        return 0
    return card.handling_fee(zone) + math.ceil(weight_price)
