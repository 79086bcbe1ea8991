"""Shipping price quotes for a web shop."""

from shipping.quote import Parcel, quote
from shipping.rates import RateCard, UnknownZone

__all__ = ["Parcel", "RateCard", "UnknownZone", "quote"]
