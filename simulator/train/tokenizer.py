"""The tokenizer of a data set: its own `tokenizer.json`, or one made from `special_tokens.json`."""

import glob
import json
import os

from stop import Stop

BYTES = 256


def byte_characters():
    """The character that stands for each byte in a byte-level vocabulary (as in GPT-2)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (byte for byte in range(BYTES) if byte not in set(plain))
    table = {byte: chr(byte) for byte in plain}
    table.update({byte: chr(BYTES + place) for place, byte in enumerate(others)})
    return [table[byte] for byte in range(BYTES)]


def byte_tokenizer(specials):
    """A tokenizer without merges, byte b with the id b; `specials` maps texts to ids."""
    added = [
        {
            "id": number,
            "content": text,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for text, number in sorted(specials.items(), key=lambda item: item[1])
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {**level, "use_regex": False},
        "post_processor": None,
        "decoder": {**level, "use_regex": False},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {character: byte for byte, character in enumerate(byte_characters())},
            "merges": [],
        },
    }


def read_tokenizer(folders):
    """The tokenizer of the data sets below `folders` as the contents of a `tokenizer.json`.

    Every one that is found must be the same: ids in the shards mean nothing without it.
    """
    found = {}
    for name, make in (("tokenizer.json", dict), ("special_tokens.json", byte_tokenizer)):
        for path in sorted(find(folders, name)):
            with open(path, encoding="utf-8") as file:
                found[path] = make(json.load(file))
        if found:
            break
    else:
        raise Stop(
            f"neither `tokenizer.json` nor `special_tokens.json` below {quoted(folders)}",
            "`--data` takes folders that `ndbg-agent dataset merge` wrote",
        )
    (first, tokenizer), *others = found.items()
    for path, other in others:
        if texts_by_id(other) != texts_by_id(tokenizer):
            raise Stop(
                f"`{path}` and `{first}` number tokens differently",
                "make both data sets with one version of the program",
            )
    return tokenizer


def find(folders, name):
    return (
        path
        for folder in folders
        for path in glob.glob(os.path.join(glob.escape(folder), "**", name), recursive=True)
    )


def quoted(names):
    return ", ".join(f"`{name}`" for name in names)


def texts_by_id(tokenizer):
    """The text of each token id as bytes."""
    value = {character: byte for byte, character in enumerate(byte_characters())}
    texts = {
        number: bytes(value[character] for character in text)
        for text, number in tokenizer["model"]["vocab"].items()
    }
    texts.update({token["id"]: token["content"].encode() for token in tokenizer["added_tokens"]})
    return texts


def added_ids(tokenizer):
    """The id of each special token."""
    return {token["content"]: token["id"] for token in tokenizer["added_tokens"]}


def vocabulary_size(tokenizer):
    return max(texts_by_id(tokenizer)) + 1


def dialect_of(tokenizer):
    """The grammar that a tokenizer's added tokens belong to."""
    return "step" if "<|step|>" in added_ids(tokenizer) else "nd"
