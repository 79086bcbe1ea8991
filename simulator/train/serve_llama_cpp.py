"""Serves a checkpoint of ours with llama.cpp, as others would, to compare with.

    python serve_llama_cpp.py [FOLDER] [--port 8231] [--gguf FILE] [--context N]
    NDBG_TEST_LLAMA_SERVER=http://127.0.0.1:8231/v1 NDBG_TEST_LLAMA_MODEL=FOLDER \\
        cargo test -p ndbg-simulator --test remote

FOLDER has config.json, tokenizer.json and one *.safetensors of a Llama with a byte-level
vocabulary without merges (simulator/tests/fixtures/llama if none is given). Matrices of bytes
with a scale for each row are read too. The temperature of a model's calibration goes into its
last norm, so that the server's probabilities are calibrated. Needs numpy, safetensors, gguf and
xllamacpp. Writes the GGUF file, prints the address, ends with Ctrl-C.
"""

import argparse
import json
import signal
import tempfile
from pathlib import Path

import gguf
import numpy
from safetensors.numpy import load_file

FIXTURE = Path(__file__).parents[1] / "tests/fixtures/llama"


def arguments():
    """What to serve where."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=FIXTURE)
    parser.add_argument("--port", type=int, default=8231)
    parser.add_argument("--gguf", type=Path, help="where to keep the file")
    parser.add_argument("--context", type=int, help="tokens of one slot, if not those of the model")
    parser.add_argument("--parallel", type=int, default=2, help="number of slots")
    return parser.parse_args()


def weights(folder):
    """Tensors by their names, as 32-bit numbers."""
    files = sorted(folder.glob("*.safetensors"))
    if len(files) != 1:
        raise SystemExit(f"`{folder}` has {len(files)} files of weights, not one")
    stored = load_file(files[0])
    tensors = {}
    for name, tensor in stored.items():
        if not name.endswith("_scale"):
            scale = stored.get(name + "_scale")
            numbers = tensor.astype(numpy.float32)
            tensors[name] = numbers if scale is None else numbers * scale[:, None]
    return tensors


def write_tokens(writer, tokenizer, count):
    """The vocabulary: a token for each byte, and those that are spelled."""
    if tokenizer["model"]["merges"]:
        raise SystemExit("only vocabularies without merges are written")
    words = [f"<unused{place}>" for place in range(count)]
    kinds = [gguf.TokenType.UNUSED] * count
    for word, place in tokenizer["model"]["vocab"].items():
        words[place], kinds[place] = word, gguf.TokenType.NORMAL
    for token in tokenizer["added_tokens"]:
        words[token["id"]], kinds[token["id"]] = token["content"], gguf.TokenType.CONTROL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(words)
    writer.add_token_types(kinds)
    # llama.cpp wants at least one. It is of a byte that no UTF-8 has, so that it never applies.
    writer.add_token_merges([f"{BYTE_0XFF} {BYTE_0XFF}"])
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)


# How byte-level vocabularies write the byte 0xff.
BYTE_0XFF = "\u00ff"


def write_gguf(path, folder, context):
    """The checkpoint as llama.cpp has it: other names, and pairs of rotated rows side by side."""
    config = json.loads((folder / "config.json").read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    if config["model_type"] != "llama" or config.get("rope_scaling"):
        raise SystemExit("only a Llama without scaled positions is written")
    rope = config.get("rope_parameters") or {}
    heads = config["num_attention_heads"]
    layers = config["num_hidden_layers"]
    head_width = config.get("head_dim") or config["hidden_size"] // heads
    kv_heads = config.get("num_key_value_heads", heads)
    context = context or config["max_position_embeddings"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(context)
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(layers)
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(head_width)
    writer.add_value_length(head_width)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(head_width)
    writer.add_rope_freq_base(rope.get("rope_theta") or config.get("rope_theta") or 10000.0)
    writer.add_vocab_size(config["vocab_size"])
    write_tokens(writer, tokenizer, config["vocab_size"])
    ndbg = config.get("ndbg") or {}
    if "dialect" in ndbg:
        writer.add_string("ndbg.dialect", ndbg["dialect"])
        writer.add_uint32("ndbg.format", ndbg.get("format", 1))
        writer.add_float32("ndbg.temperature", 1.0)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, layers)
    for name, tensor in weights(folder).items():
        if name == "lm_head.weight" and config.get("tie_word_embeddings"):
            continue
        rotated = {"q_proj": heads, "k_proj": kv_heads}.get(name.split(".")[-2])
        if rotated:
            halves = tensor.reshape(rotated, 2, head_width // 2, tensor.shape[1])
            tensor = halves.swapaxes(1, 2).reshape(tensor.shape)
        if name == "model.norm.weight":
            tensor = tensor / numpy.float32(ndbg.get("temperature", 1.0))
        place = names.get_name(name, try_suffixes=(".weight",))
        writer.add_tensor(place, numpy.ascontiguousarray(tensor))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return context


def serve(path, port, context, parallel):
    """A server in threads of this process; it ends with what is returned."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = context * parallel
    parameters.n_parallel = parallel
    parameters.kv_unified = False
    # Exact: keys and values of 16 bits and reordered sums would cost the digits that are compared.
    parameters.cache_type_k = xllamacpp.ggml_type.GGML_TYPE_F32
    parameters.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(parameters)


def main():
    """Serves until it is interrupted."""
    wanted = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        path = wanted.gguf or Path(scratch) / "model.gguf"
        context = write_gguf(path, wanted.folder, wanted.context)
        server = serve(path, wanted.port, context, wanted.parallel)
        print(f"{server.listening_address}/v1", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
