import pytest

from shipping import Parcel, RateCard, UnknownZone, quote


@pytest.fixture
def card():
    return RateCard.from_settings(
        {
            "handling": "250",
            "free_from": "10000",
            "kilo.local": "100",
            "kilo.europe": "420",
            "kilo.pickup": "0",
            "handling.europe": "600",
            "handling.pickup": "0",
        }
    )


def test_general_handling_fee(card):
    assert quote(card, "local", [Parcel(grams=2000)]) == 450


def test_handling_fee_of_a_zone(card):
    assert quote(card, "europe", [Parcel(grams=1000)]) == 1020


def test_pickup_is_free(card):
    assert quote(card, "pickup", [Parcel(grams=3000)]) == 0


def test_weight_is_rounded_up(card):
    assert quote(card, "local", [Parcel(grams=1001), Parcel(grams=20)]) == 450


def test_bulky_parcels_pay_for_their_volume(card):
    assert Parcel(100, 50, 40, 30).billed_kilos == 12
    assert quote(card, "local", [Parcel(100, 50, 40, 30)]) == 1450


def test_free_shipping_for_large_orders(card):
    assert quote(card, "europe", [Parcel(500)], order_value=10000) == 0
    assert quote(card, "europe", [Parcel(500)], order_value=9999) == 810


def test_unknown_zone(card):
    with pytest.raises(UnknownZone):
        quote(card, "moon", [Parcel(500)])


def test_empty_order(card):
    with pytest.raises(ValueError):
        quote(card, "local", [])
