"""The temperature that makes the probability of an answer mean what it says.

The confidence in an answer is the product of its tokens' probabilities. The temperature is the one
under which this product, taken as the chance that the answer is exact, has the least log loss on
validation samples. Coverage at a precision is the largest share of samples that can be answered,
surest first, with at least that share of the answers right.
"""

from dataclasses import dataclass

import numpy as np
import torch

from batches import collate, cut

# Answers that are looked at: a temperature needs no more, and wrong ones are decoded token by
# token.
ANSWERS = 1500
# Tokens of a wrong answer that are looked at: it may go on for ever.
LONGEST = 40


@dataclass(frozen=True)
class Calibration:
    """`coverage` maps a precision to a share of the samples; losses are in nats a sample."""

    temperature: float
    loss_before: float
    loss_after: float
    coverage: dict


@torch.no_grad()
def answers(model, samples, chosen, batch_tokens, end):
    """For each sample of `chosen`: the logits (tokens, vocabulary) along its greedy answer, and
    whether it is exact.

    An answer that goes wrong leaves the sample's text, so it is decoded anew, until `end` or
    LONGEST.
    """
    chosen = chosen[:: -(-len(chosen) // ANSWERS)]
    device = next(model.parameters()).device
    kept = []
    for indices in cut(samples, chosen, batch_tokens):
        batch = collate(samples, indices).to(device)
        logits = model(batch.ids, batch.at)
        fits = logits.argmax(-1) == batch.targets
        lengths = (batch.targets >= 0).sum(-1)
        exact = (fits | (batch.targets < 0)).all(-1)
        for row in exact.nonzero().flatten().tolist():
            kept.append((logits[row, : lengths[row]].cpu(), True))
        wrong = (~exact).nonzero().flatten()
        if len(wrong):
            kept.extend(
                (part.cpu(), False)
                for part in decode(model, batch.ids[wrong], batch.at[wrong, 0], end)
            )
    return kept


def decode(model, ids, before, end):
    """Logits along the greedy answers of at most LONGEST tokens after the places `before`, a row
    each.
    """
    rows = torch.arange(len(ids), device=ids.device)
    room = min(model.shape.context, int(before.max()) + 1 + LONGEST)
    text = torch.zeros(len(ids), room, dtype=torch.long, device=ids.device)
    text[:, : min(room, ids.shape[1])] = ids[:, :room]
    place = before.clone()
    steps = [[] for _ in rows]
    # Rows that have ended leave, so that one long answer does not keep all the others at work.
    while len(rows) and int(place.max()) + 1 < room:
        logits = model(text[:, : int(place.max()) + 1], place[:, None])[:, 0]
        for row, own in zip(rows.tolist(), logits, strict=True):
            steps[row].append(own)
        chosen = logits.argmax(-1)
        place = place + 1
        text.scatter_(1, place[:, None], chosen[:, None])
        going = (chosen != end) & (place - before[rows] < LONGEST)
        rows, text, place = rows[going], text[going], place[going]
    return [torch.stack(own) for own in steps if own]


def confidences(kept, temperature):
    """Log probabilities of the answers."""
    lengths = [len(logits) for logits, _ in kept]
    every = torch.cat([logits for logits, _ in kept])
    token = (every / temperature).log_softmax(-1).max(-1).values.double()
    owner = torch.repeat_interleave(torch.arange(len(kept)), torch.tensor(lengths))
    return torch.zeros(len(kept), dtype=torch.double).index_add_(0, owner, token).numpy()


def exactness_loss(logs, exact):
    """Mean log loss of the confidences as chances of exactness."""
    logs = np.minimum(logs, -1e-9)
    return float(-np.where(exact, logs, np.log(-np.expm1(logs))).mean())


def coverage(logs, exact, precision):
    """Largest share of samples, surest first, of which at least `precision` are exact."""
    ordered = exact[np.argsort(-logs, kind="stable")]
    shares = np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
    enough = np.flatnonzero(shares >= precision)
    return float((enough[-1] + 1) / len(ordered)) if len(enough) else 0.0


def fit(kept):
    """The best temperature by golden-section search over its logarithm."""
    exact = np.array([right for _, right in kept])

    def loss(log_temperature):
        return exactness_loss(confidences(kept, float(np.exp(log_temperature))), exact)

    low, high = np.log(0.25), np.log(4.0)
    ratio = (5**0.5 - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = loss(left), loss(right)
    for _ in range(18):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = loss(right)
    temperature = float(np.exp((low + high) / 2))
    logs = confidences(kept, temperature)
    return Calibration(
        temperature,
        loss(0.0),
        exactness_loss(logs, exact),
        {precision: coverage(logs, exact, precision) for precision in (0.99, 0.95)},
    )
