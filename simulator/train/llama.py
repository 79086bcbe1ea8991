"""The Llama architecture, lean: names of parameters equal those of Hugging Face's LlamaForCausalLM.

Two things make it fast on short samples. Only the places whose next token is predicted go through
the last layer's queries and feed-forward part and through the head; the other places give that
layer keys and values only. Matrices that read the same input are joined for one product.
"""

import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Shape:
    """Sizes of a model. `heads` of queries share `kv_heads` of keys and values evenly."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    feed_forward: int
    context: int
    rope_theta: float = 10000.0
    norm_epsilon: float = 1e-5

    @property
    def head_width(self):
        return self.width // self.heads

    def as_dict(self):
        return asdict(self)


class Matrix(nn.Module):
    """Holds a weight (outputs, inputs); who uses it joins it with others first."""

    def __init__(self, outputs, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))


class Gain(nn.Module):
    """Holds the gains of a norm."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))


class Attention(nn.Module):
    def __init__(self, shape):
        super().__init__()
        narrow = shape.kv_heads * shape.head_width
        self.q_proj = Matrix(shape.width, shape.width)
        self.k_proj = Matrix(narrow, shape.width)
        self.v_proj = Matrix(narrow, shape.width)
        self.o_proj = Matrix(shape.width, shape.width)


class FeedForward(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.gate_proj = Matrix(shape.feed_forward, shape.width)
        self.up_proj = Matrix(shape.feed_forward, shape.width)
        self.down_proj = Matrix(shape.width, shape.feed_forward)


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.input_layernorm = Gain(shape.width)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = Gain(shape.width)
        self.mlp = FeedForward(shape)


class Body(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.embed_tokens = Matrix(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Gain(shape.width)


class Llama(nn.Module):
    """`forward` gives logits (rows, width of `at`, vocabulary) for the places `at`."""

    def __init__(self, shape, compute=torch.float32):
        super().__init__()
        self.shape = shape
        self.compute = compute
        self.model = Body(shape)
        cosine, sine = rotation(shape)
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)
        self.initialise()

    def initialise(self):
        """Scaled normals; what writes into the residual stream starts smaller with the depth."""
        deviation = self.shape.width**-0.5
        deep = deviation / math.sqrt(2 * self.shape.layers)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                small = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(parameter, std=deep if small else deviation)
        nn.init.normal_(self.model.embed_tokens.weight, std=0.02)

    def forward(self, ids, at):
        shape = self.shape
        rows, length = ids.shape
        embedding = self.model.embed_tokens.weight
        stream = F.embedding(ids, embedding)
        cosine, sine = self.cosine[:length], self.sine[:length]
        for layer in self.model.layers[:-1]:
            normed = self.norm(stream, layer.input_layernorm)
            query, keys, values = self.project(normed, layer.self_attn)
            query, keys = rotate(query, cosine, sine), rotate(keys, cosine, sine)
            mixed = attend(query, keys, values, None)
            stream = stream + self.linear(mixed.flatten(2), layer.self_attn.o_proj)
            stream = stream + self.feed_forward(stream, layer)
        layer = self.model.layers[-1]
        normed = self.norm(stream, layer.input_layernorm)
        wide = at.unsqueeze(-1).expand(-1, -1, shape.width)
        chosen = normed.gather(1, wide)
        query = self.linear(chosen, layer.self_attn.q_proj)
        query = query.unflatten(-1, (shape.heads, -1))
        joined = torch.cat([layer.self_attn.k_proj.weight, layer.self_attn.v_proj.weight])
        keys, values = self.times(normed, joined).chunk(2, -1)
        keys = keys.unflatten(-1, (shape.kv_heads, -1))
        values = values.unflatten(-1, (shape.kv_heads, -1))
        query = rotate(query, self.cosine[at], self.sine[at])
        keys = rotate(keys, cosine, sine)
        mixed = attend(query, keys, values, at)
        stream = stream.gather(1, wide)
        stream = stream + self.linear(mixed.flatten(2), layer.self_attn.o_proj)
        stream = stream + self.feed_forward(stream, layer)
        return self.times(self.norm(stream, self.model.norm), embedding).float()

    def times(self, value, weight):
        return F.linear(value.to(self.compute), weight.to(self.compute))

    def linear(self, value, matrix):
        return self.times(value, matrix.weight)

    def norm(self, value, gain):
        return F.rms_norm(value, (self.shape.width,), gain.weight, self.shape.norm_epsilon)

    def project(self, normed, attention):
        shape = self.shape
        weights = [attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight]
        narrow = shape.kv_heads * shape.head_width
        joined = self.times(normed, torch.cat(weights))
        query, keys, values = joined.split([shape.width, narrow, narrow], -1)
        return (
            query.unflatten(-1, (shape.heads, -1)),
            keys.unflatten(-1, (shape.kv_heads, -1)),
            values.unflatten(-1, (shape.kv_heads, -1)),
        )

    def feed_forward(self, stream, layer):
        normed = self.norm(stream, layer.post_attention_layernorm)
        joined = torch.cat([layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight])
        gate, up = self.times(normed, joined).chunk(2, -1)
        return self.linear(F.silu(gate) * up, layer.mlp.down_proj)


def rotation(shape):
    """Cosines and sines (context, head width) of the rotary embedding, halves repeated as Llama
    does.
    """
    half = torch.arange(0, shape.head_width, 2, dtype=torch.float32) / shape.head_width
    angles = torch.outer(torch.arange(shape.context).float(), shape.rope_theta**-half)
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def rotate(value, cosine, sine):
    """Rotates (rows, length, heads, head width) by angles (…, length, head width)."""
    cosine, sine = cosine.unsqueeze(-2).to(value.dtype), sine.unsqueeze(-2).to(value.dtype)
    first, second = value.chunk(2, -1)
    return value * cosine + torch.cat([-second, first], -1) * sine


def attend(query, keys, values, at):
    """Causal attention of queries (rows, m, heads, head width) at the places `at`, else at all
    places.
    """
    groups = query.shape[2] // keys.shape[2]
    query, keys, values = (part.transpose(1, 2) for part in (query, keys, values))
    if groups > 1:
        keys = keys.repeat_interleave(groups, 1)
        values = values.repeat_interleave(groups, 1)
    length = keys.shape[2]
    places = torch.arange(length, device=keys.device)
    if at is None:
        hidden = places[None, :] > places[:, None]
    else:
        hidden = (places[None, None, :] > at[:, :, None]).unsqueeze(1)
    scores = (query @ keys.transpose(-1, -2)) * query.shape[-1] ** -0.5
    scores = scores.float().masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1).to(values.dtype)
    return (weights @ values).transpose(1, 2)
