"""A causal language model of Hugging Face, called as our own is."""

import contextlib

import torch
from torch import nn
from torch.nn import functional as F

from stop import Stop


class CausalModel(nn.Module):
    """`forward` gives logits at places, or the loss of targets (see `llama.Llama`)."""

    def __init__(self, inner, half):
        super().__init__()
        self.inner = inner
        self.half = half

    def forward(self, ids, at, targets=None, factor=1.0):
        # Rows are filled at their ends and attention looks back only: no mask is needed.
        with self.precision(ids.device):
            logits = self.inner(input_ids=ids, use_cache=False).logits
        logits = logits.gather(1, at.unsqueeze(-1).expand(-1, -1, logits.shape[-1])).float()
        if targets is None:
            return logits
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), reduction="sum", ignore_index=-100
        )
        return loss * factor

    def precision(self, device):
        if not self.half:
            return contextlib.nullcontext()
        return torch.autocast(device.type, dtype=torch.bfloat16)

    def blocks(self):
        """The layers, for sharding."""
        names = set(getattr(self.inner, "_no_split_modules", None) or ())
        return [module for module in self.inner.modules() if type(module).__name__ in names]


def load(name, specials):
    """The model `name` (a folder, or a name on the hub) and its tokenizer with `specials` added."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise Stop(
            f"`{name}` is no causal language model: {first_line(error)}",
            "`--model` takes a folder with `config.json`, weights and a tokenizer",
        ) from None
    if not tokenizer.is_fast:
        raise Stop(
            f"the tokenizer of `{name}` does not say where tokens stand in the text",
            "use a model with a `tokenizer.json`",
        )
    known = tokenizer.get_vocab()
    new = [text for text in specials if text not in known]
    if new:
        tokenizer.add_special_tokens({"additional_special_tokens": new}, False)
        begin(model, tokenizer.convert_tokens_to_ids(new), len(tokenizer))
    model.config.use_cache = False
    return model, tokenizer


def first_line(error):
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


@torch.no_grad()
def begin(model, ids, size):
    """Rows for new tokens, the mean of the others: noise would drown what the model knows."""
    if size > model.get_input_embeddings().num_embeddings:
        model.resize_token_embeddings(size, mean_resizing=False)
    for embeddings in (model.get_input_embeddings(), model.get_output_embeddings()):
        others = torch.ones(len(embeddings.weight), dtype=torch.bool)
        others[ids] = False
        embeddings.weight[ids] = embeddings.weight[others].mean(0)
