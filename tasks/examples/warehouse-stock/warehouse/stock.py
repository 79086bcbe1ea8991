"""Receiving, reserving and shipping goods."""

from warehouse.items import StockItem


class StockError(Exception):
    """Raised when an operation would leave the stock in an impossible state."""


class Warehouse:
    """All items of one site together with the open reservations."""

    def __init__(self):
        self._items = {}
        self._orders = {}

    def add_item(self, sku, name, reorder_level=0):
        """Register an article. Each SKU can be registered only once."""
        if sku in self._items:
            raise StockError(f"duplicate SKU {sku!r}")
        item = StockItem(sku, name, reorder_level=reorder_level)
        self._items[sku] = item
        return item

    def item(self, sku):
        """Return the item with this SKU."""
        try:
            return self._items[sku]
        except KeyError:
            raise StockError(f"unknown SKU {sku!r}") from None

    def receive(self, sku, quantity):
        """Book a delivery of ``quantity`` units."""
        if quantity <= 0:
            raise StockError("a delivery must contain at least one unit")
        self.item(sku).on_hand += quantity

    def reserve(self, order_id, sku, quantity):
        """Promise ``quantity`` units of an article to an order."""
        if quantity <= 0:
            raise StockError("a reservation must be for at least one unit")
        item = self.item(sku)
        if quantity > item.on_hand:
            raise StockError(f"only {item.available} of {sku!r} left to promise")
        item.reserved += quantity
        lines = self._orders.setdefault(order_id, {})
        lines[sku] = lines.get(sku, 0) + quantity

    def cancel(self, order_id):
        """Give up an order's reservations."""
        for sku, quantity in self._take_order(order_id).items():
            self.item(sku).reserved -= quantity

    def ship(self, order_id):
        """Send an order out and return its lines as ``{sku: quantity}``."""
        lines = self._take_order(order_id)
        for sku, quantity in lines.items():
            item = self.item(sku)
            item.reserved -= quantity
            item.on_hand -= quantity
        return lines

    def reorder_list(self):
        """SKUs that should be bought again, in alphabetical order."""
        return sorted(i.sku for i in self._items.values() if i.needs_reorder)

    def _take_order(self, order_id):
        if order_id not in self._orders:
            raise StockError(f"unknown order {order_id!r}")
        return self._orders.pop(order_id)
