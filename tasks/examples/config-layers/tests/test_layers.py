import doctest

import pytest

import layers.config
from layers import Config, flatten, merge, nest
from layers.merge import REMOVE


@pytest.fixture
def defaults():
    return {
        "name": "app",
        "db": {"host": "localhost", "port": 5432},
        "log": {"level": "info", "targets": ["console"]},
    }


def test_top_level_value(defaults):
    assert merge(defaults, {"name": "shop"})["name"] == "shop"
    assert defaults["name"] == "app"


def test_sections_are_merged(defaults):
    merged = merge(defaults, {"db": {"port": 1}})
    assert merged["db"] == {"host": "localhost", "port": 1}


def test_lists_are_replaced(defaults):
    merged = merge(defaults, {"log": {"targets": ["file"]}})
    assert merged["log"] == {"level": "info", "targets": ["file"]}


def test_removal(defaults):
    assert "db" not in merge(defaults, {"db": REMOVE})
    assert "db" in defaults


def test_two_sites_with_the_same_defaults(defaults):
    base = Config(defaults)
    first = base.with_layer({"db": {"host": "alpha"}})
    second = base.with_layer({"log": {"level": "debug"}})
    assert first.get("db.host") == "alpha"
    assert second.get("db.host") == "localhost"
    assert base.get("log.level") == "info"


def test_arguments(defaults):
    config = Config(defaults).with_arguments(["db.port=99", "debug=true", "a.b=x"])
    assert config.get("db.port") == 99
    assert config.get("debug") is True
    assert config.get("a.b") == "x"
    assert config.get("a.c", "none") == "none"


def test_bad_argument(defaults):
    with pytest.raises(ValueError, match="port"):
        Config(defaults).with_arguments(["port"])


def test_flatten_and_nest(defaults):
    assert nest(flatten(defaults)) == defaults


def test_documentation():
    assert doctest.testmod(layers.config).failed == 0
