import pytest

from shipping import Parcel, RateCard, UnknownZone, quote


@pytest.mark.parametrize("zone", ["club", "pickup", "north"])
def test_zero_fee_of_a_zone(zone):
    card = RateCard({zone: 300, "other": 10}, 99, {zone: 0})
    assert card.handling_fee(zone) == 0
    assert card.handling_fee("other") == 99
    assert quote(card, zone, [Parcel(1000)]) == 300
    assert quote(card, "other", [Parcel(1000)]) == 109


@pytest.mark.parametrize("fee", [0, 1, 50, 700])
def test_fee_of_a_zone_is_used_as_given(fee):
    card = RateCard({"a": 0, "b": 0}, 123, {"a": fee})
    assert card.handling_fee("a") == fee
    assert card.handling_fee("b") == 123


def test_general_fee_of_zero():
    card = RateCard({"a": 10, "b": 10}, 0, {"b": 5})
    assert card.handling_fee("a") == 0
    assert card.handling_fee("b") == 5


def test_no_zone_fees_at_all():
    card = RateCard({"a": 10}, 75)
    assert card.handling_fee("a") == 75


def test_zero_fee_from_settings():
    card = RateCard.from_settings(
        {"handling": "80", "kilo.x": "200", "kilo.y": "200", "handling.x": "0"}
    )
    assert quote(card, "x", [Parcel(500), Parcel(500)]) == 200
    assert quote(card, "y", [Parcel(500), Parcel(500)]) == 280


def test_unknown_zones_are_refused():
    card = RateCard({"a": 10}, 75, {"b": 0})
    with pytest.raises(UnknownZone):
        card.handling_fee("b")
    with pytest.raises(UnknownZone):
        card.kilo_price("b")


def test_free_from_still_counts():
    card = RateCard({"a": 10}, 75, {"a": 0}, free_from=500)
    assert quote(card, "a", [Parcel(5000)], order_value=500) == 0
    assert quote(card, "a", [Parcel(5000)], order_value=499) == 50
