"""Questions about what has to be bought to build something."""


def parts_needed(catalog, number, count=1):
    """Return ``{part number: pieces}`` of the bought parts in an order.

    The order is for ``count`` pieces of the part ``number``; assemblies are
    taken apart down to the parts that are bought.
    """
    needed = {}
    _collect(catalog, number, count, needed)
    return needed


def _collect(catalog, number, count, needed):
    part = catalog.part(number)
    if not part.is_assembly:
        needed[number] = needed.get(number, 0) + count
        return
    for component, pieces in part.components:
        _collect(catalog, component, pieces, needed)


def build_cost(catalog, number):
    """Return the price in cents of all parts in one piece."""
    part = catalog.part(number)
    if not part.is_assembly:
        return part.price
    return sum(
        pieces * build_cost(catalog, component) for component, pieces in part.components
    )


def depth(catalog, number):
    """Return how many levels of assemblies a part has (0 for bought parts)."""
    part = catalog.part(number)
    if not part.is_assembly:
        return 0
    return 1 + max(depth(catalog, component) for component, _ in part.components)


def shopping_list(catalog, orders, stock=None):
    """Return what to buy for several orders, as sorted (number, pieces) pairs.

    ``orders`` maps part numbers to counts. Pieces in ``stock`` are used
    first; parts of which enough is in stock are left out.
    """
    total = {}
    for number, count in orders.items():
        for part, pieces in parts_needed(catalog, number, count).items():
            total[part] = total.get(part, 0) + pieces
    stock = stock or {}
    missing = {part: pieces - stock.get(part, 0) for part, pieces in total.items()}
    return sorted((part, pieces) for part, pieces in missing.items() if pieces > 0)
