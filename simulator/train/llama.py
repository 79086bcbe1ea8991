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

import operations


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
    """`compute` is the kind of number of matrix products; weights and the residual stream are f32.

    `steps` is the module with what happens between the products.
    """

    def __init__(self, shape, compute=torch.float32, steps=operations):
        super().__init__()
        self.shape = shape
        self.compute = compute
        self.steps = steps
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

    def forward(self, ids, at, targets=None, factor=1.0):
        """Logits (rows, width of `at`, vocabulary) at the places `at`; with `targets` their loss.

        The loss is the sum over targets that are not negative, times `factor`.
        """
        logits = self.times(self.hidden(ids, at), self.model.embed_tokens)
        if targets is None:
            return logits.float()
        return self.steps.cross_entropy(logits, targets, factor)

    def hidden(self, ids, at):
        """What the head reads at the places `at`."""
        shape, steps, compute = self.shape, self.steps, self.compute
        tables = (self.cosine, self.sine)
        *layers, last = self.model.layers
        stream = F.embedding(ids, self.model.embed_tokens.weight)
        for layer in layers:
            stream = steps.attention_block(stream, layer, tables, shape, compute)
            stream = steps.feed_forward_block(stream, layer, shape, compute)
        normed = self.norm(stream, last.input_layernorm)
        wide = at.unsqueeze(-1).expand(-1, -1, shape.width)
        part = last.self_attn
        query = self.times(normed.gather(1, wide), part.q_proj)
        joined = self.times(normed, part.k_proj, part.v_proj)
        mixed = self.times(steps.attend_at(query, joined, at, tables, shape), part.o_proj)
        stream = stream.gather(1, wide) + mixed
        return self.norm(steps.feed_forward_block(stream, last, shape, compute), self.model.norm)

    def times(self, value, *matrices):
        return self.steps.linear(value, [matrix.weight for matrix in matrices], self.compute)

    def norm(self, stream, gain):
        return self.steps.norm(stream, gain.weight, self.shape.norm_epsilon, self.compute)


def rotation(shape):
    """Cosines and sines (context, half a head's width) of the rotary embedding."""
    power = torch.arange(0, shape.head_width, 2, dtype=torch.float32) / shape.head_width
    angles = torch.outer(torch.arange(shape.context).float(), shape.rope_theta**-power)
    return angles.cos(), angles.sin()
