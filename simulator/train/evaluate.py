"""Validation: loss, and how often a whole answer is right, in all and by kind.

An answer is a row of predicted places without a gap: the effect of an operation in the step
grammar, a state in the others. It is exact if the most likely token at each of its places is the
right one. Greedy decoding from its beginning then writes the same, so one forward pass tells what
decoding token by token would.
"""

import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from batches import collate, cut
from workers import add_up, collect


@dataclass(frozen=True)
class Report:
    """`loss` in nats a token, `exact` the share of `answers`, `kinds` maps a name to (answers,
    exact).
    """

    loss: float
    exact: float
    answers: int
    kinds: dict


def choose(samples, count, seed):
    """At most `count` samples, the same ones each time."""
    order = np.random.default_rng([seed, 2]).permutation(len(samples))
    return np.sort(order[:count])


@torch.no_grad()
def evaluate(model, workers, samples, chosen, kinds, batch_tokens):
    """A Report on the samples with indices `chosen`.

    `kinds` gives the kind of an answer from its sample and the place of its first token.
    """
    total, places = 0.0, 0
    counts = defaultdict(lambda: [0, 0])
    batches = cut(samples, chosen, batch_tokens)
    for begin in range(0, len(batches), workers.count):
        own = begin + workers.rank < len(batches)
        # Sharded weights are gathered by all together: who has nothing left to do takes part.
        indices = batches[begin + workers.rank if own else begin]
        batch = collate(samples, indices).to(workers.device)
        logits = model(batch.ids, batch.at)
        if not own:
            continue
        loss = F.cross_entropy(
            logits.flatten(0, 1), batch.targets.flatten(), reduction="sum", ignore_index=-100
        )
        total += float(loss)
        places += int((batch.targets >= 0).sum())
        fits = (logits.argmax(-1) == batch.targets).cpu().numpy()
        for row, sample in enumerate(indices):
            width = int(samples.predicted[sample])
            for first, exact in answers(batch.at[row, :width].cpu().numpy(), fits[row, :width]):
                count = counts[kinds(sample, first + 1)]
                count[0] += 1
                count[1] += int(exact)
    total, places = add_up(workers, [total, places])
    merged = defaultdict(lambda: [0, 0])
    for part in collect(workers, dict(counts)):
        for kind, (count, right) in part.items():
            merged[kind][0] += count
            merged[kind][1] += right
    by_kind = dict(sorted(merged.items(), key=lambda item: (-item[1][0], item[0])))
    all_answers = sum(count for count, _ in by_kind.values())
    exact = sum(right for _, right in by_kind.values())
    return Report(total / max(1, places), exact / max(1, all_answers), all_answers, by_kind)


def answers(at, fits):
    """For each row of neighbours in `at`: its first place, and whether all of it `fits`."""
    begins = np.flatnonzero(np.diff(at, prepend=at[0] - 2) != 1)
    return zip(at[begins], np.logical_and.reduceat(fits, begins), strict=True)


# What stands before and behind the expression in the step grammar.
BEGINNINGS = (b"<|step|>", b"<|inverse|>")
END = b"<|with|>"
# What the names of kinds of backwards questions begin with.
INVERSE = "inverse "


def step_kinds(samples, texts):
    """Kinds of answers in the step grammar: the expression, slots without number.

    Backwards questions are kinds of their own.
    """

    def kind(sample, first):
        tokens = [texts.get(number, b"?") for number in samples.ids(sample).tolist()]
        begin = 1 if tokens[0] in BEGINNINGS else 0
        end = tokens.index(END) if END in tokens else len(tokens)
        words = (re.sub(rb"^<\|(.+)\|>$", rb"\1", token) for token in tokens[begin:end])
        text = b"".join(re.sub(rb"^v\d+$", b"v", word) for word in words)
        before = INVERSE if tokens[0] == BEGINNINGS[1] else ""
        return before + text.decode("utf-8", "replace")[:60]

    return kind


# The debugger's actions in the trajectory grammars.
ACTIONS = tuple(
    f"<|{name}|>"
    for name in (
        *("step_into", "step_over", "step_return", "breakpoint", "continue"),
        *("inv_step_into", "inv_step_over", "inv_step_call"),
    )
)
# Grammars without actions: what begins a state.
EVENTS = tuple(f"<|{name}_sep|>" for name in ("call", "line", "return", "exception"))


def trajectory_kinds(samples, ids):
    """Kinds of states: the last action before one, else the event that it begins with.

    `ids` maps the texts of special tokens to their ids.
    """
    actions = {ids[text]: text[2:-2] for text in ACTIONS if text in ids}
    events = {ids[text]: text[2:-2] for text in EVENTS if text in ids}

    def kind(sample, first):
        tokens = samples.ids(sample)
        for number in tokens[first - 1 :: -1].tolist():
            if number in actions:
                return actions[number]
        return events.get(int(tokens[first]), "other")

    return kind


def describe(report):
    counts = list(report.kinds.items())
    parts = [f"loss {report.loss:.4f}", f"exact {report.exact:.1%}"]
    for name, side in (("forwards", False), ("backwards", True)):
        own = [count for kind, count in counts if kind.startswith(INVERSE) == side]
        if own and len(own) < len(counts):
            share = sum(right for _, right in own) / sum(count for count, _ in own)
            parts.append(f"{name} {share:.1%}")
    return ", ".join(parts)


def figures(report, most=200):
    """A Report for the log."""
    kinds = list(report.kinds.items())[:most]
    return {
        "validation_loss": report.loss,
        "exact": report.exact,
        "answers": report.answers,
        "kinds": dict(kinds),
    }
