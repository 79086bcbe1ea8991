"""Turns the text of a data set into token shards for a tokenizer of its own.

Text and loss masks come as JSON lines, `{"text": …, "loss": [[start, end], …], "grammar": …}` with
spans in characters. The shards are made once and kept: they are as many as the text files, and
belong to one tokenizer and one state of these files.
"""

import contextlib
import hashlib
import io
import json
import os

import numpy as np

from stop import Stop
from tokenizer import find, quoted

# Texts that are given to the tokenizer at once.
CHUNK = 256


def text_files(folders, split):
    """The files of a split; of a file that is there packed and unpacked, the unpacked one."""
    plain = set(find(folders, f"{split}-*.jsonl"))
    packed = {path for path in find(folders, f"{split}-*.jsonl.zst") if path[:-4] not in plain}
    return sorted(plain | packed)


def lines(path):
    """The samples of a file."""
    with open(path, "rb") as file:
        source = unpack(file) if path.endswith(".zst") else file
        for number, line in enumerate(io.TextIOWrapper(source, encoding="utf-8"), 1):
            try:
                sample = json.loads(line)
                yield sample["text"], sample["loss"], sample["grammar"]
            except (ValueError, KeyError, TypeError):
                raise Stop(
                    f"line {number} of `{path}` lacks `text`, `loss` or `grammar`",
                    "fine-tuning takes data sets of the `nd` and `cwm` grammars",
                ) from None


def grammar_of(folders):
    """The grammar that the first sample of a data set names."""
    paths = text_files(folders, "train")
    with contextlib.closing(lines(paths[0])) if paths else contextlib.nullcontext([]) as samples:
        return next((grammar for _, _, grammar in samples), None)


def unpack(file):
    try:
        import zstandard
    except ImportError:
        raise Stop(
            "`.zst` files need the package `zstandard`",
            "pip install -r simulator/train/requirements-train.txt",
        ) from None
    return zstandard.ZstdDecompressor().stream_reader(file)


def encode(tokenizer, texts, losses):
    """Ids and masks of texts: a token is predicted if it begins in a span of its text."""
    encoded = tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True)
    for ids, offsets, spans in zip(
        encoded["input_ids"], encoded["offset_mapping"], losses, strict=True
    ):
        begins = np.array([begin for begin, _ in offsets], dtype=np.int64)
        edges = np.array(spans, dtype=np.int64).reshape(-1)
        # An odd number of edges at or before a place: it is inside of a span.
        inside = np.searchsorted(edges, begins, side="right") % 2
        yield np.array(ids, dtype=np.uint32), inside.astype(np.uint8)


def write_shard(tokenizer, source, stem):
    ids, masks, starts, total = [], [], [], 0
    texts, losses = [], []

    def flush():
        nonlocal total
        for own, mask in encode(tokenizer, texts, losses):
            starts.append(total)
            total += len(own)
            ids.append(own)
            masks.append(mask)
        texts.clear()
        losses.clear()

    for text, loss, _ in lines(source):
        texts.append(text)
        losses.append(loss)
        if len(texts) == CHUNK:
            flush()
    if texts:
        flush()
    empty = np.zeros(0, dtype=np.uint32)
    np.save(f"{stem}.loss.npy", np.concatenate([*masks, empty.astype(np.uint8)]))
    np.save(f"{stem}.starts.npy", np.array([*starts, total], dtype=np.int64))
    # Last: a shard is found by its tokens.
    np.save(f"{stem}.partial.npy", np.concatenate([*ids, empty]))
    os.replace(f"{stem}.partial.npy", f"{stem}.tokens.npy")


def make(folders, tokenizer, out, say):
    """The folder of shards below `out`, made unless it is there."""
    files = {split: text_files(folders, split) for split in ("train", "validation")}
    for split, paths in files.items():
        if not paths:
            raise Stop(
                f"no text `{split}-….jsonl.zst` below {quoted(folders)}",
                "`--data` takes folders that `ndbg-agent dataset merge` wrote",
            )
    known = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode())
    for path in [path for paths in files.values() for path in paths]:
        status = os.stat(path)
        known.update(repr((os.path.abspath(path), status.st_size, status.st_mtime_ns)).encode())
    folder = os.path.join(out, "shards", known.hexdigest()[:16])
    os.makedirs(folder, exist_ok=True)
    for split, paths in files.items():
        for number, path in enumerate(paths):
            stem = os.path.join(folder, f"{split}-{number:05}")
            if not os.path.exists(f"{stem}.tokens.npy"):
                say(f"tokens of `{path}`")
                try:
                    write_shard(tokenizer, path, stem)
                except OSError as error:
                    raise Stop(f"cannot write `{stem}`: {error}", "free disk space") from None
    return folder
