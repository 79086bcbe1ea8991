"""The command line on one process: it learns, stops, goes on and says what is wrong."""

import json
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import samples

SMALL = ["--width", "32", "--layers", "2", "--batch-tokens", "1024", "--micro-tokens", "512"]
QUIET = ["--log-seconds", "0", "--validation-samples", "60", "--warmup", "5"]


def scratch(data, out, *more):
    return ["from-scratch", "--data", data, "--out", out, *SMALL, *QUIET, *more]


def test_a_run_learns_writes_a_model_and_says_how_sure_it_is(step_data, tmp_path):
    out = tmp_path / "model"
    told = samples.run(scratch(step_data, out, "--steps", "40", "--ema", "0.9"))
    losses = [record["loss"] for record in samples.log_of(out, "train")]
    assert losses[-1] < 0.6 * losses[0]
    (end,) = samples.log_of(out, "end")
    assert end["steps"] == 40
    assert set(end["kinds"]) == {"v+v", "v.upper()", "inverse v+v"}
    assert set(end["coverage"]) == {"0.99", "0.95"}
    config = json.loads((out / "config.json").read_text())
    assert config["ndbg"] == {"dialect": "step", "format": 1, "temperature": end["temperature"]}
    assert "coverage" in told


@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_a_resumed_run_equals_an_uninterrupted_one(step_data, tmp_path, optimizer):
    words = ["--steps", "24", "--optimizer", optimizer]
    samples.run(scratch(step_data, tmp_path / "whole", *words))
    cut = tmp_path / "cut"
    samples.run(scratch(step_data, cut, *words, "--pause-after", "9"), expected=130)
    samples.run(scratch(step_data, cut, *words, "--resume"))
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "cut")]
    assert weights[0] == weights[1]


def test_a_signal_saves_and_exits_with_130(step_data, tmp_path):
    out = tmp_path / "model"
    words = [*scratch(step_data, out, "--hours", "1"), "--checkpoint-minutes", "100"]
    command = [sys.executable, str(samples.TRAINER), *map(str, words)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 300
        while not (out / "log.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, told
    assert "`--resume` goes on" in told
    assert (out / "checkpoint.pt").exists()


def test_a_longer_run_goes_on_from_before_the_decay(step_data, tmp_path):
    out = tmp_path / "model"
    samples.run(scratch(step_data, out, "--steps", "10"))
    samples.run(scratch(step_data, out, "--steps", "30", "--resume", "before-decay"))
    steps = [record["steps"] for record in samples.log_of(out, "train")]
    assert steps == [*range(1, 11), *range(7, 31)]
    rates = {record["steps"]: record["rate"] for record in samples.log_of(out, "train")}
    assert rates[12] == 1.0


def test_a_second_run_does_not_overwrite_the_first(step_data, tmp_path):
    samples.run(scratch(step_data, tmp_path, "--steps", "2", "--pause-after", "1"), expected=130)
    told = samples.run(scratch(step_data, tmp_path, "--steps", "2"), expected=2)
    assert "holds a run already" in told
    assert "hint: `--resume`" in told


def test_a_checkpoint_of_another_size_is_refused(step_data, tmp_path):
    samples.run(scratch(step_data, tmp_path, "--steps", "2", "--pause-after", "1"), expected=130)
    words = scratch(step_data, tmp_path, "--steps", "2", "--resume", "--layers", "3")
    assert "the checkpoint has layers 2 and not 3" in samples.run(words, expected=2)


def test_shards_of_another_vocabulary_are_refused(step_data, tmp_path):
    copy = tmp_path / "data"
    shutil.copytree(step_data, copy)
    path = copy / "tokens" / "train-00000.tokens.npy"
    tokens = np.load(path)
    tokens[7] = 999
    np.save(path, tokens)
    told = samples.run(scratch(copy, tmp_path / "out", "--steps", "2"), expected=2)
    assert "the shards have token 999" in told


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda data: shutil.rmtree(data / "tokens"), "no token shards"),
        (lambda data: (data / "tokenizer.json").unlink(), "neither `tokenizer.json`"),
        (lambda data: (data / "tokens" / "train-00000.loss.npy").unlink(), "is missing"),
        (lambda data: (data / "tokens" / "train-00000.loss.npy").write_bytes(b"x"), "is no array"),
    ],
)
def test_missing_data_is_named_with_a_hint(step_data, tmp_path, spoil, problem):
    copy = tmp_path / "data"
    shutil.copytree(step_data, copy)
    spoil(copy)
    told = samples.run(scratch(copy, tmp_path / "out", "--steps", "2"), expected=2)
    assert problem in told
    assert "hint: " in told


def test_the_wrong_grammar_is_named(step_data, text_data, tiny_model, tmp_path):
    words = scratch(step_data, tmp_path, "--steps", "2", "--dialect", "cwm")
    assert "of the `step` grammar, not `cwm`" in samples.run(words, expected=2)
    words = ["fine-tune", "--model", tiny_model, "--data", step_data, "--out", tmp_path]
    told = samples.run([*words, "--steps", "2"], expected=2)
    assert "no text `train-….jsonl.zst`" in told


def test_a_folder_that_is_no_model_is_named(text_data, tmp_path):
    words = ["fine-tune", "--model", tmp_path, "--data", text_data, "--out", tmp_path / "out"]
    told = samples.run([*words, "--steps", "2"], expected=2)
    assert "is no causal language model" in told


def test_a_full_disk_ends_with_a_hint(step_data, tmp_path, monkeypatch):
    import checkpoint
    from stop import Stop

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.torch, "save", full)
    with pytest.raises(Stop, match="No space left") as stop:
        checkpoint.save(str(tmp_path / "checkpoint.pt"), {})
    assert "free disk space" in stop.value.hint
