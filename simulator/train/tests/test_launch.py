"""Two processes on a CPU, started by `accelerate launch`: with whole and with sharded weights."""

import os
import sys
from pathlib import Path

import pytest
import samples
import torch
from safetensors.torch import load_file

ACCELERATE = Path(sys.executable).parent / "accelerate"
HERE = Path(__file__).resolve().parent
LAUNCHERS = {
    "ddp": ["--multi_gpu", "--num_processes", "2"],
    "fsdp": ["--config_file", str(HERE.parent / "accelerate_fsdp.yaml"), "--num_processes", "2"],
}
FIXED = ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
QUIET = ["--log-seconds", "0", "--validation-samples", "20", "--warmup", "5"]

pytestmark = pytest.mark.skipif(not ACCELERATE.exists(), reason="accelerate is not installed")


def launch(kind, words, expected=0):
    # A port of its own, so that tests of several checkouts may run at once.
    port = str(20000 + os.getpid() % 20000)
    threads = ["--num_cpu_threads_per_process", "1"]
    start = [str(ACCELERATE), "launch", *LAUNCHERS[kind], *FIXED, *threads]
    return samples.run(words, [*start, "--main_process_port", port], expected)


def scratch_words(data, out):
    sizes = ["--width", "32", "--layers", "2", "--batch-tokens", "1024", "--micro-tokens", "256"]
    return ["from-scratch", "--data", data, "--out", out, *sizes, *QUIET, "--steps", "16"]


def tune_words(data, model, out):
    sizes = ["--max-length", "256", "--batch-tokens", "2048", "--micro-tokens", "1024"]
    words = ["fine-tune", "--model", model, "--data", data, "--out", out, *sizes, *QUIET]
    return [*words, "--steps", "16", "--rate", "3e-3", "--compute", "f32"]


def check(kind, words_for, tmp_path):
    """Losses go down, and a run that stopped half-way ends as one that did not."""
    launch(kind, words_for(tmp_path / "whole"))
    losses = [record["loss"] for record in samples.log_of(tmp_path / "whole", "train")]
    assert len(losses) == 16
    assert losses[-1] < 0.8 * losses[0]
    cut = tmp_path / "cut"
    # The launcher reports the 130 of its processes as a failure of its own.
    launch(kind, [*words_for(cut), "--pause-after", "7"], expected=1)
    launch(kind, [*words_for(cut), "--resume"])
    weights = [load_file(tmp_path / name / "model.safetensors") for name in ("whole", "cut")]
    for name, own in weights[0].items():
        assert torch.equal(own, weights[1][name]), name
    return weights[0]


@pytest.mark.parametrize("kind", LAUNCHERS)
def test_a_model_from_scratch(kind, step_data, tmp_path):
    check(kind, lambda out: scratch_words(step_data, out), tmp_path)


@pytest.mark.parametrize("kind", LAUNCHERS)
def test_a_model_of_hugging_face(kind, text_data, tiny_model, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    check(kind, lambda out: tune_words(text_data, tiny_model, out), tmp_path)
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "whole")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "whole")
    assert model.config.ndbg == {"dialect": "nd", "format": 1, "temperature": 1.0}
    assert model.config.vocab_size == 256 + len(samples.TRAJECTORY)
    assert len(tokenizer("<|frame_sep|>a")["input_ids"]) == 2


def test_a_run_goes_on_with_another_number_of_processes(step_data, tmp_path):
    words = scratch_words(step_data, tmp_path)
    launch("fsdp", [*words, "--pause-after", "7"], expected=1)
    samples.run([*words, "--resume"])
    steps = [record["steps"] for record in samples.log_of(tmp_path, "train")]
    losses = [record["loss"] for record in samples.log_of(tmp_path, "train")]
    assert steps == list(range(1, 17))
    assert losses[-1] < 0.8 * losses[0]


def test_sharded_weights_learn_what_whole_ones_do(step_data, tmp_path):
    for kind in LAUNCHERS:
        launch(kind, scratch_words(step_data, tmp_path / kind))
    weights = [load_file(tmp_path / kind / "model.safetensors") for kind in LAUNCHERS]
    for name, own in weights[0].items():
        assert torch.allclose(own, weights[1][name], atol=2e-2), name
