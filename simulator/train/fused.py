"""The functions of `operations.py` in C, for one CPU core.

`fused.c` and `matrices.c` are compiled by the C compiler of the machine when they are first needed,
and kept in the user's cache. Matrix products stay PyTorch's where there are no tile registers.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from ctypes import c_double, c_float, c_long, c_void_p

import torch

import operations

FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = [os.path.join(HERE, name) for name in ("fused.c", "matrices.c", "blocks.c")]
# Multiples that the vectors of the C code need, and its tiles.
LANES, HEAD_LANES, DEPTH = 16, 32, 32
# Rows that are laid out together.
PIECE = 512
libraries = {}


class Attention(ctypes.Structure):
    """`struct attention` of the C code."""

    _fields_ = [
        *((name, c_long) for name in ("texts", "length", "queries", "heads", "key_heads")),
        *((name, c_long) for name in ("width", "query_stride", "key_stride")),
        *((name, c_void_p) for name in ("query", "keys", "values", "places")),
        *((name, c_void_p) for name in ("cosine", "sine", "weight_logs")),
    ]


class Weight(ctypes.Structure):
    """`struct weight` of the C code."""

    _fields_ = [(name, c_void_p) for name in ("across", "back", "gradient")]


class Block(ctypes.Structure):
    """`struct block` of the C code."""

    _fields_ = [
        *((name, c_long) for name in ("rows", "width", "inner")),
        *((name, c_void_p) for name in ("stream", "gain")),
        ("epsilon", c_float),
        *((name, Weight) for name in ("first", "second")),
        ("d_gain", c_void_p),
    ]


def fits(shape):
    """Whether a model's sizes suit the vectors."""
    return (
        shape.width % LANES == 0
        and shape.feed_forward % LANES == 0
        and shape.head_width % HEAD_LANES == 0
    )


def prepare(compute):
    """Compiles and loads the code for one kind of number; why it cannot, or `None`."""
    if compute in libraries:
        return None
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return "there is no C compiler"
    flags = [*FLAGS, *(["-DBF16"] if compute == torch.bfloat16 else [])]
    known = hashlib.sha256(repr((flags, compiler, processor())).encode())
    for name in (*SOURCES, os.path.join(HERE, "attention.h")):
        with open(name, "rb") as file:
            known.update(file.read())
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = os.path.join(cache, "ndbg-agent", f"fused-{known.hexdigest()[:16]}.so")
    try:
        if not os.path.exists(path):
            build(compiler, flags, path)
        libraries[compute] = declare(ctypes.CDLL(path), compute == torch.bfloat16)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"the C code does not compile: {getattr(error, 'stderr', None) or error}"
    return None


