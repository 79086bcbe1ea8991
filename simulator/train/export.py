"""Writes a model as a folder that transformers and the program load."""

import json
import os

import torch
from safetensors.torch import save_file

from stop import Stop
from tokenizer import added_ids

FORMAT = 1


def config_of(shape, dialect, temperature, half, ends):
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_width,
        "intermediate_size": shape.feed_forward,
        "max_position_embeddings": shape.context,
        "rms_norm_eps": shape.norm_epsilon,
        "rope_theta": shape.rope_theta,
        "rope_scaling": None,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "torch_dtype": "float16" if half else "float32",
        "bos_token_id": ends["begin"],
        "eos_token_id": ends["end"],
        "pad_token_id": ends["pad"],
        "ndbg": {"dialect": dialect, "format": FORMAT, "temperature": temperature},
    }


def end_ids(tokenizer):
    """Ids of the tokens that begin, end and fill a text, `None` where the grammar has none."""
    ids = added_ids(tokenizer)

    def first(*names):
        return next((ids[name] for name in names if name in ids), None)

    return {
        "begin": first("<|begin_of_text|>"),
        "end": first("<|end|>", "<|end_of_text|>"),
        "pad": first("<|pad|>"),
    }


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2, ensure_ascii=False)
        file.write("\n")


def export(folder, shape, weights, tokenizer, dialect, temperature, half=False):
    """Writes `weights` (name to tensor) and everything that is needed to use them into `folder`."""
    ends = end_ids(tokenizer)
    kind = torch.float16 if half else torch.float32
    tensors = {name: value.detach().to(kind).contiguous() for name, value in weights.items()}
    texts = {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
    marks = {
        name: texts[number]
        for name, end in (("bos_token", "begin"), ("eos_token", "end"), ("pad_token", "pad"))
        if (number := ends[end]) is not None
    }
    try:
        os.makedirs(folder, exist_ok=True)
        save_file(tensors, os.path.join(folder, "model.safetensors"), {"format": "pt"})
        write_json(os.path.join(folder, "tokenizer.json"), tokenizer)
        write_json(
            os.path.join(folder, "tokenizer_config.json"),
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "clean_up_tokenization_spaces": False,
                "model_max_length": shape.context,
                **marks,
            },
        )
        write_json(
            os.path.join(folder, "generation_config.json"),
            {
                "bos_token_id": ends["begin"],
                "eos_token_id": ends["end"],
                "pad_token_id": ends["pad"],
                "do_sample": False,
                "max_length": shape.context,
            },
        )
        # Last: a folder with a configuration is a finished model.
        write_json(
            os.path.join(folder, "config.json"),
            config_of(shape, dialect, temperature, half, ends),
        )
    except OSError as error:
        raise Stop(f"cannot write the model to `{folder}`: {error}", "free disk space") from None
