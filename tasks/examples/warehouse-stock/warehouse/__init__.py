"""Stock keeping for a small warehouse."""

from warehouse.items import StockItem
from warehouse.stock import StockError, Warehouse

__all__ = ["StockError", "StockItem", "Warehouse"]
