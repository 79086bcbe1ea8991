import pytest

from bom import Catalog, CatalogError, build_cost, depth, parts_needed, shopping_list


@pytest.fixture
def catalog():
    catalog = Catalog()
    catalog.buy("screw", 5)
    catalog.buy("board", 400)
    catalog.buy("hinge", 120)
    catalog.assemble("door", board=1, hinge=2, screw=8)
    catalog.assemble("cabinet", board=5, door=1, screw=20)
    catalog.assemble("wardrobe", board=7, door=2, screw=30)
    return catalog


def test_bought_part(catalog):
    assert parts_needed(catalog, "screw", 12) == {"screw": 12}


def test_simple_assembly(catalog):
    assert parts_needed(catalog, "door") == {"board": 1, "hinge": 2, "screw": 8}


def test_nested_assembly(catalog):
    assert parts_needed(catalog, "cabinet") == {"board": 6, "hinge": 2, "screw": 28}


def test_assembly_that_is_used_twice(catalog):
    assert parts_needed(catalog, "wardrobe") == {"board": 9, "hinge": 4, "screw": 46}


def test_cost(catalog):
    assert build_cost(catalog, "door") == 680
    assert build_cost(catalog, "wardrobe") == 4310


def test_depth(catalog):
    assert depth(catalog, "hinge") == 0
    assert depth(catalog, "cabinet") == 2


def test_shopping_list(catalog):
    stock = {"screw": 10, "board": 1}
    assert shopping_list(catalog, {"door": 1, "hinge": 1}, stock) == [("hinge", 3)]


def test_unknown_part(catalog):
    with pytest.raises(CatalogError):
        catalog.assemble("table", top=1)
