"""Writes the tiny random checkpoints in simulator/tests/fixtures and what transformers says about
them.

    python make_parity_fixture.py [FOLDER]

Each `NAME/` is a checkpoint as Hugging Face saves it (config.json, model.safetensors); the first
also has a byte-level tokenizer.json. Its `expected.json` holds token ids (rows) and the logits
that follow each place. `python make_parity_fixture.py --weights FOLDER` writes random weights of
bytes with scales there instead, to build with before there are trained ones (simulator/weights);
the program refuses to use them. Needs torch, transformers and safetensors.
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

FIXTURES = Path(__file__).parents[1] / "tests/fixtures"
WORDS = ["step", "inverse", "with", "next", "gives", "end", "pad", "<=", "<"]
LENGTHS = [5, 12, 1, 9]
SIZES = {
    "vocab_size": 256 + len(WORDS),
    "hidden_size": 32,
    "intermediate_size": 56,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "bos_token_id": None,
    "eos_token_id": None,
}
SCALED = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
NDBG = {"dialect": "step", "format": 1, "temperature": 1.25}


def models():
    """Name and model of every fixture."""
    yield "llama", LlamaForCausalLM(LlamaConfig(tie_word_embeddings=True, **SIZES))
    untied = LlamaConfig(tie_word_embeddings=False, rope_parameters=SCALED, head_dim=16, **SIZES)
    yield "llama3", LlamaForCausalLM(untied)
    yield "qwen2", Qwen2ForCausalLM(Qwen2Config(tie_word_embeddings=True, **SIZES))


def byte_names():
    """The printable character by which a byte-level vocabulary writes each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    names = {byte: chr(byte) for byte in plain}
    names.update({byte: chr(256 + place) for place, byte in enumerate(others)})
    return names


def tokenizer():
    """A byte-level tokenizer without merges: ids 0 to 255 are bytes, then words."""
    names = byte_names()
    added = [
        {
            "id": 256 + place,
            "content": f"<|{word}|>",
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for place, word in enumerate(WORDS)
    ]
    level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": False,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": None,
        "decoder": level,
        "model": {"type": "BPE", "vocab": {names[byte]: byte for byte in range(256)}, "merges": []},
    }


def write_random_weights(folder):
    """A checkpoint in the form in which it is embedded: matrices of bytes, a scale for each row."""
    model = LlamaForCausalLM(LlamaConfig(tie_word_embeddings=True, **SIZES))
    tensors = {}
    for name, tensor in model.state_dict().items():
        if tensor.dim() == 2 and name != "lm_head.weight":
            scale = tensor.abs().amax(1) / 127
            tensors[name] = (tensor / scale[:, None]).round().to(torch.int8)
            tensors[name + "_scale"] = scale
        elif tensor.dim() == 1:
            tensors[name] = tensor
    save_file(tensors, folder / "step.safetensors")
    config = {**model.config.to_dict(), "ndbg": {**NDBG, "random": True}}
    kept = json.loads((FIXTURES / "llama/config.json").read_text()).keys()
    config = {name: value for name, value in config.items() if name in kept}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(), ensure_ascii=False))


def main():
    """Writes everything."""
    torch.manual_seed(7)
    if sys.argv[1:2] == ["--weights"]:
        write_random_weights(Path(sys.argv[2]))
        return
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIXTURES
    for name, model in models():
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3 if parameter.dim() == 2 else 0.5)
        model.eval()
        place = folder / name
        model.save_pretrained(place)
        (place / "generation_config.json").unlink(missing_ok=True)
        config = json.loads((place / "config.json").read_text())
        config.pop("transformers_version", None)
        if name == "llama":
            config["ndbg"] = NDBG
            (place / "tokenizer.json").write_text(json.dumps(tokenizer(), ensure_ascii=False))
        (place / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        rows = [torch.randint(0, SIZES["vocab_size"], (length,)).tolist() for length in LENGTHS]
        with torch.no_grad():
            logits = [model(torch.tensor([row])).logits[0] for row in rows]
        # All places of one row, and the last place of the others: enough to find any mistake.
        kept = [each if row == 0 else each[-1:] for row, each in enumerate(logits)]
        rounded = [[[round(x, 5) for x in place] for place in each.tolist()] for each in kept]
        (place / "expected.json").write_text(json.dumps({"rows": rows, "logits": rounded}) + "\n")


if __name__ == "__main__":
    main()
