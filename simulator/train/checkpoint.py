"""Checkpoints: everything that a run needs to go on as if it had not stopped."""

import os

import torch

from stop import Stop

FORMAT = 1
LATEST = "checkpoint.pt"
BEFORE_DECAY = "before_decay.pt"


def save(path, state):
    """Writes a checkpoint beside its place and renames it: a killed run leaves it whole."""
    partial = f"{path}.partial"
    try:
        with open(partial, "wb") as file:
            torch.save({"format": FORMAT, **state}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except (OSError, RuntimeError) as error:
        # torch reports a full disk as a RuntimeError of its own.
        raise Stop(f"cannot write `{path}`: {error}", "free disk space, then `--resume`") from None


def load(path):
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise Stop(f"no checkpoint `{path}`", "start without `--resume`") from None
    if state.get("format") != FORMAT:
        raise Stop(
            f"`{path}` has format {state.get('format')}, this trainer reads {FORMAT}",
            "train again, or use the trainer that wrote it",
        )
    return state


def agree(saved, own):
    """Refuses a checkpoint of another model or vocabulary."""
    differ = [name for name in own if saved.get(name) != own[name]]
    if differ:
        pairs = ", ".join(f"{name} {saved.get(name)} and not {own[name]}" for name in differ)
        raise Stop(
            f"the checkpoint has {pairs}",
            "resume with the sizes and the data set's vocabulary that the run began with",
        )
