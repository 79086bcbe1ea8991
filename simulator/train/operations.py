"""What a Llama does between its matrix products, in plain PyTorch: for any device, and the meaning
of `fused.py`, whose functions have the same names.

Values are (rows, length, width); `tables` are the cosines and sines (context, half a head's width)
of the rotary embedding.
"""

import torch
import torch.nn.functional as F


def linear(value, weights, compute):
    """Products with matrices side by side."""
    weight = weights[0] if len(weights) == 1 else torch.cat(weights)
    return F.linear(value, weight.to(compute))


def norm(stream, gain, epsilon, compute):
    """The root-mean-square norm of the residual stream."""
    return F.rms_norm(stream, gain.shape, gain, epsilon).to(compute)


def attention_block(stream, layer, tables, shape, compute):
    """The stream with the attention of a layer added, all places asking."""
    part = layer.self_attn
    normed = norm(stream, layer.input_layernorm.weight, shape.norm_epsilon, compute)
    weights = [part.q_proj.weight, part.k_proj.weight, part.v_proj.weight]
    mixed = attend(linear(normed, weights, compute), tables, shape)
    return stream + linear(mixed, [part.o_proj.weight], compute)


def feed_forward_block(stream, layer, shape, compute):
    """The stream with the feed-forward part of a layer added."""
    part = layer.mlp
    normed = norm(stream, layer.post_attention_layernorm.weight, shape.norm_epsilon, compute)
    joined = linear(normed, [part.gate_proj.weight, part.up_proj.weight], compute)
    return stream + linear(swiglu(joined), [part.down_proj.weight], compute)


def swiglu(joined):
    """silu(gate) * up, of a gate and an up part side by side."""
    gate, up = joined.chunk(2, -1)
    return F.silu(gate) * up


def attend(joined, tables, shape):
    """Causal attention of queries, keys and values side by side."""
    narrow = shape.kv_heads * shape.head_width
    query, keys = joined.split([shape.width, 2 * narrow], -1)
    places = torch.arange(joined.shape[1], device=joined.device)
    return attend_at(query, keys, places.expand(joined.shape[:2]), tables, shape)


def attend_at(query, joined, at, tables, shape):
    """Attention of queries that stand at the places `at`, to keys and values side by side."""
    keys, values = (
        part.unflatten(-1, (shape.kv_heads, -1)).transpose(1, 2) for part in joined.chunk(2, -1)
    )
    query = query.unflatten(-1, (shape.heads, -1)).transpose(1, 2)
    cosine, sine = tables
    length = joined.shape[1]
    query = rotate(query, cosine[at].unsqueeze(1), sine[at].unsqueeze(1))
    keys = rotate(keys, cosine[:length], sine[:length])
    seen = torch.arange(length, device=at.device) <= at.unsqueeze(-1)
    mixed = F.scaled_dot_product_attention(
        query, keys, values, attn_mask=seen.unsqueeze(1), enable_gqa=shape.heads > shape.kv_heads
    )
    return mixed.transpose(1, 2).flatten(2)


def rotate(value, cosine, sine):
    """Turns pairs of a head's first and second half, as Llama does."""
    first, second = value.float().chunk(2, -1)
    turned = [first * cosine - second * sine, second * cosine + first * sine]
    return torch.cat(turned, -1).to(value.dtype)


def cross_entropy(logits, targets, factor):
    """Sum of the log losses of `targets` that are not negative, times `factor`."""
    loss = F.cross_entropy(
        logits.float().flatten(0, 1), targets.flatten(), reduction="sum", ignore_index=-100
    )
    return loss * factor
