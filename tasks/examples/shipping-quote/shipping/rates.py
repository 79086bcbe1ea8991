"""Rate cards: what a carrier charges. All prices are in cents."""


class UnknownZone(LookupError):
    """Raised for a zone that the carrier does not serve."""


class RateCard:
    """The prices of one carrier.

    ``per_kilo`` maps every served zone to its price per kilogram. Orders
    also pay a handling fee: ``handling`` in general, or the amount given for
    their zone in ``zone_handling``.
    """

    def __init__(self, per_kilo, handling, zone_handling=None, free_from=None):
        self.per_kilo = dict(per_kilo)
        self.handling = handling
        self.zone_handling = dict(zone_handling or {})
        self.free_from = free_from

    @classmethod
    def from_settings(cls, settings):
        """Build a rate card from a settings section with text values.

        Keys are ``handling``, ``free_from``, ``kilo.<zone>`` and
        ``handling.<zone>``.
        """
        per_kilo = {}
        zone_handling = {}
        for key, value in settings.items():
            section, _, zone = key.partition(".")
            if section == "kilo" and zone:
                per_kilo[zone] = int(value)
            elif section == "handling" and zone:
                zone_handling[zone] = int(value)
        free_from = settings.get("free_from")
        return cls(
            per_kilo,
            int(settings["handling"]),
            zone_handling,
            int(free_from) if free_from else None,
        )

    def kilo_price(self, zone):
        """Price per kilogram in a zone."""
        if zone not in self.per_kilo:
            raise UnknownZone(zone)
        return self.per_kilo[zone]

    def handling_fee(self, zone):
        """Handling fee of one order to a zone."""
        if zone not in self.per_kilo:
            raise UnknownZone(zone)
        return self.zone_handling.get(zone) or self.handling