def build(compiler, flags, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Several processes may come at once: each writes a file of its own, the last rename stays.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        made = os.path.join(folder, "fused.so")
        words = [compiler, *flags, "-shared", "-fPIC", *SOURCES, "-o", made, "-lm"]
        subprocess.run(words, check=True, capture_output=True, text=True)
        os.replace(made, path)


def processor():
    """What `-march=native` depends on."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.read().splitlines()
        return next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        return platform.processor()


def declare(library, half):
    pointer = c_void_p
    signatures = {
        "add_norm": [c_long, c_long, *[pointer] * 3, c_float, *[pointer] * 3],
        "add_norm_back": [c_long, c_long, *[pointer] * 8],
        "swiglu": [c_long, c_long, pointer, c_long, pointer],
        "swiglu_back": [c_long, c_long, pointer, c_long, *[pointer] * 3],
        "cross_entropy": [c_long, c_long, *[pointer] * 2, c_float, pointer],
        "attend": [pointer] * 2,
        "attend_back": [pointer] * 5,
        "tiles_work": [],
    }
    if half and library.tiles_work():
        signatures["lay_out"] = [pointer, *[c_long] * 4, *[pointer] * 2]
        sized = [pointer, c_long]
        signatures["multiply"] = [*[c_long] * 3, *sized, pointer, *sized, pointer]
        signatures["add_gradient"] = [*[c_long] * 3, *sized, *sized, pointer, pointer]
        signatures["attention_block"] = [pointer] * 4
        signatures["attention_block_back"] = [pointer] * 5
        signatures["feed_forward_block"] = [pointer] * 2
        signatures["feed_forward_block_back"] = [pointer] * 3
    for name, types in signatures.items():
        function = getattr(library, name)
        function.argtypes = types
        function.restype = {"cross_entropy": c_double, "tiles_work": c_long}.get(name)
    library.tiles = "lay_out" in signatures
    return library


def tiled(compute, *widths):
    """Whether products are made in tile registers."""
    whole = all(width % DEPTH == 0 for width in widths)
    return whole and compute == torch.bfloat16 and libraries[compute].tiles


def linear(value, weights, compute):
    if tiled(compute, value.shape[-1], *map(len, weights)):
        return TileLinear.apply(value, *weights)
    return operations.linear(value, weights, compute)


def attention_block(stream, layer, tables, shape, compute):
    part = layer.self_attn
    gain = layer.input_layernorm.weight
    weights = [part.q_proj.weight, part.k_proj.weight, part.v_proj.weight, part.o_proj.weight]
    if tiled(compute, shape.width, shape.kv_heads * shape.head_width):
        return AttentionBlock.apply(stream, gain, *weights, *tables, shape)
    normed = norm(stream, gain, shape.norm_epsilon, compute)
    mixed = attend(linear(normed, weights[:3], compute), tables, shape)
    return stream + linear(mixed, weights[3:], compute)


def feed_forward_block(stream, layer, shape, compute):
    part = layer.mlp
    gain = layer.post_attention_layernorm.weight
    weights = [part.gate_proj.weight, part.up_proj.weight, part.down_proj.weight]
    if tiled(compute, shape.width, shape.feed_forward):
        return FeedForwardBlock.apply(stream, gain, *weights, shape)
    normed = norm(stream, gain, shape.norm_epsilon, compute)
    return stream + linear(swiglu(linear(normed, weights[:2], compute)), weights[2:], compute)


def norm(stream, gain, epsilon, compute):
    return Norm.apply(stream, gain, epsilon, compute)


def swiglu(joined):
    return Swiglu.apply(joined)


def attend(joined, tables, shape):
    return Attend.apply(joined, *tables, shape)


def attend_at(query, joined, at, tables, shape):
    return AttendAt.apply(query, joined, at, *tables, shape)


def cross_entropy(logits, targets, factor):
    """As in `operations.py`; the logits are lost."""
    return CrossEntropy.apply(logits, targets, factor)


def address(tensor):
    return None if tensor is None else tensor.data_ptr()


def lay_out(weights):
    """Weights of one width under each other, for products with their rows and their columns."""
    inner, outer = weights[0].shape[1], sum(len(weight) for weight in weights)
    across, back = torch.empty(2, outer * inner, dtype=torch.bfloat16)
    first = 0
    for weight in weights:
        libraries[torch.bfloat16].lay_out(
            address(weight), len(weight), inner, first, outer, address(across), address(back)
        )
        first += len(weight)
    return across, back


class TileLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, *weights):
        value = value.contiguous()
        across, back = lay_out(weights)
        ctx.heights = [len(weight) for weight in weights]
        ctx.save_for_backward(value, back)
        return multiply(value, across, sum(ctx.heights))

    @staticmethod
    def backward(ctx, d_out):
        value, back = ctx.saved_tensors
        d_out = d_out.contiguous()
        inner, outer = value.shape[-1], d_out.shape[-1]
        gradient = torch.zeros(outer, inner)
        room = torch.empty(PIECE * (inner + outer), dtype=torch.bfloat16)
        libraries[torch.bfloat16].add_gradient(
            value.numel() // inner, outer, inner, address(d_out), outer,
            address(value), inner, address(gradient), address(room),
        )  # fmt: skip
        return multiply(d_out, back, inner), *gradient.split(ctx.heights)


def multiply(value, laid_out, columns):
    """The product with a weight that is laid out."""
    depth = value.shape[-1]
    out = value.new_empty(*value.shape[:-1], columns)
    room = value.new_empty(DEPTH * (depth + columns))
    libraries[torch.bfloat16].multiply(
        value.numel() // depth, depth, columns, address(value), depth, address(laid_out),
        address(out), columns, address(room),
    )  # fmt: skip
    return out


def block_of(stream, gain, epsilon, first, second, inner, gradients=(None, None, None)):
    """The task of a block; weights are pairs of layouts."""
    width = stream.shape[-1]
    parts = [
        Weight(address(across), address(back), address(gradient))
        for (across, back), gradient in zip((first, second), gradients[:2], strict=True)
    ]
    return Block(
        stream.numel() // width, width, inner, address(stream), address(gain), epsilon, *parts,
        address(gradients[2]),
    )  # fmt: skip


class AttentionBlock(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stream, gain, query, keys, values, out, cosine, sine, shape):
        stream = stream.contiguous()
        first, second = lay_out([query, keys, values]), lay_out([out])
        texts, length, width = stream.shape
        mixed = torch.empty(stream.shape, dtype=torch.bfloat16)
        logs = torch.empty(texts, shape.heads, length)
        ctx.shape, ctx.heights = shape, [len(query), len(keys), len(values)]
        ctx.save_for_backward(stream, gain, *first, *second, mixed, logs, cosine, sine)
        task = block_of(stream, gain, shape.norm_epsilon, first, second, sum(ctx.heights))
        attention = AttentionBlock.attention(shape, texts, length, cosine, sine, logs)
        total = torch.empty_like(stream)
        libraries[torch.bfloat16].attention_block(
            ctypes.byref(task), ctypes.byref(attention), address(mixed), address(total)
        )
        return total

    @staticmethod
    def attention(shape, texts, length, cosine, sine, logs):
        return Attention(
            texts, length, length, shape.heads, shape.kv_heads, shape.head_width, 0, 0, None, None,
            None, None, address(cosine), address(sine), address(logs),
        )  # fmt: skip

    @staticmethod
    def backward(ctx, d_total):
        stream, gain, *layouts, mixed, logs, cosine, sine = ctx.saved_tensors
        d_total, width = d_total.contiguous(), stream.shape[-1]
        d_first = torch.zeros(sum(ctx.heights), width)
        d_second, d_gain = torch.zeros(width, width), torch.zeros_like(gain)
        task = block_of(
            stream, gain, ctx.shape.norm_epsilon, layouts[:2], layouts[2:], sum(ctx.heights),
            (d_first, d_second, d_gain),
        )  # fmt: skip
        attention = AttentionBlock.attention(ctx.shape, *stream.shape[:2], cosine, sine, logs)
        d_stream = torch.empty_like(stream)
        libraries[torch.bfloat16].attention_block_back(
            ctypes.byref(task), ctypes.byref(attention), address(mixed), address(d_total),
            address(d_stream),
        )  # fmt: skip
        return d_stream, d_gain, *d_first.split(ctx.heights), d_second, None, None, None


class FeedForwardBlock(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stream, gain, gate, up, down, shape):
        stream = stream.contiguous()
        first, second = lay_out([gate, up]), lay_out([down])
        ctx.shape = shape
        ctx.save_for_backward(stream, gain, *first, *second)
        task = block_of(stream, gain, shape.norm_epsilon, first, second, 2 * len(gate))
        total = torch.empty_like(stream)
        libraries[torch.bfloat16].feed_forward_block(ctypes.byref(task), address(total))
        return total

    @staticmethod
    def backward(ctx, d_total):
        stream, gain, *layouts = ctx.saved_tensors
        d_total, width = d_total.contiguous(), stream.shape[-1]
        inner = 2 * ctx.shape.feed_forward
        d_first, d_second = torch.zeros(inner, width), torch.zeros(width, inner // 2)
        d_gain = torch.zeros_like(gain)
        task = block_of(
            stream, gain, ctx.shape.norm_epsilon, layouts[:2], layouts[2:], inner,
            (d_first, d_second, d_gain),
        )  # fmt: skip
        d_stream = torch.empty_like(stream)
        libraries[torch.bfloat16].feed_forward_block_back(
            ctypes.byref(task), address(d_total), address(d_stream)
        )
        return d_stream, d_gain, *d_first.chunk(2), d_second, None


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, stream, gain, epsilon, compute):
        stream = stream.contiguous()
        normed = torch.empty(stream.shape, dtype=compute)
        scale = torch.empty(stream.shape[:-1])
        libraries[compute].add_norm(
            scale.numel(), stream.shape[-1], address(stream), None, address(gain), epsilon, None,
            address(normed), address(scale),
        )  # fmt: skip
        ctx.save_for_backward(stream, gain, scale)
        return normed

    @staticmethod
    def backward(ctx, d_normed):
        stream, gain, scale = ctx.saved_tensors
        d_normed = d_normed.contiguous()
        d_stream, d_gain = torch.empty_like(stream), torch.zeros_like(gain)
        libraries[d_normed.dtype].add_norm_back(
            scale.numel(), gain.numel(), address(stream), address(gain), address(scale), None,
            address(d_normed), address(d_stream), None, address(d_gain),
        )  # fmt: skip
        return d_stream, d_gain, None, None


class Swiglu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, joined):
        width = joined.shape[-1] // 2
        out = joined.new_empty(*joined.shape[:-1], width)
        libraries[joined.dtype].swiglu(
            out.numel() // width, width, address(joined), 2 * width, address(out)
        )
        ctx.save_for_backward(joined)
        return out

    @staticmethod
    def backward(ctx, d_out):
        (joined,) = ctx.saved_tensors
        width = joined.shape[-1] // 2
        d_out, d_joined = d_out.contiguous(), torch.empty_like(joined)
        libraries[joined.dtype].swiglu_back(
            d_out.numel() // width,
            width,
            address(joined),
            2 * width,
            address(d_out),
            address(d_joined),
            None,
        )
        return d_joined


def columns(tensor, place):
    """Address of the column `place` of a matrix."""
    return tensor.data_ptr() + place * tensor.element_size()


class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, joined, cosine, sine, shape):
        ctx.shape = shape
        texts, length, _ = joined.shape
        logs = torch.empty(texts, shape.heads, length)
        ctx.save_for_backward(joined, cosine, sine, logs)
        out = joined.new_empty(texts, length, shape.width)
        task = Attend.task(shape, joined, cosine, sine, logs)
        libraries[joined.dtype].attend(ctypes.byref(task), address(out))
        return out

    @staticmethod
    def task(shape, joined, cosine, sine, logs):
        texts, length, stride = joined.shape
        narrow = shape.kv_heads * shape.head_width
        return Attention(
            texts, length, length, shape.heads, shape.kv_heads, shape.head_width, stride, stride,
            address(joined), columns(joined, shape.width), columns(joined, shape.width + narrow),
            None, address(cosine), address(sine), address(logs),
        )  # fmt: skip

    @staticmethod
    def backward(ctx, d_out):
        joined, cosine, sine, logs = ctx.saved_tensors
        d_out, d_joined = d_out.contiguous(), torch.empty_like(joined)
        task = Attend.task(ctx.shape, joined, cosine, sine, logs)
        width = ctx.shape.width
        narrow = ctx.shape.kv_heads * ctx.shape.head_width
        libraries[joined.dtype].attend_back(
            ctypes.byref(task), address(d_out), address(d_joined), columns(d_joined, width),
            columns(d_joined, width + narrow),
        )  # fmt: skip
        return d_joined, None, None, None


class AttendAt(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, joined, at, cosine, sine, shape):
        ctx.shape = shape
        at = at.contiguous()
        logs = torch.empty(at.shape[0], shape.heads, at.shape[1])
        ctx.save_for_backward(query, joined, at, cosine, sine, logs)
        out = torch.empty_like(query)
        task = AttendAt.task(shape, query, joined, at, cosine, sine, logs)
        libraries[joined.dtype].attend(ctypes.byref(task), address(out))
        return out

    @staticmethod
    def task(shape, query, joined, at, cosine, sine, logs):
        texts, length, stride = joined.shape
        return Attention(
            texts, length, at.shape[1], shape.heads, shape.kv_heads, shape.head_width,
            query.shape[-1], stride, address(query), address(joined), columns(joined, stride // 2),
            address(at), address(cosine), address(sine), address(logs),
        )  # fmt: skip

    @staticmethod
    def backward(ctx, d_out):
        query, joined, at, cosine, sine, logs = ctx.saved_tensors
        d_out, d_query = d_out.contiguous(), torch.empty_like(query)
        d_joined = torch.empty_like(joined)
        task = AttendAt.task(ctx.shape, query, joined, at, cosine, sine, logs)
        libraries[joined.dtype].attend_back(
            ctypes.byref(task), address(d_out), address(d_query), address(d_joined),
            columns(d_joined, joined.shape[-1] // 2),
        )  # fmt: skip
        return d_query, d_joined, None, None, None, None


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets, factor):
        vocabulary = logits.shape[-1]
        room = torch.empty(vocabulary)
        total = libraries[logits.dtype].cross_entropy(
            targets.numel(), vocabulary, address(logits), address(targets), factor, address(room)
        )
        # What was the logits is their gradient now.
        ctx.save_for_backward(logits.detach())
        return torch.tensor(total * factor)

    @staticmethod
    def backward(ctx, d_loss):
        (gradient,) = ctx.saved_tensors
        return gradient if float(d_loss) == 1.0 else gradient * d_loss, None, None
