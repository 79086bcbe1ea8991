"""Small data sets with the shapes of real ones, and a command line to train on them."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np

from tokenizer import byte_tokenizer

TRAINER = Path(__file__).resolve().parent.parent / "train.py"
WORDS = ["step", "inverse", "with", "next", "gives", "solve", "hole", "end", "pad"]
STEP_IDS = {f"<|{word}|>": 256 + at for at, word in enumerate([*WORDS, "v0", "v1", "+", ".upper"])}
TRAJECTORY = [
    f"<|{name}|>"
    for name in (
        *("begin_of_text", "end_of_text", "trace_context_start", "frame_sep", "action_sep"),
        *("src_sep", "arg_sep", "line_sep", "return_sep", "step_into", "step_over", "exit_normal"),
    )
]


def ids_of(parts):
    for part in parts:
        if part in STEP_IDS:
            yield STEP_IDS[part]
        else:
            yield from part.encode()


def operation(draw):
    """(question, answer) of one sample, as texts and special tokens."""
    kind = draw.randrange(3)
    a, b = draw.randrange(10), draw.randrange(10)
    if kind == 0:
        question = ["<|step|>", "<|v0|>", "<|+|>", "<|v1|>", "<|with|>", str(a), "<|next|>", str(b)]
        return [*question, "<|gives|>"], [str(a + b), "<|end|>"]
    if kind == 1:
        word = "".join(draw.choice("abcdé") for _ in range(draw.randrange(1, 6)))
        question = ["<|step|>", "<|v0|>", "<|.upper|>", "()", "<|with|>", repr(word), "<|gives|>"]
        return question, [repr(word.upper()), "<|end|>"]
    question = ["<|inverse|>", "<|v0|>", "<|+|>", "<|v1|>", "<|with|>", "<|hole|>", "<|next|>"]
    return [*question, str(b), "<|gives|>", str(a + b), "<|solve|>"], [str(a), "<|end|>"]


def write_step_data(folder, count=1500):
    draw = random.Random(1)
    (folder / "tokens").mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(byte_tokenizer(STEP_IDS)))
    for split, number in (("train", count), ("validation", 200)):
        tokens, loss, starts = [], [], [0]
        for _ in range(number):
            question, answer = operation(draw)
            before, after = list(ids_of(question)), list(ids_of(answer))
            tokens += before + after
            loss += [0] * len(before) + [1] * len(after)
            starts.append(len(tokens))
        stem = folder / "tokens" / f"{split}-00000"
        np.save(f"{stem}.tokens.npy", np.array(tokens, dtype=np.uint16))
        np.save(f"{stem}.loss.npy", np.array(loss, dtype=np.uint8))
        np.save(f"{stem}.starts.npy", np.array(starts, dtype=np.int64))
    return folder


def trajectory(draw):
    """A sample of the trajectory grammar with two states to predict."""
    number = draw.randrange(10)
    code = f"def é(n):\n    n = {number}\n    return n\n"
    text = f"<|begin_of_text|><|trace_context_start|>{code}<|frame_sep|>"
    loss = []
    for action, state in (
        ("step_over", f'<|line_sep|><|arg_sep|>{{"n": "{number}"}}<|action_sep|>'),
        ("step_into", f'<|return_sep|><|arg_sep|>"{number}"<|action_sep|>'),
    ):
        text += f"<|line_sep|><|action_sep|><|{action}|><|frame_sep|>"
        loss.append([len(text), len(text) + len(state)])
        text += state
    return {"text": text + "<|end_of_text|>", "loss": loss, "grammar": "nd"}


def write_text_data(folder, count=300):
    draw = random.Random(2)
    table = {text: 256 + at for at, text in enumerate(TRAJECTORY)}
    (folder / "special_tokens.json").write_text(json.dumps(table))
    for split, number in (("train", count), ("validation", 30)):
        lines = (json.dumps(trajectory(draw)) + "\n" for _ in range(number))
        (folder / f"{split}-00000.jsonl").write_text("".join(lines))
    return folder


def write_tiny_model(folder):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    config = LlamaConfig(
        vocab_size=256, num_attention_heads=2, max_position_embeddings=512, **sizes
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps(byte_tokenizer({})))
    kind = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(kind))
    return folder


def run(words, launcher=(), expected=0):
    """Runs the trainer as a person does; what it wrote to stderr."""
    command = [*launcher, str(TRAINER)] if launcher else [sys.executable, str(TRAINER)]
    done = subprocess.run(
        [*command, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == expected, done.stderr
    return done.stderr


def log_of(folder, event):
    lines = (Path(folder) / "log.jsonl").read_text().splitlines()
    return [record for record in map(json.loads, lines) if record["event"] == event]
