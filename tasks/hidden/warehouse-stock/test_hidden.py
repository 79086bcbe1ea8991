import pytest

from warehouse import StockError, Warehouse


def make_site(**levels):
    site = Warehouse()
    for sku, count in levels.items():
        site.add_item(sku, sku.title())
        site.receive(sku, count)
    return site


@pytest.mark.parametrize(
    "count, first, second",
    [(5, 5, 1), (5, 1, 5), (100, 60, 41), (2, 1, 2), (8, 3, 8)],
)
def test_second_reservation_over_the_rest_is_refused(count, first, second):
    site = make_site(lamp=count)
    site.reserve("one", "lamp", first)
    with pytest.raises(StockError):
        site.reserve("two", "lamp", second)
    assert site.item("lamp").reserved == first
    with pytest.raises(StockError):
        site.ship("two")


@pytest.mark.parametrize("count, first", [(5, 2), (9, 8), (40, 1)])
def test_exactly_the_rest_can_be_reserved(count, first):
    site = make_site(lamp=count)
    site.reserve("one", "lamp", first)
    site.reserve("two", "lamp", count - first)
    assert site.item("lamp").available == 0
    with pytest.raises(StockError):
        site.reserve("three", "lamp", 1)


def test_same_order_cannot_exceed_the_stock_either():
    site = make_site(lamp=6)
    site.reserve("one", "lamp", 4)
    with pytest.raises(StockError):
        site.reserve("one", "lamp", 3)
    assert site.ship("one") == {"lamp": 4}
    assert site.item("lamp").on_hand == 2


def test_all_units_can_be_reserved_at_once():
    site = make_site(lamp=3, desk=1)
    site.reserve("one", "lamp", 3)
    site.reserve("one", "desk", 1)
    assert site.ship("one") == {"lamp": 3, "desk": 1}
    assert site.item("lamp").on_hand == 0
    assert site.item("desk").reserved == 0


def test_reservations_of_another_item_do_not_matter():
    site = make_site(lamp=3, desk=3)
    site.reserve("one", "lamp", 3)
    site.reserve("two", "desk", 3)
    assert site.item("desk").available == 0


def test_new_delivery_can_be_promised():
    site = make_site(lamp=3)
    site.reserve("one", "lamp", 3)
    site.receive("lamp", 2)
    site.reserve("two", "lamp", 2)
    with pytest.raises(StockError):
        site.reserve("three", "lamp", 1)


def test_message_names_the_rest():
    site = make_site(lamp=9)
    site.reserve("one", "lamp", 2)
    with pytest.raises(StockError, match="only 7"):
        site.reserve("two", "lamp", 8)
