"""Batches of samples of nearly equal length, in an order that the seed and the epoch determine.

No sample sees another one: a row is a sample, padded at its end. Padding is small because a batch
is cut from many thousand shuffled samples that were sorted by length and by how much they predict.
"""

from dataclasses import dataclass

import numpy as np
import torch

# Batches' worth of samples that are sorted together: more means less padding and less mixing.
WINDOW = 64


@dataclass(frozen=True)
class Batch:
    """`ids` (rows, length); `at` (rows, width) places whose next token is predicted, 0 where there
    are fewer; `targets` (rows, width) those tokens, -100 where there are fewer; `samples` their
    indices.
    """

    ids: torch.Tensor
    at: torch.Tensor
    targets: torch.Tensor
    samples: np.ndarray
    tokens: int

    def to(self, device):
        """The batch with its tensors on a device."""
        if device.type == "cpu":
            return self
        tensors = (self.ids.to(device), self.at.to(device), self.targets.to(device))
        return Batch(*tensors, self.samples, self.tokens)


def plan_epoch(samples, seed, epoch, batch_tokens, round_to=1):
    """Lists of sample indices, a batch each, whose rows times longest length is at most
    `batch_tokens`.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(samples))
    mean = max(1, int(samples.length.mean()))
    window = max(1, WINDOW * batch_tokens // mean)
    plan = []
    for begin in range(0, len(order), window):
        plan.extend(cut(samples, order[begin : begin + window], batch_tokens, round_to))
    return [plan[index] for index in random.permutation(len(plan))]


def cut(samples, chosen, batch_tokens, round_to=1):
    """`chosen` sorted by length and number of predicted tokens, in batches."""
    ordered = chosen[np.lexsort((samples.predicted[chosen], samples.length[chosen]))]
    lengths = -(-samples.length[ordered] // round_to) * round_to
    batches = []
    end = len(ordered)
    # From the long end: a batch's length is known from its last sample.
    while end > 0:
        rows = max(1, batch_tokens // int(lengths[end - 1]))
        begin = max(0, end - rows)
        batches.append(ordered[begin:end])
        end = begin
    return batches


def collate(samples, chosen, round_to=1):
    """The batch of the samples with the indices `chosen`."""
    length = -(-int(samples.length[chosen].max()) // round_to) * round_to
    width = int(samples.predicted[chosen].max())
    ids = np.zeros((len(chosen), length), dtype=np.int64)
    at = np.zeros((len(chosen), width), dtype=np.int64)
    targets = np.full((len(chosen), width), -100, dtype=np.int64)
    for row, sample in enumerate(chosen):
        own = samples.ids(sample)
        ids[row, : len(own)] = own
        places = np.flatnonzero(samples.mask(sample)[1:])
        at[row, : len(places)] = places
        targets[row, : len(places)] = own[places + 1]
    return Batch(
        torch.from_numpy(ids),
        torch.from_numpy(at),
        torch.from_numpy(targets),
        chosen,
        int(samples.length[chosen].sum()),
    )
