"""Combining nested dictionaries of settings."""

import copy

REMOVE = object()
"""A value that takes a setting of a lower layer away."""


def merge(base, override):
    """Return the settings of ``base`` with those of ``override`` on top.

    Sections (nested dictionaries) are merged key by key; any other value of
    ``override``, lists included, replaces the one in ``base``.
    """
    merged = dict(base)
    _put_on_top(merged, override)
    return merged


def _put_on_top(target, override):
    for key, value in override.items():
        if value is REMOVE:
            target.pop(key, None)
        elif isinstance(value, dict) and isinstance(target.get(key), dict):
            _put_on_top(target[key], value)
        else:
            target[key] = copy.deepcopy(value)


def flatten(settings, prefix=""):
    """Return nested settings as ``{"section.key": value}``."""
    flat = {}
    for key, value in settings.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            flat.update(flatten(value, name + "."))
        else:
            flat[name] = value
    return flat


def nest(flat):
    """Undo :func:`flatten`."""
    settings = {}
    for name, value in flat.items():
        *sections, key = name.split(".")
        target = settings
        for section in sections:
            target = target.setdefault(section, {})
        target[key] = value
    return settings
