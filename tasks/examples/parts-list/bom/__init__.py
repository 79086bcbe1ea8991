"""Bills of material: what a product is made of."""

from bom.catalog import Catalog, CatalogError, Part
from bom.planning import build_cost, depth, parts_needed, shopping_list

__all__ = [
    "Catalog",
    "CatalogError",
    "Part",
    "build_cost",
    "depth",
    "parts_needed",
    "shopping_list",
]
