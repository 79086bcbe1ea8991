"""Validation: loss, and how often a whole answer is right, in all and by kind of operation.

A sample is exact if the most likely token at every predicted place is the right one. Greedy
decoding then writes the same answer, so one forward pass tells what decoding token by token would.
"""

import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from batches import collate, cut


@dataclass(frozen=True)
class Report:
    """`loss` in nats a token, `exact` the share of samples, `kinds` maps a kind to (samples, exact
    ones).
    """

    loss: float
    exact: float
    samples: int
    kinds: dict


def choose(samples, count, seed):
    """At most `count` samples, the same ones each time."""
    order = np.random.default_rng([seed, 2]).permutation(len(samples))
    return np.sort(order[:count])


@torch.no_grad()
def evaluate(model, samples, chosen, kinds, batch_tokens):
    """A Report on the samples with indices `chosen`; `kinds` gives a sample's kind, or is None."""
    total = 0.0
    places = 0
    right = np.zeros(len(samples), dtype=bool)
    for indices in cut(samples, chosen, batch_tokens):
        batch = collate(samples, indices)
        logits = model(batch.ids, batch.at)
        loss = F.cross_entropy(
            logits.flatten(0, 1), batch.targets.flatten(), reduction="sum", ignore_index=-100
        )
        total += float(loss)
        places += int((batch.targets >= 0).sum())
        fits = (logits.argmax(-1) == batch.targets) | (batch.targets < 0)
        right[indices] = fits.all(-1).numpy()
    counts = defaultdict(lambda: [0, 0])
    if kinds is not None:
        for sample in chosen:
            count = counts[kinds(sample)]
            count[0] += 1
            count[1] += int(right[sample])
    by_kind = dict(sorted(counts.items(), key=lambda item: -item[1][0]))
    return Report(total / max(1, places), float(right[chosen].mean()), len(chosen), by_kind)


# What stands before and behind the expression in the step grammar.
BEGINNINGS = (b"<|step|>", b"<|inverse|>")
END = b"<|with|>"
# What the names of kinds of backwards questions begin with.
INVERSE = "inverse "


def step_kinds(samples, texts):
    """Function from a sample of the step grammar to its kind: the expression, slots without number.

    Backwards questions are kinds of their own.
    """

    def kind(sample):
        tokens = [texts.get(number, b"?") for number in samples.ids(sample).tolist()]
        begin = 1 if tokens[0] in BEGINNINGS else 0
        end = tokens.index(END) if END in tokens else len(tokens)
        words = (re.sub(rb"^<\|(.+)\|>$", rb"\1", token) for token in tokens[begin:end])
        text = b"".join(re.sub(rb"^v\d+$", b"v", word) for word in words)
        before = INVERSE if tokens[0] == BEGINNINGS[1] else ""
        return before + text.decode("utf-8", "replace")[:60]

    return kind
