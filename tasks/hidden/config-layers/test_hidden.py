import copy

import pytest

from layers import Config, merge
from layers.merge import REMOVE

BASES = [
    {"a": {"b": 1}},
    {"a": {"b": {"c": {"d": 1, "e": 2}}}, "x": 3},
    {"a": {"b": 1, "c": 2}, "z": {"y": [1, 2]}},
]
LAYERS = [
    {"a": {"b": 9}},
    {"a": {"b": {"c": {"d": 9}}}},
    {"a": {"n": {"m": 1}}, "z": {"y": [3]}},
    {"a": {"b": REMOVE}},
    {"a": 5, "new": {"k": 1}},
    {},
]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("layer", LAYERS)
def test_inputs_are_left_alone(base, layer):
    given = copy.deepcopy(base)
    before = repr(layer)
    merge(given, layer)
    assert given == base
    assert repr(layer) == before


@pytest.mark.parametrize(
    "base, layer, expected",
    [
        (BASES[0], LAYERS[0], {"a": {"b": 9}}),
        (BASES[1], LAYERS[1], {"a": {"b": {"c": {"d": 9, "e": 2}}}, "x": 3}),
        (BASES[1], LAYERS[0], {"a": {"b": 9}, "x": 3}),
        (BASES[2], LAYERS[2], {"a": {"b": 1, "c": 2, "n": {"m": 1}}, "z": {"y": [3]}}),
        (BASES[2], LAYERS[3], {"a": {"c": 2}, "z": {"y": [1, 2]}}),
        (BASES[0], LAYERS[4], {"a": 5, "new": {"k": 1}}),
        ({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}),
        ({}, {"a": {"b": 2}}, {"a": {"b": 2}}),
    ],
)
def test_merged_value(base, layer, expected):
    assert merge(copy.deepcopy(base), layer) == expected


def test_many_layers_on_one_base():
    base = Config({"s": {"v": 0, "t": {"u": "keep"}}})
    configs = [base.with_layer({"s": {"v": i, "t": {f"k{i}": i}}}) for i in range(1, 5)]
    assert [c.get("s.v") for c in configs] == [1, 2, 3, 4]
    assert base.get("s.v") == 0
    assert [c.get("s.t.k1") for c in configs] == [1, None, None, None]
    assert all(c.get("s.t.u") == "keep" for c in configs)


def test_stacked_layers():
    base = Config({"s": {"v": 0, "w": 0}})
    top = base.with_layer({"s": {"v": 1}}).with_arguments(["s.w=2"])
    assert (top.get("s.v"), top.get("s.w")) == (1, 2)
    assert (base.get("s.v"), base.get("s.w")) == (0, 0)


def test_layer_is_copied():
    layer = {"l": [1]}
    merged = merge({}, layer)
    layer["l"].append(2)
    assert merged == {"l": [1]}


def test_dictionary_order_is_kept():
    assert list(merge({"b": 1, "a": {}}, {"c": 1, "a": {"x": 1}})) == ["b", "a", "c"]
