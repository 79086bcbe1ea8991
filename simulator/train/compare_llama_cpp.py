"""Times our network and llama.cpp on the same random weights, in the same run, one thread each.

    python compare_llama_cpp.py [--width 128 --layers 6 …]

Needs numpy, safetensors, gguf and xllamacpp, and a Rust toolchain for the bench. For each way of
storing weights it writes a safetensors checkpoint and a GGUF file with equal numbers (bytes:
llama.cpp has a scale for every 32 weights, we have one for every row), then runs `cargo bench
--bench model` and a completion of llama.cpp's server by turns. MODEL_BENCH may name the bench's
program instead.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import gguf
import numpy
from safetensors.numpy import save_file

REPOSITORY = Path(__file__).parents[2]
ROUNDS = 2


def arguments():
    """Sizes of the network."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in [
        ("vocabulary", 550),
        ("width", 128),
        ("layers", 6),
        ("heads", 4),
        ("kv-heads", 2),
        ("feed-forward", 384),
        ("context", 512),
    ]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--kinds", nargs="+", default=["f32", "f16", "i8"])
    return parser.parse_args()


def weights(sizes):
    """Random tensors by the names that Hugging Face gives them."""
    chance = numpy.random.default_rng(1)
    width, feed = sizes.width, sizes.feed_forward
    keys = width // sizes.heads * sizes.kv_heads
    shapes = {"model.embed_tokens": (sizes.vocabulary, width), "model.norm": (width,)}
    for layer in range(sizes.layers):
        start = f"model.layers.{layer}."
        shapes |= {
            start + "input_layernorm": (width,),
            start + "post_attention_layernorm": (width,),
            start + "self_attn.q_proj": (width, width),
            start + "self_attn.k_proj": (keys, width),
            start + "self_attn.v_proj": (keys, width),
            start + "self_attn.o_proj": (width, width),
            start + "mlp.gate_proj": (feed, width),
            start + "mlp.up_proj": (feed, width),
            start + "mlp.down_proj": (width, feed),
        }
    return {
        f"{name}.weight": numpy.ones(shape, numpy.float32)
        if len(shape) == 1
        else chance.normal(0, 0.06, shape).astype(numpy.float32)
        for name, shape in shapes.items()
    }


def write_safetensors(folder, sizes, tensors, kind):
    """A checkpoint that the bench reads."""
    config = {
        "model_type": "llama",
        "vocab_size": sizes.vocabulary,
        "hidden_size": sizes.width,
        "intermediate_size": sizes.feed_forward,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "num_key_value_heads": sizes.kv_heads,
        "max_position_embeddings": sizes.context,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
    }
    (folder / "config.json").write_text(json.dumps(config))
    stored = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 1 or kind == "f32":
            stored[name] = tensor
        elif kind == "f16":
            stored[name] = tensor.astype(numpy.float16)
        else:
            scale = numpy.abs(tensor).max(1) / 127
            stored[name] = numpy.round(tensor / scale[:, None]).astype(numpy.int8)
            stored[name + "_scale"] = scale
    save_file(stored, folder / "model.safetensors")


