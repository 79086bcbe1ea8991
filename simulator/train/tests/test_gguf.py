import json

import pytest
import samples
import torch

from export import export
from llama import Llama, Shape
from stop import Stop
from to_gguf import main, read
from tokenizer import byte_tokenizer

SHAPES = {
    "plain": Shape(269, 64, 2, 2, 2, 96, 64),
    "grouped": Shape(269, 128, 2, 4, 2, 160, 64),
}
PROMPT = "<|step|>é + '\n'<|gives|>"


def serve(path):
    llama = pytest.importorskip("xllamacpp")
    parameters = llama.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = 64
    parameters.warmup = False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    return llama.Server(parameters)


@torch.no_grad()
def shown(shape, ids):
    """A model that goes on with a byte (llama.cpp keeps the end of a text to itself), and how."""
    for seed in range(100):
        torch.manual_seed(seed)
        model = Llama(shape)
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
        logits = model(torch.tensor([ids]), torch.tensor([[len(ids) - 1]]))[0, 0]
        if logits.argmax() < 256:
            return model, logits.log_softmax(-1)
    raise AssertionError("no model goes on with a byte")


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_llama_cpp_reads_the_text_and_predicts_the_same(shape, kind, tmp_path):
    ids = list(samples.ids_of(["<|step|>", "é + '\n'", "<|gives|>"]))
    model, expected = shown(shape, ids)
    folder, path = tmp_path / "model", tmp_path / "model.gguf"
    tokenizer = byte_tokenizer(samples.STEP_IDS)
    export(folder, shape, model.state_dict(), tokenizer, "step", 1.0)
    assert main([str(folder), str(path), "--type", kind]) == 0
    server = serve(path)
    asked = {"n_predict": 1, "temperature": 0, "n_probs": 8, "cache_prompt": False}
    for prompt in (ids, PROMPT):
        reply = server.handle_completions({"prompt": prompt, **asked})
        reply = json.loads(reply) if isinstance(reply, str) else reply
        assert reply["usage"]["prompt_tokens"] == len(ids)
        for one in reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
            near = 2e-3 if kind == "f32" else 3e-2
            assert one["logprob"] == pytest.approx(float(expected[one["id"]]), abs=near)


def test_a_model_with_another_tokenizer_is_refused(tiny_model, tmp_path):
    with pytest.raises(Stop, match="is no model"):
        read(tmp_path)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in tiny_model.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    tokenizer = json.loads((copy / "tokenizer.json").read_text())
    tokenizer["model"]["merges"] = [["a", "b"]]
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(Stop, match="was not trained from scratch"):
        read(copy)
