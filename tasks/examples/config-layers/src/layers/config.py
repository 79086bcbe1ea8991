"""The configuration object that programs work with."""

from layers.merge import merge, nest


class Config:
    """Read-only settings. Adding a layer gives a new object.

    >>> config = Config({"db": {"host": "localhost", "port": 5432}})
    >>> config.with_layer({"db": {"port": 6543}}).get("db.port")
    6543
    """

    def __init__(self, settings):
        self._settings = settings

    def with_layer(self, settings):
        """Return a configuration in which ``settings`` take precedence."""
        return Config(merge(self._settings, settings))

    def with_arguments(self, arguments):
        """Add a layer from words like ``db.port=6543``.

        Whole numbers and the words ``true`` and ``false`` are converted.
        """
        flat = {}
        for argument in arguments:
            name, equals, text = argument.partition("=")
            if not equals or not name:
                raise ValueError(f"expected name=value, got {argument!r}")
            flat[name] = _convert(text)
        return self.with_layer(nest(flat))

    def get(self, name, default=None):
        """Return the value with a dotted name, or ``default``."""
        value = self._settings
        for part in name.split("."):
            if not isinstance(value, dict) or part not in value:
                return default
            value = value[part]
        return value


def _convert(text):
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return text