def write_gguf(path, sizes, tensors, kind):
    """The same for llama.cpp: other names, and pairs of rotated rows side by side."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(sizes.context)
    writer.add_embedding_length(sizes.width)
    writer.add_block_count(sizes.layers)
    writer.add_feed_forward_length(sizes.feed_forward)
    writer.add_head_count(sizes.heads)
    writer.add_head_count_kv(sizes.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(sizes.width // sizes.heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(sizes.vocabulary)
    words = [f"<0x{byte:02X}>" for byte in range(256)]
    words += [f"<|{place}|>" for place in range(256, sizes.vocabulary)]
    words[0] = "<unk>"
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores([0.0] * len(words))
    kinds = [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.USER_DEFINED] * (len(words) - 256)
    kinds[0] = gguf.TokenType.UNKNOWN
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    types = {"f16": gguf.GGMLQuantizationType.F16, "i8": gguf.GGMLQuantizationType.Q8_0}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, sizes.layers)
    for name, tensor in tensors.items():
        heads = {"q_proj": sizes.heads, "k_proj": sizes.kv_heads}.get(name.split(".")[-2])
        if heads:
            halves = tensor.reshape(heads, 2, -1, tensor.shape[1])
            tensor = halves.swapaxes(1, 2).reshape(tensor.shape)
        place = names.get_name(name, try_suffixes=(".weight",))
        wanted = types.get(kind) if tensor.ndim == 2 else None
        if wanted is None:
            writer.add_tensor(place, tensor)
        else:
            writer.add_tensor(place, gguf.quants.quantize(tensor, wanted), raw_dtype=wanted)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def bench_ours(folder):
    """Tokens a second by what is measured."""
    command = ["cargo", "bench", "-q", "-p", "ndbg-simulator", "--bench", "model", "--"]
    command = [*os.environ.get("MODEL_BENCH", " ".join(command)).split(), str(folder)]
    output = subprocess.run(
        command, cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout
    found = re.findall(
        r"^(prefill|decode, one|decode, 64 together).*?(\d+) tokens/s", output, re.MULTILINE
    )
    return {name: int(rate) for name, rate in found}


def serve(path, context):
    """llama.cpp with a model, one thread."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.warmup = True
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.cache_prompt = False
    return xllamacpp.Server(parameters)


def bench_theirs(server, vocabulary):
    """Tokens a second of processor time, best of several; the machine may be busy otherwise.

    What a request costs beside tokens is taken out: the difference between a long and a short one.
    """
    rates = {}
    for name, short, long in [("prefill", (8, 1), (264, 1)), ("decode, one", (64, 1), (64, 65))]:
        times = [
            min(ask(server, vocabulary, size, turn) for turn in range(5)) for size in (short, long)
        ]
        tokens = sum(long) - sum(short)
        rates[name] = tokens / max(times[1] - times[0], 1e-9)
    return rates


def ask(server, vocabulary, size, turn):
    """Seconds of processor time that a completion takes."""
    prompt, answer = size
    request = {
        "prompt": [(place * 7919 + turn * 31) % (vocabulary - 1) + 1 for place in range(prompt)],
        "n_predict": answer,
        "samplers": ["top_k"],
        "top_k": 1,
        "ignore_eos": True,
        "cache_prompt": False,
    }
    start = time.process_time()
    answered = server.handle_completions(request)
    taken = time.process_time() - start
    answered = json.loads(answered) if isinstance(answered, str) else answered
    if answered["timings"]["predicted_n"] != answer or answered["timings"]["prompt_n"] != prompt:
        raise RuntimeError(f"llama.cpp did something else: {answered['timings']}")
    return taken


def main():
    """Prints a table."""
    sizes = arguments()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    tensors = weights(sizes)
    print(f"{sum(tensor.size for tensor in tensors.values()) / 1e6:.2f} million parameters")
    for kind in sizes.kinds:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            write_safetensors(folder, sizes, tensors, kind)
            write_gguf(folder / "model.gguf", sizes, tensors, kind)
            server = serve(folder / "model.gguf", sizes.context)
            ours, theirs = {}, {}
            for _ in range(ROUNDS):
                for best, found in [
                    (ours, bench_ours(folder)),
                    (theirs, bench_theirs(server, sizes.vocabulary)),
                ]:
                    for name, rate in found.items():
                        best[name] = max(best.get(name, 0), rate)
            for name, rate in ours.items():
                other = theirs.get(name)
                compared = f"llama.cpp {other:>8.0f}   {rate / other:.2f} times" if other else ""
                print(f"{kind:<4} {name:<22} {rate:>8} tokens/s   {compared}", flush=True)


if __name__ == "__main__":
    main()
