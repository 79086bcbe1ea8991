import pytest

from bom import Catalog, build_cost, depth, parts_needed, shopping_list


@pytest.fixture
def catalog():
    catalog = Catalog()
    catalog.buy("nut", 1)
    catalog.buy("bar", 50)
    catalog.buy("cap", 3)
    catalog.assemble("joint", nut=4, cap=1)
    catalog.assemble("frame", joint=3, bar=2)
    catalog.assemble("tower", frame=5, nut=10, joint=1)
    catalog.assemble("site", tower=2, bar=1)
    return catalog


@pytest.mark.parametrize(
    "number, count, expected",
    [
        ("nut", 7, {"nut": 7}),
        ("joint", 1, {"nut": 4, "cap": 1}),
        ("joint", 6, {"nut": 24, "cap": 6}),
        ("frame", 1, {"nut": 12, "cap": 3, "bar": 2}),
        ("frame", 10, {"nut": 120, "cap": 30, "bar": 20}),
        ("tower", 1, {"nut": 74, "cap": 16, "bar": 10}),
        ("tower", 3, {"nut": 222, "cap": 48, "bar": 30}),
        ("site", 1, {"nut": 148, "cap": 32, "bar": 21}),
        ("site", 2, {"nut": 296, "cap": 64, "bar": 42}),
    ],
)
def test_parts_needed(catalog, number, count, expected):
    assert parts_needed(catalog, number, count) == expected


@pytest.mark.parametrize("number", ["nut", "joint", "frame", "tower", "site"])
def test_cost_is_the_sum_of_the_parts(catalog, number):
    prices = {"nut": 1, "bar": 50, "cap": 3}
    needed = parts_needed(catalog, number)
    assert build_cost(catalog, number) == sum(prices[p] * n for p, n in needed.items())


@pytest.mark.parametrize("count", [1, 2, 9])
def test_parts_grow_with_the_order(catalog, count):
    one = parts_needed(catalog, "tower")
    assert parts_needed(catalog, "tower", count) == {
        p: n * count for p, n in one.items()
    }


def test_calls_do_not_add_up(catalog):
    assert parts_needed(catalog, "frame") == parts_needed(catalog, "frame")


def test_shopping_list(catalog):
    orders = {"frame": 2, "joint": 5, "bar": 1}
    assert shopping_list(catalog, orders) == [("bar", 5), ("cap", 11), ("nut", 44)]
    assert shopping_list(catalog, orders, {"bar": 5, "nut": 40}) == [
        ("cap", 11),
        ("nut", 4),
    ]


def test_depth(catalog):
    assert [depth(catalog, n) for n in ("nut", "joint", "frame", "tower", "site")] == [
        0,
        1,
        2,
        3,
        4,
    ]
