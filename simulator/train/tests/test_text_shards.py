import json

import numpy as np
import pytest
import samples

import text_shards
from evaluate import answers, trajectory_kinds
from hugging_face import load
from shards import read_samples
from stop import Stop


def test_masks_follow_characters_through_a_tokenizer(text_data, tiny_model, tmp_path):
    _, tokenizer = load(str(tiny_model), samples.TRAJECTORY)
    folder = text_shards.make([text_data], tokenizer, tmp_path, print)
    read = read_samples([folder], "train", 512)
    lines = (text_data / "train-00000.jsonl").read_text().splitlines()
    assert len(read) == len(lines)
    for number in (0, 7):
        line = json.loads(lines[number])
        predicted = [line["text"][begin:end] for begin, end in line["loss"]]
        own = read.ids(number)[read.mask(number) == 1]
        assert tokenizer.decode(own) == "".join(predicted)
        assert tokenizer.decode(read.ids(number)) == line["text"]


def test_shards_are_made_once(text_data, tiny_model, tmp_path):
    _, tokenizer = load(str(tiny_model), samples.TRAJECTORY)
    told = []
    for _ in range(2):
        text_shards.make([text_data], tokenizer, tmp_path, told.append)
    assert len(told) == 2


def test_packed_text_is_read(text_data, tiny_model, tmp_path):
    zstandard = pytest.importorskip("zstandard")
    _, tokenizer = load(str(tiny_model), samples.TRAJECTORY)
    for path in text_data.glob("*.jsonl"):
        packed = zstandard.ZstdCompressor().compress(path.read_bytes())
        (tmp_path / f"{path.name}.zst").write_bytes(packed)
    assert text_shards.grammar_of([tmp_path]) == "nd"
    folder = text_shards.make([tmp_path], tokenizer, tmp_path / "out", print)
    assert len(read_samples([folder], "train", 512)) == 300


def test_a_line_without_a_mask_is_named(tmp_path):
    (tmp_path / "train-00000.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(Stop, match="line 1 of"):
        text_shards.grammar_of([tmp_path])


def test_states_are_named_by_the_action_before_them(text_data, tiny_model, tmp_path):
    _, tokenizer = load(str(tiny_model), samples.TRAJECTORY)
    folder = text_shards.make([text_data], tokenizer, tmp_path, print)
    read = read_samples([folder], "train", 512)
    known = samples.TRAJECTORY
    ids = dict(zip(known, tokenizer.convert_tokens_to_ids(known), strict=True))
    kinds = trajectory_kinds(read, ids)
    at = np.flatnonzero(read.mask(0)[1:])
    firsts = [first + 1 for first, _ in answers(at, np.ones(len(at), dtype=bool))]
    assert [kinds(0, first) for first in firsts] == ["step_over", "step_into"]


def test_new_tokens_begin_as_the_mean_of_the_others(tiny_model):
    model, tokenizer = load(str(tiny_model), ["<|frame_sep|>"])
    weight = model.get_input_embeddings().weight
    (number,) = tokenizer.convert_tokens_to_ids(["<|frame_sep|>"])
    assert tokenizer.decode([number]) == "<|frame_sep|>"
    assert weight[number].allclose(weight[:256].mean(0))
