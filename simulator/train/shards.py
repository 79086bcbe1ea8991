"""Reads token shards: `STEM.tokens.npy`, `STEM.loss.npy` and `STEM.starts.npy`, split by the stem's
name.

A data set may have many shards and be larger than memory, so arrays are mapped, not read; only
where each sample begins and how long it is stays in memory (24 bytes a sample).
"""

from dataclasses import dataclass

import numpy as np

from stop import Stop
from tokenizer import find, quoted


@dataclass(frozen=True)
class Samples:
    """Samples of one split; the three columns have an entry a sample.

    `shard` is an index into `tokens` and `loss`, `start` where the sample begins there, `length`
    its number of tokens after cutting, `predicted` how many of those carry loss.
    """

    tokens: list
    loss: list
    shard: np.ndarray
    start: np.ndarray
    length: np.ndarray
    predicted: np.ndarray
    dropped: int

    def __len__(self):
        return len(self.length)

    def ids(self, sample):
        """Token ids of one sample."""
        begin = self.start[sample]
        return self.tokens[self.shard[sample]][begin : begin + self.length[sample]]

    def mask(self, sample):
        """1 where a token of the sample is to be predicted."""
        begin = self.start[sample]
        return self.loss[self.shard[sample]][begin : begin + self.length[sample]]


def find_stems(folders, split):
    """Paths of the shards of `split` without their endings, in order."""
    paths = find(folders, f"{split}-*.tokens.npy")
    return sorted(path[: -len(".tokens.npy")] for path in paths)


def open_array(path):
    try:
        return np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise Stop(
            f"`{path}` is missing beside its `.tokens.npy`", "merge the data set again"
        ) from None
    except ValueError as error:
        raise Stop(f"`{path}` is no array: {error}", "merge the data set again") from None


def read_samples(folders, split, max_length):
    """Samples of `split` below `folders`, cut to `max_length` tokens.

    A sample without anything to predict, or without anything left after the cut, is dropped.
    """
    stems = find_stems(folders, split)
    if not stems:
        raise Stop(
            f"no token shards `{split}-….tokens.npy` below {quoted(folders)}",
            "write them with the option `--tokens` of `ndbg-agent dataset build`",
        )
    tokens, loss, columns = [], [], []
    dropped = 0
    for shard, stem in enumerate(stems):
        tokens.append(open_array(f"{stem}.tokens.npy"))
        loss.append(open_array(f"{stem}.loss.npy"))
        starts = np.asarray(open_array(f"{stem}.starts.npy"))
        if len(tokens[-1]) != len(loss[-1]) or starts[-1] != len(tokens[-1]):
            raise Stop(f"the arrays of `{stem}` differ in length", "merge the data set again")
        length = np.minimum(np.diff(starts), max_length)
        # The first token has nothing before it that could predict it.
        counts = np.concatenate([[0], np.cumsum(loss[-1], dtype=np.int64)])
        begin = starts[:-1]
        first = np.minimum(begin + 1, begin + length)
        predicted = counts[begin + length] - counts[first]
        kept = predicted > 0
        dropped += int(len(kept) - kept.sum())
        columns.append(
            (
                np.full(int(kept.sum()), shard, dtype=np.int32),
                begin[kept].astype(np.int64),
                length[kept].astype(np.int32),
                predicted[kept].astype(np.int32),
            )
        )
    shard, start, length, predicted = (
        np.concatenate(column) for column in zip(*columns, strict=True)
    )
    if len(length) == 0:
        raise Stop(
            f"no sample of `{split}` has anything to predict within {max_length} tokens",
            "raise `--max-length`",
        )
    return Samples(tokens, loss, shard, start, length, predicted, dropped)


def largest_id(samples):
    """The largest token id in the shards."""
    return max((int(array.max()) for array in samples.tokens if len(array)), default=0)
