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
        shape, steps, tables = self.shape, self.steps, (self.cosine, self.sine)
        layers = self.model.layers
        stream = F.embedding(ids, self.model.embed_tokens.weight)
        normed = self.norm(stream, layers[0].input_layernorm)
        for layer, following in zip(layers[:-1], layers[1:], strict=True):
            part = layer.self_attn
            joined = self.times(normed, part.q_proj, part.k_proj, part.v_proj)
            mixed = self.times(steps.attend(joined, tables, shape), part.o_proj)
            stream, normed = self.add_norm(stream, mixed, layer.post_attention_layernorm)
            stream, normed = self.add_norm(
                stream, self.feed_forward(normed, layer.mlp), following.input_layernorm
            )
        layer, part = layers[-1], layers[-1].self_attn
        wide = at.unsqueeze(-1).expand(-1, -1, shape.width)
        query = self.times(normed.gather(1, wide), part.q_proj)
        joined = self.times(normed, part.k_proj, part.v_proj)
        mixed = self.times(steps.attend_at(query, joined, at, tables, shape), part.o_proj)
        stream, normed = self.add_norm(
            stream.gather(1, wide), mixed, layer.post_attention_layernorm
        )
        return self.add_norm(stream, self.feed_forward(normed, layer.mlp), self.model.norm)[1]

    def times(self, value, *matrices):
        """Products with matrices side by side."""
        weights = [matrix.weight for matrix in matrices]
        weight = weights[0] if len(weights) == 1 else torch.cat(weights)
        return F.linear(value, weight.to(self.compute))

    def norm(self, stream, gain):
        return self.steps.norm(stream, gain.weight, self.shape.norm_epsilon, self.compute)

    def add_norm(self, stream, delta, gain):
        return self.steps.add_norm(
            stream, delta, gain.weight, self.shape.norm_epsilon, self.compute
        )

    def feed_forward(self, normed, part):
        joined = self.times(normed, part.gate_proj, part.up_proj)
        return self.times(self.steps.swiglu(joined), part.down_proj)


def rotation(shape):
    """Cosines and sines (context, half a head's width) of the rotary embedding."""
    power = torch.arange(0, shape.head_width, 2, dtype=torch.float32) / shape.head_width
    angles = torch.outer(torch.arange(shape.context).float(), shape.rope_theta**-power)
    return angles.cos(), angles.sin()
