import pytest
import torch

import fused
import operations
from export import export
from llama import Llama, Shape
from tokenizer import byte_tokenizer

SHAPES = {
    "plain": Shape(280, 64, 3, 2, 2, 96, 64),
    "grouped": Shape(280, 128, 2, 4, 2, 160, 64),
}


def model_of(shape, steps=operations):
    torch.manual_seed(1)
    model = Llama(shape, torch.float32, steps)
    with torch.no_grad():
        # Away from the small beginnings, so that each part matters.
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
    return model


def batch_of(shape, rows=5, length=37, width=9):
    generator = torch.Generator().manual_seed(2)

    def draw(most, *size):
        return torch.randint(most, size, generator=generator)

    targets = draw(shape.vocabulary, rows, width)
    targets[0, 4:] = -100
    return draw(shape.vocabulary, rows, length), draw(length, rows, width), targets


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_exported_model_has_the_logits_of_transformers(shape, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = model_of(shape)
    tokenizer = byte_tokenizer({"<|step|>": 256, "<|end|>": 257, "<|v0|>": 258})
    export(tmp_path, shape, model.state_dict(), tokenizer, "step", 1.25)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path)
    ids, at, _ = batch_of(shape)
    with torch.no_grad():
        expected = theirs(ids).logits
        everywhere = torch.arange(ids.shape[1]).expand(ids.shape)
        assert torch.allclose(model(ids, everywhere), expected, atol=1e-4)
        rows = torch.arange(len(ids)).unsqueeze(1)
        assert torch.allclose(model(ids, at), expected[rows, at], atol=1e-4)
    assert theirs.config.ndbg == {"dialect": "step", "format": 1, "temperature": 1.25}
    encoded = AutoTokenizer.from_pretrained(tmp_path)
    text = "<|step|><|v0|>é \n\0<|end|>"
    ids = [256, 258, 0xC3, 0xA9, 32, 10, 0, 257]
    assert encoded(text)["input_ids"] == ids
    assert encoded.decode(ids) == text
    assert encoded.eos_token == "<|end|>"


def test_half_precision_is_written_as_such(tmp_path):
    from safetensors.torch import load_file

    shape = SHAPES["plain"]
    export(tmp_path, shape, model_of(shape).state_dict(), byte_tokenizer({}), "nd", 1.0, True)
    kinds = {tensor.dtype for tensor in load_file(tmp_path / "model.safetensors").values()}
    assert kinds == {torch.float16}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_fused_steps_have_the_loss_and_the_gradients_of_plain_ones(shape):
    problem = fused.prepare(torch.float32)
    if problem:
        pytest.skip(problem)
    plain, fast = model_of(shape), model_of(shape, fused)
    ids, at, targets = batch_of(shape)
    losses = [model(ids, at, targets, 0.1) for model in (plain, fast)]
    assert torch.allclose(*losses, rtol=1e-5)
    for loss in losses:
        loss.backward()
    for (name, own), other in zip(plain.named_parameters(), fast.parameters(), strict=True):
        apart = (own.grad - other.grad).norm() / own.grad.norm()
        assert apart < 1e-4, name
    with torch.no_grad():
        assert torch.allclose(plain(ids, at), fast(ids, at), atol=1e-4)


@pytest.mark.parametrize(
    ("shape", "length"),
    [
        (SHAPES["grouped"], 37),
        # Rows that would meet in the cache, and a text longer than a piece.
        (Shape(280, 64, 3, 2, 1, 256, 64), 37),
        (Shape(280, 64, 2, 2, 2, 96, 300), 300),
        # Nothing that tiles could do.
        (Shape(280, 64, 2, 2, 2, 80, 64), 37),
    ],
)
def test_fused_steps_in_half_precision_err_as_little_as_plain_ones(shape, length):
    problem = fused.prepare(torch.bfloat16)
    if problem:
        pytest.skip(problem)
    ids, at, targets = batch_of(shape, length=length)
    gradients = []
    for steps, compute in (
        (operations, torch.float32),
        (operations, torch.bfloat16),
        (fused, torch.bfloat16),
    ):
        model = model_of(shape, steps)
        model.compute = compute
        model(ids, at, targets, 0.1).backward()
        gradients.append(torch.cat([weight.grad.flatten() for weight in model.parameters()]))
    exact, plain, fast = gradients
    assert (fast - exact).norm() < 1.5 * (plain - exact).norm()


def test_attention_stays_finite_when_hidden_keys_would_win():
    problem = fused.prepare(torch.float32)
    if problem:
        pytest.skip(problem)
    shape = Shape(280, 32, 1, 1, 1, 32, 64)
    joined = torch.zeros(1, 20, 96)
    # The first query likes the last key by far, which it must not see.
    joined[0, 0, 0] = joined[0, 19, 32] = 1000.0
    joined[..., 64:] = torch.randn(1, 20, 32)
    tables = (torch.ones(64, 16), torch.zeros(64, 16))
    own = fused.attend(joined, tables, shape)
    assert torch.allclose(own, operations.attend(joined, tables, shape), atol=1e-5)


def test_what_follows_a_place_does_not_matter_to_it():
    shape = SHAPES["plain"]
    model = model_of(shape)
    ids, _, _ = batch_of(shape)
    at = torch.full((len(ids), 1), 10)
    changed = ids.clone()
    changed[:, 11:] = 7
    with torch.no_grad():
        assert torch.equal(model(ids, at), model(changed, at))
