"""Writes a model of ours as a GGUF file for llama.cpp.

    python to_gguf.py MODEL model.gguf --type f16

The tokenizer becomes one of kind `gpt2` without merges: a token a byte, and our own tokens, which
llama.cpp finds in a prompt and shows in its output. Those that begin, end and fill a text are
control tokens.
"""

import argparse
import json
import os
import sys

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from stop import Stop

# Names in a checkpoint and in a GGUF file, of the model and of layer {}.
OUTER = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
INNER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
# llama.cpp wants at least one merge; symbols begin as single characters, so this one never happens.
NO_MERGE = "aa aa"


def new_name(name):
    """The GGUF name of a tensor."""
    stem = name.removesuffix(".weight")
    if stem in OUTER:
        return f"{OUTER[stem]}.weight"
    layer, _, rest = stem.removeprefix("model.layers.").partition(".")
    return f"blk.{int(layer)}.{INNER[rest]}.weight"


def reorder(weight, heads):
    """Rows of a query or key matrix for llama.cpp, which turns neighbours where we turn halves."""
    rows, columns = weight.shape
    halves = weight.reshape(heads, 2, rows // heads // 2, columns)
    return halves.swapaxes(1, 2).reshape(rows, columns)


def tensors_of(weights, config):
    """(name, array) of a GGUF file, as f32."""
    for name, value in weights.items():
        value = value.astype(np.float32)
        if name.endswith("q_proj.weight"):
            value = reorder(value, config["num_attention_heads"])
        if name.endswith("k_proj.weight"):
            value = reorder(value, config["num_key_value_heads"])
        yield new_name(name), value


def read(folder):
    """Configuration, tokenizer and weights of a model folder."""
    try:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
            tokenizer = json.load(file)
        weights = load_file(os.path.join(folder, "model.safetensors"))
    except (OSError, ValueError, SafetensorError) as error:
        raise Stop(
            f"`{folder}` is no model: {error}", "give the `--out` folder of `train.py`"
        ) from None
    byte_level = tokenizer["model"]["type"] == "BPE" and not tokenizer["model"]["merges"]
    if config["architectures"] != ["LlamaForCausalLM"] or not byte_level:
        raise Stop(
            f"`{folder}` was not trained from scratch here",
            "llama.cpp's own `convert_hf_to_gguf.py` converts other models",
        )
    return config, tokenizer, weights


def write(folder, path, half):
    import gguf

    config, tokenizer, weights = read(folder)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(os.path.basename(os.path.abspath(folder)))
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if half else gguf.LlamaFileType.ALL_F32)
    writer.add_vocab_size(config["vocab_size"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    add_tokenizer(writer, gguf.TokenType, config, tokenizer)
    for name, value in tensors_of(weights, config):
        # llama.cpp wants the gains of norms as f32 always.
        writer.add_tensor(name, value.astype(np.float16) if half and value.ndim > 1 else value)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    except OSError as error:
        raise Stop(f"cannot write `{path}`: {error}", "free disk space") from None


def add_tokenizer(writer, kinds, config, tokenizer):
    size = config["vocab_size"]
    texts = [f"[unused{number}]" for number in range(size)]
    types = [kinds.UNUSED] * size
    for text, number in tokenizer["model"]["vocab"].items():
        texts[number], types[number] = text, kinds.NORMAL
    control = {config.get(f"{name}_token_id") for name in ("bos", "eos", "pad")}
    for token in tokenizer["added_tokens"]:
        number = token["id"]
        texts[number] = token["content"]
        types[number] = kinds.CONTROL if number in control else kinds.USER_DEFINED
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(texts)
    writer.add_token_types(types)
    writer.add_token_merges([NO_MERGE])
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    for key, add in (
        ("bos_token_id", writer.add_bos_token_id),
        ("eos_token_id", writer.add_eos_token_id),
        ("pad_token_id", writer.add_pad_token_id),
    ):
        if config.get(key) is not None:
            add(config[key])


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="folder of the model")
    parser.add_argument("file", help="GGUF file to write")
    parser.add_argument("--type", choices=("f32", "f16"), default="f16")
    options = parser.parse_args(arguments)
    try:
        write(options.model, options.file, options.type == "f16")
    except Stop as stop:
        print(f"error: {stop}\nhint: {stop.hint}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
