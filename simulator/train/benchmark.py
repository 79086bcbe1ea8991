"""Tokens a second of training from scratch, without data or optimiser, for several sizes and ways.

    python benchmark.py --seconds 20

The ways take turns, so that a busy machine is equally busy for all of them. Time is the
processor's, a quarter of the steps are faster than the figure.
"""

import argparse
import time

import numpy as np
import torch

import fused
import operations
from from_scratch import feed_forward_width
from llama import Llama, Shape

WAYS = {
    "f32, PyTorch": (torch.float32, operations),
    "bf16, PyTorch": (torch.bfloat16, operations),
    "f32, C": (torch.float32, fused),
    "bf16, C": (torch.bfloat16, fused),
}
# Those of the step grammar: tokens of a sample, places that it predicts, tokens there are.
LENGTH, PLACES, VOCABULARY = 40, 12, 528


def step_of(width, layers, tokens, compute, steps):
    """One forward and backward pass over some `tokens`, and how many these are."""
    heads = width // 32
    shape = Shape(VOCABULARY, width, layers, heads, heads, feed_forward_width(width), 256)
    model = Llama(shape, compute, steps)
    rows = tokens // LENGTH
    ids = torch.randint(VOCABULARY, (rows, LENGTH))
    at = torch.randint(LENGTH - 1, (rows, PLACES))
    targets = torch.randint(VOCABULARY, (rows, PLACES))

    def step():
        model.zero_grad()
        model(ids, at, targets, 1 / targets.numel()).backward()

    return step, rows * LENGTH


def measure(steps, seconds):
    """Tokens a second of each step."""
    for step, _ in steps:
        step()
        step()
    times = [[] for _ in steps]
    end = time.monotonic() + seconds * len(steps)
    while time.monotonic() < end:
        for own, (step, tokens) in zip(times, steps, strict=True):
            begin = time.process_time()
            step()
            own.append((time.process_time() - begin) / tokens)
    return [1 / np.quantile(own, 0.25) for own in times]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", nargs="+", default=["128x4", "160x5", "192x5", "192x6"])
    parser.add_argument("--tokens", type=int, nargs="+", default=[8192], help="of a pass")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--seconds", type=float, default=20, help="for each cell")
    options = parser.parse_args()
    torch.set_num_threads(1)
    ways = {
        name: way
        for name, way in WAYS.items()
        if name in options.ways and (way[1] is operations or fused.prepare(way[0]) is None)
    }
    print("| size | tokens a pass | " + " | ".join(ways) + " |")
    print("|---|" + "---:|" * (len(ways) + 1))
    for size in options.sizes:
        width, layers = map(int, size.split("x"))
        for tokens in options.tokens:
            steps = [step_of(width, layers, tokens, *way) for way in ways.values()]
            figures = measure(steps, options.seconds)
            cells = " | ".join(f"{figure:.0f}" for figure in figures)
            print(f"| {size} | {tokens} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
