import pytest

from warehouse import StockError, Warehouse


@pytest.fixture
def site():
    site = Warehouse()
    site.add_item("bolt-m8", "Bolt M8", reorder_level=5)
    site.add_item("nut-m8", "Nut M8")
    site.receive("bolt-m8", 20)
    site.receive("nut-m8", 10)
    return site


def test_reserving_lowers_the_available_units(site):
    site.reserve("A-1", "bolt-m8", 6)
    assert site.item("bolt-m8").available == 14
    assert site.item("bolt-m8").on_hand == 20


def test_cannot_reserve_more_than_was_received(site):
    with pytest.raises(StockError):
        site.reserve("A-1", "nut-m8", 11)


def test_two_orders_cannot_be_promised_the_same_units(site):
    site.reserve("A-1", "nut-m8", 7)
    with pytest.raises(StockError):
        site.reserve("A-2", "nut-m8", 4)
    assert site.item("nut-m8").available == 3


def test_shipping_takes_the_units_off_the_shelf(site):
    site.reserve("A-1", "bolt-m8", 6)
    site.reserve("A-1", "nut-m8", 6)
    assert site.ship("A-1") == {"bolt-m8": 6, "nut-m8": 6}
    assert site.item("bolt-m8").on_hand == 14
    assert site.item("bolt-m8").reserved == 0


def test_cancelling_makes_units_available_again(site):
    site.reserve("A-1", "nut-m8", 8)
    site.cancel("A-1")
    site.reserve("A-2", "nut-m8", 10)
    assert site.item("nut-m8").available == 0


def test_reorder_list_looks_at_available_units(site):
    site.reserve("A-1", "bolt-m8", 15)
    assert site.reorder_list() == ["bolt-m8"]


def test_unknown_order(site):
    with pytest.raises(StockError, match="A-9"):
        site.ship("A-9")
